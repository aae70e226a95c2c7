"""Checks that need both the spec and what `plan` knows: the grid, and what a SELECT may say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from samewise.core.errors import Problem, SpecError
from samewise.core.pg_sql import parameters as query_parameters
from samewise.plan.impure import Impurity
from samewise.spec.pipeline import RESERVED_PARAMS, PipelineSpec, TaskSpec
from samewise.spec.postgres_source import PostgresSource
from samewise.spec.sources import FilesSource
from samewise.spec.words import listed
from samewise.wiring.parts import build_grid
from samewise.wiring.sources import since_start

if TYPE_CHECKING:
    from samewise.plan.sql_text import Finding
    from samewise.spec.load import Loaded


def check_pipelines(loaded: Loaded) -> None:
    """Raise `SpecError` with every problem that the files have, each with its place."""
    problems = [p for pipeline in loaded.pipelines.values() for p in _problems(loaded, pipeline)]
    if problems:
        raise SpecError(sorted(problems))


def _problems(loaded: Loaded, pipeline: PipelineSpec) -> Iterator[Problem]:
    file = loaded.files[pipeline.name]
    try:
        build_grid(pipeline)
    except ValueError as error:
        yield _at(loaded, file, "schedule", f"schedule: {error}")
    windowed = {task.name for task in pipeline.tasks if task.has_windows}
    for task in pipeline.tasks:
        yield from _order_problems(loaded, pipeline, task, windowed)
        yield from _start_problems(loaded, pipeline, task)
        yield from _query_problems(loaded, pipeline, task)
        yield from _sql_problems(loaded, pipeline, task)
        yield from _condition_problems(loaded, pipeline, task)


def _order_problems(loaded: Loaded, pipeline: PipelineSpec, task: TaskSpec, windowed: set[str]) -> Iterator[Problem]:
    """A task with windows that waits for a refresh which itself waits for windows would never come in order."""
    if task.name not in windowed:
        return
    for name in task.depends_on:
        upstream = pipeline.task(name)
        if not upstream.has_windows and windowed.intersection(_ancestors(pipeline, upstream)):
            yield _at(
                loaded,
                loaded.files[pipeline.name],
                "depends_on",
                f"{task.name}.depends_on: {name} runs after all windows, so a window cannot wait for it",
            )


def _start_problems(loaded: Loaded, pipeline: PipelineSpec, task: TaskSpec) -> Iterator[Problem]:
    """A local time that the clock skips, or shows twice."""
    try:
        since_start(pipeline, task)
    except ValueError as error:
        yield _at(loaded, loaded.files[pipeline.name], "start", f"{task.name}.source.incremental.start: {error}")


def _ancestors(pipeline: PipelineSpec, task: TaskSpec) -> Iterator[str]:
    for name in task.depends_on:
        yield name
        yield from _ancestors(pipeline, pipeline.task(name))


def _query_problems(loaded: Loaded, pipeline: PipelineSpec, task: TaskSpec) -> Iterator[Problem]:
    """Parameters of a PostgreSQL query that nobody fills in."""
    if not isinstance(task.source, PostgresSource):
        return
    known = {*RESERVED_PARAMS, *pipeline.params} - {"run_ts"}
    if not task.has_windows:
        known -= set(RESERVED_PARAMS)
    for key, text in (("query", task.source.query), ("fingerprint", task.source.fingerprint)):
        for name in sorted(query_parameters(text or "") - known):
            message = f"source.{key}: unknown parameter :{name}; there are {listed(sorted(known))}"
            yield _at(loaded, loaded.files[pipeline.name], f":{name}", message)


def _sql_problems(loaded: Loaded, pipeline: PipelineSpec, task: TaskSpec) -> Iterator[Problem]:
    transform = loaded.transform(pipeline, task)
    if transform is None or not transform.is_sql:
        return
    text = transform.path.read_text(encoding="utf-8")
    known = {*RESERVED_PARAMS, *pipeline.params}
    if not task.has_windows:
        known -= {name for name in RESERVED_PARAMS if name.startswith("window_")}
    from samewise.wiring.sql_cache import transform_findings

    shown = str(transform.path.relative_to(loaded.root))
    found = transform_findings(loaded.root, text, {"source", *task.inputs}, known, incremental=task.is_incremental)
    of_keys = _key_findings(loaded.root, text, task)
    # What is wrong with a key is said once, with what it does to the key.
    lines = {finding.line for finding in of_keys}
    for finding in [*of_keys, *(f for f in found if f.line not in lines or f.code not in set(Impurity))]:
        yield Problem(shown, finding.line, finding.message)


def _key_findings(root: Path, sql: str, task: TaskSpec) -> Sequence[Finding]:
    from samewise.wiring.sql_cache import key_findings

    write = task.write
    if not write.is_keyed:
        return []
    key = write.key if write.hash_key is None else write.hash_key.of
    declared = task.source.columns if isinstance(task.source, FilesSource) else None
    return key_findings(
        root, sql, key, write.version_by, task.source.type, None if declared is None else declared.names
    )


def _condition_problems(loaded: Loaded, pipeline: PipelineSpec, task: TaskSpec) -> Iterator[Problem]:
    from samewise.wiring.sql_cache import condition_findings

    conditions = [("expect", rule.condition) for rule in task.expect if rule.condition is not None]
    if task.write.delete_when is not None:
        conditions.append(("write.delete_when", task.write.delete_when))
    file = loaded.files[pipeline.name]
    for place, condition in conditions:
        for finding in condition_findings(loaded.root, condition):
            yield _at(loaded, file, condition, f"{place}: {condition}: {finding.message}")
    if task.write.delete_when is not None:
        for message in _delete_problems(task, task.write.delete_when):
            yield _at(loaded, file, task.write.delete_when, f"write.delete_when: {message}")


def _delete_problems(task: TaskSpec, condition: str) -> Iterator[str]:
    """Parameters, which nobody binds here, and columns that the rows do not have."""
    from samewise.plan.key_check import condition_columns
    from samewise.plan.sql_check import parameters

    for name in sorted(parameters(condition)):
        yield f":{name} is not bound here: compute the column in the transform"
    declared = task.source.columns if isinstance(task.source, FilesSource) and task.transform is None else None
    if declared is not None:
        for name in sorted(condition_columns(condition)):
            if declared.get(name) is None:
                yield f"the schema has no column '{name}'; there are {listed(declared.names)}"


def _at(loaded: Loaded, file: Path, needle: str, message: str) -> Problem:
    lines = file.read_text(encoding="utf-8").splitlines()
    line = next((i for i, text in enumerate(lines, start=1) if needle in text), 1)
    return Problem(str(file.relative_to(loaded.root)), line, message)
