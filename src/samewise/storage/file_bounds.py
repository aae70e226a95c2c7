"""Which files of a table may hold rows of a span, and which hold nothing else, by what its log says of each file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from samewise.core.sql import Span, Spans

_STATISTICS_PRECISION = timedelta(milliseconds=1)
"""A timestamp in the statistics is cut off to this: the true maximum may be higher by less than it."""
_ANY_ZONE = timedelta(days=1)
"""A timestamp that names a partition is a wall time, and the log does not say in which zone."""


class FileBounds:
    """Asked about rows of delta-rs's flat list of files, of which it needs the `columns`."""

    def __init__(
        self, spans: Sequence[Span], partition: str | None, low: str | None, high: str | None, nulls: str | None
    ) -> None:
        self._spans = spans
        self._partition = partition
        self._low = low
        self._high = high
        self._nulls = nulls
        self.columns = [name for name in (partition, low, high, nulls) if name is not None]

    @classmethod
    def of(cls, span: Span | Spans | None, names: Sequence[str]) -> FileBounds:
        """For a list of files with columns of these names; without a span, every file is concerned."""
        if span is None:
            return cls((), None, None, None, None)
        spans = _joined(span)
        known = {name.lower(): name for name in names}
        column = spans[0].column.lower()
        partition = known.get(f"partition.{column}")
        if partition is not None:
            return cls(spans, partition, None, None, None)
        return cls(spans, None, *(known.get(f"{kind}.{column}") for kind in ("min", "max", "null_count")))

    def may_hold(self, row: Mapping[str, Any]) -> bool:
        """Whether the file may hold a row of the span. In doubt, yes."""
        if not self._spans:
            return True
        if self._partition is not None:
            value = row[self._partition]
            # A span is never true for NULL, so a partition of NULLs holds none of its rows.
            return value is not None and any(_overlaps(s, value, value, _ANY_ZONE, _ANY_ZONE) for s in self._spans)
        if self._low is None or self._high is None:
            return True
        low, high = row[self._low], row[self._high]
        if low is None or high is None:
            return True
        return any(_overlaps(span, low, high, timedelta(0), _STATISTICS_PRECISION) for span in self._spans)

    def lies_within(self, row: Mapping[str, Any]) -> bool:
        """Whether all rows of the file surely lie in the span. In doubt, no."""
        if not self._spans:
            return True
        if self._partition is not None:
            value = row[self._partition]
            return not isinstance(value, datetime) and any(holds(span, value, value) for span in self._spans)
        if self._low is None or self._high is None or self._nulls is None or row[self._nulls] != 0:
            return False
        low, high = row[self._low], row[self._high]
        if isinstance(high, datetime):
            try:
                high += _STATISTICS_PRECISION - timedelta(microseconds=1)
            except OverflowError:
                return False
        return any(holds(span, low, high) for span in self._spans)


def holds(span: Span, low: Any, high: Any) -> bool:
    """Whether every value of [low, high] lies in the span. In doubt, no."""
    first, last = span.lower, span.upper
    if not _comparable(first, low) or not _comparable(first, high):
        return False
    if last is None:
        return bool(low == first == high)
    return bool(first <= low and high < last)


def _joined(span: Span | Spans) -> Sequence[Span]:
    """As few spans as say the same: those of time lie each beside the next."""
    if isinstance(span, Span):
        return (span,)
    first, last = span.parts[0], span.parts[-1]
    return span.parts if first.upper is None else (Span(first.column, first.lower, last.upper),)


def _overlaps(span: Span, low: Any, high: Any, below: timedelta, above: timedelta) -> bool:
    """Whether a value of [low, high] may lie in the span. In doubt, yes."""
    first, last = span.lower, span.upper
    if not _comparable(first, low) or not _comparable(first, high):
        return True
    if isinstance(low, datetime):
        try:
            low, high = low - below, high + above
        except OverflowError:
            return True
    if last is None:
        return bool(low <= first <= high)
    return bool(low < last and first <= high)


def _comparable(a: object, b: object) -> bool:
    if isinstance(a, datetime) and isinstance(b, datetime):
        return (a.tzinfo is None) == (b.tzinfo is None)
    for kind in (datetime, date, str):
        if isinstance(a, kind) or isinstance(b, kind):
            return isinstance(a, kind) and isinstance(b, kind)
    return False
