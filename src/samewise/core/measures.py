"""What is measured of a set of rows: how many, what they add up to, what they contain.

The expressions are plain SQL text, so that one definition serves the pass that writes the rows,
the check of staged files and a later look at the target.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from samewise.core.ids import Json
from samewise.core.schema import Column, Schema
from samewise.core.sql import quote

_CHUNK = 21
_MASK = (1 << _CHUNK) - 1
_HASH_BITS = 96
_SUM_PREFIX = "sum_"


@dataclass(frozen=True, slots=True)
class Measures:
    """Equal for equal contents, whatever the order or the files of the rows."""

    rows: int
    content_hash: str
    sums: Mapping[str, str] = field(default_factory=dict)
    """Exact decimal sums, by column, as text."""

    def to_json(self) -> dict[str, Json]:
        return {"rows": self.rows, "content_hash": self.content_hash, "sums": dict(self.sums)}

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> Measures:
        """The inverse of `to_json`."""
        sums = value["sums"]
        assert isinstance(sums, Mapping)
        return cls(int(str(value["rows"])), str(value["content_hash"]), dict(sums))


def measure_expressions(schema: Schema) -> dict[str, str]:
    """Aggregates over rows of `schema`, by the name that `read_measures` expects."""
    row_hash = row_hash_expression(schema)
    expressions = {
        "rows": "count(*)",
        # The sum of 64-bit hashes, in three parts that a BIGINT holds for 2**41 rows. A sum does not
        # depend on the order of the rows, and unlike XOR it does not lose a pair of equal rows.
        "hash_0": f"sum({row_hash} & {_MASK}L)",
        "hash_1": f"sum(shiftright({row_hash}, {_CHUNK}) & {_MASK}L)",
        "hash_2": f"sum(shiftright({row_hash}, {2 * _CHUNK}))",
    }
    for column in schema:
        if column.type.startswith("decimal"):
            expressions[_SUM_PREFIX + column.name] = f"try_sum({quote(column.name)})"
    return expressions


def read_measures(values: Mapping[str, object]) -> Measures:
    """Measures from the row that `measure_expressions` gave."""

    def whole(name: str) -> int:
        value = values[name]
        return 0 if value is None else int(str(value))

    total = (whole("hash_2") << 2 * _CHUNK) + (whole("hash_1") << _CHUNK) + whole("hash_0")
    sums = {
        name.removeprefix(_SUM_PREFIX): format(Decimal(str(value)), "f")
        for name, value in values.items()
        if name.startswith(_SUM_PREFIX) and value is not None
    }
    return Measures(whole("rows"), f"{total % (1 << _HASH_BITS):0{_HASH_BITS // 4}x}", sums)


def row_hash_expression(schema: Schema) -> str:
    """A 64-bit hash of a whole row that does not depend on the order of its columns."""
    columns = sorted(schema, key=lambda column: column.name.lower())
    values = [_hashable(column) for column in columns]
    # xxhash64 passes over NULLs, so (NULL, 'a') and ('a', NULL) would be the same row without these bits.
    for first in range(0, len(columns), 62):
        bits = [
            f"IF({quote(column.name)} IS NULL, {1 << bit}L, 0L)"
            for bit, column in enumerate(columns[first : first + 62])
        ]
        values.append(" + ".join(bits))
    return f"xxhash64({', '.join(values)})"


def _hashable(column: Column) -> str:
    name = quote(column.name)
    if re.search(r"\b(map<|variant|interval)", column.type):
        return f"to_json(named_struct('v', {name}))"
    return name
