"""Runs: what was planned, how far it got, how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, RowMapping, and_, func, select, update

from samewise.core.errors import Conflict, SamewiseError
from samewise.core.records import Pins, Point, RunRecord, RunStatus
from samewise.core.windows import Window
from samewise.state.engine import insert_new, now
from samewise.state.fence import fenced
from samewise.state.store import Store, rides_out
from samewise.state.tables import attempts, runs

if TYPE_CHECKING:
    from samewise.core.groups import Group
    from samewise.state.leases import Lease


@rides_out
def insert_run(store: Store, record: RunRecord, lease: Lease) -> RunRecord:
    """Write down a plan; the record comes back with the time of the store's clock.

    A second call with the same run changes nothing. Raises `Conflict` if another run has this
    generation of the window.
    """
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
    with store.reading() as connection:
        row = connection.execute(select(runs).where(runs.c.run_id == run_id)).mappings().one_or_none()
    return None if row is None else from_row(row)


@rides_out
def open_run(store: Store, pipeline: str, task: str, window: Window) -> RunRecord | None:
    """The newest run of this window that is not over, or None."""
    query = (
        select(runs)
        .where(_of_window(pipeline, task, window), runs.c.status == RunStatus.OPEN)
        .order_by(runs.c.generation.desc())
        .limit(1)
    )
    with store.reading() as connection:
        row = connection.execute(query).mappings().one_or_none()
    return None if row is None else from_row(row)


@rides_out
def open_windows(store: Store, pipeline: str, task: str) -> set[Window]:
    """Windows with a run that is not over."""
    query = select(runs.c.window_key).where(
        runs.c.pipeline == pipeline, runs.c.task == task, runs.c.status == RunStatus.OPEN
    )
    with store.reading() as connection:
        return {Window.from_key(key) for key in connection.execute(query).scalars()}


@rides_out
def ended_badly(store: Store, pipeline: str, task: str) -> list[RunRecord]:
    """The newest run of each window whose newest run was refused or failed, oldest window first."""
    of_task = and_(runs.c.pipeline == pipeline, runs.c.task == task)
    latest = select(runs.c.window_key, func.max(runs.c.generation).label("generation")).where(of_task)
    newest = latest.group_by(runs.c.window_key).subquery()
    query = (
        select(runs)
        .join(newest, and_(runs.c.window_key == newest.c.window_key, runs.c.generation == newest.c.generation))
        .where(of_task, runs.c.status.in_([RunStatus.REFUSED, RunStatus.FAILED]))
        .order_by(runs.c.window_start)
    )
    with store.reading() as connection:
        return [from_row(row) for row in connection.execute(query).mappings()]


@rides_out
def latest_generation(store: Store, pipeline: str, task: str, window: Window) -> int:
    """The highest generation that this store has seen for the window; 0 for none."""
    query = select(func.max(runs.c.generation)).where(_of_window(pipeline, task, window))
    with store.reading() as connection:
        return connection.execute(query).scalar() or 0


@rides_out
def newest(store: Store, pipeline: str, task: str, windows: Sequence[Window]) -> dict[Window, RunRecord]:
    """The run with the highest generation of each of some windows that have one, in one query."""
    span = Window(min(w.start for w in windows), max(w.end for w in windows))
    query = (
        select(runs)
        .where(
            runs.c.pipeline == pipeline,
            runs.c.task == task,
            runs.c.window_start >= span.start,
            runs.c.window_end <= span.end,
        )
        .order_by(runs.c.generation)
    )
    wanted = set(windows)
    with store.reading() as connection:
        found = [from_row(row) for row in connection.execute(query).mappings()]
    return {run.window: run for run in found if run.window in wanted}


@rides_out
def advance(store: Store, run: RunRecord, point: Point, lease: Lease, *, contract: str | None = None) -> RunRecord:
    """Write down how far the run has got, with what was learnt there. A second call changes nothing."""
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
    query = select(runs).where(runs.c.pipeline == pipeline)
    if task is not None:
        query = query.where(runs.c.task == task)
    newest_first = query.order_by(runs.c.planned_at.desc(), runs.c.window_start.desc(), runs.c.generation.desc())
    with store.reading() as connection:
        return [from_row(row) for row in connection.execute(newest_first.limit(limit)).mappings()]


def repeats(store: Store) -> dict[str, int]:
    """How often each pipeline was retried (attempts after the first) or loaded again (generations after the first)."""
    retried = (
        select(runs.c.pipeline, func.count())
        .select_from(attempts.join(runs, attempts.c.run_id == runs.c.run_id))
        .where(attempts.c.number > 1)
        .group_by(runs.c.pipeline)
    )
    again = select(runs.c.pipeline, func.count()).where(runs.c.generation > 1).group_by(runs.c.pipeline)
    found: dict[str, int] = {}
    with store.reading() as connection:
        for query in (retried, again):
            for pipeline, count in connection.execute(query):
                found[pipeline] = found.get(pipeline, 0) + int(count)
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


def from_row(row: RowMapping) -> RunRecord:
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


def _group(row: RowMapping) -> Group | None:
    if row["group_id"] is None:
        return None
    from samewise.core.groups import Group

    return Group(row["group_id"], Window.from_key(row["group_span"]), row["group_generation"])


def _of_window(pipeline: str, task: str, window: Window) -> ColumnElement[bool]:
    return and_(runs.c.pipeline == pipeline, runs.c.task == task, runs.c.window_key == window.key)
