"""Groups: runs of neighbouring windows that are published in one commit. Each write is for all of them, or for none.

A group's own attempt holds the leases of all its windows. Whoever holds one of them may end the group: then its own
attempt cannot write any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import func, select, update

from samewise.core.errors import Conflict, SamewiseError
from samewise.core.records import Point, Receipt, RunRecord, RunStatus
from samewise.core.windows import Window
from samewise.state import receipts
from samewise.state import tasks as task_rows
from samewise.state.checkpoint import Reach, move_on
from samewise.state.contracts import Contract
from samewise.state.engine import insert_all_new, now
from samewise.state.fence import fenced_all
from samewise.state.leases import Lease
from samewise.state.runs import from_row, to_row
from samewise.state.store import Store, rides_out
from samewise.state.tables import attempts, runs


@rides_out
def insert(store: Store, members: Sequence[RunRecord], held: Sequence[Lease]) -> list[RunRecord]:
    """Write down the plan of a group; the records come back with the time of the store's clock.

    A second call changes nothing. Raises `Conflict` if another run has the generation of one of its windows.
    """
    _require_all(members, held)
    with fenced_all(store, held) as connection:
        at = now(connection)
        planned = [replace(member, planned_at=at) for member in members]
        known = connection.execute(select(runs).where(runs.c.group_id == _id(members))).mappings().all()
        if known:  # Written before, by a call whose answer was lost.
            return sorted((from_row(row) for row in known), key=lambda run: run.window)
        insert_all_new(connection, runs, [to_row(member) for member in planned])
        written = set(connection.execute(select(runs.c.run_id).where(runs.c.group_id == _id(members))).scalars())
        for member in planned:
            if member.run_id not in written:
                raise Conflict(
                    f"generation {member.generation} of {member.pipeline} {member.window.key} was planned by "
                    "another run",
                    kept="nothing was published",
                    next_step="run the same command again; it plans a new generation",
                )
    return planned


@rides_out
def members(store: Store, group_id: str) -> list[RunRecord]:
    """The runs of a group, oldest window first."""
    query = select(runs).where(runs.c.group_id == group_id).order_by(runs.c.window_start)
    with store.reading() as connection:
        return [from_row(row) for row in connection.execute(query).mappings()]


@rides_out
def latest_generation(store: Store, pipeline: str, task: str, span: Window) -> int:
    """The highest generation that this store has given to a group of just this span; 0 for none."""
    query = select(func.max(runs.c.group_generation)).where(
        runs.c.pipeline == pipeline, runs.c.task == task, runs.c.group_span == span.key
    )
    with store.reading() as connection:
        return connection.execute(query).scalar() or 0


@rides_out
def advance(
    store: Store, group: Sequence[RunRecord], point: Point, held: Sequence[Lease], *, contract: str | None = None
) -> list[RunRecord]:
    """Write down how far the group has got. A second call changes nothing."""
    _require_all(group, held)
    learnt = {} if contract is None else {"contract": contract}
    with fenced_all(store, held) as connection:
        changed = connection.execute(
            update(runs)
            .where(runs.c.group_id == _id(group), runs.c.status == RunStatus.OPEN)
            .values(point=point, **learnt)
        ).rowcount
        if changed != len(group):
            raise SamewiseError(f"group {_id(group)} is not open, and cannot reach {point}")
    return [replace(member, point=point, contract=contract or member.contract) for member in group]


@rides_out
def checkpoint(
    store: Store,
    group: Sequence[RunRecord],
    landed: Sequence[Receipt],
    held: Sequence[Lease],
    *,
    watermark: Reach | None,
    contract: Contract | None,
) -> None:
    """Every window's receipt, the watermark, the contract and the point, in one transaction. A second call changes
    nothing, and neither does one for a group that has ended."""
    _require_one(group, held)
    first = group[0]
    with fenced_all(store, held) as connection:
        task_rows.lock(connection, first.pipeline, first.task)
        open_runs = select(func.count()).where(runs.c.group_id == _id(group), runs.c.status == RunStatus.OPEN)
        if not connection.execute(open_runs).scalar():
            return
        at = now(connection)
        receipts.insert_all(connection, [replace(receipt, landed_at=receipt.landed_at or at) for receipt in landed])
        span = first.group.span.key if first.group is not None else first.window.key
        move_on(connection, first, f"{span} landed", watermark, contract)
        connection.execute(
            update(runs)
            .where(runs.c.group_id == _id(group), runs.c.status == RunStatus.OPEN)
            .values(point=Point.CHECKPOINTED, contract=landed[0].contract)
        )


@rides_out
def close(
    store: Store,
    group: Sequence[RunRecord],
    status: RunStatus,
    held: Sequence[Lease],
    *,
    error: Mapping[str, Any] | None = None,
) -> None:
    """End the group. One that has ended keeps its first ending."""
    _require_one(group, held)
    with fenced_all(store, held) as connection:
        at = now(connection)
        connection.execute(
            update(runs)
            .where(runs.c.group_id == _id(group), runs.c.status == RunStatus.OPEN)
            .values(status=status, closed_at=at, error=None if error is None else dict(error))
        )
        connection.execute(
            update(attempts)
            .where(attempts.c.run_id.in_([member.run_id for member in group]), attempts.c.status == "running")
            .values(status="lost" if status is RunStatus.ABANDONED else status, ended_at=at)
        )


def _id(group: Sequence[RunRecord]) -> str:
    assert group[0].group is not None
    return group[0].group.group_id


def _require_all(group: Sequence[RunRecord], held: Sequence[Lease]) -> None:
    keys = {(lease.target, lease.window_key) for lease in held}
    if not {(member.target, member.window.key) for member in group} <= keys:
        raise ValueError(f"the leases do not cover every window of group {_id(group)}")


def _require_one(group: Sequence[RunRecord], held: Sequence[Lease]) -> None:
    if not any(lease.covers(member) for lease in held for member in group):
        raise ValueError(f"no lease covers a window of group {_id(group)}")
