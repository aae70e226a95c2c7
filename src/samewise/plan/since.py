"""How far an incremental task reads: from its watermark, less an overlap, up to a bound behind the clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from samewise.core.ports import Bounds
from samewise.core.schema import Schema
from samewise.core.sql import Span
from samewise.plan.local_time import first_instant, wall_time

_DAY = timedelta(days=1)
_TYPES = ("date", "timestamp", "timestamp_ltz", "timestamp_ntz")


def next_bounds(
    mark: datetime | None,
    *,
    now: datetime,
    overlap: timedelta,
    lag: timedelta,
    start: datetime | None,
    starts_over: bool = False,
) -> Bounds:
    """What the next run reads. `mark` is how far the task has come; None before its first run.

    `starts_over`: what was loaded is gone, so everything is read again. The upper bound never lies before
    the watermark: of rows that were promised to be consumed none is left out.
    """
    upper = now - lag
    lower = start
    if mark is not None:
        upper = max(upper, mark)
        if not starts_over:
            lower = _less(mark, overlap)
            if start is not None and lower < start <= mark:
                lower = start
    if lower is not None:
        upper = max(upper, lower)
    return Bounds(lower, upper)


@dataclass(frozen=True, slots=True)
class SinceColumn:
    """A column that says when a row changed: a TIMESTAMP, or a TIMESTAMP_NTZ or DATE in `zone`."""

    name: str
    type: str
    zone: ZoneInfo

    @classmethod
    def of(cls, schema: Schema, name: str, zone: ZoneInfo) -> SinceColumn:
        """Raises ValueError with a sentence for the user where the table has no such column of time."""
        column = schema.get(name)
        if column is None:
            raise ValueError(f"the table has no column {name}; it has {', '.join(schema.names)}")
        if column.type.lower() not in _TYPES:
            raise ValueError(f"{name} must be a TIMESTAMP, a TIMESTAMP_NTZ or a DATE, and is {column.type.upper()}")
        return cls(column.name, column.type.lower(), zone)

    def fit(self, bounds: Bounds) -> Bounds:
        """Whole local days for a DATE: of a day that is not over, a row may still come."""
        if self.type != "date":
            return bounds
        lower = None if bounds.lower is None else self._midnight(bounds.lower)
        return Bounds(lower, self._midnight(bounds.upper))

    def span(self, bounds: Bounds) -> Span:
        return Span(self.name, self._lowest(bounds.lower), self._value(bounds.upper))

    def onwards(self, lower: datetime | None) -> Span:
        return Span(self.name, self._lowest(lower), self._limits()[1])

    def _midnight(self, instant: datetime) -> datetime:
        return first_instant(self.zone, wall_time(self.zone, instant).date())

    def _limits(self) -> tuple[date, date]:
        if self.type == "date":
            return date.min, date.max
        zone = None if self.type == "timestamp_ntz" else UTC
        return datetime.min.replace(tzinfo=zone), datetime.max.replace(tzinfo=zone)

    def _value(self, instant: datetime) -> date:
        if self.type == "date":
            return wall_time(self.zone, instant).date()
        return wall_time(self.zone, instant) if self.type == "timestamp_ntz" else instant

    def _lowest(self, instant: datetime | None) -> date:
        """The lowest value that a row which was stamped at `instant` or later can have."""
        if instant is None:
            return self._limits()[0]
        value = self._value(instant)
        if self.type != "timestamp_ntz":
            return value
        # Where the clock is about to be set back, a later row shows an earlier time.
        before, after = (at.astimezone(self.zone).utcoffset() or timedelta() for at in (instant, instant + _DAY))
        return value - max(before - after, timedelta())


def _less(instant: datetime, duration: timedelta) -> datetime:
    try:
        return instant - duration
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)
