"""What a table holds, in figures, and whether two tables hold the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from samewise.prove.rows import differing_rows
from samewise.prove.values import Field, as_text, fields_of, plain_sql
from samewise.prove.verdict import ColumnFigures, Difference, Figures

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_BITS = 21
"""A sum of so many bits at a time fits a BIGINT for 2**41 rows."""
_SHIFTS = (0, _BITS, 2 * _BITS)
_HASH_BITS = 128
_FLOAT_SCALE = 9


def measure(frame: DataFrame, key: Sequence[str] = ()) -> Figures:
    """The figures of a table, in one Spark action. With `key`, also how many keys there are, and how many twice."""
    from pyspark.sql import functions as f

    fields = fields_of(frame)
    key = _named(fields, key)
    sql = _aggregates(fields)
    # In one call: dozens of expressions, each built through Py4J, cost more than the pass itself on a small table.
    row = frame.selectExpr(*[f"{text} AS {name}" for name, text in sql.items()])
    if key:
        by = {field.name: field.value for field in fields}
        keys = frame.groupBy(*[f.expr(by[name]) for name in key]).agg(f.expr("count(*)").alias("n"))
        row = row.crossJoin(keys.agg(f.expr("count(*)").alias("keys"), f.expr("count_if(n > 1)").alias("twice")))
    values = row.collect()[0].asDict()
    rows = int(values["rows"])
    return Figures(
        rows=rows,
        columns=tuple(_column(at, field, values) for at, field in enumerate(fields)),
        content=_content(values),
        key=tuple(key),
        distinct_keys=int(values["keys"]) if key else None,
        duplicate_keys=int(values["twice"]) if key else None,
    )


def same(clean: Figures, found: Figures) -> bool:
    """Whether the figures are those of the same rows in the same columns."""
    return (clean.rows, clean.content, clean.schema) == (found.rows, found.content, found.schema) and all(
        _agree(before, after) for before, after in zip(clean.columns, found.columns, strict=True)
    )


def compare(
    clean: DataFrame,
    found: DataFrame,
    key: Sequence[str] = (),
    examples: int = 5,
    clean_figures: Figures | None = None,
) -> tuple[Figures, Difference | None]:
    """What was found in figures, and how it differs from the clean table; None where it does not.

    Rows are paired by `key`, else by columns that are unique in the clean table, else by what is equal in them.
    """
    before = clean_figures or measure(clean, key)
    if _same_contents(before, found):
        # The same rows: whatever is added up of them is the same, too.
        return before, None
    after = measure(found, key)
    if same(before, after):
        return after, None
    return after, differing_rows(clean, found, before, after, key, examples)


def _same_contents(clean: Figures, frame: DataFrame) -> bool:
    """Whether number, columns and contents of the rows are those of the clean table, in as quick a pass as can be."""
    fields = fields_of(frame)
    if clean.schema != tuple((field.name, field.type) for field in fields):
        return False
    row = frame.selectExpr(*[f"{text} AS {name}" for name, text in _contents(fields).items()]).collect()[0].asDict()
    return (clean.rows, clean.content) == (int(row["rows"]), _content(row))


def _agree(before: ColumnFigures, after: ColumnFigures) -> bool:
    if before.nulls != after.nulls or (before.minimum, before.maximum) != (after.minimum, after.maximum):
        return False
    # A sum that did not fit says nothing: whether it fits on the way depends on the order.
    return before.total is None or after.total is None or before.total == after.total


def _named(fields: Sequence[Field], key: Sequence[str]) -> tuple[str, ...]:
    """The key's columns as the table spells them; a key that the table does not have is none."""
    known = {field.name.lower(): field.name for field in fields}
    found = tuple(known[name.lower()] for name in key if name.lower() in known)
    return found if len(found) == len(key) else ()


def _aggregates(fields: Sequence[Field]) -> dict[str, str]:
    sql = _contents(fields)
    for at, field in enumerate(fields):
        sql |= _column_aggregates(at, field)
    return sql


def _contents(fields: Sequence[Field]) -> dict[str, str]:
    ordered = sorted(fields, key=lambda field: field.name.lower())
    values = [field.value for field in ordered]
    # Hashes pass over NULLs, so that (NULL, 'a') and ('a', NULL) would be the same row without these bits.
    nulls = [_null_bits(ordered[first : first + 62]) for first in range(0, len(ordered), 62)]
    parts = ", ".join([*values, *nulls]) or "0"
    back = ", ".join([*reversed(values), *nulls]) or "0"
    # The second is another algorithm over another order: what one of them cannot tell apart, the other does.
    second = f"(shiftleft(CAST(hash('samewise', {parts}) AS BIGINT), 32) ^ CAST(hash({back}) AS BIGINT))"
    return {"rows": "count(*)", **_exact("a", f"xxhash64({parts})"), **_exact("b", second)}


def _null_bits(fields: Sequence[Field]) -> str:
    return " + ".join(f"IF({field.quoted} IS NULL, {1 << bit}L, 0L)" for bit, field in enumerate(fields))


def _exact(name: str, value: str) -> dict[str, str]:
    """Sums of the parts of a BIGINT: exact, and ten times as quick as a sum of decimals."""
    last = _SHIFTS[-1]
    return {
        f"{name}_{shift}": f"sum(shiftright({value}, {shift}))"
        if shift == last
        else f"sum(shiftright({value}, {shift}) & {(1 << _BITS) - 1}L)"
        for shift in _SHIFTS
    }


def _column_aggregates(at: int, field: Field) -> dict[str, str]:
    name = field.quoted
    sql = {f"nulls_{at}": f"count_if({name} IS NULL)"}
    if field.nested:
        return sql
    if field.is_whole:
        sql |= _exact(f"whole_{at}", f"CAST({name} AS BIGINT)")
    elif field.is_decimal:
        sql[f"total_{at}"] = f"try_sum({name})"
    elif field.is_float:
        # Rounded row by row, so that the sum does not depend on the order. NaN and infinity are left out.
        sql[f"total_{at}"] = f"try_sum(try_cast({name} AS DECIMAL(38,{_FLOAT_SCALE})))"
    if field.type != "void":
        sql[f"min_{at}"] = plain_sql(field, f"min({field.value})")
        sql[f"max_{at}"] = plain_sql(field, f"max({field.value})")
    return sql


def _column(at: int, field: Field, values: Mapping[str, Any]) -> ColumnFigures:
    nulls = int(values[f"nulls_{at}"])
    total: Decimal | None = None
    if field.is_whole and nulls < int(values["rows"]):
        total = Decimal(_joined(f"whole_{at}", values))
    elif values.get(f"total_{at}") is not None:
        total = Decimal(values[f"total_{at}"])
    return ColumnFigures(
        name=field.name,
        type=field.type,
        nulls=nulls,
        total=total,
        minimum=as_text(field, values.get(f"min_{at}")),
        maximum=as_text(field, values.get(f"max_{at}")),
    )


def _content(values: Mapping[str, Any]) -> str:
    sums = [_joined(name, values) % (1 << _HASH_BITS) for name in ("a", "b")]
    return "-".join(f"{value:0{_HASH_BITS // 4}x}" for value in sums)


def _joined(name: str, values: Mapping[str, Any]) -> int:
    return sum(int(values[f"{name}_{shift}"] or 0) << shift for shift in _SHIFTS)
