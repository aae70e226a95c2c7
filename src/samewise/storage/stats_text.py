"""A file's statistics as a Delta log keeps them: readers pass over files that cannot hold what they look for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samewise.storage.parquet_stats import FileRows, Value

_MOST_CHARACTERS = 64
"""Text is cut off behind these, rounded down or up. A window's key has 41."""
_LAST_CHARACTER = "\U0010ffff"


def statistics_text(found: FileRows, columns: Sequence[str]) -> str:
    """The statistics of these columns as JSON."""
    lows: dict[str, str] = {}
    highs: dict[str, str] = {}
    nulls: dict[str, str] = {}
    for name in columns:
        bounds = found.columns.get(name)
        if bounds is None:
            # The file lacks the column: it is NULL in every row.
            nulls[name] = str(found.rows)
            continue
        if bounds.nulls is not None:
            nulls[name] = str(bounds.nulls)
        low, high = _text(_rounded_down(bounds.low)), _text(_rounded_up(bounds.high))
        if low is not None and high is not None:
            lows[name], highs[name] = low, high
    return (
        f'{{"numRecords":{found.rows},"minValues":{_object(lows)},"maxValues":{_object(highs)},'
        f'"nullCount":{_object(nulls)}}}'
    )


def _object(members: dict[str, str]) -> str:
    return "{" + ",".join(f"{json.dumps(name)}:{text}" for name, text in members.items()) + "}"


def _rounded_down(value: Value | None) -> Value | None:
    return value[:_MOST_CHARACTERS] if isinstance(value, str) else value


def _rounded_up(value: Value | None) -> Value | None:
    if not isinstance(value, str) or len(value) <= _MOST_CHARACTERS:
        return value
    start = value[:_MOST_CHARACTERS]
    return None if value[_MOST_CHARACTERS] == _LAST_CHARACTER else start + _LAST_CHARACTER


def _text(value: Value | None) -> str | None:
    match value:
        case None:
            return None
        case str():
            return json.dumps(value, ensure_ascii=False)
        case datetime():
            # Whole milliseconds, rounded down, also the highest: readers of Delta know that.
            return f'"{value.replace(tzinfo=None).isoformat(timespec="milliseconds")}Z"'
        case date():
            return f'"{value.isoformat()}"'
        case Decimal():
            return format(value, "f")
        case float():
            return repr(value)
        case int():
            return str(value)
