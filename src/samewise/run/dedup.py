"""One row for each key: the newest, by an order in which only equal rows tie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from samewise.core.keys import has_null, newest_first
from samewise.core.schema import Schema
from samewise.core.sql import quote
from samewise.run.keys import check_columns
from samewise.storage.frames import schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NTH = "_samewise_nth"


@dataclass(frozen=True, slots=True)
class Dedup:
    """Of the source's rows with one natural key, the newest is kept."""

    key: Sequence[str]
    version_by: Sequence[str] = ()


def newest_per_key(
    rows: DataFrame, key: Sequence[str], version_by: Sequence[str], schema: Schema, *, spare_nulls: bool = False
) -> DataFrame:
    """The newest row of each key, lazily, in one shuffle; a NULL in a key equals a NULL.

    With `spare_nulls` every row with a NULL in its key stays: it is for a later step to say what becomes of it.

    `schema` says which columns make the row: one that differs from load to load and is not in it has no say in
    who wins. However the same rows lie in files and partitions, the same row wins.
    """
    spared = f" OR {has_null(key)}" if spare_nulls else ""
    return _ranked(rows, key, version_by, schema).where(f"{_NTH} = 1{spared}").drop(_NTH)


def without_duplicates(rows: DataFrame, dedup: Dedup) -> DataFrame:
    """The same for a source's rows, whose key may be unknown: a row with a NULL in it repeats no other, and stays."""
    schema = schema_of(rows)
    check_columns(schema, [*dedup.key, *dedup.version_by], "dedup")
    ranked = _ranked(rows, dedup.key, dedup.version_by, schema)
    return ranked.where(f"{_NTH} = 1 OR {has_null(dedup.key)}").drop(_NTH)


def _ranked(rows: DataFrame, key: Sequence[str], version_by: Sequence[str], schema: Schema) -> DataFrame:
    partition = ", ".join(quote(name) for name in key)
    order = newest_first(version_by, schema)
    return rows.selectExpr("*", f"row_number() OVER (PARTITION BY {partition} ORDER BY {order}) AS {_NTH}")
