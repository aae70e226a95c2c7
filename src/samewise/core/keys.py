"""Which row is which, and which of two is newer: the SQL that every strategy with a key shares.

Plain text, like `core.measures`, so that one definition serves the batch, the staged rows and the target.

The order of rows of one key is total, so that no file layout, partitioning or order of arrival can change
the winner: by `version_by`, a NULL below every value and NaN above; then by the hash of the whole row; then,
for different rows that share a hash, by the columns themselves. The greatest row is the newest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from samewise.core.measures import exact_text, row_hash_expression
from samewise.core.schema import Column, Schema
from samewise.core.sql import quote

_NOT_COMPARABLE = re.compile(r"\b(map<|variant\b|interval(?! (year|month|day|hour|minute|second)\b))")
_FLOATING = re.compile(r"\b(float|double)\b")
_WHOLE = frozenset({"tinyint", "smallint", "int", "bigint"})
_AS_TEXT = re.compile(r"(string( collate \w+)?|varchar\(\d+\)|char\(\d+\))")


# Versions


def version_expression(version_by: Sequence[str], *, of: str | None = None) -> str:
    """A STRUCT of the version columns that is compared as a whole, first column first; `of` is a table's alias.

    Spark compares structs field by field, with a NULL below every value, NaN above and -0.0 equal to 0.0, in
    generated and in interpreted code alike; so `>` between two of these is never NULL. Without columns every
    row has the same version.
    """
    if not version_by:
        return "named_struct('v', 0)"
    fields = [f"'v{i}', {_column(name, of)}" for i, name in enumerate(version_by)]
    return f"named_struct({', '.join(fields)})"


def newer(one: str, other: str) -> str:
    """A condition that is never NULL: `one` is greater than `other`.

    Each is an expression such as `version_expression` gives. A NULL, as an outer join leaves it for a row that
    is not there, is below everything.
    """
    return f"coalesce(({one}) > ({other}), ({one}) IS NOT NULL AND ({other}) IS NULL)"


def newest_first(version_by: Sequence[str], schema: Schema) -> str:
    """An ORDER BY list over rows of `schema`, by which the row that wins comes first. Only equal rows tie."""
    order = [quote(name) for name in version_by]
    order.append(row_hash_expression(schema))
    for column in sorted(schema, key=lambda column: column.name.lower()):
        if is_comparable(column.type):
            order.append(quote(column.name))
        # Spark takes -0.0 and 0.0 for equal, and a map cannot be compared: their texts can.
        if column.type in ("float", "double"):
            order.append(f"CAST({quote(column.name)} AS STRING)")
        elif not is_comparable(column.type) or _FLOATING.search(column.type):
            order.append(exact_text(column))
    return ", ".join(f"{sql} DESC NULLS LAST" for sql in order)


def is_comparable(type_: str) -> bool:
    """Whether Spark can group and order by a column of this type."""
    return _NOT_COMPARABLE.search(type_) is None


# Keys


def same_key(key: Sequence[str], one: str, other: str) -> str:
    """A condition between two aliases that is never NULL: a NULL in a key equals a NULL."""
    return " AND ".join(f"{_column(name, one)} <=> {_column(name, other)}" for name in key)


def has_null(key: Sequence[str], *, of: str | None = None) -> str:
    """A condition that is never NULL: some column of the key is."""
    return "(" + " OR ".join(f"{_column(name, of)} IS NULL" for name in key) + ")"


def hash_key_expression(columns: Sequence[Column]) -> str:
    """A key made of business columns: SHA-256, in hex, of their values in one canonical form.

    Each value is written as text (`canonical_text`), then as `<length in bytes>:<text>`, and a NULL as `-`; all
    of them are put together without anything in between. So ('ab', 'c') and ('a', 'bc') differ, a NULL differs
    from every value, and no type, zone or layout of this run has a part in it. Raises ValueError for a type that
    has no canonical form.
    """
    return f"sha2(concat({', '.join(_fields(columns))}), 256)"


def _fields(columns: Sequence[Column]) -> Iterator[str]:
    for column in columns:
        text = canonical_text(column)
        if text is None:
            raise ValueError(
                f"{column.name} is {column.type}, which has no one way to be written down: "
                "use columns that are text, whole numbers, decimals, dates, timestamps, booleans or binary"
            )
        yield f"coalesce(concat(CAST(octet_length({text}) AS STRING), ':', {text}), '-')"


def canonical_text(column: Column) -> str | None:
    """An expression for a value as text that is the same wherever the value is the same; None for no such type.

    A number is written without leading or trailing zeros, so that 5 as INT and 5.00 as DECIMAL agree; an
    instant as microseconds since 1970 in UTC, and wall time as if it were UTC.
    """
    name, type_ = quote(column.name), column.type
    if type_ in _WHOLE or type_ == "boolean" or type_ == "date" or _AS_TEXT.fullmatch(type_):
        # Dates are ISO 8601 then, and text stays as it is.
        return f"CAST({name} AS STRING)"
    scaled = re.fullmatch(r"decimal\(\d+,(\d+)\)", type_)
    if scaled is not None:
        text = f"CAST({name} AS STRING)"
        return text if scaled[1] == "0" else f"rtrim('.', rtrim('0', {text}))"
    if type_ == "timestamp":
        return f"CAST(unix_micros({name}) AS STRING)"
    if type_ == "timestamp_ntz":
        # By way of its text: a cast would take it for wall time of the session's zone, which may skip it.
        return f"CAST(unix_micros(CAST(concat(CAST({name} AS STRING), 'Z') AS TIMESTAMP)) AS STRING)"
    if type_ == "binary":
        return f"lower(hex({name}))"
    return None


def _column(name: str, of: str | None) -> str:
    return quote(name) if of is None else f"{quote(of)}.{quote(name)}"
