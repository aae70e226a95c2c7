"""Receipts: what each landed commit holds. Written only by `checkpoint` and `restore`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, and_, func, select

from samewise.core.measures import Measures
from samewise.core.records import Receipt, RunRecord
from samewise.core.windows import Window
from samewise.state.engine import insert_all_new, insert_new
from samewise.state.store import Store, rides_out
from samewise.state.tables import Instant, receipts, runs


@rides_out
def latest(store: Store, pipeline: str, task: str, window: Window) -> Receipt | None:
    """The receipt of the window's newest generation that landed, or None."""
    query = (
        select(receipts)
        .where(
            receipts.c.pipeline == pipeline,
            receipts.c.task == task,
            receipts.c.window_key == window.key,
        )
        .order_by(receipts.c.generation.desc())
        .limit(1)
    )
    with store.reading() as connection:
        row = connection.execute(query).mappings().one_or_none()
    return None if row is None else _receipt(row)


@rides_out
def newest(store: Store, pipeline: str, task: str, windows: Sequence[Window]) -> dict[Window, Receipt]:
    """The receipt of the newest generation that landed, of each of some windows that have one, in one query."""
    query = (
        select(receipts)
        .where(
            receipts.c.pipeline == pipeline,
            receipts.c.task == task,
            receipts.c.window_start >= min(window.start for window in windows),
            receipts.c.window_end <= max(window.end for window in windows),
        )
        .order_by(receipts.c.generation)
    )
    wanted = set(windows)
    with store.reading() as connection:
        found = [_receipt(row) for row in connection.execute(query).mappings()]
    return {receipt.window: receipt for receipt in found if receipt.window in wanted}


@rides_out
def latest_all(store: Store, pipeline: str, task: str) -> dict[str, Receipt]:
    """The newest receipt of every window, by the window's key, in one query."""
    of_task = and_(receipts.c.pipeline == pipeline, receipts.c.task == task)
    newest = (
        select(receipts.c.window_key, func.max(receipts.c.generation).label("generation"))
        .where(of_task)
        .group_by(receipts.c.window_key)
        .subquery()
    )
    query = (
        select(receipts)
        .join(
            newest,
            and_(
                receipts.c.window_key == newest.c.window_key,
                receipts.c.generation == newest.c.generation,
            ),
        )
        .where(of_task)
        .order_by(receipts.c.window_start)
    )
    with store.reading() as connection:
        return {row["window_key"]: _receipt(row) for row in connection.execute(query).mappings()}


@rides_out
def done_windows(store: Store, pipeline: str, task: str, target: str) -> set[Window]:
    """The windows that have landed in `target`. What landed in another one does not count for this one."""
    with store.reading() as connection:
        return windows_done(connection, pipeline, task, target)


def windows_done(connection: Connection, pipeline: str, task: str, target: str) -> set[Window]:
    """The same inside a transaction."""
    query = (
        select(receipts.c.window_start, receipts.c.window_end)
        .where(receipts.c.pipeline == pipeline, receipts.c.task == task, receipts.c.target == target)
        .distinct()
    )
    return {Window(start, end) for start, end in connection.execute(query)}


@rides_out
def overlapping(store: Store, pipeline: str, task: str, target: str, window: Window) -> Window | None:
    """A window, not this one, that has landed in `target` and shares an instant with it: one of another grid."""
    query = (
        select(receipts.c.window_start, receipts.c.window_end)
        .where(
            receipts.c.pipeline == pipeline,
            receipts.c.task == task,
            receipts.c.target == target,
            receipts.c.window_key != window.key,
            receipts.c.window_start < window.end,
            receipts.c.window_end > window.start,
        )
        .order_by(receipts.c.window_start)
        .limit(1)
    )
    with store.reading() as connection:
        row = connection.execute(query).one_or_none()
    return None if row is None else Window(row[0], row[1])


@rides_out
def earlier(store: Store, run: RunRecord, *, limit: int) -> list[Receipt]:
    """What the windows before this run's hold in its target, newest window first, each by its newest generation.

    For the window `full`: the generations before this one. Receipts without measures are left out.
    """
    mine = and_(
        receipts.c.pipeline == run.pipeline,
        receipts.c.task == run.task,
        receipts.c.target == run.target,
        receipts.c.measures.is_not(None),
    )
    if run.window.is_full:
        before = and_(receipts.c.window_key == run.window.key, receipts.c.generation < run.generation)
        query = select(receipts).where(mine, before).order_by(receipts.c.generation.desc())
    else:
        newest = (
            select(receipts.c.window_key, func.max(receipts.c.generation).label("generation"))
            .where(receipts.c.pipeline == run.pipeline, receipts.c.task == run.task, receipts.c.target == run.target)
            .where(receipts.c.window_start < run.window.start)
            .group_by(receipts.c.window_key)
            .subquery()
        )
        of_newest = and_(receipts.c.window_key == newest.c.window_key, receipts.c.generation == newest.c.generation)
        query = select(receipts).join(newest, of_newest).where(mine).order_by(receipts.c.window_start.desc())
    with store.reading() as connection:
        return [_receipt(row) for row in connection.execute(query.limit(limit)).mappings()]


@rides_out
def last_changed(store: Store, pipeline: str, task: str, target: str) -> dict[Window, datetime]:
    """When each window of `target` last got other rows."""
    query = (
        select(receipts.c.window_start, receipts.c.window_end, func.max(receipts.c.landed_at, type_=Instant))
        .where(_of_target(pipeline, task, target), receipts.c.wrote.is_(True))
        .group_by(receipts.c.window_start, receipts.c.window_end)
    )
    with store.reading() as connection:
        return {Window(start, end): at for start, end, at in connection.execute(query)}


@rides_out
def last_planned(store: Store, pipeline: str, task: str, target: str) -> dict[Window, datetime]:
    """When the newest run of each window that landed in `target` was planned: what came later, it has not read."""
    query = (
        select(receipts.c.window_start, receipts.c.window_end, func.max(runs.c.run_ts, type_=Instant))
        .join(runs, receipts.c.run_id == runs.c.run_id)
        .where(_of_target(pipeline, task, target))
        .group_by(receipts.c.window_start, receipts.c.window_end)
    )
    with store.reading() as connection:
        return {Window(start, end): at for start, end, at in connection.execute(query)}


def _of_target(pipeline: str, task: str, target: str) -> ColumnElement[bool]:
    return and_(receipts.c.pipeline == pipeline, receipts.c.task == task, receipts.c.target == target)


def insert(connection: Connection, receipt: Receipt) -> bool:
    """Store a receipt; False, and nothing changed, if its run has one. `landed_at` must be known."""
    return insert_new(connection, receipts, _to_row(receipt), ["run_id"])


def insert_all(connection: Connection, landed: Sequence[Receipt]) -> None:
    """The same for several, each unless its run has one."""
    insert_all_new(connection, receipts, [_to_row(receipt) for receipt in landed], ["run_id"])


def _to_row(receipt: Receipt) -> dict[str, Any]:
    return {
        "run_id": receipt.run_id,
        "pipeline": receipt.pipeline,
        "task": receipt.task,
        "window_key": receipt.window.key,
        "window_start": receipt.window.start,
        "window_end": receipt.window.end,
        "generation": receipt.generation,
        "target": receipt.target,
        "target_version": receipt.target_version,
        "definition": receipt.definition,
        "fingerprint": receipt.fingerprint,
        "contract": receipt.contract,
        "measures": None if receipt.measures is None else receipt.measures.to_json(),
        "rows_read": receipt.rows_read,
        "rows_staged": receipt.rows_staged,
        "rows_deleted": receipt.rows_deleted,
        "rows_quarantined": receipt.rows_quarantined,
        "recovered": receipt.recovered,
        "landed_at": receipt.landed_at,
        "epoch": receipt.epoch,
        "wrote": receipt.wrote,
        "table_id": receipt.table_id,
        "rows_inserted": receipt.rows_inserted,
        "rows_updated": receipt.rows_updated,
        "rows_unchanged": receipt.rows_unchanged,
    }


def _receipt(row: RowMapping) -> Receipt:
    return Receipt(
        run_id=row["run_id"],
        pipeline=row["pipeline"],
        task=row["task"],
        window=Window(row["window_start"], row["window_end"]),
        generation=row["generation"],
        target=row["target"],
        target_version=row["target_version"],
        definition=row["definition"],
        fingerprint=row["fingerprint"],
        contract=row["contract"],
        measures=None if row["measures"] is None else Measures.from_json(row["measures"]),
        rows_read=row["rows_read"],
        rows_staged=row["rows_staged"],
        rows_deleted=row["rows_deleted"],
        rows_quarantined=row["rows_quarantined"],
        recovered=row["recovered"],
        landed_at=row["landed_at"],
        epoch=row["epoch"],
        wrote=row["wrote"],
        table_id=row["table_id"],
        rows_inserted=row["rows_inserted"],
        rows_updated=row["rows_updated"],
        rows_unchanged=row["rows_unchanged"],
    )
