"""`samewise run`, and what it would do."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samewise.cli.output import moment, number, print_error, print_json, print_table, say
from samewise.core.windows import instant_text
from samewise.run.results import SCHEMA_VERSION, RunResult, Status, WindowResult, error_json
from samewise.wiring.project import Project, Unplanned, open_project

if TYPE_CHECKING:
    from samewise.run.planning import Plan

_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for on the command line."""

    project: Path
    env: str | None
    pipeline: str
    window: str | None
    start: str | None
    end: str | None
    force: bool
    wait: bool
    accept_change: bool
    stale: str | None = None
    fork: Path | None = None


def run_pipeline(request: Request, *, as_json: bool) -> int:
    """Run, with progress on stderr and the result on stdout."""
    from samewise.cli.log_file import keep_log
    from samewise.cli.progress import Progress

    with open_project(request.project, env=request.env, fork=request.fork) as project:
        keep_log(project.loaded.root / ".samewise" / "logs", project.loaded.secrets.redact)
        with Progress(project.graph(request.pipeline).jobs, quiet=as_json) as progress:
            if request.fork is None:
                project.listen(progress)
            gc.enable()  # Here the work starts, and with it the garbage.
            result = project.run(
                request.pipeline,
                window=request.window,
                start=request.start,
                end=request.end,
                force=request.force,
                wait=request.wait,
                accept_change=request.accept_change,
                stale=request.stale,
            )
        if as_json:
            print_json(_redacted(project, result.to_json()))
        else:
            _show_result(result)
    return result.exit_code


def plan_pipeline(request: Request, *, as_json: bool) -> int:
    """Show the windows, what each would read and replace, and the steps. No Spark, nothing written."""
    with open_project(request.project, env=request.env) as project:
        plans = project.plan(
            request.pipeline,
            window=request.window,
            start=request.start,
            end=request.end,
            force=request.force,
            stale=request.stale,
        )
        if as_json:
            print_json(_redacted(project, _plans_json(request.pipeline, plans)))
        else:
            _show_plans(request.pipeline, plans)
    return 0


def _show_result(result: RunResult) -> None:
    failed = [window for window in result.windows if window.error is not None]
    for window in failed:
        assert window.error is not None
        print_error(window.error)
    counts = [
        f"{sum(w.status is status for w in result.windows)} {status.value}"
        for status in Status
        if any(w.status is status for w in result.windows)
    ]
    rows = sum(window.rows_written or 0 for window in result.windows)
    what = ", ".join(counts) if counts else "nothing is due"
    say(f"{result.pipeline}: {what}; {number(rows)} rows written")
    if result.watermark_after is not None:
        say(f"  watermark: {moment(result.watermark_after)}")


def _show_plans(pipeline: str, plans: Sequence[Plan | Unplanned]) -> None:
    if not plans:
        say(f"{pipeline}: nothing is due")
        return
    rows = []
    for plan in plans[:_SHOWN]:
        if isinstance(plan, Unplanned):
            why = "left as it is" if plan.left else "cannot run yet"
            rows.append((_name(plan), "-", why, plan.error.message))
            continue
        why = "unchanged" if plan.reason is None else plan.reason.value
        rows.append((_name(plan), str(plan.generation), why, plan.inputs.source.summary))
    print_table(("window", "gen", "why", "reads"), rows)
    if len(plans) > _SHOWN:
        say(f"… and {len(plans) - _SHOWN} more")
    shown: set[str] = set()
    for plan in plans:
        if not isinstance(plan, Unplanned) and plan.job.task not in shown:
            shown.add(plan.job.task)
            say()
            say(f"{plan.job.name}")
            say(f"  target:    {plan.job.target.key}")
            if plan.next_mark is not None:
                say(f"  watermark: {moment(plan.mark)}, then {moment(plan.next_mark)}")
            for told in plan.notes:
                say(f"  note:      {told}")
            say(f"  replaces:  {_predicate(plan)}")
            say(f"  steps:     {', '.join(step.value.replace('_', ' ') for step in plan.steps)}")
            if (given_up := _given_up(plan)) is not None:
                say(f"  gives up:  {given_up}")
    if any(not isinstance(plan, Unplanned) and plan.span is not None for plan in plans[1:]):
        say("  (the predicate is that of the first window)")


def _name(plan: Plan | Unplanned) -> str:
    label = plan.job.label(plan.window)
    return label if plan.job.task == "load" else f"{plan.job.task} {label}"


def _given_up(plan: Plan) -> str | None:
    if plan.job.keyed is None:
        return None
    from samewise.run.keyed import horizon_note

    return horizon_note(plan.job.keyed)


def _notes(plan: Plan) -> list[str]:
    given_up = _given_up(plan)
    return [*plan.notes, *([] if given_up is None else [given_up])]


def _predicate(plan: Plan) -> str:
    if plan.job.replaces_all:
        return "the whole table"
    if plan.job.keyed is not None:
        from samewise.run.keyed import by_key_text

        return by_key_text(plan.job.keyed)
    if plan.span is None:
        return f"the window's rows by {plan.job.window_column}; its type is known at the first run"
    return plan.span.sql


def _plans_json(pipeline: str, plans: Sequence[Plan | Unplanned]) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "pipeline": pipeline,
        "status": Status.PLANNED.value,
        "windows": [_plan_json(plan) for plan in plans],
        "watermark": _marks(plans),
        "error": None,
    }


def _marks(plans: Sequence[Plan | Unplanned]) -> dict[str, Any] | None:
    """Where an incremental task goes on from, and where it would end. Of several, the first."""
    for plan in plans:
        if not isinstance(plan, Unplanned) and plan.next_mark is not None:
            after = plan.mark if plan.reason is None else plan.next_mark
            return {
                "before": None if plan.mark is None else instant_text(plan.mark),
                "after": None if after is None else instant_text(after),
            }
    return None


def _plan_json(plan: Plan | Unplanned) -> dict[str, Any]:
    """A window as `run` would tell it, what is not known yet null, and what only a plan can tell."""
    if isinstance(plan, Unplanned):
        unknown = dict.fromkeys(("reads", "pins", "inputs", "target", "replaces", "steps", "notes"))
        if plan.left:
            told = {"reason": f"left as it is: {plan.error.message}"}
            return {**_result(plan, Status.UNCHANGED).to_json(), **unknown, **told}
        return {**_result(plan, Status.REFUSED).to_json(), **unknown, "error": error_json(plan.error)}
    status = Status.UNCHANGED if plan.reason is None else Status.PLANNED
    return {
        **_result(plan, status).to_json(),
        "reason": None if plan.reason is None else plan.reason.value,
        "generation": plan.generation,
        "reads": plan.inputs.source.summary,
        "pins": dict(plan.inputs.source.details),
        "inputs": {name: pins.summary for name, pins in plan.inputs.tables.items()},
        "target": plan.job.target.key,
        "target_version": None if plan.base_version < 0 else plan.base_version,
        "replaces": _predicate(plan),
        "steps": [step.value for step in plan.steps],
        "notes": _notes(plan),
    }


def _result(plan: Plan | Unplanned, status: Status) -> WindowResult:
    return WindowResult(plan.job.task, plan.window, plan.job.label(plan.window), status)


def _redacted(project: Project, value: dict[str, Any]) -> dict[str, Any]:
    import json

    redacted: dict[str, Any] = json.loads(project.loaded.secrets.redact(json.dumps(value, default=str)))
    return redacted
