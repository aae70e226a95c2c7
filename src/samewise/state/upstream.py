"""Up to which landing of each incremental task upstream a task's loaded windows have been looked at."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from samewise.core.windows import parse_instant
from samewise.state.plain import fixed_text
from samewise.state.store import Store, rides_out


@rides_out
def seen(store: Store, pipeline: str, task: str) -> dict[str, datetime]:
    """The landing that was looked at last, by the name of the task upstream."""
    rows = store.rows(
        "SELECT upstream FROM samewise_tasks WHERE pipeline = :pipeline AND task = :task", pipeline=pipeline, task=task
    )
    found = rows[0]["upstream"] if rows else None
    return {name: parse_instant(at) for name, at in (found or {}).items()}


@rides_out
def see(store: Store, pipeline: str, task: str, landed: Mapping[str, datetime]) -> None:
    """Remember these landings; one that is older than what is known changes nothing."""
    from sqlalchemy import update

    from samewise.state import tasks as task_rows
    from samewise.state.tables import tasks

    with store.transaction() as connection:
        known: dict[str, str] = task_rows.lock(connection, pipeline, task).upstream or {}
        # Texts of one width sort as the instants do.
        new = {name: max(known.get(name, ""), fixed_text(at)) for name, at in landed.items()}
        connection.execute(update(tasks).where(task_rows.of(pipeline, task)).values(upstream={**known, **new}))
