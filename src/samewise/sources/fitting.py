"""Rows of the source's own shape as rows of the accepted schema, where every value is still the same value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from samewise.core.errors import Refused
from samewise.core.schema import Column
from samewise.core.shapes import Fit, Taken, is_as_it_is
from samewise.core.sql import literal, quote
from samewise.sources.failure_text import failure_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MARK = "samewise: a value does not fit the accepted type"
# Over Spark Connect, and for a write, the reason of a failed job may be missing from its words.
_SUSPECT = (_MARK, "USER_RAISED_EXCEPTION", "TASK_WRITE_FAILED", "Job aborted")


def fitted(rows: DataFrame, fit: Fit) -> DataFrame:
    """The rows with the columns of `fit`. One with a value that a cast would change fails the job that reads it."""
    if is_as_it_is(fit, rows.columns):
        return rows
    casts = [taken for taken in fit if taken.casts]
    if casts:
        # A filter, so that the value is looked at even where nobody asks for its column.
        every = " AND ".join(_fits(taken) for taken in casts)
        rows = rows.where(f"CASE WHEN {every} THEN TRUE ELSE raise_error({literal(_MARK)}) END")
    return rows.selectExpr(*[f"{_expression(taken)} AS {quote(taken.column.name)}" for taken in fit])


def with_casts(read: Sequence[tuple[DataFrame, Fit]]) -> list[tuple[DataFrame, Fit]]:
    """Those of which a value may not fit: the others need not be remembered."""
    return [(rows, fit) for rows, fit in read if any(taken.casts for taken in fit)]


def refusal(error: BaseException, read: Sequence[tuple[DataFrame, Fit]]) -> Refused | None:
    """`Refused` with the first value that does not fit, if one is behind a failure. Reads the rows again."""
    text = failure_text(error)
    if not any(word in text for word in _SUSPECT):
        return None
    for rows, fit in read:
        casts = [taken for taken in fit if taken.casts]
        bad = rows.where(" OR ".join(f"NOT {_fits(taken)}" for taken in casts))
        shown = bad.selectExpr(
            *[f"NOT {_fits(taken)} AS bad_{at}" for at, taken in enumerate(casts)],
            *[f"CAST({_source(taken)} AS STRING) AS value_{at}" for at, taken in enumerate(casts)],
        ).first()
        if shown is None:
            continue
        at, taken = next((at, taken) for at, taken in enumerate(casts) if shown[f"bad_{at}"])
        assert taken.found is not None
        return Refused(
            f"the source's {taken.found.name} is {taken.found.type} now, and a value does not fit the accepted "
            f"{taken.column.type}: {shown[f'value_{at}']}",
            code="drift",
            next_step="mend the source; or make the new type the accepted one, then run the same command again",
        )
    return None


def _expression(taken: Taken) -> str:
    if taken.found is None:
        return f"CAST(NULL AS {taken.column.type})"
    return f"try_cast({_source(taken)} AS {taken.column.type})" if taken.casts else _source(taken)


def _fits(taken: Taken) -> str:
    """True where the value survives the cast: a rounded amount or a lost time of day is another value."""
    assert taken.found is not None
    value, cast = _source(taken), _expression(taken)
    fits = f"({value} IS NULL) = ({cast} IS NULL)"
    between = _exact_type(taken.found, taken.column)
    if between is not None:
        fits += f" AND try_cast({value} AS {between}) <=> try_cast({cast} AS {between})"
    return f"({fits})"


def _exact_type(found: Column, wanted: Column) -> str | None:
    """A type that shows whether a cast lost anything; None where a cast that works loses nothing."""
    if found.plain_type != "string":
        return found.type
    # Text has many spellings of a value, so it cannot simply be cast back.
    size = re.fullmatch(r"decimal\((\d+),(\d+)\)", wanted.plain_type)
    if size is not None:
        digits, scale = map(int, size.groups())
        return f"decimal(38,{38 - digits + scale})"
    return "timestamp_ntz" if wanted.plain_type == "date" else None


def _source(taken: Taken) -> str:
    assert taken.found is not None
    return quote(taken.found.name)
