"""`samewise contract`: what was accepted, what the source has now, and the difference."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samewise.cli.output import print_error, print_json, print_table, say, styled
from samewise.core.errors import SamewiseError, UsageError
from samewise.core.schema import Schema
from samewise.core.windows import FULL, Window
from samewise.plan.drift import contract_id, describe
from samewise.plan.verdict import Difference
from samewise.run.check import accept_command
from samewise.run.contract import Comparison, accept, compare
from samewise.run.job import Job
from samewise.run.results import error_json, worst_error
from samewise.state.store import Store
from samewise.wiring.project import Project, open_project

_MOST_PLACES = 3


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for on the command line."""

    project: Path
    env: str | None
    pipeline: str
    window: str | None
    task: str | None
    accepting: bool


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was found out about one task: a comparison, or why there is none."""

    job: Job
    comparison: Comparison | None = None
    taken: Schema | None = None
    """What has been accepted just now."""
    error: SamewiseError | None = None


def show_contract(request: Request, *, as_json: bool) -> int:
    """Show each task's contract; where that is asked for, make the source's schema of today the contract.

    A task whose source cannot be read hides no other; the exit code is that of the worst error.
    """
    pipeline = request.pipeline
    with open_project(request.project, env=request.env) as project:
        window = _window(project, pipeline, request.window)
        store = project.store
        jobs = [job for job in project.graph(pipeline).jobs if request.task in (None, job.task)]
        if not jobs:
            raise UsageError(f"{pipeline} has no task {request.task!r}", next_step="leave --task out to see them all")
        found = [_look(job, store, window, accepting=request.accepting) for job in jobs]
    worst = worst_error(seen.error for seen in found if seen.error is not None)
    if as_json:
        error = None if worst is None else error_json(worst)
        tasks = [_as_json(seen) for seen in found]
        print_json({"schema_version": 1, "pipeline": pipeline, "tasks": tasks, "error": error})
        return 0 if worst is None else worst.exit_code
    for seen in found:
        if seen.error is not None:
            print_error(seen.error)
        elif seen.comparison is not None:
            _show(seen.job, seen.comparison, seen.taken, accepting=request.accepting)
    return 0 if worst is None else worst.exit_code


def _look(job: Job, store: Store, window: Window | None, *, accepting: bool) -> _Seen:
    """Compare, and accept where that is asked for: each task by itself."""
    comparison: Comparison | None = None
    try:
        comparison = compare(job, store, FULL if window is not None and job.grid is None else window)
        return _Seen(job, comparison, accept(job, store, comparison) if accepting else None)
    except SamewiseError as error:
        if not error.message.startswith(job.name):
            error.message = f"{job.name}: {error.message}"
        error.with_kept("the contract is as it was")
        error.redact(job.redact)
        return _Seen(job, comparison, error=error)


def _window(project: Project, pipeline: str, text: str | None) -> Window | None:
    windows = project.windows(project.loaded.pipeline(pipeline), text, None, None)
    if windows is None:
        return None
    if len(windows) > 1:
        raise UsageError(
            f"{text} means {len(windows)} windows, and a contract is compared with one",
            kept="nothing was changed",
            next_step="name one of them",
        )
    return windows[0]


def _show(job: Job, comparison: Comparison, taken: Schema | None, *, accepting: bool) -> None:
    say(styled(f"{job.name}, as of {job.label(comparison.window)}", "bold"))
    contract = comparison.accepted or comparison.verdict.contract
    print_table(("column", "type"), [(column.name, column.type) for column in contract])
    if comparison.accepted is None and not comparison.verdict.is_refused:
        say("not loaded yet: the first run accepts this" + _nothing_stored(job, comparison, accepting=accepting))
        return
    if not comparison.differences:
        as_it_is = "as declared in the pipeline's file" if job.declared else "as accepted"
        if not comparison.shapes:
            as_it_is = "there is nothing new at the source to compare this with"
        say(as_it_is + _nothing_stored(job, comparison, accepting=accepting))
        return
    for difference in comparison.differences:
        _show_difference(difference)
    if taken is None and accepting:
        say("as accepted already" + _nothing_stored(job, comparison, accepting=True))
    elif taken is not None:
        say("accepted: the next run loads under the new contract")
    elif not comparison.verdict.is_refused:
        say("the next run lets this pass, as source.drift says")
    elif job.declared:
        say("  next: mend the source, or change source.schema or source.drift")
    else:
        say(f"  next: mend the source, or `{accept_command(job, comparison.window)}`")


def _nothing_stored(job: Job, comparison: Comparison, *, accepting: bool) -> str:
    """For a person who wanted to accept something: that this was not it, and how to name what is."""
    if not accepting:
        return ""
    another = "" if job.grid is None else "\n  next: if another window was refused, name it with --window"
    return f"\nnothing to accept in {job.label(comparison.window)}: nothing was stored{another}"


def _show_difference(difference: Difference) -> None:
    for place in difference.places[:_MOST_PLACES]:
        say(place)
    if len(difference.places) > _MOST_PLACES:
        say(f"… and {len(difference.places) - _MOST_PLACES} more like them")
    say(describe(difference.changes))
    for note in difference.notes:
        say(note)


def _as_json(seen: _Seen) -> dict[str, Any]:
    job, comparison, taken = seen.job, seen.comparison, seen.taken
    error = None if seen.error is None else error_json(seen.error)
    if comparison is None:
        unknown = dict.fromkeys(("window", "contract"))
        empty: dict[str, Any] = {"columns": [], "source": [], "changes": [], "accepted": False}
        return {"task": job.task, **unknown, "declared": job.declared, **empty, "error": error}
    accepted = taken or comparison.accepted
    return {
        "task": job.task,
        "window": job.label(comparison.window),
        "declared": job.declared,
        "contract": None if accepted is None else contract_id(accepted),
        "columns": [] if accepted is None else _columns(accepted),
        "source": [{"files": list(shape.places), "columns": _columns(shape.columns)} for shape in comparison.shapes],
        "changes": [
            {
                "kind": str(change.kind),
                "column": change.column,
                "before": change.before,
                "after": change.after,
                "looks_like": change.likely_rename_of,
                "refused": change in difference.refused,
                "files": list(difference.places),
            }
            for difference in comparison.differences
            for change in difference.changes
        ],
        "accepted": taken is not None,
        "error": error,
    }


def _columns(schema: Schema) -> list[dict[str, Any]]:
    return [{"name": column.name, "type": column.type, "nullable": column.nullable} for column in schema]
