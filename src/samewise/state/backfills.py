"""Backfills: what was asked for, under which definition, how far it has come."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, select, update

from samewise.core.windows import Window
from samewise.state import leases
from samewise.state.engine import insert_all_new, now
from samewise.state.store import Store, rides_out
from samewise.state.tables import backfill_windows, backfills


class BackfillStatus(StrEnum):
    """`running` also for one whose process was killed: nobody could say so."""

    RUNNING = "running"
    PAUSED = "paused"
    """Stopped in good order: by a person, or at a window that was refused or failed."""
    CANCELLED = "cancelled"
    DONE = "done"


UNFINISHED = (BackfillStatus.RUNNING, BackfillStatus.PAUSED)


class Outcome(StrEnum):
    """How a backfill was done with a window."""

    LOADED = "loaded"
    UNCHANGED = "unchanged"
    """It held already what a run would give it."""
    NEWER = "newer"
    """It landed after the backfill was planned, by another run or by one of its own that was cut off: that stands."""


@dataclass(frozen=True, slots=True)
class Backfill:
    """A span of windows that is to be loaded, and how far that has come."""

    backfill_id: str
    pipeline: str
    start: datetime
    end: datetime
    newest_first: bool
    forced: bool
    status: BackfillStatus
    pins: Mapping[str, Any]
    """By task: the definition, the contract and the source's version when it was planned."""
    windows: int
    created_at: datetime
    updated_at: datetime
    asked: str | None = None
    """`pause` or `cancel`, where a person has asked for it and the runner has not heard yet."""
    error: Mapping[str, Any] | None = None
    done: Mapping[Window, Outcome] = field(default_factory=dict)

    @property
    def lease_target(self) -> str:
        """Names the lease of whoever runs it."""
        return f"backfill:{self.backfill_id}"


def create(
    store: Store,
    pipeline: str,
    span: Window,
    *,
    newest_first: bool,
    forced: bool,
    pins: Mapping[str, Any],
    windows: int,
) -> Backfill:
    """Write down a new backfill."""
    backfill_id = uuid.uuid4().hex[:8]
    with store.transaction() as connection:
        at = now(connection)
        connection.execute(
            backfills.insert().values(
                backfill_id=backfill_id,
                pipeline=pipeline,
                span_start=span.start,
                span_end=span.end,
                newest_first=newest_first,
                forced=forced,
                status=BackfillStatus.RUNNING,
                pins=dict(pins),
                windows=windows,
                created_at=at,
                updated_at=at,
            )
        )
    found = get(store, backfill_id)
    assert found is not None
    return found


@rides_out
def get(store: Store, backfill_id: str) -> Backfill | None:
    """One backfill with the windows that it is done with, or None."""
    with store.reading() as connection:
        row = connection.execute(select(backfills).where(backfills.c.backfill_id == backfill_id)).mappings().first()
        if row is None:
            return None
        windows = connection.execute(select(backfill_windows).where(backfill_windows.c.backfill_id == backfill_id))
        done = {Window.from_key(each.window_key): Outcome(each.outcome) for each in windows}
    return _backfill(row, done)


@rides_out
def recent(store: Store, pipeline: str | None = None, *, limit: int = 20) -> list[Backfill]:
    """The newest first."""
    return _newest(store, _of(pipeline), limit=limit)


@rides_out
def newest_unfinished(store: Store, pipeline: str | None = None) -> Backfill | None:
    """The newest that is not at its end, however many have ended since; None if there is none."""
    found = _newest(store, [*_of(pipeline), backfills.c.status.in_(UNFINISHED)], limit=1)
    return found[0] if found else None


@rides_out
def unfinished_twin(store: Store, pipeline: str, span: Window, *, newest_first: bool, forced: bool) -> Backfill | None:
    """The newest that was asked for in the same words and is not at its end; None if there is none."""
    same = [
        *_of(pipeline),
        backfills.c.status.in_(UNFINISHED),
        backfills.c.span_start == span.start,
        backfills.c.span_end == span.end,
        backfills.c.newest_first == newest_first,
        backfills.c.forced == forced,
    ]
    found = _newest(store, same, limit=1)
    return found[0] if found else None


@rides_out
def mark(store: Store, backfill_id: str, windows: Sequence[tuple[Window, Outcome]]) -> None:
    """Write down that the backfill is done with these. One that is marked keeps its first mark."""
    with store.transaction() as connection:
        at = now(connection)
        rows = [
            {"backfill_id": backfill_id, "window_key": window.key, "outcome": outcome, "done_at": at}
            for window, outcome in windows
        ]
        insert_all_new(connection, backfill_windows, rows, ["backfill_id", "window_key"])
        connection.execute(update(backfills).where(backfills.c.backfill_id == backfill_id).values(updated_at=at))


@rides_out
def set_status(
    store: Store, backfill_id: str, status: BackfillStatus, *, error: Mapping[str, Any] | None = None
) -> None:
    """Say how it stands; whatever was asked for is answered with that."""
    with store.transaction() as connection:
        connection.execute(
            update(backfills)
            .where(backfills.c.backfill_id == backfill_id)
            .values(status=status, asked=None, error=None if error is None else dict(error), updated_at=now(connection))
        )


@rides_out
def ask(store: Store, backfill_id: str, asked: str) -> None:
    """Leave a request for the process that runs it; it answers after its current commit."""
    with store.transaction() as connection:
        connection.execute(update(backfills).where(backfills.c.backfill_id == backfill_id).values(asked=asked))


@rides_out
def asked(store: Store, backfill_id: str) -> str | None:
    """What a person has asked for since, if anything."""
    with store.reading() as connection:
        query = select(backfills.c.asked).where(backfills.c.backfill_id == backfill_id)
        return connection.execute(query).scalar()


@rides_out
def repin(store: Store, backfill_id: str, pins: Mapping[str, Any]) -> None:
    """Go on under another definition."""
    with store.transaction() as connection:
        values = {"pins": dict(pins), "updated_at": now(connection)}
        connection.execute(update(backfills).where(backfills.c.backfill_id == backfill_id).values(**values))


@rides_out
def is_live(store: Store, backfill: Backfill) -> bool:
    """Whether a process is at work on it, as far as is known."""
    return leases.owner(store, backfill.lease_target, "backfill") is not None


def _of(pipeline: str | None) -> list[ColumnElement[bool]]:
    return [] if pipeline is None else [backfills.c.pipeline == pipeline]


def _newest(store: Store, conditions: Sequence[ColumnElement[bool]], *, limit: int) -> list[Backfill]:
    query = select(backfills.c.backfill_id).where(*conditions).order_by(backfills.c.created_at.desc()).limit(limit)
    with store.reading() as connection:
        ids = list(connection.execute(query).scalars())
    return [found for backfill_id in ids if (found := get(store, backfill_id)) is not None]


def _backfill(row: RowMapping, done: Mapping[Window, Outcome]) -> Backfill:
    return Backfill(
        backfill_id=row["backfill_id"],
        pipeline=row["pipeline"],
        start=row["span_start"],
        end=row["span_end"],
        newest_first=row["newest_first"],
        forced=row["forced"],
        status=BackfillStatus(row["status"]),
        pins=row["pins"],
        windows=row["windows"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        asked=row["asked"],
        error=row["error"],
        done=done,
    )
