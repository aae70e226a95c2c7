"""A scratch store that knows what the real one knows about a pipeline. The real one is only read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, delete, func, insert, select, update

from samewise.core.windows import FULL
from samewise.state import migrate
from samewise.state.engine import connect, read_url
from samewise.state.plain import fixed_text
from samewise.state.store import Store
from samewise.state.tables import attempts, contracts, files, leases, receipts, runs, tasks, watermark_moves

_OF_A_TASK = (tasks, contracts, watermark_moves, files)
"""What holds for a task, whatever its windows are: watermark, contracts, load epochs, the ledger of files."""


@dataclass(frozen=True, slots=True)
class Load:
    """A load of a task that goes on from where the last one ended."""

    run_id: str
    generation: int
    version: int
    """Of the target, with its rows."""


def is_current(url: str) -> bool:
    """Whether the store at `url` has this version's tables: opening one that has not would change it."""
    engine = connect(read_url(url))
    try:
        found = migrate.read_meta(engine)
        return found is None or found.level >= migrate.newest_level()
    finally:
        engine.dispose()


def copy_knowledge(
    real: Store, scratch: Store, pipeline: str, targets: Mapping[str, str], windows: Collection[str]
) -> None:
    """Tell `scratch` what holds for a pipeline now, as if the runs of `windows` had not happened yet.

    `targets`: the key of each real target and of what takes its place. Receipts of other windows go along, so that
    what compares a window with earlier ones has them; unfinished runs do not: they belong to the real target.
    """
    with real.reading() as source, scratch.transaction() as into:
        for table in _OF_A_TASK:
            _copy(source, into, table, table.c.pipeline == pipeline)
        ours = and_(receipts.c.pipeline == pipeline, receipts.c.window_key.not_in([FULL.key, *windows]))
        _copy(source, into, runs, runs.c.run_id.in_(select(receipts.c.run_id).where(ours)), targets)
        _copy(source, into, receipts, ours, targets)


def landed_at(store: Store, pipeline: str, target: str, table_id: str, windows: Collection[str]) -> int | None:
    """The version of a table at which the first of these windows landed for the first time; None if none has.

    Of `full`, which is the whole table, it is the last time.
    """
    newest = FULL.key in windows
    version = func.max(receipts.c.target_version) if newest else func.min(receipts.c.target_version)
    query = select(version).where(
        receipts.c.pipeline == pipeline,
        receipts.c.target == target,
        receipts.c.table_id == table_id,
        receipts.c.window_key.in_(list(windows)),
        receipts.c.wrote,
    )
    with store.reading() as connection:
        found: int | None = connection.execute(query).scalar()
    return found


def last_load(store: Store, pipeline: str, task: str, target: str, table_id: str) -> Load | None:
    """The last load of a task without windows that wrote rows to this very table; None if none did."""
    query = (
        select(receipts.c.run_id, receipts.c.generation, receipts.c.target_version)
        .where(
            receipts.c.pipeline == pipeline,
            receipts.c.task == task,
            receipts.c.target == target,
            receipts.c.table_id == table_id,
            receipts.c.window_key == FULL.key,
            receipts.c.wrote,
        )
        .order_by(receipts.c.generation.desc())
        .limit(1)
    )
    with store.reading() as connection:
        row = connection.execute(query).first()
    return None if row is None else Load(*row)


def take_back(real: Store, scratch: Store, pipeline: str, task: str, load: Load, mark: datetime | None) -> None:
    """Make `scratch` forget a load and all later ones of the task: its watermark is `mark`, their files are new."""
    later = select(receipts.c.run_id).where(
        receipts.c.pipeline == pipeline, receipts.c.task == task, receipts.c.generation >= load.generation
    )
    with real.reading() as connection:
        loaded = list(connection.execute(later).scalars())
    with scratch.transaction() as connection:
        ours = and_(tasks.c.pipeline == pipeline, tasks.c.task == task)
        connection.execute(update(tasks).where(ours).values(watermark=None if mark is None else fixed_text(mark)))
        connection.execute(
            delete(files).where(files.c.pipeline == pipeline, files.c.task == task, files.c.run_id.in_(loaded))
        )


def raise_epochs(scratch: Store) -> None:
    """Let what is loaded next count as later than what is there, as with --force: whatever differs is written then."""
    with scratch.transaction() as connection:
        connection.execute(update(tasks).values(epoch=tasks.c.epoch + 1))


def move(scratch: Store, targets: Mapping[str, str], staging: tuple[str, str]) -> None:
    """Make a copy of a scratch store know where its own targets and its own staging are."""
    with scratch.transaction() as connection:
        for old, new in targets.items():
            for table in (runs, receipts, leases):
                connection.execute(update(table).where(table.c.target == old).values(target=new))
        connection.execute(update(attempts).values(staging=func.replace(attempts.c.staging, *staging)))


def _copy(
    source: Any, into: Any, table: Table, which: ColumnElement[bool], targets: Mapping[str, str] | None = None
) -> None:
    found = [dict(row) for row in source.execute(select(table).where(which)).mappings()]
    for row in found:
        if targets is not None:
            row["target"] = targets.get(row["target"], row["target"])
    if found:
        into.execute(insert(table), found)
