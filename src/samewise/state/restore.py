"""What `samewise recover` writes: records rebuilt from a target. Nothing that is there is overwritten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from samewise.core.records import Receipt, RunRecord, RunStatus
from samewise.plan.new_files import Loaded
from samewise.state import files, receipts, runs, watermarks
from samewise.state.engine import insert_new, now
from samewise.state.store import Store
from samewise.state.tables import runs as runs_table


def restore_run(store: Store, record: RunRecord, receipt: Receipt | None) -> bool:
    """Insert a run that is over, and its receipt. False, and nothing changed, if this run or another
    one with its window and generation is known.

    Needs no lease: it only adds what nobody else can write any more.
    """
    if record.status is RunStatus.OPEN:
        raise ValueError("only a run that is over can be restored")
    if receipt is not None and receipt.run_id != record.run_id:
        raise ValueError(f"the receipt is of run {receipt.run_id}, not of {record.run_id}")
    with store.transaction() as connection:
        at = now(connection)
        landed_at = at if receipt is None else receipt.landed_at or at
        known = replace(
            record,
            planned_at=record.planned_at or record.run_ts,
            closed_at=record.closed_at or landed_at,
        )
        if not insert_new(connection, runs_table, runs.to_row(known)):
            return False
        if receipt is not None:
            receipts.insert(connection, replace(receipt, recovered=True, landed_at=landed_at))
    return True


def restore_watermark(store: Store, pipeline: str, task: str, value: datetime, reason: str) -> bool:
    """Move the watermark to `value`; False, and nothing changed, if it is there or further already."""
    with store.transaction() as connection:
        return watermarks.move(connection, pipeline, task, value, run_id=None, reason=reason)


def restore_moved_watermark(
    store: Store,
    pipeline: str,
    task: str,
    value: datetime,
    reason: str,
    *,
    run_id: str | None = None,
    moved_by: str | None = None,
) -> bool:
    """The same, also backwards: for a move by a person that the target remembers and the store does not."""
    with store.transaction() as connection:
        return watermarks.move(
            connection, pipeline, task, value, run_id=run_id, reason=reason, backwards=True, moved_by=moved_by
        )


def restore_files(store: Store, pipeline: str, task: str, loaded: Mapping[str, Loaded], run_id: str) -> None:
    """Put files into the ledger, as the commit that loaded them tells."""
    with store.transaction() as connection:
        files.put(connection, pipeline, task, loaded, run_id)
