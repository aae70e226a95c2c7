"""Checks that need both the spec and what `plan` knows: the grid, and what a SELECT may say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from samewise.core.errors import Problem, SpecError
from samewise.spec.load import Loaded
from samewise.spec.pipeline import RESERVED_PARAMS, PipelineSpec, TaskSpec
from samewise.wiring.parts import build_grid


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
    windowed = {task.name for task in pipeline.tasks if not task.is_refresh}
    for task in pipeline.tasks:
        yield from _order_problems(loaded, pipeline, task, windowed)
        yield from _sql_problems(loaded, pipeline, task)
        yield from _condition_problems(loaded, pipeline, task)


def _order_problems(loaded: Loaded, pipeline: PipelineSpec, task: TaskSpec, windowed: set[str]) -> Iterator[Problem]:
    """A task with windows that waits for a refresh which itself waits for windows would never come in order."""
    if task.name not in windowed:
        return
    for name in task.depends_on:
        upstream = pipeline.task(name)
        if upstream.is_refresh and windowed.intersection(_ancestors(pipeline, upstream)):
            yield _at(
                loaded,
                loaded.files[pipeline.name],
                "depends_on",
                f"{task.name}.depends_on: {name} is refreshed after all windows, so a window cannot wait for it",
            )


def _ancestors(pipeline: PipelineSpec, task: TaskSpec) -> Iterator[str]:
    for name in task.depends_on:
        yield name
        yield from _ancestors(pipeline, pipeline.task(name))


def _sql_problems(loaded: Loaded, pipeline: PipelineSpec, task: TaskSpec) -> Iterator[Problem]:
    transform = loaded.transform(pipeline, task)
    if transform is None or not transform.is_sql:
        return
    text = transform.path.read_text(encoding="utf-8")
    known = {*RESERVED_PARAMS, *pipeline.params}
    if task.is_refresh:
        known -= {name for name in RESERVED_PARAMS if name.startswith("window_")}
    from samewise.wiring.sql_cache import transform_findings

    shown = str(transform.path.relative_to(loaded.root))
    for finding in transform_findings(loaded.root, text, {"source", *task.inputs}, known):
        yield Problem(shown, finding.line, finding.message)


def _condition_problems(loaded: Loaded, pipeline: PipelineSpec, task: TaskSpec) -> Iterator[Problem]:
    from samewise.wiring.sql_cache import condition_findings

    for expectation in task.expect:
        if expectation.condition is None:
            continue
        for finding in condition_findings(loaded.root, expectation.condition):
            file = loaded.files[pipeline.name]
            yield _at(loaded, file, expectation.condition, f"expect: {expectation.condition}: {finding.message}")


def _at(loaded: Loaded, file: Path, needle: str, message: str) -> Problem:
    lines = file.read_text(encoding="utf-8").splitlines()
    line = next((i for i, text in enumerate(lines, start=1) if needle in text), 1)
    return Problem(str(file.relative_to(loaded.root)), line, message)
