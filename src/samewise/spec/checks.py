"""What no single key can say: how the parts of one pipeline fit together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from zoneinfo import ZoneInfo

from samewise.core.schema import Schema
from samewise.spec.fields import WINDOW_COLUMN
from samewise.spec.incremental import check_incremental
from samewise.spec.key_checks import check_result_columns, check_source_columns, check_strategy, missing_column
from samewise.spec.paths import path_problem
from samewise.spec.pipeline import DeltaTarget, PipelineSpec, TaskSpec
from samewise.spec.sentences import Complaint
from samewise.spec.sources import DeltaSource, FilesSource
from samewise.spec.template_check import ROOTS, template_problems, uses
from samewise.spec.templates import is_template
from samewise.spec.transforms import find_transform
from samewise.spec.yaml_text import KeyPath

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
# What stands before a column that is read; before the name of a new one stands `as` or its expression.
_BEFORE_A_COLUMN = re.compile(
    r"(\b(select|distinct|by|where|and|or|not|on|between|in|when|then|else)|[,(=<>.*+/-])\s*$", re.IGNORECASE
)
_FIXED_ROOTS = ("env", "params", "pipeline")


def check_pipeline(pipeline: PipelineSpec, places: Sequence[int], *, folder: Path, root: Path) -> Iterator[Complaint]:
    """Complaints with paths of the `tasks:` form.

    `places` says which item of the file's list each task is: one that is broken in itself is not here.
    """
    if places == list(range(len(places))):
        yield from _check_schedule(pipeline)
    for index, task in zip(places, pipeline.tasks, strict=True):
        at: KeyPath = ("tasks", index)
        yield from _check_templates(pipeline, task, at)
        yield from check_strategy(pipeline, task, at)
        yield from _check_write(pipeline, task, at)
        yield from check_incremental(task, at)
        declared = _declared(task)
        if declared is not None:
            yield from check_source_columns(task, declared, at)
        if task.transform is None:
            if declared is not None:
                yield from _check_columns(task, declared, at)
                yield from check_result_columns(task, declared, at)
        else:
            try:
                find_transform(task.transform, beside=folder, root=root)
            except ValueError as error:
                yield Complaint((*at, "transform"), str(error))
        yield from _check_grain(pipeline, task, at, folder)


def _check_schedule(pipeline: PipelineSpec) -> Iterator[Complaint]:
    if pipeline.schedule is None or any(task.has_windows for task in pipeline.tasks):
        return
    if any(task.is_incremental for task in pipeline.tasks):
        yield Complaint(
            ("schedule",),
            "an incremental source goes on from where the last run ended: drop the schedule",
            at_key=True,
        )
    else:
        yield Complaint(
            ("schedule",),
            "a refresh has one window: drop the schedule; a run that finds nothing new costs next to nothing",
            at_key=True,
        )


def _check_templates(pipeline: PipelineSpec, task: TaskSpec, at: KeyPath) -> Iterator[Complaint]:
    for path, text, is_source in _templates(task):
        roots = ROOTS if is_source and task.has_windows else _FIXED_ROOTS
        if uses(text, "window") and "window" not in roots:
            why = "this table is the same for every window"
            if is_source:
                what = "a refresh" if task.is_refresh else "an incremental source"
                why = f"{what} has no window of its own"
            yield Complaint((*at, *path), f"'window' cannot be used here: {why}")
            roots = ROOTS
        problems = template_problems(text, roots=roots, params=pipeline.params)
        if not is_template(text):
            problem = path_problem(text, text)
            problems = [f"'{text}' {problem}"] if problem is not None else []
        yield from (Complaint((*at, *path), problem) for problem in problems)


def _templates(task: TaskSpec) -> Iterator[tuple[KeyPath, str, bool]]:
    """Every template of a task: (path, text, whether it may differ from window to window)."""
    source = task.source
    if isinstance(source, FilesSource):
        yield ("source", "path"), source.path, True
        if source.manifest is not None:
            yield ("source", "manifest"), source.manifest, True
    elif isinstance(source, DeltaSource) and source.path is not None:
        yield ("source", "path"), source.path, False
    for name, table in task.inputs.items():
        if table.path is not None:
            yield ("inputs", name, "path"), table.path, False
    if isinstance(task.target, DeltaTarget) and task.target.path is not None:
        yield ("target", "path"), task.target.path, False


def _check_write(pipeline: PipelineSpec, task: TaskSpec, at: KeyPath) -> Iterator[Complaint]:
    write = task.write
    if task.is_refresh:
        if write.window_column is not None:
            yield Complaint((*at, "write", "window_column"), "a refresh replaces the whole table: drop it", True)
        if getattr(task.source, "window_column", None) is not None:
            sentence = "a refresh reads the whole table: drop it"
            yield Complaint((*at, "source", "window_column"), sentence, True)
        if WINDOW_COLUMN in (name.lower() for name in task.target.partition_by):
            yield Complaint((*at, "target", "partition_by"), f"a refresh writes no {WINDOW_COLUMN}")
        return
    if write.is_keyed:
        return
    if pipeline.schedule is None and not task.is_incremental:
        yield Complaint(
            (*at, "write", "strategy"),
            "replace_window needs a schedule, such as schedule: {every: day, start: 2026-04-01}",
        )
    for path, column in (
        (("write", "window_column"), write.window_column),
        (("source", "window_column"), getattr(task.source, "window_column", None)),
    ):
        if column is not None and column.lower() == WINDOW_COLUMN:
            sentence = f"{WINDOW_COLUMN} belongs to Samewise: leave window_column out to use it"
            yield Complaint((*at, *path), sentence)
    if write.window_column is not None and WINDOW_COLUMN in (name.lower() for name in task.target.partition_by):
        sentence = f"{WINDOW_COLUMN} is written only without a window_column"
        yield Complaint((*at, "target", "partition_by"), sentence)


def _declared(task: TaskSpec) -> Schema | None:
    return task.source.columns if isinstance(task.source, FilesSource) else None


def _check_columns(task: TaskSpec, declared: Schema, at: KeyPath) -> Iterator[Complaint]:
    """Without a transform the declared columns are the target's, with those that Samewise adds."""
    added = {WINDOW_COLUMN}
    if task.write.hash_key is not None:
        added.add(task.write.hash_key.column.lower())
    used: list[tuple[KeyPath, str]] = [(("target", "partition_by"), name) for name in task.target.partition_by]
    if task.write.window_column is not None:
        used.append((("write", "window_column"), task.write.window_column))
    for index, rule in enumerate(task.expect):
        used.extend((("expect", index), name) for name in rule.unique or ())
    for path, name in used:
        if declared.get(name) is None and name.lower() not in added:
            yield missing_column(declared, name, (*at, *path))


def _check_grain(pipeline: PipelineSpec, task: TaskSpec, at: KeyPath, folder: Path) -> Iterator[Complaint]:
    declared, name, schedule = _declared(task), task.write.window_column, pipeline.schedule
    if declared is None or name is None or schedule is None or task.write.strategy != "replace_window":
        return
    column = declared.get(name)
    if column is None or not _passes_through(name, task.transform, folder):
        return
    path = (*at, "write", "window_column")
    every = "an hourly" if schedule.every == "hour" else f"a {schedule.every}"
    if column.type not in ("date", "timestamp", "timestamp_ntz"):
        yield Complaint(path, f"must be a date, timestamp or timestamp_ntz, and '{name}' is {column.type}")
    elif schedule.is_sub_day and column.type == "date":
        yield Complaint(path, f"{every} window over a DATE column would replace the whole day")
    elif schedule.is_sub_day and column.type == "timestamp_ntz" and zone_shifts(schedule.zone):
        yield Complaint(
            path,
            f"{every} window over a TIMESTAMP_NTZ column does not work in {schedule.timezone}: "
            "when its clocks are set back, two windows share one wall-clock hour; use timestamp or zone UTC",
        )


def _passes_through(name: str, transform: str | None, folder: Path) -> bool:
    """True where the result's column is surely the source's own.

    A transform may make a new column of an old name; what a SELECT calls `name` after some
    expression, or what Python does, is left to the check of the real types when the task runs.
    """
    if transform is None:
        return True
    path = folder / transform
    if path.suffix != ".sql" or not path.is_file():
        return False
    sql = _COMMENT.sub(" ", path.read_text(encoding="utf-8", errors="replace"))
    mentions = re.finditer(rf"`?\b{re.escape(name)}\b`?", sql, re.IGNORECASE)
    return all(_BEFORE_A_COLUMN.search(sql[: mention.start()]) for mention in mentions)


@lru_cache(maxsize=16)
def zone_shifts(zone: ZoneInfo) -> bool:
    """True for a zone whose offset has changed since 1970, or is going to."""
    day = datetime(1970, 1, 1, tzinfo=UTC)
    first = day.astimezone(zone).utcoffset()
    while day.year < 2040:
        if day.astimezone(zone).utcoffset() != first:
            return True
        day += timedelta(days=5)
    return False
