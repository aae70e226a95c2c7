"""Receipts: what each landed commit holds. Written only by `checkpoint` and `restore`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from samewise.core.measures import Measures
from samewise.core.records import Receipt, RunRecord
from samewise.core.windows import FULL, Window, parse_instant
from samewise.state.engine import insert_all_new, insert_new
from samewise.state.runs import from_row
from samewise.state.store import Store, rides_out

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from samewise.state.plain import Row

_DONE = """
    SELECT DISTINCT window_start, window_end FROM samewise_receipts
    WHERE pipeline = :pipeline AND task = :task AND target = :target
"""


@rides_out
def latest(store: Store, pipeline: str, task: str, window: Window) -> Receipt | None:
    """The receipt of the window's newest generation that landed, or None."""
    rows = store.rows(
        """
        SELECT * FROM samewise_receipts
        WHERE pipeline = :pipeline AND task = :task AND window_key = :window_key
        ORDER BY generation DESC LIMIT 1
        """,
        pipeline=pipeline,
        task=task,
        window_key=window.key,
    )
    return _receipt(rows[0]) if rows else None


@rides_out
def newest(store: Store, pipeline: str, task: str, windows: Sequence[Window]) -> dict[Window, Receipt]:
    """The receipt of the newest generation that landed, of each of some windows that have one, in one query."""
    rows = store.rows(
        """
        SELECT * FROM samewise_receipts
        WHERE pipeline = :pipeline AND task = :task AND window_start >= :start AND window_end <= :end
        ORDER BY generation
        """,
        pipeline=pipeline,
        task=task,
        start=min(window.start for window in windows),
        end=max(window.end for window in windows),
    )
    wanted = set(windows)
    found = [_receipt(row) for row in rows]
    return {receipt.window: receipt for receipt in found if receipt.window in wanted}


@rides_out
def near(store: Store, pipeline: str, task: str, windows: Sequence[Window]) -> list[Receipt]:
    """The newest receipt of each window from the first to the last of these, and of the nearest on either side."""
    rows = store.rows(
        """
        SELECT * FROM samewise_receipts
        WHERE pipeline = :pipeline AND task = :task
          AND window_start >= coalesce(
            (SELECT max(window_start) FROM samewise_receipts
             WHERE pipeline = :pipeline AND task = :task AND window_end <= :start), :start)
          AND window_end <= coalesce(
            (SELECT min(window_end) FROM samewise_receipts
             WHERE pipeline = :pipeline AND task = :task AND window_start >= :end), :end)
        ORDER BY generation
        """,
        pipeline=pipeline,
        task=task,
        start=min(window.start for window in windows),
        end=max(window.end for window in windows),
    )
    return list({row["window_key"]: _receipt(row) for row in rows}.values())


@rides_out
def latest_all(store: Store, pipeline: str, task: str) -> dict[str, Receipt]:
    """The newest receipt of every window, by the window's key, in one query."""
    rows = store.rows(
        """
        SELECT r.*
        FROM samewise_receipts r
        JOIN (
            SELECT window_key, max(generation) AS generation FROM samewise_receipts
            WHERE pipeline = :pipeline AND task = :task
            GROUP BY window_key
        ) newest ON r.window_key = newest.window_key AND r.generation = newest.generation
        WHERE r.pipeline = :pipeline AND r.task = :task
        ORDER BY r.window_start
        """,
        pipeline=pipeline,
        task=task,
    )
    return {row["window_key"]: _receipt(row) for row in rows}


@rides_out
def newest_other(store: Store, pipeline: str, task: str, column: str, value: str | None) -> int:
    """The newest generation of the window `full` that landed under another `definition` or `contract`; 0 for none.

    A receipt that does not say, or nothing to compare it with, is not another one.
    """
    if column not in ("definition", "contract"):
        raise ValueError(f"receipts are not told apart by {column}")
    rows = store.rows(
        f"""
        SELECT max(generation) AS generation FROM samewise_receipts
        WHERE pipeline = :pipeline AND task = :task AND window_key = :window_key AND {column} <> :value
        """,
        pipeline=pipeline,
        task=task,
        window_key=FULL.key,
        value=value,
    )
    return rows[0]["generation"] or 0


@rides_out
def runs_after(store: Store, pipeline: str, task: str, generation: int) -> list[RunRecord]:
    """The runs of the window `full` that landed after this generation, newest first."""
    rows = store.rows(
        """
        SELECT r.* FROM samewise_runs r JOIN samewise_receipts t ON t.run_id = r.run_id
        WHERE t.pipeline = :pipeline AND t.task = :task AND t.window_key = :window_key AND t.generation > :generation
        ORDER BY t.generation DESC
        """,
        pipeline=pipeline,
        task=task,
        window_key=FULL.key,
        generation=generation,
    )
    return [from_row(row) for row in rows]


@rides_out
def done_windows(store: Store, pipeline: str, task: str, target: str) -> set[Window]:
    """The windows that have landed in `target`. What landed in another one does not count for this one."""
    rows = store.rows(_DONE, pipeline=pipeline, task=task, target=target)
    return {Window(row["window_start"], row["window_end"]) for row in rows}


def windows_done(connection: Connection, pipeline: str, task: str, target: str) -> set[Window]:
    """The same inside a transaction."""
    from sqlalchemy import text

    found = connection.execute(text(_DONE), {"pipeline": pipeline, "task": task, "target": target})
    return {Window(parse_instant(start), parse_instant(end)) for start, end in found}


@rides_out
def overlapping(store: Store, pipeline: str, task: str, target: str, window: Window) -> Window | None:
    """A window, not this one, that has landed in `target` and shares an instant with it: one of another grid."""
    rows = store.rows(
        """
        SELECT window_start, window_end FROM samewise_receipts
        WHERE pipeline = :pipeline AND task = :task AND target = :target
          AND window_key <> :window_key AND window_start < :end AND window_end > :start
        ORDER BY window_start LIMIT 1
        """,
        pipeline=pipeline,
        task=task,
        target=target,
        window_key=window.key,
        start=window.start,
        end=window.end,
    )
    return Window(rows[0]["window_start"], rows[0]["window_end"]) if rows else None


@rides_out
def earlier(store: Store, run: RunRecord, *, limit: int) -> list[Receipt]:
    """What the windows before this run's hold in its target, newest window first, each by its newest generation.

    For the window `full`: the generations before this one. Receipts without measures are left out.
    """
    from sqlalchemy import and_, func, select

    from samewise.state.tables import receipts

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
    rows = store.rows(
        """
        SELECT window_start, window_end, max(landed_at) AS landed_at FROM samewise_receipts
        WHERE pipeline = :pipeline AND task = :task AND target = :target AND wrote = :wrote
        GROUP BY window_start, window_end
        """,
        pipeline=pipeline,
        task=task,
        target=target,
        wrote=True,
    )
    return {Window(row["window_start"], row["window_end"]): row["landed_at"] for row in rows}


@rides_out
def last_planned(store: Store, pipeline: str, task: str, target: str) -> dict[Window, datetime]:
    """When the newest run of each window that landed in `target` was planned: what came later, it has not read."""
    rows = store.rows(
        """
        SELECT t.window_start, t.window_end, max(r.run_ts) AS run_ts
        FROM samewise_receipts t JOIN samewise_runs r ON t.run_id = r.run_id
        WHERE t.pipeline = :pipeline AND t.task = :task AND t.target = :target
        GROUP BY t.window_start, t.window_end
        """,
        pipeline=pipeline,
        task=task,
        target=target,
    )
    return {Window(row["window_start"], row["window_end"]): row["run_ts"] for row in rows}


def insert(connection: Connection, receipt: Receipt) -> bool:
    """Store a receipt; False, and nothing changed, if its run has one. `landed_at` must be known."""
    from samewise.state.tables import receipts

    return insert_new(connection, receipts, _to_row(receipt), ["run_id"])


def insert_all(connection: Connection, landed: Sequence[Receipt]) -> None:
    """The same for several, each unless its run has one."""
    from samewise.state.tables import receipts

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
        "seen_version": receipt.seen_version,
    }


def _receipt(row: Row) -> Receipt:
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
        seen_version=row["seen_version"],
    )
