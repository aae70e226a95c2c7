"""What is decided about shapes before any row moves."""

from __future__ import annotations

from collections.abc import Sequence

from samewise.core.errors import ConfigError, Refused, TransformFailed
from samewise.core.keyed import BOOKKEEPING_PREFIX, content
from samewise.core.schema import Schema
from samewise.core.shapes import Shape
from samewise.core.sql import Span
from samewise.core.windows import Window
from samewise.plan.drift import describe, schema_changes
from samewise.plan.spans import WINDOW_COLUMN, grain_problem
from samewise.plan.verdict import Verdict, common_contract, decide, declared_contract, policy_hint, refusal_text
from samewise.run.job import Job


def judge_source(job: Job, known: Schema | None, shapes: Sequence[Shape]) -> Verdict:
    """What becomes of the source's data: `known` is the contract that is stored, None before the first load."""
    if job.declared_schema is not None:
        contract = declared_contract(job.declared_schema, known)
    else:
        contract = common_contract(shapes, job.drift) if known is None else known
    return decide(contract, shapes, job.drift)


def check_source(job: Job, window: Window, known: Schema | None, shapes: Sequence[Shape]) -> Verdict:
    """The same. Raises `Refused` if the window's source has drifted further than the pipeline allows."""
    verdict = judge_source(job, known, shapes)
    if verdict.is_refused:
        raise drift_refusal(job, window, known, verdict)
    return verdict


def accept_command(job: Job, window: Window) -> str:
    """What a person types to accept the shape that the source has in this window, and no other."""
    of_task = "" if job.task == "load" else f" --task {job.task}"
    of_window = "" if job.grid is None else f" --window {job.label(window)}"
    return f"samewise contract {job.pipeline}{of_task}{of_window} --accept"


def drift_refusal(job: Job, window: Window, known: Schema | None, verdict: Verdict) -> Refused:
    """What has changed, and everything that can be done about it."""
    what = "the source does not have the schema that was accepted"
    accept: str | None = f"if this is the shape from now on: `{accept_command(job, window)}`"
    if job.declared:
        what = "the source does not have the schema that is declared"
        accept = "if this is the shape from now on, change source.schema"
    elif known is None:
        what, accept = "the files of the window do not all have the same schema", None
    hint = policy_hint(verdict)
    ways = [
        "mend the source",
        None if hint is None else f"let such changes pass with {hint}",
        accept,
    ]
    return Refused(
        f"{what}\n{refusal_text(verdict)}",
        code="drift",
        next_step="; or ".join(way for way in ways if way is not None) + "; then run the same command again",
    )


def check_result(job: Job, result: Schema, target: Schema | None) -> None:
    """Raise if the transform's result cannot be written: by its names, its types, or the target's schema."""
    names = [name.lower() for name in result.names]
    for name in sorted({name for name in names if names.count(name) > 1}):
        raise TransformFailed(f"the result has two columns named {name}", next_step="give one of them another name")
    for column in result:
        if "void" in column.type:
            raise TransformFailed(
                f"the column {column.name} of the result has no type",
                next_step=f"cast it: CAST(NULL AS STRING) AS {column.name}",
            )
    for name in names:
        if name.startswith(BOOKKEEPING_PREFIX):
            raise TransformFailed(
                f"the result has a column {name}: such names are for what Samewise adds itself",
                next_step="leave it out of the SELECT",
            )
    for name in [*job.partition_by, *filter(None, [job.window_column])]:
        if name != WINDOW_COLUMN and result.get(name) is None:
            raise TransformFailed(
                f"the result has no column {name}; it has {', '.join(result.names)}",
                next_step=f"select {name} in the transform, or mend write.window_column or target.partition_by",
            )
    fitted = job.target.fitted(result)
    if target is not None and not job.replaces_all:
        _check_target(fitted, target)


def result_span(job: Job, window: Window, result: Schema) -> Span | None:
    """The span that this window replaces, now that the column's type is known."""
    if job.window_column is not None and job.grid is not None:
        column = result.get(job.window_column)
        assert column is not None
        try:
            problem = grain_problem(column.type, job.grid.every, job.zone)
            span = job.span(window, result)
        except ValueError as error:
            raise ConfigError(
                f"write.window_column: {error}",
                next_step="name a DATE, TIMESTAMP or TIMESTAMP_NTZ column, or leave window_column out",
            ) from error
        if problem is not None:
            raise ConfigError(f"write.window_column: {problem}", next_step="mend the schedule or the column")
        return span
    return job.span(window, result)


def _check_target(result: Schema, target: Schema) -> None:
    found = schema_changes(content(target), result, ordered=False)
    changes = [change for change in found if change.kind in ("removed", "type_changed")]
    if changes:
        raise Refused(
            "the result does not fit the target's schema\n" + describe(changes),
            code="target_schema",
            next_step="keep the target's columns and types in the SELECT, or change the table first "
            "(ALTER TABLE); a new column needs nothing, it is added",
        )
