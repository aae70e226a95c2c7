"""`samewise backfill`: run, look at, stop and verify."""

from __future__ import annotations

import gc
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samewise.cli.backfill_progress import BackfillProgress
from samewise.cli.log_file import keep_log
from samewise.cli.output import moment, number, print_error, print_json, print_table, say, styled, tell
from samewise.core.errors import Refused, UsageError
from samewise.wiring.project import Project, open_project

if TYPE_CHECKING:
    from samewise.run.backfill_result import BackfillResult

ACTIONS = ("status", "resume", "pause", "cancel", "verify")
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for on the command line."""

    project: Path
    env: str | None
    pipeline: str
    backfill_id: str | None
    start: str | None
    end: str | None
    parallel: int
    order: str
    force: bool
    repin: bool
    dry_run: bool
    events: bool

    @property
    def is_action(self) -> bool:
        """A pipeline may be called `status`: with a span, it is that pipeline."""
        return self.pipeline in ACTIONS and self.start is None and self.end is None


def run_backfill(request: Request, *, as_json: bool) -> int:
    """Plan the windows, show them, load them."""
    if request.start is None or request.end is None or request.backfill_id is not None:
        raise UsageError(
            "a backfill needs a span",
            kept="nothing was run",
            next_step=f"samewise backfill {request.pipeline} --from DATE --to DATE; the last day is not included",
        )
    if request.order not in ("oldest", "newest"):
        raise UsageError(f"there is no order {request.order!r}", next_step="--order oldest, or newest")
    gc.enable()
    start, end = request.start, request.end
    with _opened(request) as project:
        if request.dry_run:
            return _show_plan(project, request, start, end, as_json=as_json)
        return _watched(
            project,
            request,
            request.pipeline,
            lambda stop: project.backfills.run(
                request.pipeline,
                start=start,
                end=end,
                order=request.order,
                force=request.force,
                parallel=request.parallel,
                repin=request.repin,
                stop=stop,
            ),
            as_json=as_json,
        )


def act_on(request: Request, *, as_json: bool) -> int:
    """status, resume, pause, cancel, verify."""
    with _opened(request) as project:
        match request.pipeline:
            case "status":
                return _show_status(project, request.backfill_id, as_json=as_json)
            case "resume":
                gc.enable()
                found = project.backfills.find(request.backfill_id, unfinished=True)
                return _watched(
                    project,
                    request,
                    found.pipeline,
                    lambda stop: project.backfills.resume(
                        found.backfill_id, parallel=request.parallel, repin=request.repin, stop=stop
                    ),
                    as_json=as_json,
                )
            case "verify":
                gc.enable()
                return _verify(project, request.backfill_id, as_json=as_json)
            case wish:
                return _ask(project, request.backfill_id, wish, as_json=as_json)


@contextmanager
def _opened(request: Request) -> Iterator[Project]:
    with open_project(request.project, env=request.env) as project:
        keep_log(project.loaded.root / ".samewise" / "logs", project.loaded.secrets.redact)
        yield project


def _watched(
    project: Project,
    request: Request,
    pipeline: str,
    run: Callable[[Callable[[], str | None]], BackfillResult],
    *,
    as_json: bool,
) -> int:
    jobs = project.graph(pipeline).jobs
    with BackfillProgress(jobs, quiet=as_json and not request.events, events=request.events) as progress:
        project.listen(progress)
        result = run(progress.stop)
    if as_json:
        print_json(_redacted(project, result.to_json()))
    else:
        _show_result(result)
    return result.exit_code


def _show_result(result: BackfillResult) -> None:
    found = result.backfill
    if result.error is not None:
        print_error(result.error)
    rate = result.rows_written / result.seconds if result.seconds else 0.0
    say(
        f"{found.pipeline}: backfill {found.backfill_id} is {found.status}: {len(found.done)} of {found.windows} "
        f"windows done; {number(result.rows_written)} rows written now in {result.seconds:.1f} s ({rate:,.0f} a second)"
    )
    if result.watermark is not None:
        say(f"  watermark: {moment(result.watermark)}")
    if result.next_step is not None:
        say(f"  next: {result.next_step}")


def _show_plan(project: Project, request: Request, start: str, end: str, *, as_json: bool) -> int:
    windows = project.backfills.plan(request.pipeline, start, end)
    job = next(job for job in project.graph(request.pipeline).jobs if job.grid is not None)
    labels = [job.label(window) for window in windows]
    if request.order == "newest":
        labels.reverse()
    if as_json:
        body = {"schema_version": 1, "pipeline": request.pipeline, "status": "planned", "windows": labels}
        print_json({**body, "order": request.order, "error": None})
        return 0
    say(f"{request.pipeline}: {len(labels)} windows, {labels[0]} to {labels[-1]}, {request.order} first")
    for label in labels[:_SHOWN]:
        say(f"  {label}")
    if len(labels) > _SHOWN:
        say(f"  … and {len(labels) - _SHOWN} more")
    return 0


def _show_status(project: Project, backfill_id: str | None, *, as_json: bool) -> int:
    from samewise.run.backfill_result import backfill_json

    if backfill_id is not None and backfill_id not in project.pipelines:
        listed = [project.backfills.one(backfill_id)]
    else:
        listed = project.backfills.recent(backfill_id)
    bodies = [backfill_json(each, live=live) for each, live in listed]
    if as_json:
        print_json({"schema_version": 1, "backfills": bodies})
        return 0
    if not bodies:
        say("there is no backfill")
        return 0
    rows = [(b["id"], b["pipeline"], _day(b["from"]), _day(b["to"]), _share(b), b["status"]) for b in bodies]
    print_table(("id", "pipeline", "from", "to", "done", "status"), rows)
    for body in bodies:
        if body["last_error"] and body["status"] not in ("done", "cancelled"):
            first = f"  {body['id']}: {str(body['last_error']['message']).partition(chr(10))[0]}"
            width = shutil.get_terminal_size().columns
            say(first if len(first) <= width else first[: width - 1] + "…")
        if body["status"] in ("paused", "interrupted"):
            say(f"  next: samewise backfill resume {body['id']}")
    return 0


def _ask(project: Project, backfill_id: str | None, wish: str, *, as_json: bool) -> int:
    from samewise.run.backfill_result import backfill_json

    found = project.backfills.ask(backfill_id, wish)
    if as_json:
        print_json({"schema_version": 1, **backfill_json(found), "asked": found.asked})
    elif found.asked is not None:
        say(f"backfill {found.backfill_id}: asked to {wish}; it answers after its current commit")
    else:
        say(f"backfill {found.backfill_id} is {found.status}: {len(found.done)} of {found.windows} windows done")
    return 0


def _verify(project: Project, backfill_id: str | None, *, as_json: bool) -> int:
    from samewise.run.backfill_check import all_right
    from samewise.run.results import error_json

    found, checked = project.backfills.verify(backfill_id)
    wrong = [each for each in checked if each.is_right is False]
    unknown = [each for each in checked if each.is_right is None]
    unsure = _unsure(found.pipeline, [each.label for each in unknown]) if len(unknown) == len(checked) else None
    if as_json:
        body: dict[str, Any] = {"schema_version": 1, "id": found.backfill_id, "pipeline": found.pipeline}
        error = None if unsure is None else error_json(unsure)
        windows = [each.to_json() for each in checked]
        print_json({**body, "right": all_right(checked), "windows": windows, "error": error})
    else:
        _show_checked([*wrong, *unknown])
        right = len(checked) - len(wrong) - len(unknown)
        taken = sum(each.taken_over or 0 for each in checked)
        by_key = f"; {number(taken)} rows are newer windows' by now" if taken else ""
        say(f"backfill {found.backfill_id}: {right} of {len(checked)} windows are as they were loaded{by_key}")
        if wrong:
            tell(f"  next: samewise run {found.pipeline} --window {wrong[0].label} --force")
        if unsure is not None:
            print_error(unsure)
    return Refused.exit_code if wrong or unsure is not None else 0


def _unsure(pipeline: str, labels: Sequence[str]) -> Refused | None:
    """What is said where not one window could be checked: nobody is to take that for a proof. None if there is none."""
    if not labels:
        return None
    return Refused(
        f"none of the {len(labels)} windows could be checked: whether they are as they were loaded is not known",
        kept="nothing was changed",
        next_step=f"see above why; `samewise run {pipeline} --window {labels[0]} --force` loads one again",
        code="not_checked",
    )


def _show_checked(checked: Sequence[Any]) -> None:
    for each in checked:
        mark = "cannot be checked" if each.is_right is None else styled("differs", "bad")
        say(f"  {each.label}  {mark}")
        say(f"    receipt: {each.promised}")
        say(f"    target:  {each.found}")


def _share(body: dict[str, Any]) -> str:
    return f"{body['done_windows']}/{body['planned_windows']}"


def _day(instant: str) -> str:
    return instant.removesuffix("T00:00:00Z")


def _redacted(project: Project, value: dict[str, Any]) -> dict[str, Any]:
    redacted: dict[str, Any] = json.loads(project.loaded.secrets.redact(json.dumps(value, default=str)))
    return redacted
