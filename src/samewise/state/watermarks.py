"""Watermarks: how far a source has been consumed. Runs move them forward only; a person may move them anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from samewise.core.windows import parse_instant
from samewise.state.engine import now
from samewise.state.plain import fixed_text
from samewise.state.store import Store, rides_out

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from samewise.state.plain import Row


@dataclass(frozen=True, slots=True)
class Move:
    """One step of a watermark."""

    value: datetime
    moved_at: datetime
    run_id: str | None
    reason: str
    moved_by: str | None = None
    """The person; None where a run or a recovery moved it."""


@dataclass(frozen=True, slots=True)
class HandMove:
    """One step that a person made, and from where."""

    task: str
    before: datetime | None
    move: Move


@rides_out
def current(store: Store, pipeline: str, task: str) -> datetime | None:
    """Where the watermark stands; None before its first move."""
    rows = store.rows(
        "SELECT watermark FROM samewise_tasks WHERE pipeline = :pipeline AND task = :task",
        pipeline=pipeline,
        task=task,
    )
    text = rows[0]["watermark"] if rows else None
    return None if text is None else parse_instant(text)


@rides_out
def moves(store: Store, pipeline: str, task: str, *, limit: int = 50) -> list[Move]:
    """How it came there, the newest step first."""
    rows = store.rows(
        """
        SELECT * FROM samewise_watermark_moves WHERE pipeline = :pipeline AND task = :task
        ORDER BY number DESC LIMIT :limit
        """,
        pipeline=pipeline,
        task=task,
        limit=limit,
    )
    return [_move(row) for row in rows]


@rides_out
def moves_by_hand(store: Store, pipeline: str, *, limit: int = 50) -> list[HandMove]:
    """What persons have done to the watermarks of a pipeline, the newest step first."""
    rows = store.rows(
        """
        SELECT m.*, b.value AS value_before FROM samewise_watermark_moves m
        LEFT JOIN samewise_watermark_moves b
          ON b.pipeline = m.pipeline AND b.task = m.task AND b.number = m.number - 1
        WHERE m.pipeline = :pipeline AND m.moved_by IS NOT NULL
        ORDER BY m.moved_at DESC, m.number DESC LIMIT :limit
        """,
        pipeline=pipeline,
        limit=limit,
    )
    return [
        HandMove(row["task"], None if row["value_before"] is None else parse_instant(row["value_before"]), _move(row))
        for row in rows
    ]


def _move(row: Row) -> Move:
    return Move(parse_instant(row["value"]), row["moved_at"], row["run_id"], row["reason"], row["moved_by"])


def move(
    connection: Connection,
    pipeline: str,
    task: str,
    value: datetime,
    *,
    run_id: str | None,
    reason: str,
    backwards: bool = False,
    moved_by: str | None = None,
) -> bool:
    """Move the watermark to `value`; False, and nothing changed, if it is there, or further and may not go back."""
    from sqlalchemy import update

    from samewise.state import tasks as task_rows
    from samewise.state.tables import tasks, watermark_moves

    row = task_rows.lock(connection, pipeline, task)
    known = None if row.watermark is None else parse_instant(row.watermark)
    if known is not None and (known == value or (known > value and not backwards)):
        return False
    number = row.watermark_moves + 1
    text = fixed_text(value)
    connection.execute(update(tasks).where(task_rows.of(pipeline, task)).values(watermark=text, watermark_moves=number))
    connection.execute(
        watermark_moves.insert().values(
            pipeline=pipeline,
            task=task,
            number=number,
            value=text,
            moved_at=now(connection),
            run_id=run_id,
            reason=reason,
            moved_by=moved_by,
        )
    )
    return True
