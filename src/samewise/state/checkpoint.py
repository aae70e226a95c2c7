"""The checkpoint: everything that a landed commit changes in the state store, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

from sqlalchemy import Connection, select, update

from samewise.core.errors import SamewiseError
from samewise.core.records import Point, Receipt, RunRecord, RunStatus
from samewise.core.windows import Window
from samewise.plan.new_files import Loaded
from samewise.state import contracts, files, receipts, watermarks
from samewise.state import tasks as task_rows
from samewise.state.contracts import Contract
from samewise.state.engine import now
from samewise.state.fence import fenced
from samewise.state.leases import Lease
from samewise.state.store import Store, rides_out
from samewise.state.tables import runs

Reach: TypeAlias = datetime | Callable[[AbstractSet[Window]], datetime | None]
"""Where the watermark should stand: outright, or from all windows that have landed, this one included."""


@rides_out
def checkpoint(
    store: Store,
    run: RunRecord,
    receipt: Receipt,
    lease: Lease,
    *,
    watermark: Reach | None = None,
    contract: Contract | None = None,
    loaded: Mapping[str, Loaded] | None = None,
) -> RunRecord:
    """Store the receipt, move the watermark, accept the contract, note the files, set the point: all or nothing.

    A second call changes nothing. A watermark never moves backwards: one that would is left where it
    is. Raises `LeaseLost` if another attempt took over.
    """
    if receipt.run_id != run.run_id:
        raise ValueError(f"the receipt is of run {receipt.run_id}, not of {run.run_id}")
    with fenced(store, lease, run) as connection:
        # First of all, so that of two windows that end together the second sees the first one's receipt.
        task_rows.lock(connection, run.pipeline, run.task)
        status, point = connection.execute(
            select(runs.c.status, runs.c.point).where(runs.c.run_id == run.run_id)
        ).one_or_none() or (None, None)
        if status != RunStatus.OPEN:
            if point in (Point.CHECKPOINTED, Point.DELIVERED):
                return replace(run, point=Point(point))
            raise SamewiseError(f"run {run.run_id} is {status or 'unknown'}, and has no checkpoint")
        receipts.insert(connection, replace(receipt, landed_at=receipt.landed_at or now(connection)))
        move_on(connection, run, f"{run.window.key} landed", watermark, contract)
        files.put(connection, run.pipeline, run.task, loaded or {}, run.run_id)
        if point != Point.DELIVERED:
            connection.execute(
                update(runs)
                .where(runs.c.run_id == run.run_id)
                .values(point=Point.CHECKPOINTED, contract=receipt.contract)
            )
    return replace(run, point=Point.CHECKPOINTED, contract=receipt.contract)


def move_on(
    connection: Connection, run: RunRecord, reason: str, watermark: Reach | None, contract: Contract | None
) -> None:
    """Move the watermark and accept the contract, once the receipts of what landed are stored."""
    reached = watermark
    if callable(reached):
        reached = reached(receipts.windows_done(connection, run.pipeline, run.task, run.target))
    if reached is not None:
        watermarks.move(connection, run.pipeline, run.task, reached, run_id=run.run_id, reason=reason)
    if contract is not None:
        contracts.put(connection, run.pipeline, run.task, contract, run_id=run.run_id, reason=reason)
