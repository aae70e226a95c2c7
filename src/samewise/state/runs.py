"""Runs: what was planned, how far it got, how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from samewise.core.errors import Conflict, SamewiseError
from samewise.core.records import Pins, Point, RunRecord, RunStatus
from samewise.core.windows import Window
from samewise.state.engine import insert_new, now
from samewise.state.store import Store, rides_out

if TYPE_CHECKING:
    from samewise.core.groups import Group
    from samewise.state.leases import Lease
    from samewise.state.plain import Row


@rides_out
def insert_run(store: Store, record: RunRecord, lease: Lease) -> RunRecord:
    """Write down a plan; the record comes back with the time of the store's clock.

    A second call with the same run changes nothing. Raises `Conflict` if another run has this
    generation of the window.
    """
    from sqlalchemy import select

    from samewise.state.fence import fenced
    from samewise.state.tables import runs

    with fenced(store, lease, record) as connection:
        planned = replace(record, planned_at=record.planned_at or now(connection))
        if insert_new(connection, runs, to_row(planned)):
            return planned
        row = connection.execute(select(runs).where(runs.c.run_id == record.run_id)).mappings().one_or_none()
        if row is None:
            raise Conflict(
                f"generation {record.generation} of {record.pipeline} {record.window.key} was planned by another run",
                kept="nothing was published",
                next_step="run the same command again; it plans a new generation",
            )
        return from_row(row)


@rides_out
def get(store: Store, run_id: str) -> RunRecord | None:
    """One run, or None."""
    rows = store.rows("SELECT * FROM samewise_runs WHERE run_id = :run_id", run_id=run_id)
    return from_row(rows[0]) if rows else None


@rides_out
def open_run(store: Store, pipeline: str, task: str, window: Window) -> RunRecord | None:
    """The newest run of this window that is not over, or None."""
    rows = store.rows(
        """
        SELECT * FROM samewise_runs
        WHERE pipeline = :pipeline AND task = :task AND window_key = :window_key AND status = :status
        ORDER BY generation DESC LIMIT 1
        """,
        pipeline=pipeline,
        task=task,
        window_key=window.key,
        status=RunStatus.OPEN.value,
    )
    return from_row(rows[0]) if rows else None


@rides_out
def open_windows(store: Store, pipeline: str, task: str) -> set[Window]:
    """Windows with a run that is not over."""
    rows = store.rows(
        "SELECT window_key FROM samewise_runs WHERE pipeline = :pipeline AND task = :task AND status = :status",
        pipeline=pipeline,
        task=task,
        status=RunStatus.OPEN.value,
    )
    return {Window.from_key(row["window_key"]) for row in rows}


@rides_out
def ended_badly(store: Store, pipeline: str, task: str) -> list[RunRecord]:
    """The newest run of each window whose newest run was refused or failed, oldest window first."""
    rows = store.rows(
        """
        SELECT r.*
        FROM samewise_runs r
        JOIN (
            SELECT window_key, max(generation) AS generation FROM samewise_runs
            WHERE pipeline = :pipeline AND task = :task
            GROUP BY window_key
        ) newest ON r.window_key = newest.window_key AND r.generation = newest.generation
        WHERE r.pipeline = :pipeline AND r.task = :task AND r.status IN (:refused, :failed)
        ORDER BY r.window_start
        """,
        pipeline=pipeline,
        task=task,
        refused=RunStatus.REFUSED.value,
        failed=RunStatus.FAILED.value,
    )
    return [from_row(row) for row in rows]


@rides_out
def refused_windows(store: Store, pipeline: str, task: str, code: str) -> list[Window]:
    """Windows whose run was refused with this error code, and that no later run has loaded; newest refusal first."""
    rows = store.rows(
        """
        SELECT r.window_key, r.error
        FROM samewise_runs r
        WHERE r.pipeline = :pipeline AND r.task = :task AND r.status = :refused AND NOT EXISTS (
            SELECT 1 FROM samewise_runs later
            WHERE later.pipeline = r.pipeline AND later.task = r.task AND later.window_key = r.window_key
                AND later.generation > r.generation AND later.status = :succeeded
        )
        ORDER BY r.planned_at DESC, r.window_start DESC, r.generation DESC
        """,
        pipeline=pipeline,
        task=task,
        refused=RunStatus.REFUSED.value,
        succeeded=RunStatus.SUCCEEDED.value,
    )
    found = [Window.from_key(row["window_key"]) for row in rows if (row["error"] or {}).get("code") == code]
    return list(dict.fromkeys(found))


@rides_out
def latest_generation(store: Store, pipeline: str, task: str, window: Window) -> int:
    """The highest generation that this store has seen for the window; 0 for none."""
    rows = store.rows(
        """
        SELECT max(generation) AS generation FROM samewise_runs
        WHERE pipeline = :pipeline AND task = :task AND window_key = :window_key
        """,
        pipeline=pipeline,
        task=task,
        window_key=window.key,
    )
    return rows[0]["generation"] or 0


@rides_out
def newest(store: Store, pipeline: str, task: str, windows: Sequence[Window]) -> dict[Window, RunRecord]:
    """The run with the highest generation of each of some windows that have one, in one query."""
    rows = store.rows(
        """
        SELECT * FROM samewise_runs
        WHERE pipeline = :pipeline AND task = :task AND window_start >= :start AND window_end <= :end
        ORDER BY generation
        """,
        pipeline=pipeline,
        task=task,
        start=min(window.start for window in windows),
        end=max(window.end for window in windows),
    )
    wanted = set(windows)
    found = [from_row(row) for row in rows]
    return {run.window: run for run in found if run.window in wanted}


@rides_out
def advance(store: Store, run: RunRecord, point: Point, lease: Lease, *, contract: str | None = None) -> RunRecord:
    """Write down how far the run has got, with what was learnt there. A second call changes nothing."""
    from sqlalchemy import update

    from samewise.state.fence import fenced
    from samewise.state.tables import runs

    learnt = {} if contract is None else {"contract": contract}
    with fenced(store, lease, run) as connection:
        changed = connection.execute(
            update(runs)
            .where(runs.c.run_id == run.run_id, runs.c.status == RunStatus.OPEN)
            .values(point=point, **learnt)
        ).rowcount
        if changed == 0:
            raise SamewiseError(f"run {run.run_id} is not open, and cannot reach {point}")
    return replace(run, point=point, contract=contract or run.contract)


@rides_out
def close(
    store: Store,
    run: RunRecord,
    status: RunStatus,
    lease: Lease,
    error: Mapping[str, Any] | None = None,
) -> RunRecord:
    """End the run. A second call with the same status changes nothing; another status is a bug."""
    if status is RunStatus.OPEN:
        raise ValueError("a run is not closed by opening it")
    from sqlalchemy import select, update

    from samewise.state.fence import fenced
    from samewise.state.tables import attempts, runs

    with fenced(store, lease, run) as connection:
        at = now(connection)
        connection.execute(
            update(runs)
            .where(runs.c.run_id == run.run_id, runs.c.status == RunStatus.OPEN)
            .values(status=status, closed_at=at, error=None if error is None else dict(error))
        )
        if status is RunStatus.ABANDONED:
            # No attempt will come that could notice that these have died.
            connection.execute(
                update(attempts)
                .where(attempts.c.run_id == run.run_id, attempts.c.status == "running")
                .values(status="lost", ended_at=at)
            )
        row = connection.execute(select(runs).where(runs.c.run_id == run.run_id)).mappings().one_or_none()
        closed = None if row is None else from_row(row)
        if closed is None or closed.status is not status:
            ended = "unknown" if closed is None else closed.status
            raise SamewiseError(f"run {run.run_id} is {ended}, and cannot become {status}")
    return closed


@rides_out
def history(store: Store, pipeline: str, task: str | None = None, *, limit: int = 50) -> list[RunRecord]:
    """The newest runs first."""
    of_task = "" if task is None else "AND task = :task"
    rows = store.rows(
        f"""
        SELECT * FROM samewise_runs WHERE pipeline = :pipeline {of_task}
        ORDER BY planned_at DESC, window_start DESC, generation DESC LIMIT :limit
        """,
        pipeline=pipeline,
        limit=limit,
        **({} if task is None else {"task": task}),
    )
    return [from_row(row) for row in rows]


def repeats(store: Store) -> dict[str, int]:
    """How often each pipeline was retried (attempts after the first) or loaded again (generations after the first)."""
    rows = store.rows(
        """
        SELECT r.pipeline, count(*) AS times
        FROM samewise_attempts a JOIN samewise_runs r ON a.run_id = r.run_id
        WHERE a.number > 1
        GROUP BY r.pipeline
        UNION ALL
        SELECT pipeline, count(*) AS times FROM samewise_runs WHERE generation > 1 GROUP BY pipeline
        """
    )
    found: dict[str, int] = {}
    for row in rows:
        found[row["pipeline"]] = found.get(row["pipeline"], 0) + int(row["times"])
    return found


def to_row(record: RunRecord) -> dict[str, Any]:
    """The columns of a run that has been planned."""
    return {
        "run_id": record.run_id,
        "pipeline": record.pipeline,
        "task": record.task,
        "window_key": record.window.key,
        "window_start": record.window.start,
        "window_end": record.window.end,
        "generation": record.generation,
        "target": record.target,
        "definition": record.definition,
        "run_ts": record.run_ts,
        "source": record.source.to_json(),
        "inputs": {name: pins.to_json() for name, pins in record.inputs.items()},
        "contract": record.contract,
        "base_version": record.base_version,
        "point": record.point,
        "status": record.status,
        "attempt": record.attempt,
        "forced": record.forced,
        "planned_at": record.planned_at,
        "closed_at": record.closed_at,
        "error": None if record.error is None else dict(record.error),
        "epoch": record.epoch,
        "era": record.era,
        "group_id": None if record.group is None else record.group.group_id,
        "group_span": None if record.group is None else record.group.span.key,
        "group_generation": None if record.group is None else record.group.generation,
    }


def from_row(row: Row) -> RunRecord:
    """The inverse of `to_row`."""
    return RunRecord(
        run_id=row["run_id"],
        pipeline=row["pipeline"],
        task=row["task"],
        window=Window(row["window_start"], row["window_end"]),
        generation=row["generation"],
        target=row["target"],
        definition=row["definition"],
        run_ts=row["run_ts"],
        source=Pins.from_json(row["source"]),
        inputs={name: Pins.from_json(pins) for name, pins in row["inputs"].items()},
        contract=row["contract"],
        base_version=row["base_version"],
        point=Point(row["point"]),
        status=RunStatus(row["status"]),
        attempt=row["attempt"],
        forced=row["forced"],
        planned_at=row["planned_at"],
        closed_at=row["closed_at"],
        error=row["error"],
        epoch=row["epoch"],
        era=row["era"],
        group=_group(row),
    )


def _group(row: Row) -> Group | None:
    if row["group_id"] is None:
        return None
    from samewise.core.groups import Group

    return Group(row["group_id"], Window.from_key(row["group_span"]), row["group_generation"])
