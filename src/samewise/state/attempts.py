"""Attempts: every try at a run, with its cause, and the staging that it may have left behind."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Connection, RowMapping, and_, func, select, update

from samewise.core.errors import SamewiseError
from samewise.core.records import RunRecord
from samewise.core.windows import Window
from samewise.state.engine import now
from samewise.state.fence import fenced
from samewise.state.leases import Lease, live_holder
from samewise.state.store import Store, rides_out
from samewise.state.tables import attempts, leases, runs


class AttemptStatus(StrEnum):
    """`running` until the attempt ends; `lost` if it never could say how."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REFUSED = "refused"
    SUPERSEDED = "superseded"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at a run."""

    attempt_id: str
    run_id: str
    number: int
    status: AttemptStatus
    started_at: datetime
    ended_at: datetime | None
    error_code: str | None
    error_message: str | None
    host: str
    pid: int
    staging: str | None
    """Where its rows were staged; None if it staged none."""
    staging_dropped: bool


@rides_out
def begin(store: Store, run: RunRecord, lease: Lease, attempt_id: str, staging: str | None) -> int:
    """Start a try and give its number: 1, 2, … Earlier ones that still say `running` become `lost`.

    A second call with the same `attempt_id` changes nothing and gives the same number.
    """
    with fenced(store, lease, run) as connection:
        known = connection.execute(select(attempts.c.number).where(attempts.c.attempt_id == attempt_id)).scalar()
        if known is not None:
            return int(known)
        at = now(connection)
        connection.execute(
            update(attempts)
            .where(attempts.c.run_id == run.run_id, attempts.c.status == AttemptStatus.RUNNING)
            .values(status=AttemptStatus.LOST, ended_at=at)
        )
        number = 1 + _highest_number(connection, run.run_id)
        changed = connection.execute(update(runs).where(runs.c.run_id == run.run_id).values(attempt=number)).rowcount
        if changed == 0:
            raise SamewiseError(f"run {run.run_id} is not in the state store, and cannot be tried")
        connection.execute(
            attempts.insert().values(
                attempt_id=attempt_id,
                run_id=run.run_id,
                number=number,
                epoch=lease.epoch,
                status=AttemptStatus.RUNNING,
                started_at=at,
                host=lease.holder.host,
                pid=lease.holder.pid,
                staging=staging,
                staging_dropped=False,
            )
        )
    return number


@rides_out
def end(
    store: Store,
    run: RunRecord,
    lease: Lease,
    attempt_id: str,
    status: AttemptStatus,
    *,
    error_code: str | None = None,
    error_message: str | None = None,
) -> None:
    """Write down how a try ended. One that has ended keeps its first ending."""
    with fenced(store, lease, run) as connection:
        connection.execute(
            update(attempts)
            .where(
                attempts.c.attempt_id == attempt_id,
                attempts.c.run_id == run.run_id,
                attempts.c.status == AttemptStatus.RUNNING,
            )
            .values(
                status=status,
                ended_at=now(connection),
                error_code=error_code,
                error_message=None if error_message is None else _storable(error_message),
            )
        )


@rides_out
def of_run(store: Store, run_id: str) -> list[Attempt]:
    """Every try at a run, the first one first."""
    query = select(attempts).where(attempts.c.run_id == run_id).order_by(attempts.c.number)
    with store.reading() as connection:
        return [_attempt(row) for row in connection.execute(query).mappings()]


@rides_out
def leftovers(store: Store, pipeline: str, task: str, window: Window | None = None) -> list[Attempt]:
    """Tries whose staging is still there and that no live attempt owns, oldest first.

    Live is one that runs under its window's newest lease, unless the holder's process is known to be gone.
    """
    query = (
        select(attempts, leases.c.epoch.label("lease_epoch"), leases.c.holder)
        .join(runs, attempts.c.run_id == runs.c.run_id)
        .outerjoin(
            leases,
            and_(leases.c.target == runs.c.target, leases.c.window_key == runs.c.window_key),
        )
        .where(
            runs.c.pipeline == pipeline,
            runs.c.task == task,
            attempts.c.staging.is_not(None),
            attempts.c.staging_dropped.is_(False),
        )
        .order_by(attempts.c.started_at, attempts.c.number)
    )
    if window is not None:
        query = query.where(runs.c.window_key == window.key)
    with store.reading() as connection:
        rows = connection.execute(query).mappings().all()
    return [_attempt(row) for row in rows if not _is_live(row)]


@rides_out
def mark_dropped(store: Store, attempt_id: str) -> None:
    """Remember that a try's staging is gone. A second call changes nothing.

    Needs no lease: it says something about the past that stays true whoever holds the window.
    """
    with store.transaction() as connection:
        connection.execute(update(attempts).where(attempts.c.attempt_id == attempt_id).values(staging_dropped=True))


def _highest_number(connection: Connection, run_id: str) -> int:
    highest = connection.execute(select(func.max(attempts.c.number)).where(attempts.c.run_id == run_id)).scalar()
    return highest or 0


def _is_live(row: RowMapping) -> bool:
    return (
        row["status"] == AttemptStatus.RUNNING
        and row["lease_epoch"] == row["epoch"]
        and live_holder(row["holder"]) is not None
    )


def _storable(message: str) -> str:
    # A message may quote the user's bytes: PostgreSQL takes no NUL, and neither takes half a surrogate pair.
    return message.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")


def _attempt(row: RowMapping) -> Attempt:
    return Attempt(
        attempt_id=row["attempt_id"],
        run_id=row["run_id"],
        number=row["number"],
        status=AttemptStatus(row["status"]),
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        error_code=row["error_code"],
        error_message=row["error_message"],
        host=row["host"],
        pid=row["pid"],
        staging=row["staging"],
        staging_dropped=row["staging_dropped"],
    )
