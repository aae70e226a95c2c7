"""Commands that set things up or right: init, recover, doctor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from samewise.cli.example import FIRST_COMMANDS, write_example
from samewise.cli.output import moment, print_json, print_table, say, styled, tell
from samewise.cli.progress import Progress
from samewise.core.errors import UsageError
from samewise.run.doctor import Patient, Server, checks
from samewise.run.jars import ensure_jars
from samewise.spec.pipeline import PostgresTarget
from samewise.storage.delta_log import DeltaLog
from samewise.storage.files import check_writable
from samewise.storage.postgres import ask_server
from samewise.wiring.project import Project, open_project


def init_project(folder: Path, example: str, *, as_json: bool) -> int:
    """Write an example and say what to type next."""
    written = write_example(folder, example)
    if as_json:
        print_json({"schema_version": 1, "folder": str(folder), "files": [str(f) for f in written]})
        return 0
    say(f"made {len(written)} files in {folder}")
    say()
    if folder != Path():
        say(f"  cd {folder}")
    for command in FIRST_COMMANDS[example]:
        say(f"  {command}")
    return 0


def recover_state(folder: Path, env: str | None, pipeline: str | None, *, adopt: bool, as_json: bool) -> int:
    """Rebuild what the state store should know, task by task."""
    with open_project(folder, env=env) as project:
        names = project.pipelines if pipeline is None else [pipeline]
        found = []
        for name in names:
            with Progress(list(project.graph(name).jobs), quiet=as_json) as progress:
                project.listen(progress)
                found += project.recover(name, adopt=adopt)
    if as_json:
        tasks = [
            {
                "pipeline": one.pipeline,
                "task": one.task,
                "target": one.target,
                "exists": one.exists,
                "adopted": one.adopted,
                "windows": one.windows,
                "lost_receipts": one.lost_receipts,
                "watermark": None if one.watermark is None else moment(one.watermark),
            }
            for one in found
        ]
        print_json({"schema_version": 1, "tasks": tasks})
        return 0
    rows = [
        (
            one.pipeline if one.task == "load" else f"{one.pipeline}/{one.task}",
            one.windows if one.exists else "no table yet",
            one.lost_receipts,
            moment(one.watermark),
            "yes" if one.adopted else "",
        )
        for one in found
    ]
    print_table(("task", "receipts", "lost", "watermark", "adopted"), rows, right=(1, 2))
    return 0


def examine(folder: Path, env: str | None, *, fetch: bool, archive: bool, as_json: bool) -> int:
    """Look at the machine and, where there is one, at the project."""
    if fetch:
        ensure_jars(tell)
    if archive:
        from samewise.cli.warm_up import archive_classes

        archive_classes(tell)
    try:
        project: Project | None = open_project(folder, env=env)
    except UsageError:
        project = None
    found = checks(None if project is None else _patient(project), now=datetime.now(UTC))
    broken = [check for check in found if not check.ok]
    if as_json:
        told = [{"name": c.name, "ok": c.ok, "detail": c.detail, "fix": c.fix} for c in found]
        print_json({"schema_version": 1, "ok": not broken, "checks": told})
        return 2 if broken else 0
    for check in found:
        mark = styled("ok", "good") if check.ok else styled("!!", "bad")
        say(f"{mark} {check.name}: {check.detail}")
        if check.fix is not None:
            say(f"   fix: {check.fix}")
    if project is None:
        say("(no project here: only the machine was looked at)")
    return 2 if broken else 0


def _patient(project: Project) -> Patient:
    loaded = project.loaded
    return Patient(
        spark=project.spark_settings,
        warehouse=loaded.warehouse,
        ask_state_store=lambda: project.store.now(),
        check_warehouse=lambda: check_writable(loaded.warehouse),
        zones={name: str(spec.zone) for name, spec in loaded.pipelines.items()},
        target_properties=_tables(project),
        connections=_connections(project),
    )


def _connections(project: Project) -> dict[str, tuple[Callable[[], Server], bool]]:
    loaded = project.loaded
    written = {
        loaded.connection(task.target.connection).name
        for spec in loaded.pipelines.values()
        for task in spec.tasks
        if isinstance(task.target, PostgresTarget)
    }
    return {
        name: (partial(ask_server, loaded.connection(name)), name in written) for name in loaded.project.connections
    }


def _tables(project: Project) -> dict[str, Callable[[], Mapping[str, str]]]:
    """How to read the properties of each target that lies in a folder; a catalog's would need Spark."""

    def reader(path: str) -> Callable[[], Mapping[str, str]]:
        def read() -> Mapping[str, str]:
            log = DeltaLog.open(path)
            return {} if log is None else log.properties

        return read

    places = [
        project.loaded.location(task.target, spec) for spec in project.loaded.pipelines.values() for task in spec.tasks
    ]
    return {place.key: reader(place.path) for place in places if place.path is not None}
