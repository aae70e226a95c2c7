"""Small things about DataFrames that sources, targets and the runner all need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samewise.core.measures import Measures, measure_expressions, read_measures
from samewise.core.schema import Column, Schema
from samewise.core.sql import AT, quote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def schema_of(rows: DataFrame) -> Schema:
    """The shape of a DataFrame, without running it."""
    return Schema(
        tuple(Column(field.name, field.dataType.simpleString(), field.nullable) for field in rows.schema.fields)
    )


def measure_by(rows: DataFrame, schema: Schema, windows: int) -> list[Measures]:
    """Measures of each window's rows in one pass; `AT` says whose a row is. A window without rows has measures, too."""
    from pyspark.sql import functions as f

    expressions = measure_expressions(schema)
    found = rows.groupBy(AT).agg(*[f.expr(sql).alias(name) for name, sql in expressions.items()]).collect()
    measured = [empty_measures()] * windows
    for row in found:
        values = row.asDict()
        at = values.pop(AT)
        measures = read_measures(values)
        assert measures is not None, "more than 2**41 rows in one window"
        if at is not None:
            measured[at] = measures
    return measured


def empty_measures() -> Measures:
    """Those of no row at all."""
    measures = read_measures({"rows": 0})
    assert measures is not None
    return measures


def without(schema: Schema, *names: str) -> Schema:
    """The schema without some columns."""
    return Schema(tuple(column for column in schema if column.name not in names))


def selected(schema: Schema) -> list[str]:
    """Every column by its quoted name, for a select."""
    return [quote(column.name) for column in schema]
