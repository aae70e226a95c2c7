"""`samewise watermark`: how far the source has been read, how it came there, and what comes next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from samewise.cli.output import moment, print_json, print_table, say, styled
from samewise.core.errors import Refused, UsageError
from samewise.core.windows import FULL, instant_text
from samewise.plan.local_time import parse_bound
from samewise.run.incremental import Since
from samewise.run.job import Job
from samewise.run.planning import make_plan
from samewise.run.schedule import due
from samewise.state import watermarks
from samewise.state.store import Store
from samewise.wiring.project import Project, open_project

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Move:
    """What was asked for on the command line."""

    value: str | None
    reason: str | None
    task: str | None


def show_watermark(folder: Path, env: str | None, pipeline: str, move: Move, *, as_json: bool) -> int:
    """Show the watermark of each task; with a value, move one first."""
    with open_project(folder, env=env) as project:
        jobs = [job for job in project.graph(pipeline).jobs if move.task in (None, job.task)]
        if move.task is not None and not jobs:
            raise UsageError(f"{pipeline} has no task {move.task!r}", next_step="leave --task out to see them all")
        moved = _move(project, jobs, move)
        # What a person has moved says more by what comes of it: the tasks are looked at afterwards.
        tasks = [_task(project, job) for job in jobs if job.has_watermark]
    if as_json:
        print_json({"schema_version": 1, "pipeline": pipeline, "moved": moved, "tasks": tasks})
        return 0
    if not tasks:
        say(f"{pipeline}: no task has a watermark")
    for task in tasks:
        _show(task)
    return 0


def _move(project: Project, jobs: list[Job], move: Move) -> bool:
    if move.value is None:
        if move.reason is not None:
            raise UsageError("--reason says why a watermark is moved", next_step="say where to with --set VALUE")
        return False
    if not (move.reason or "").strip():
        raise UsageError("a watermark is moved for a reason", next_step="say which with --reason TEXT")
    from samewise.run.watermark import check_settable, set_watermark

    own = [job for job in jobs if isinstance(job.incremental, Since)]
    if not own:
        check_settable(jobs[0])
    if len(own) > 1:
        names = ", ".join(job.task for job in own)
        raise UsageError(f"several tasks have a watermark of their own: {names}", next_step="choose one with --task")
    (job,) = own
    assert isinstance(job.incremental, Since) and move.reason is not None
    try:
        value = parse_bound(move.value, job.incremental.zone)
    except ValueError as error:
        raise UsageError(str(error), next_step="write 2026-04-25, or a time such as 2026-04-25T13:00:00Z") from error
    # The store is made if need be: a watermark may be set before the first run.
    store = project.store
    (job,) = [other for other in project.graph(job.pipeline).jobs if other.task == job.task]
    return set_watermark(job, store, value, move.reason.strip())


def _task(project: Project, job: Job) -> dict[str, Any]:
    store = project.known_store
    mark = None if store is None else watermarks.current(store, job.pipeline, job.task)
    moves = [] if store is None else watermarks.moves(store, job.pipeline, job.task)
    return {
        "task": job.task,
        "watermark": None if mark is None else instant_text(mark),
        "follows_windows": job.grid is not None,
        "next": _next(job, store),
        "moves": [
            {
                "value": instant_text(one.value),
                "moved_at": moment(one.moved_at),
                "run_id": one.run_id,
                "reason": one.reason,
            }
            for one in moves
        ],
    }


def _next(job: Job, store: Store | None) -> dict[str, Any]:
    """What the next run would read: a span, or so many windows."""
    if job.grid is not None:
        now = datetime.now(UTC) if store is None else store.now()
        windows = [job.label(window) for window in due(job, store, now=now)]
        return {"windows": len(windows), "first": windows[0] if windows else None}
    try:
        plan = make_plan(job, FULL, store, force=False)
    except Refused as error:
        error.redact(job.redact)
        return {"refused": error.message}
    pins = plan.inputs.source.details
    why = None if plan.reason is None else plan.reason.value
    return {"from": pins["from"], "to": pins["to"], "reason": why, "reads": plan.inputs.source.summary}


def _show(task: dict[str, Any]) -> None:
    say(styled(f"{task['task']}: {task['watermark'] or 'nothing has been read yet'}", "bold"))
    coming = task["next"]
    if "refused" in coming:
        say(f"  next: cannot run yet: {coming['refused']}")
    elif "windows" in coming:
        first = "" if coming["first"] is None else f", from {coming['first']} on"
        say(f"  next: {coming['windows']} windows{first}; the watermark follows from them")
    else:
        nothing = "" if coming["reason"] is not None else "; nothing new is there"
        say(f"  next: from {coming['from'] or 'the beginning'} to {coming['to']}{nothing}")
    if task["moves"]:
        rows = [(one["moved_at"], one["value"], one["reason"]) for one in task["moves"][:_SHOWN]]
        print_table(("moved", "to", "why"), rows)
    if len(task["moves"]) > _SHOWN:
        say(f"… and {len(task['moves']) - _SHOWN} earlier; --json shows more")
