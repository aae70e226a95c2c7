"""The row that every task has: locked first, it lines up whatever is decided for a task as a whole."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, select

from samewise.state.engine import insert_new
from samewise.state.tables import tasks


def lock(connection: Connection, pipeline: str, task: str) -> Row[Any]:
    """The task's row, made if need be and ours until the transaction ends."""
    insert_new(
        connection,
        tasks,
        {"pipeline": pipeline, "task": task, "watermark_moves": 0, "contracts": 0, "epoch": 0, "era": 0},
        ["pipeline", "task"],
    )
    return connection.execute(select(tasks).where(of(pipeline, task)).with_for_update()).one()


def of(pipeline: str, task: str) -> ColumnElement[bool]:
    """The condition for a task's row."""
    return and_(tasks.c.pipeline == pipeline, tasks.c.task == task)
