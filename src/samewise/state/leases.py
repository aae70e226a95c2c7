"""Leases: one runner at a time for each (target, window).

A lease's epoch rises by one at each acquisition and never falls, so that it tells a holder from the
one that took over. Every write to a run's rows goes through `fence.fenced`, which holds the lease's row for
the length of the transaction: whoever takes over waits for it, or makes it fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, select, update

from samewise.core.errors import Busy
from samewise.core.records import RunRecord
from samewise.core.windows import instant_text
from samewise.state.engine import insert_all_new, insert_new, now
from samewise.state.fence import hold, hold_all, row_of, rows_of
from samewise.state.holders import Holder, is_gone
from samewise.state.store import Store, rides_out
from samewise.state.tables import leases


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to run one window of one target. Past its expiry it still holds until someone takes over."""

    target: str
    window_key: str
    epoch: int
    holder: Holder
    ttl_seconds: float
    acquired_at: datetime
    expires_at: datetime

    def covers(self, run: RunRecord) -> bool:
        """Whether this lease is for the run's target and window."""
        return (self.target, self.window_key) == (run.target, run.window.key)


def acquire(store: Store, target: str, window_key: str, holder: Holder, ttl_seconds: float) -> Lease:
    """Take the window. Raises `Busy`, which names the holder, while another one has it.

    One that has expired, or whose process is known to be gone, is taken over. A second call is
    `Busy` too, also from the same process: two threads are two runners.
    """
    return _acquire(store, target, window_key, holder, ttl_seconds, [])


@rides_out
def _acquire(
    store: Store, target: str, window_key: str, holder: Holder, ttl_seconds: float, asked: list[Lease]
) -> Lease:
    """`asked` are the leases that were asked for when the connection broke: each may have been given."""
    with store.transaction() as connection:
        return _take(connection, target, window_key, holder, ttl_seconds, asked)


def _take(
    connection: Connection, target: str, window_key: str, holder: Holder, ttl_seconds: float, asked: list[Lease]
) -> Lease:
    # There is always a row to lock, so that two first runners line up as well.
    insert_new(
        connection,
        leases,
        {"target": target, "window_key": window_key, "epoch": 0},
        ["target", "window_key"],
    )
    row = connection.execute(select(leases).where(row_of(target, window_key)).with_for_update()).one()
    given = _given(row, holder, asked)
    if given is not None:
        return given
    at = now(connection)
    _check_free(row, target, at)
    lease = _next(row, target, holder, ttl_seconds, at)
    asked.append(lease)
    connection.execute(
        update(leases)
        .where(row_of(target, window_key))
        .values(
            epoch=lease.epoch,
            holder=holder.to_json(),
            acquired_at=lease.acquired_at,
            expires_at=lease.expires_at,
        )
    )
    return lease


def _given(row: Row[Any], holder: Holder, asked: Sequence[Lease]) -> Lease | None:
    """The lease that was given in answer to a call whose connection broke, if it was."""
    for lease in asked:
        # To the microsecond: another thread of this process has the same name.
        same = (row.window_key, row.epoch, row.acquired_at) == (lease.window_key, lease.epoch, lease.acquired_at)
        if same and row.holder == holder.to_json():
            return lease
    return None


def _check_free(row: Row[Any], target: str, at: datetime) -> None:
    if row.holder is not None:
        other = Holder.from_json(row.holder)
        if row.expires_at > at and not is_gone(other):
            raise _busy(target, row.window_key, other, row.acquired_at, row.expires_at)


def _next(row: Row[Any], target: str, holder: Holder, ttl_seconds: float, at: datetime) -> Lease:
    return Lease(
        target=target,
        window_key=row.window_key,
        epoch=row.epoch + 1,
        holder=holder,
        ttl_seconds=ttl_seconds,
        acquired_at=at,
        expires_at=at + timedelta(seconds=ttl_seconds),
    )


def acquire_all(
    store: Store, target: str, window_keys: Sequence[str], holder: Holder, ttl_seconds: float
) -> list[Lease]:
    """Take all of these windows, or none: raises `Busy` while another runner has one of them."""
    # In one order everywhere, so that two runners cannot wait for each other.
    return _acquire_all(store, target, sorted(window_keys), holder, ttl_seconds, [])


@rides_out
def _acquire_all(
    store: Store, target: str, keys: Sequence[str], holder: Holder, ttl_seconds: float, asked: list[Lease]
) -> list[Lease]:
    with store.transaction() as connection:
        # There is always a row to lock, so that two first runners line up as well.
        rows = [{"target": target, "window_key": key, "epoch": 0} for key in keys]
        insert_all_new(connection, leases, rows, ["target", "window_key"])
        mine = and_(leases.c.target == target, leases.c.window_key.in_(keys))
        found = connection.execute(select(leases).where(mine).order_by(leases.c.window_key).with_for_update()).all()
        given = [lease for row in found if (lease := _given(row, holder, asked)) is not None]
        if len(given) == len(found):
            return given
        at = now(connection)
        for row in found:
            _check_free(row, target, at)
        held = [_next(row, target, holder, ttl_seconds, at) for row in found]
        asked.extend(held)
        connection.execute(
            update(leases)
            .where(mine)
            .values(
                epoch=leases.c.epoch + 1,
                holder=holder.to_json(),
                acquired_at=at,
                expires_at=held[0].expires_at,
            )
        )
        return held


def renew(store: Store, lease: Lease) -> Lease:
    """Push the expiry out, counted from now. Raises `LeaseLost` if another runner took over.

    Never waits for a server that is away: whoever renews must know in time that the lease has run out.
    """
    with store.transaction(patient=False) as connection:
        hold(connection, lease)
        expires_at = now(connection) + timedelta(seconds=lease.ttl_seconds)
        connection.execute(update(leases).where(row_of(lease.target, lease.window_key)).values(expires_at=expires_at))
    return replace(lease, expires_at=expires_at)


@rides_out
def release(store: Store, lease: Lease) -> None:
    """Give the window free. A second call, or one after a takeover, changes nothing."""
    with store.transaction() as connection:
        # The row and its epoch stay: an epoch that started again would let an old holder write.
        connection.execute(
            update(leases)
            .where(row_of(lease.target, lease.window_key), leases.c.epoch == lease.epoch)
            .values(holder=None, acquired_at=None, expires_at=None)
        )


def orphan(store: Store) -> int:
    """Make every lease of this process look as if its holder had been killed; how many there were.

    For `prove`, which dies in the middle of a run without ending its process: on a scratch store only.
    """
    holder = Holder.current()
    dead = replace(holder, started=-1)
    with store.transaction() as connection:
        held = connection.execute(select(leases.c.target, leases.c.window_key, leases.c.holder)).all()
        mine = [row for row in held if row.holder == holder.to_json()]
        for row in mine:
            connection.execute(update(leases).where(row_of(row.target, row.window_key)).values(holder=dead.to_json()))
    return len(mine)


def renew_all(store: Store, held: Sequence[Lease]) -> list[Lease]:
    """The same for all of them at once. Raises `LeaseLost` if another runner took over one."""
    with store.transaction(patient=False) as connection:
        hold_all(connection, held)
        expires_at = now(connection) + timedelta(seconds=held[0].ttl_seconds)
        connection.execute(rows_of(update(leases), held).values(expires_at=expires_at))
    return [replace(lease, expires_at=expires_at) for lease in held]


@rides_out
def release_all(store: Store, held: Sequence[Lease]) -> None:
    """Give the windows free, each unless it was taken over. A second call changes nothing."""
    with store.transaction() as connection:
        mine = and_(
            leases.c.target == bindparam("its_target"),
            leases.c.window_key == bindparam("its_key"),
            leases.c.epoch == bindparam("its_epoch"),
        )
        connection.execute(
            update(leases).where(mine).values(holder=None, acquired_at=None, expires_at=None),
            [
                {"its_target": lease.target, "its_key": lease.window_key, "its_epoch": lease.epoch}
                for lease in sorted(held, key=lambda lease: lease.window_key)
            ],
        )


@rides_out
def owner(store: Store, target: str, window_key: str) -> Holder | None:
    """The process that has the window now, as far as is known; None if it is free or its holder is gone."""
    with store.reading() as connection:
        found = connection.execute(select(leases.c.holder).where(row_of(target, window_key))).scalar()
    return live_holder(found)


def live_holder(found: Any | None) -> Holder | None:
    """The holder in a lease's row, unless there is none or its process is gone."""
    holder = None if found is None else Holder.from_json(found)
    return None if holder is None or is_gone(holder) else holder


def _busy(target: str, window_key: str, other: Holder, since: datetime, until: datetime) -> Busy:
    return Busy(
        f"{target} {window_key} is being run by {other}, since {instant_text(since)}",
        kept="nothing was started",
        next_step=f"run again with --wait, or after it ends; a holder that dies without a trace"
        f" gives it free at {instant_text(until)}",
    )
