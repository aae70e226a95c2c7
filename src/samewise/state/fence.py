"""Writes that only the holder of a lease may make. Needs nothing of how leases are given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, Update, and_, select

from samewise.core.errors import LeaseLost
from samewise.state.tables import leases

if TYPE_CHECKING:
    from samewise.core.records import RunRecord
    from samewise.state.leases import Lease
    from samewise.state.store import Store

Statement = TypeVar("Statement", Select[Any], Update)


@contextmanager
def fenced(store: Store, lease: Lease, run: RunRecord) -> Iterator[Connection]:
    """A transaction that commits only while `lease` is the newest one. Raises `LeaseLost` otherwise."""
    if not lease.covers(run):
        raise ValueError(f"the lease of {lease.target} {lease.window_key} does not cover run {run.run_id}")
    with store.transaction() as connection:
        hold(connection, lease)
        yield connection


def hold(connection: Connection, lease: Lease) -> None:
    """Lock the lease's row until the transaction ends. Raises `LeaseLost` if it is another runner's."""
    row = connection.execute(
        select(leases.c.epoch, leases.c.holder).where(row_of(lease.target, lease.window_key)).with_for_update()
    ).one_or_none()
    if row is None or row.epoch != lease.epoch or row.holder is None:
        raise _lost(lease, None if row is None else row.holder)


@contextmanager
def fenced_all(store: Store, held: Sequence[Lease]) -> Iterator[Connection]:
    """A transaction that commits only while every one of these leases is the newest. Raises `LeaseLost` otherwise."""
    with store.transaction() as connection:
        hold_all(connection, held)
        yield connection


def hold_all(connection: Connection, held: Sequence[Lease]) -> None:
    """Lock the leases' rows until the transaction ends. Raises `LeaseLost` if one of them is another runner's."""
    query = rows_of(select(leases), held).order_by(leases.c.window_key).with_for_update()
    rows = {row.window_key: row for row in connection.execute(query)}
    for lease in held:
        row = rows.get(lease.window_key)
        if row is None or row.epoch != lease.epoch or row.holder is None:
            raise _lost(lease, None if row is None else row.holder)


def row_of(target: str, window_key: str) -> ColumnElement[bool]:
    """The condition for a lease's row."""
    return and_(leases.c.target == target, leases.c.window_key == window_key)


def rows_of(statement: Statement, held: Sequence[Lease]) -> Statement:
    """Restricted to the rows of these leases, all of one target."""
    keys = [lease.window_key for lease in held]
    return statement.where(leases.c.target == held[0].target, leases.c.window_key.in_(keys))


def _lost(lease: Lease, holder: Any | None) -> LeaseLost:
    from samewise.state.holders import Holder

    taker = "it was given free" if holder is None else f"{Holder.from_json(holder)} took over"
    return LeaseLost(
        f"{lease.target} {lease.window_key} is no longer this attempt's: {taker}",
        kept="this attempt writes nothing any more; what the other one does stands",
        next_step="`samewise history` shows both attempts",
    )
