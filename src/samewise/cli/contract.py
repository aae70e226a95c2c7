"""`samewise contract`: what was accepted, what the source has now, and the difference."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samewise.cli.output import print_json, print_table, say, styled
from samewise.core.errors import UsageError
from samewise.core.schema import Schema
from samewise.core.windows import FULL, Window
from samewise.plan.drift import contract_id, describe
from samewise.plan.verdict import Difference
from samewise.run.check import accept_command
from samewise.run.contract import Comparison, accept, compare
from samewise.run.job import Job
from samewise.wiring.project import Project, open_project

_MOST_PLACES = 3


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for on the command line."""

    project: Path
    env: str | None
    pipeline: str
    window: str | None
    accepting: bool


def show_contract(request: Request, *, as_json: bool) -> int:
    """Show each task's contract; where that is asked for, make the source's schema of today the contract."""
    pipeline, accepting = request.pipeline, request.accepting
    with open_project(request.project, env=request.env) as project:
        window = _window(project, pipeline, request.window)
        store = project.store
        found = [
            (job, compare(job, store, FULL if window is not None and job.grid is None else window))
            for job in project.graph(pipeline).jobs
        ]
        taken = {job.task: accept(job, store, comparison) for job, comparison in found if accepting}
    if as_json:
        tasks = [_as_json(job, comparison, taken.get(job.task)) for job, comparison in found]
        print_json({"schema_version": 1, "pipeline": pipeline, "tasks": tasks})
        return 0
    for job, comparison in found:
        _show(job, comparison, taken.get(job.task), accepting=accepting)
    return 0


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


def _as_json(job: Job, comparison: Comparison, taken: Schema | None) -> dict[str, Any]:
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
    }


def _columns(schema: Schema) -> list[dict[str, Any]]:
    return [{"name": column.name, "type": column.type, "nullable": column.nullable} for column in schema]
