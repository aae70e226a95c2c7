"""`samewise contract`: what was accepted, what the source has now, and the difference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from samewise.cli.output import print_json, print_table, say, styled
from samewise.core.schema import Schema
from samewise.plan.drift import contract_id, describe
from samewise.plan.verdict import Difference
from samewise.run.contract import Comparison, accept, compare
from samewise.run.job import Job
from samewise.wiring.project import open_project

_MOST_PLACES = 3


def show_contract(folder: Path, env: str | None, pipeline: str, *, accepting: bool, as_json: bool) -> int:
    """Show each task's contract; with `accepting`, make the source's schema of today the contract."""
    with open_project(folder, env=env) as project:
        store = project.store
        found = [(job, compare(job, store)) for job in project.graph(pipeline).jobs]
        taken = {
            job.task: accept(job, store, comparison)
            for job, comparison in found
            if accepting and comparison.differences
        }
    if as_json:
        tasks = [_as_json(job, comparison, taken.get(job.task)) for job, comparison in found]
        print_json({"schema_version": 1, "pipeline": pipeline, "tasks": tasks})
        return 0
    for job, comparison in found:
        _show(job, comparison, taken.get(job.task))
    return 0


def _show(job: Job, comparison: Comparison, taken: Schema | None) -> None:
    say(styled(f"{job.name}, as of {job.label(comparison.window)}", "bold"))
    contract = comparison.accepted or comparison.verdict.contract
    print_table(("column", "type"), [(column.name, column.type) for column in contract])
    if comparison.accepted is None and not comparison.verdict.is_refused:
        say("not loaded yet: the first run accepts this")
        return
    if not comparison.differences:
        say("as declared in the pipeline's file" if job.declared else "as accepted")
        return
    for difference in comparison.differences:
        _show_difference(difference)
    if taken is not None:
        say("accepted: the next run loads under the new contract")
    elif not comparison.verdict.is_refused:
        say("the next run lets this pass, as source.drift says")
    elif job.declared:
        say("  next: mend the source, or change source.schema or source.drift")
    else:
        say(f"  next: mend the source, or `samewise contract {job.pipeline} --accept`")


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
