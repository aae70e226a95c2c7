"""What is decided about shapes before any row moves."""

from __future__ import annotations

from samewise.core.errors import ConfigError, Refused, TransformFailed
from samewise.core.keyed import BOOKKEEPING_PREFIX, content
from samewise.core.schema import Schema
from samewise.core.sql import Span
from samewise.core.windows import Window
from samewise.plan.drift import describe, schema_changes
from samewise.plan.spans import WINDOW_COLUMN, grain_problem
from samewise.run.job import Job


def check_contract(pipeline: str, contract: Schema, found: Schema) -> None:
    """Raise `Refused` if the source no longer has the shape that was accepted."""
    changes = schema_changes(contract, found, ordered=False)
    if changes:
        raise Refused(
            "the source does not have the schema that was accepted\n" + describe(changes),
            code="drift",
            next_step="mend the source; or, if this is the shape that you want from now on: "
            f"`samewise contract {pipeline} --accept`, then run again",
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
    if target is not None and not job.replaces_all:
        _check_target(result, target)


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
