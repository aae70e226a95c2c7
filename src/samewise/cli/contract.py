"""`samewise contract`: what was accepted, what the source has now, and the difference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from samewise.cli.output import print_json, print_table, say, styled
from samewise.plan.drift import contract_id, describe
from samewise.run.contract import Comparison, accept, compare
from samewise.run.job import Job
from samewise.wiring.project import open_project


def show_contract(folder: Path, env: str | None, pipeline: str, *, accepting: bool, as_json: bool) -> int:
    """Show each task's contract; with `accepting`, make the source's schema of today the contract."""
    with open_project(folder, env=env) as project:
        store = project.store
        found = [(job, compare(job, store)) for job in project.graph(pipeline).jobs]
        if accepting:
            for job, comparison in found:
                if comparison.changes:
                    accept(job, store, comparison)
    if as_json:
        tasks = [_as_json(job, comparison, accepting=accepting) for job, comparison in found]
        print_json({"schema_version": 1, "pipeline": pipeline, "tasks": tasks})
        return 0
    for job, comparison in found:
        _show(job, comparison, accepting=accepting)
    return 0


def _show(job: Job, comparison: Comparison, *, accepting: bool) -> None:
    say(styled(f"{job.name}, as of {job.label(comparison.window)}", "bold"))
    if not comparison.changes:
        print_table(("column", "type"), [(column.name, column.type) for column in comparison.found])
        declared = "declared in the pipeline's file" if job.declared else "accepted"
        say("not loaded yet: the first run accepts this" if comparison.accepted is None else f"as {declared}")
        return
    say(describe(comparison.changes))
    if accepting:
        say("accepted: the next run loads under the new contract")
    else:
        say(f"  next: mend the source, or `samewise contract {job.pipeline} --accept`")


def _as_json(job: Job, comparison: Comparison, *, accepting: bool) -> dict[str, Any]:
    accepted = comparison.found if accepting or comparison.accepted is None else comparison.accepted
    return {
        "task": job.task,
        "window": job.label(comparison.window),
        "declared": job.declared,
        "contract": None if comparison.accepted is None and not accepting else contract_id(accepted),
        "columns": [{"name": c.name, "type": c.type} for c in comparison.found],
        "changes": [
            {"kind": str(change.kind), "column": change.column, "before": change.before, "after": change.after}
            for change in comparison.changes
        ],
        "accepted": accepting and bool(comparison.changes),
    }
