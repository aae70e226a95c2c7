"""What a Parquet file says about its rows: how many, and between which values each column lies.

Read from the footer: field 3 is the number of rows, field 4 lists the groups of rows, of which each has its columns
(field 1) and its number of rows (3). A column's own data (3) names its type (1), its path (3), how many values it has
(5) and its statistics (12): NULLs (3), the highest (5) and the lowest value (6), as bytes.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

from samewise.core.schema import Schema
from samewise.storage.parquet_footer import NotParquet, read_footer

Value: TypeAlias = int | float | str | date | datetime | Decimal

_INT32, _INT64, _FLOAT, _DOUBLE, _BYTES, _FIXED = 1, 2, 4, 5, 6, 7
_TICKS = {9: timedelta(milliseconds=1), 10: timedelta(microseconds=1)}
"""What a timestamp counts in, by its old name in the schema; Spark's INT96 has no statistics at all."""
_FIRST_DAY = date(1970, 1, 1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WHOLE = frozenset({"tinyint", "smallint", "int", "bigint"})


@dataclass(frozen=True, slots=True)
class ColumnBounds:
    """All values of a column that are not NULL lie in [low, high]; None where that is not known, or there are none."""

    low: Value | None = None
    high: Value | None = None
    nulls: int | None = None


@dataclass(frozen=True, slots=True)
class FileRows:
    """How many rows a file has, and what is known of its columns, by name."""

    rows: int
    columns: Mapping[str, ColumnBounds]


def read_rows(path: str, schema: Schema) -> FileRows:
    """What the footer says of the flat columns of `schema`. Raises `NotParquet`."""
    footer = read_footer(path)
    try:
        ticks = {element[4].decode(): _TICKS.get(element.get(6, -1)) for element in footer[2][1:]}
        chunks: dict[str, list[dict[int, Any]]] = {column.name: [] for column in schema}
        for group in footer.get(4, []):
            for name, chunk in _flat_columns(group):
                if name in chunks:
                    chunks[name].append(chunk)
        groups = len(footer.get(4, []))
        columns = {
            column.name: _bounds(chunks[column.name], column.type, ticks.get(column.name))
            for column in schema
            if len(chunks[column.name]) == groups
        }
        return FileRows(int(footer[3]), columns)
    except (IndexError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise NotParquet("its footer cannot be understood") from error


def _flat_columns(group: Mapping[int, Any]) -> Iterator[tuple[str, dict[int, Any]]]:
    for column in group[1]:
        chunk = column[3]
        if len(chunk[3]) == 1:
            yield chunk[3][0].decode(), chunk


def _bounds(chunks: list[dict[int, Any]], type: str, tick: timedelta | None) -> ColumnBounds:
    nulls: int | None = 0
    lows: list[Any] = []
    highs: list[Any] = []
    known = True
    for chunk in chunks:
        found = chunk.get(12, {})
        missing = found.get(3)
        nulls = None if nulls is None or missing is None else nulls + missing
        if missing == chunk[5]:
            continue  # Nothing but NULLs: there is no lowest value.
        low, high = (_value(found.get(field), chunk[1], type, tick) for field in (6, 5))
        known = known and low is not None and high is not None
        lows.append(low)
        highs.append(high)
    if not known or not lows:
        return ColumnBounds(nulls=nulls)
    return ColumnBounds(min(lows), max(highs), nulls)


def _value(raw: bytes | None, physical: int, type: str, tick: timedelta | None) -> Value | None:
    """A value of a column that Spark calls `type`; None for one that has no place in Python, or no order."""
    if raw is None:
        return None
    try:
        if type == "string" and physical == _BYTES:
            return raw.decode()
        if type in ("float", "double") and physical in (_FLOAT, _DOUBLE):
            number: float = struct.unpack("<f" if physical == _FLOAT else "<d", raw)[0]
            return number if abs(number) < float("inf") else None
        if type in _WHOLE and physical in (_INT32, _INT64):
            return int.from_bytes(raw, "little", signed=True)
        if type == "date" and physical == _INT32:
            return _FIRST_DAY + timedelta(days=int.from_bytes(raw, "little", signed=True))
        if type == "timestamp" and physical == _INT64 and tick is not None:
            return _EPOCH + int.from_bytes(raw, "little", signed=True) * tick
        if (size := re.fullmatch(r"decimal\(\d+,(\d+)\)", type)) is not None:
            order = "big" if physical in (_BYTES, _FIXED) else "little"
            units = int.from_bytes(raw, order, signed=True)  # type: ignore[arg-type]
            return Decimal((int(units < 0), tuple(map(int, str(abs(units)))), -int(size[1])))
    except (OverflowError, UnicodeDecodeError, struct.error):
        pass  # The year 12,000 is a value like any other, and Python knows no such year.
    return None
