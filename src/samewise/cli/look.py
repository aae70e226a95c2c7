"""Commands that only look: validate, status, history, schema."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samewise.cli.output import moment, number, print_error, print_json, print_table, say, styled
from samewise.core.errors import SpecError, UsageError
from samewise.core.records import Receipt, RunStatus
from samewise.core.windows import Window, instant_text
from samewise.plan.grid import due_windows
from samewise.run.schedule import due
from samewise.state import contracts, receipts, runs, watermarks
from samewise.wiring.project import Project, open_project

if TYPE_CHECKING:
    from samewise.run.job import Job
    from samewise.state.contracts import Contract
    from samewise.state.store import Store
    from samewise.state.watermarks import HandMove


def validate_project(folder: Path, env: str | None, *, as_json: bool) -> int:
    """Say that everything is right, or everything that is not."""
    try:
        with open_project(folder, env=env) as project:
            names = list(project.pipelines)
            name = project.name
    except SpecError as error:
        if not as_json:
            print_error(error)
            return error.exit_code
        problems = [{"file": p.file, "line": p.line, "message": p.message} for p in error.problems]
        print_json({"schema_version": 1, "valid": False, "problems": problems})
        return error.exit_code
    if as_json:
        print_json({"schema_version": 1, "valid": True, "problems": [], "project": name, "pipelines": names})
    else:
        say(f"{name}: {len(names)} pipeline{'' if len(names) == 1 else 's'}, no problem: {', '.join(names)}")
    return 0


def show_status(folder: Path, env: str | None, pipeline: str | None, *, as_json: bool) -> int:
    """Where each pipeline stands; or, for one, each of its windows."""
    with open_project(folder, env=env) as project:
        names = project.pipelines if pipeline is None else [pipeline]
        tasks = [_task_status(project, job) for name in names for job in project.graph(name).jobs]
        if as_json:
            print_json({"schema_version": 1, "project": project.name, "tasks": tasks})
        elif pipeline is None:
            _show_tasks(tasks)
        else:
            for task, job in zip(tasks, project.graph(pipeline).jobs, strict=True):
                _show_windows(task, partial(_show_strip, project, job))
    return 0


def _show_strip(project: Project, job: Job) -> None:
    from samewise.cli.strip import marks_of, show_strip

    store, grid = project.known_store, job.grid
    if store is None or grid is None:
        return
    loaded = receipts.latest_all(store, job.pipeline, job.task)
    now = store.now()
    windows = due_windows(grid, set(), now=now)
    newest = runs.newest(store, job.pipeline, job.task, windows) if windows else {}
    contract = contracts.current(store, job.pipeline, job.task)
    marks, skipped = marks_of(job, grid, loaded, newest, contract, now=now)
    show_strip(marks, grid, skipped)


def _task_status(project: Project, job: Job) -> dict[str, Any]:
    store = project.known_store
    now = datetime.now(UTC) if store is None else store.now()
    loaded = {} if store is None else receipts.latest_all(store, job.pipeline, job.task)
    unfinished = set() if store is None else runs.open_windows(store, job.pipeline, job.task)
    last = [] if store is None else runs.history(store, job.pipeline, job.task, limit=1)
    mark = None if store is None else watermarks.current(store, job.pipeline, job.task)
    contract = None if store is None else contracts.current(store, job.pipeline, job.task)
    waiting = [] if job.grid is None else [w for w in due(job, store, now=now) if w not in unfinished]
    entries: dict[Window, dict[str, Any]] = {
        **{window: {"state": "due"} for window in waiting},
        **{window: {"state": "unfinished"} for window in unfinished},
    }
    for receipt in loaded.values():
        state = "unfinished" if receipt.window in unfinished else "loaded"
        entries[receipt.window] = {"state": state, **_receipt_status(receipt, job, contract)}
    for run in [] if store is None else runs.ended_badly(store, job.pipeline, job.task):
        if run.window in entries:
            entries[run.window]["last_run"] = _last_run(run)
    windows = [{"window": job.label(window), **entries[window]} for window in sorted(entries)]
    return {
        "pipeline": job.pipeline,
        "task": job.task,
        "target": job.target.key,
        "loaded": len(loaded),
        "due": len(waiting),
        "unfinished": len(unfinished),
        "watermark": None if mark is None else instant_text(mark),
        "contract": None if contract is None else contract.contract_id,
        "last_run": _last_run(last[0]) if last else None,
        "windows": windows,
    }


def _receipt_status(receipt: Receipt, job: Job, contract: Contract | None) -> dict[str, Any]:
    measures = receipt.measures
    return {
        "generation": receipt.generation,
        "rows": None if measures is None else measures.rows,
        "sums": {} if measures is None else dict(measures.sums),
        "content_hash": None if measures is None else measures.content_hash,
        "target_version": receipt.target_version,
        "landed_at": moment(receipt.landed_at),
        "definition_changed": receipt.definition != job.definition,
        "contract": receipt.contract,
        "older_contract": _is_older(receipt, contract),
        "receipt_lost": measures is None,
    }


def _is_older(receipt: Receipt, contract: Contract | None) -> bool:
    """Whether the window was loaded under another contract than the one that holds now."""
    return contract is not None and receipt.contract not in (None, contract.contract_id)


def _last_run(run: Any) -> dict[str, Any]:
    return {
        "status": run.status.value,
        "point": run.point.value,
        "at": moment(run.closed_at or run.planned_at),
        "error": run.error,
    }


def _show_tasks(tasks: list[dict[str, Any]]) -> None:
    rows = []
    for task in tasks:
        name = task["pipeline"] if task["task"] == "load" else f"{task['pipeline']}/{task['task']}"
        last = task["last_run"]
        told = "never run" if last is None else f"{last['status']} {last['at']}"
        rows.append((name, task["loaded"], task["due"], task["unfinished"], task["watermark"], told))
    print_table(("pipeline", "loaded", "due", "unfinished", "watermark", "last run"), rows, right=(1, 2, 3))


def _show_windows(task: dict[str, Any], show_strip: Callable[[], None]) -> None:
    say(styled(f"{task['pipeline']}/{task['task']} -> {task['target']}", "bold"))
    say(f"watermark {task['watermark'] or '-'}")
    show_strip()
    rows = []
    for window in task["windows"]:
        notes = [
            text
            for key, text in (
                ("definition_changed", "older definition"),
                ("older_contract", "older contract"),
                ("receipt_lost", "receipt lost"),
            )
            if window.get(key)
        ]
        if (last := window.get("last_run")) is not None:
            notes.append(f"last run {last['status']}")
        rows.append(
            (
                window["window"],
                window["state"],
                number(window.get("rows")) if "rows" in window else "",
                window.get("generation"),
                window.get("target_version"),
                window.get("landed_at"),
                ", ".join(notes),
            )
        )
    print_table(("window", "state", "rows", "gen", "version", "landed", ""), rows, right=(2, 3, 4))


def show_history(folder: Path, env: str | None, pipeline: str, limit: int, *, as_json: bool) -> int:
    """Runs, newest first, with their attempts; and what persons did to the watermarks."""
    with open_project(folder, env=env) as project:
        project.loaded.pipeline(pipeline)
        store = project.known_store
        found = [] if store is None else runs.history(store, pipeline, limit=limit)
        labels = {job.task: job for job in project.graph(pipeline).jobs}
        entries = [_history_entry(store, run, labels.get(run.task)) for run in found if store is not None]
        moves = [] if store is None else [_move_entry(one) for one in watermarks.moves_by_hand(store, pipeline)]
        if as_json:
            print_json({"schema_version": 1, "pipeline": pipeline, "runs": entries, "watermark_moves": moves})
            return 0
        if not entries:
            say(f"{pipeline}: nothing has run yet")
        else:
            _show_history(entries)
        for move in moves:
            place = f"{move['task']}: watermark moved from {move['from'] or 'the beginning'} to {move['to']}"
            say(f"  {place} by {move['by']} at {move['moved_at']}: {move['reason']}")
    return 0


def _move_entry(one: HandMove) -> dict[str, Any]:
    return {
        "task": one.task,
        "moved_at": moment(one.move.moved_at),
        "by": one.move.moved_by,
        "from": None if one.before is None else instant_text(one.before),
        "to": instant_text(one.move.value),
        "reason": one.move.reason,
    }


def _history_entry(store: Store, run: Any, job: Job | None) -> dict[str, Any]:
    from samewise.state import attempts

    tries = attempts.of_run(store, run.run_id)
    return {
        "task": run.task,
        "window": run.window.key if job is None else job.label(run.window),
        "generation": run.generation,
        "run_id": run.run_id,
        "status": run.status.value,
        "point": run.point.value,
        "planned_at": moment(run.planned_at),
        "closed_at": moment(run.closed_at),
        "forced": run.forced,
        "error": run.error,
        "attempts": [
            {
                "number": a.number,
                "status": a.status.value,
                "started_at": moment(a.started_at),
                "ended_at": moment(a.ended_at),
                "host": a.host,
                "pid": a.pid,
                "error_code": a.error_code,
                "error": a.error_message,
            }
            for a in tries
        ],
    }


def _show_history(entries: list[dict[str, Any]]) -> None:
    rows = []
    for entry in entries:
        status = entry["status"]
        if status == RunStatus.OPEN:
            status = f"unfinished at {entry['point']}"
        rows.append((entry["planned_at"], entry["window"], entry["generation"], len(entry["attempts"]), status))
    print_table(("planned", "window", "gen", "attempts", "status"), rows, right=(2, 3))
    for entry in entries:
        for attempt in entry["attempts"]:
            if attempt["status"] not in ("succeeded", "running"):
                cause = (attempt["error"] or "the process was gone").partition("\n")[0]
                place = f"{entry['window']} gen {entry['generation']} attempt {attempt['number']}"
                say(f"  {place}: {attempt['status']}: {cause}")


def show_schema(of: str) -> int:
    """A JSON Schema for editors."""
    from samewise.spec.json_schema import pipeline_json_schema, project_json_schema

    schemas = {"pipeline": pipeline_json_schema, "project": project_json_schema}
    if of not in schemas:
        raise UsageError(f"there is no schema of {of!r}", next_step="samewise schema pipeline, or project")
    print_json(schemas[of]())
    return 0
