"""What is measured of a set of rows: how many, what they add up to, what they contain.

The expressions are plain SQL text, so that one definition serves the pass that writes the rows,
the check of staged files and a later look at the target.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from samewise.core.ids import Json
from samewise.core.schema import Column, Schema
from samewise.core.sql import literal, quote

_HASH_BITS = 96
_HASH_PREFIX = "hash_"
_SUM_PREFIX = "sum_"
_UNITS_PREFIX = "units_"
_VALUES_PREFIX = "values_"
_NESTED = re.compile(r"\b(array<|struct<|map<|variant|interval)")
_EXACT_JSON = {
    "ignoreNullFields": "false",
    "timeZone": "UTC",
    "timestampFormat": "yyyy-MM-dd HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd HH:mm:ss.SSSSSS",
}
_WHOLE = frozenset({"tinyint", "smallint", "int", "bigint"})
_EXACT_DIGITS = 14
"""A decimal of so many digits, times a power of ten, is a double that is less than a half from the whole number."""


@dataclass(frozen=True, slots=True)
class Measures:
    """Equal for equal contents, whatever the order or the files of the rows."""

    rows: int
    content_hash: str
    sums: Mapping[str, str] = field(default_factory=dict)
    """Exact decimal sums, by column, as text."""

    def same_rows(self, other: Measures) -> bool:
        """True where both are measures of the same rows: which sums were taken besides is no difference."""
        return (self.rows, self.content_hash) == (other.rows, other.content_hash)

    def to_json(self) -> dict[str, Json]:
        return {"rows": self.rows, "content_hash": self.content_hash, "sums": dict(self.sums)}

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> Measures:
        """The inverse of `to_json`."""
        sums = value["sums"]
        assert isinstance(sums, Mapping)
        return cls(int(str(value["rows"])), str(value["content_hash"]), dict(sums))


def measure_expressions(schema: Schema, *, bits: int = 21, summed: Collection[str] = ()) -> dict[str, str]:
    """Aggregates over rows of `schema`, by the name that `read_measures` expects.

    Every decimal column is added up, and of the whole numbers those in `summed`: most of these are ids.

    The sum of 64-bit row hashes is taken in parts of `bits` that a BIGINT can hold: 21 bits for 2**41 rows;
    32 bits are two sums instead of three, for 2**31 rows. A sum does not depend on the order of the rows,
    and unlike XOR it does not lose a pair of equal rows.
    """
    row_hash = row_hash_expression(schema)
    expressions = {"rows": "count(*)"}
    for shift in range(0, 64, bits):
        part = row_hash if shift == 0 else f"shiftright({row_hash}, {shift})"
        last = shift + bits >= 63
        expressions[f"{_HASH_PREFIX}{shift}"] = f"try_sum({part})" if last else f"try_sum({part} & {(1 << bits) - 1}L)"
        if last:
            break
    for column in schema:
        if column.type in _WHOLE and column.name.lower() in {name.lower() for name in summed}:
            # As a decimal: the sum of two BIGINTs need not be one.
            expressions[_SUM_PREFIX + column.name] = f"try_sum(CAST({quote(column.name)} AS DECIMAL(20,0)))"
            continue
        size = re.fullmatch(r"decimal\((\d+),(\d+)\)", column.type)
        if size is None:
            continue
        name, (digits, scale) = quote(column.name), map(int, size.groups())
        if digits <= _EXACT_DIGITS:
            # Adding up whole cents is exact and takes a tenth of the time of adding up decimals. Spark works a value
            # that may be NULL out three times over; so NULLs add nothing here, and values are counted beside.
            units = f"floor(CAST({name} AS DOUBLE) * 1e{scale}D + 0.5D)"
            expressions[f"{_UNITS_PREFIX}{scale}_{column.name}"] = f"try_sum(coalesce({units}, 0L))"
            expressions[f"{_VALUES_PREFIX}{column.name}"] = f"count({name})"
        else:
            expressions[_SUM_PREFIX + column.name] = f"try_sum({name})"
    return expressions


def read_measures(values: Mapping[str, object]) -> Measures | None:
    """Measures from the row that `measure_expressions` gave; None if there were too many rows for its parts."""
    rows = int(str(values["rows"]))
    total = 0
    sums: dict[str, str] = {}
    for name, value in values.items():
        if name.startswith(_HASH_PREFIX):
            if value is None and rows > 0:
                return None
            total += int(str(value or 0)) << int(name.removeprefix(_HASH_PREFIX))
        elif name.startswith(_SUM_PREFIX) and value is not None:
            sums[name.removeprefix(_SUM_PREFIX)] = format(Decimal(str(value)), "f")
        elif name.startswith(_UNITS_PREFIX) and value is not None:
            scale, _, column = name.removeprefix(_UNITS_PREFIX).partition("_")
            if values[_VALUES_PREFIX + column]:
                sums[column] = format(Decimal(int(str(value))).scaleb(-int(scale)), "f")
    return Measures(rows, f"{total % (1 << _HASH_BITS):0{_HASH_BITS // 4}x}", sums)


def row_hash_expression(schema: Schema, value: Callable[[Column], str] | None = None) -> str:
    """A 64-bit hash of a whole row that does not depend on the order of its columns.

    `value` gives the SQL of a column where that is not just its name.
    """
    of = value or _named
    columns = sorted(schema, key=lambda column: column.name.lower())
    values = [_hashable(column, of(column)) for column in columns]
    # xxhash64 passes over NULLs, so (NULL, 'a') and ('a', NULL) would be the same row without these bits.
    for first in range(0, len(columns), 62):
        bits = [f"IF({of(column)} IS NULL, {1 << bit}L, 0L)" for bit, column in enumerate(columns[first : first + 62])]
        values.append(" + ".join(bits))
    return f"xxhash64({', '.join(values)})"


def exact_text(column: Column, value: str | None = None) -> str:
    """A nested value as text that tells any two apart: with its NULLs, its microseconds, and in no session's zone."""
    return _exact_json(f"'v', {value or _named(column)}")


def exact_row_text(columns: Schema) -> str:
    """A whole row as text, as exact, under the names of its columns."""
    return _exact_json(", ".join(f"{literal(column.name)}, {_named(column)}" for column in columns))


def _exact_json(fields: str) -> str:
    options = ", ".join(f"'{key}', '{item}'" for key, item in _EXACT_JSON.items())
    return f"to_json(named_struct({fields}), map({options}))"


def _named(column: Column) -> str:
    return quote(column.name)


def _hashable(column: Column, value: str) -> str:
    # Spark hashes a nested value's parts one after the other and passes over NULLs: [NULL, 'a'] and ['a', NULL]
    # would be the same. A map, a variant and an interval it does not hash at all.
    return exact_text(column, value) if _NESTED.search(column.type) else value
