"""Rows that find their place by key in a Delta table: what a batch would change, and the MERGE that does it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from samewise.core.keyed import CHANGE, DELETED_AT, EPOCH, FILE, Batch, Change, Keyed, content, order_expression
from samewise.core.keys import newer, same_key, version_expression
from samewise.core.sql import literal, quote
from samewise.storage.frames import schema_of

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame

    from samewise.core.schema import Column, Schema

COUNTED_COLUMNS = "delta.dataSkippingNumIndexedCols"
"""Of so many columns of a table, from the first on, Delta keeps statistics for each file."""
DELTAS_DEFAULT = 32
_THERE = "_samewise_there"
_COPIES = "_samewise_copies"


def counted_columns(schema: Schema) -> int | None:
    """How many columns come before the bookkeeping, where that is the last; None where Delta's default is to stay.

    Nothing is ever skipped by the bookkeeping of a row that found its place by key: every file has a bit of everything.
    Statistics of three more columns are a good part of what it takes to write a row.
    """
    own = list(content(schema))
    last = list(schema)[: len(own)] == own
    flat = not any("<" in column.type for column in own)
    return len(own) if last and flat and 0 < len(own) < DELTAS_DEFAULT else None


def classified(rows: DataFrame, table: DataFrame | None, keyed: Keyed, batch: Batch, floor: str | None) -> DataFrame:
    """`rows`, each with what it would do to `table` (None: nothing is there yet), in the column `CHANGE`, and `FILE`.

    The table is read once, as far as it may hold the batch's keys, and only rows of those keys go any further.
    Where the rows lie is for the table to say: see `with_files`.
    """
    if table is None:
        return rows.selectExpr(
            "*", f"{_absent(keyed, None)} AS {quote(CHANGE)}", f"CAST(NULL AS STRING) AS {quote(FILE)}"
        )
    matched = _matched(rows, table, keyed, batch)
    own = content(schema_of(rows))
    change = _change(keyed, own, batch, floor) if keyed.updates else _insert_only()
    joined = rows.alias("b").join(matched.alias("t"), _expr(key_condition(keyed, "b", "t")), "left")
    return joined.selectExpr("b.*", f"{change} AS {quote(CHANGE)}", f"t.{quote(FILE)}")


def merge_statement(reference: str, view: str, columns: Schema, keyed: Keyed, batch: Batch) -> str:
    """The MERGE that publishes the rows of `view`: every comparison is made again, against what it finds then."""
    on = [key_condition(keyed, "t", "b"), *_near(batch, of="t")]
    own = content(columns)
    statement = f"MERGE INTO {reference} AS t USING {view} AS b ON {' AND '.join(on)}"
    # By name: a table may have bookkeeping of a strategy that it was written by before.
    names = [quote(column.name) for column in columns]
    if keyed.updates:
        sets = ", ".join(f"t.{name} = b.{name}" for name in names)
        statement += f" WHEN MATCHED AND {replaces(keyed, own)} THEN UPDATE SET {sets}"
    values = ", ".join(f"b.{name}" for name in names)
    return f"{statement} WHEN NOT MATCHED THEN INSERT ({', '.join(names)}) VALUES ({values})"


def replaces(keyed: Keyed, columns: Schema) -> str:
    """Whether the row `b` of a batch takes the place of the row `t` of the table, where both are there."""
    is_newer = f"{order_expression(keyed, columns, of='b')} > {order_expression(keyed, columns, of='t')}"
    # Worked out for every row of every file that is rewritten, matched or not: hashing two rows for each would cost
    # more than all the rest. A row of the batch always has its epoch.
    return f"CASE WHEN b.{quote(EPOCH)} IS NULL THEN false ELSE {is_newer} END"


def version_text(keyed: Keyed, columns: Schema, rows: DataFrame, floor: str | None) -> str | None:
    """The highest version among `rows` and `floor`, as text that `floor` can be again; None if there is none."""
    versions = rows.selectExpr(f"{version_expression(keyed.version_by)} AS v")
    if floor is not None:
        versions = versions.unionAll(rows.sparkSession.sql(f"SELECT {_floor_struct(keyed, columns, floor)} AS v"))
    fields = [f"{_to_text(columns, name, f'max(v).v{at}')} AS v{at}" for at, name in enumerate(keyed.version_by)]
    found = versions.selectExpr("count(*) AS n", *fields).first()
    if found is None or found["n"] == 0:
        return None
    return json.dumps([found[f"v{at}"] for at in range(len(keyed.version_by))])


def with_files(table: DataFrame) -> DataFrame:
    """The rows of a table of files, each with the name of its file."""
    # Not by its name: the user's own column may be called `_metadata`.
    return table.select("*", table.metadataColumn("_metadata").getField("file_name").alias(FILE))


def with_bookkeeping(table: DataFrame, keyed: Keyed, columns: Schema) -> DataFrame:
    """`table` with every column that a comparison needs: one that it does not have yet is NULL."""
    there = schema_of(table)
    wanted: dict[str, str] = {column.name: column.type for column in columns} | {FILE: "string"}
    if keyed.updates:
        wanted |= {EPOCH: "bigint", DELETED_AT: "timestamp"}
    missing = [f"CAST(NULL AS {type}) AS {quote(name)}" for name, type in wanted.items() if there.get(name) is None]
    return table.selectExpr("*", *missing) if missing else table


def _matched(rows: DataFrame, table: DataFrame, keyed: Keyed, batch: Batch) -> DataFrame:
    """The batch's keys that the table has, each with its row's place in the order, its file, and its copies."""
    own = content(schema_of(rows))
    keys = [quote(name) for name in keyed.key]
    there = with_bookkeeping(table, keyed, own)
    near = _near(batch, of=None)
    if near:
        there = there.where(" AND ".join(near))
    # Joined with the batch's keys first: the batch is the small side, and only rows of its keys are hashed and grouped.
    wanted = rows.selectExpr(*keys).alias("b")
    found = there.alias("t").join(wanted, _expr(key_condition(keyed, "t", "b")), "inner")
    order = order_expression(keyed, own, of="t") if keyed.updates else "true"
    placed = found.selectExpr(*[f"t.{key}" for key in keys], f"{order} AS {_THERE}", f"t.{quote(FILE)}")
    taken = {_THERE: f"max({_THERE})", _COPIES: "count(*)", FILE: f"max({quote(FILE)})"}
    return placed.groupBy(*keys).agg(*[_expr(sql).alias(name) for name, sql in taken.items()])


def _change(keyed: Keyed, columns: Schema, batch: Batch, floor: str | None) -> str:
    here, there = order_expression(keyed, columns, of="b"), f"t.{_THERE}"
    same = (
        f"({here}).version <=> {there}.version AND ({here}).deleted = {there}.deleted AND ({here}).hash = {there}.hash"
    )
    deleted = f"b.{quote(DELETED_AT)} IS NOT NULL"
    expired = "false"
    if floor is not None:
        expired = f"NOT {newer(version_expression(keyed.version_by, of='b'), _floor_struct(keyed, columns, floor))}"
    return (
        f"CASE WHEN t.{_COPIES} > 1 THEN '{Change.AMBIGUOUS}'"
        f" WHEN t.{_COPIES} IS NULL AND {expired} THEN IF({deleted}, '{Change.OLDER}', '{Change.EXPIRED}')"
        f" WHEN t.{_COPIES} IS NULL THEN {_absent(keyed, 'b')}"
        f" WHEN {same} THEN IF({there}.epoch >= {int(batch.era)}, '{Change.SAME}', '{Change.STAMP}')"
        f" WHEN NOT {newer(here, there)} THEN '{Change.OLDER}'"
        f" WHEN {deleted} THEN IF({there}.deleted, '{Change.TOMBSTONE}', '{Change.DELETE}')"
        f" WHEN {there}.deleted THEN '{Change.INSERT}'"
        f" ELSE '{Change.UPDATE}' END"
    )


def _insert_only() -> str:
    return f"IF(t.{_COPIES} IS NULL, '{Change.INSERT}', '{Change.SAME}')"


def _absent(keyed: Keyed, alias: str | None) -> str:
    if not keyed.updates:
        return f"'{Change.INSERT}'"
    column = quote(DELETED_AT) if alias is None else f"{alias}.{quote(DELETED_AT)}"
    return f"IF({column} IS NOT NULL, '{Change.TOMBSTONE}', '{Change.INSERT}')"


def key_condition(keyed: Keyed, one: str, other: str) -> str:
    """Whether the rows of two aliases have the same key."""
    if keyed.null_safe:
        return same_key(keyed.key, one, other)
    return " AND ".join(f"{one}.{quote(name)} = {other}.{quote(name)}" for name in keyed.key)


def _near(batch: Batch, *, of: str | None) -> list[str]:
    """Conditions on the table alone, by which Delta passes over files that cannot hold the batch's keys."""
    conditions = []
    for name, (lowest, highest) in batch.ranges.items():
        column = quote(name) if of is None else f"{of}.{quote(name)}"
        condition = f"{column} >= {lowest} AND {column} <= {highest}"
        conditions.append(f"({condition} OR {column} IS NULL)" if name in batch.with_nulls else f"({condition})")
    return conditions


def _floor_struct(keyed: Keyed, columns: Schema, floor: str) -> str:
    values: Sequence[str | None] = json.loads(floor)
    fields = [
        f"'v{at}', {_from_text(columns, name, text)}"
        for at, (name, text) in enumerate(zip(keyed.version_by, values, strict=True))
    ]
    return f"named_struct({', '.join(fields)})"


_BY_MICROSECONDS: Mapping[str, tuple[str, str]] = {"timestamp": ("unix_micros", "timestamp_micros")}
"""An instant as text would depend on the session's zone."""


def _to_text(columns: Schema, name: str, value: str) -> str:
    out, _ = _BY_MICROSECONDS.get(_column(columns, name).type, ("", ""))
    return f"CAST({out}({value}) AS STRING)"


def _from_text(columns: Schema, name: str, text: str | None) -> str:
    type = _column(columns, name).type
    if text is None:
        return f"CAST(NULL AS {type})"
    if type in _BY_MICROSECONDS:
        return f"{_BY_MICROSECONDS[type][1]}({int(text)}L)"
    return f"CAST({literal(text)} AS {type})"


def _column(columns: Schema, name: str) -> Column:
    column = columns.get(name)
    assert column is not None, name
    return column


def _expr(sql: str) -> Expression:
    from pyspark.sql import functions as f

    return f.expr(sql)
