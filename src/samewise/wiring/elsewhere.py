"""Rows of windows that are not proved: whether they are the same on two forks of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from samewise.core.measures import Measures, measure_expressions, read_measures
from samewise.core.schema import Schema
from samewise.core.sql import Span, quote
from samewise.run.job import Job
from samewise.targets import delta_fork
from samewise.targets.delta import DeltaTarget

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def outside(spans: Sequence[Span]) -> str:
    """A predicate that is true for every row that lies in none of the spans."""
    within = " OR ".join(f"({span.sql})" for span in spans)
    return f"NOT coalesce({within}, false)"


def differs(clean: Job, found: Job, spans: Sequence[Span], rows: int) -> bool:
    """Whether the rows outside the spans are others in `found` than in `clean`; there are as many.

    `rows`: how many lie within the spans, in either. Of a Delta table only the files are read that the two do not
    share, and those not either where they hold no other rows: most of a large table is neither.
    """
    if not isinstance(clean.target, DeltaTarget) or not isinstance(found.target, DeltaTarget):
        return _hashed(clean, spans) != _hashed(found, spans)
    apart = delta_fork.apart(clean.target, found.target, spans)
    if apart is not None and apart.holds_only(rows):
        return False
    frames = None if apart is None else apart.rows(clean.spark)
    before, after = frames or (clean.target.rows(None), found.target.rows(None))
    if before is None or after is None:
        return before is not after
    where = outside(spans)
    return _measured(before.where(where)) != _measured(after.where(where))


def _measured(frame: DataFrame) -> Measures | None:
    """Number and contents, in one pass."""
    schema = Schema.of([(field.name, field.dataType.simpleString()) for field in frame.schema.fields])
    sql = measure_expressions(schema)
    row = frame.selectExpr(*[f"{text} AS {quote(name)}" for name, text in sql.items()]).collect()[0]
    return read_measures(row.asDict())


def _hashed(job: Job, spans: Sequence[Span]) -> object:
    from samewise.storage.postgres import connect, explained
    from samewise.targets.postgres import PostgresTarget
    from samewise.targets.postgres_fork import hash_outside

    target = job.target
    if not isinstance(target, PostgresTarget):
        return None
    with connect(target.connection, purpose="prove") as session, explained(target.key):
        return hash_outside(session, target.place, spans)
