"""Small things about DataFrames that sources, targets and the runner all need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samewise.core.schema import Column, Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def schema_of(rows: DataFrame) -> Schema:
    """The shape of a DataFrame, without running it."""
    return Schema(
        tuple(Column(field.name, field.dataType.simpleString(), field.nullable) for field in rows.schema.fields)
    )
