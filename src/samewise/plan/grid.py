"""The grid of windows that a schedule lays over time.

    every    a window is                                    boundaries
    15m      a wall-clock quarter, counted from midnight    where the local clock shows a multiple, or is
    hour     60m                                            thrown past one by a changed offset
    day      a local date, 23 to 25 hours as a rule         the first instant of a date
    week     seven local dates from Monday
    month    a calendar month

Windows tile the line in every zone: no gap, no overlap. Around a changed offset a window is shorter or longer
than its neighbours. The start of a day is a boundary of every grid that is not coarser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from samewise.core.windows import Window
from samewise.plan.local_time import (
    bound_text,
    cell_end,
    cell_start,
    find_zone,
    first_instant,
    has_even_cells,
    parse_bound,
    starts_a_day,
    wall_time,
)

_MINUTES_A_DAY = 24 * 60
_DAY = timedelta(days=1)
_INSTANT = timedelta(microseconds=1)


class Unit(StrEnum):
    """What a grain is counted in."""

    MINUTE = "minute"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


@dataclass(frozen=True, slots=True)
class Every:
    """A grain: how long a window is. `minutes` is 0 for days, weeks and months."""

    unit: Unit
    minutes: int = 0

    def __post_init__(self) -> None:
        if self.unit is not Unit.MINUTE:
            if self.minutes:
                raise ValueError(f"a {self.unit} is not counted in minutes")
        elif not 0 < self.minutes < _MINUTES_A_DAY or _MINUTES_A_DAY % self.minutes:
            raise ValueError(f"windows of {self.minutes} minutes do not divide a day evenly")

    @classmethod
    def parse(cls, text: str) -> Every:
        """From `15m`, `2h`, `hour`, `day`, `week` or `month`. Raises ValueError for anything else."""
        if text in (Unit.DAY, Unit.WEEK, Unit.MONTH):
            return cls(Unit(text))
        match = re.fullmatch(r"([1-9][0-9]{0,3})([mh])", "1h" if text == "hour" else text)
        if match is None:
            raise ValueError(f"{text!r} is not a grain: write 15m, 2h, hour, day, week or month")
        minutes = int(match[1]) * (60 if match[2] == "h" else 1)
        if minutes == _MINUTES_A_DAY:
            return cls(Unit.DAY)
        if minutes > _MINUTES_A_DAY or _MINUTES_A_DAY % minutes:
            raise ValueError(f"windows of {text} do not divide a day evenly: try 15m, hour, 6h or day")
        return cls(Unit.MINUTE, minutes)

    @property
    def is_below_a_day(self) -> bool:
        return self.unit is Unit.MINUTE

    @property
    def grain(self) -> timedelta:
        """The length of a cell on the wall clock; only for grains below a day."""
        if not self.is_below_a_day:
            raise ValueError(f"a {self.unit} has no fixed length")
        return timedelta(minutes=self.minutes)

    def __str__(self) -> str:
        if not self.is_below_a_day:
            return self.unit.value
        if self.minutes % 60:
            return f"{self.minutes}m"
        return "hour" if self.minutes == 60 else f"{self.minutes // 60}h"


@dataclass(frozen=True, slots=True)
class Grid:
    """A schedule's windows: those of `every` in `zone` from `start` to before `end`."""

    every: Every
    start: datetime
    end: datetime | None
    zone: ZoneInfo

    def __post_init__(self) -> None:
        _require_boundary(self, "start", self.start)
        if self.end is not None:
            _require_boundary(self, "end", self.end)
            if self.end <= self.start:
                raise ValueError(
                    f"the end {bound_text(self.zone, self.end)} is not after the start "
                    f"{bound_text(self.zone, self.start)}"
                )

    @classmethod
    def parse(
        cls,
        every: str,
        start: str | date | datetime,
        end: str | date | datetime | None = None,
        timezone: str = "UTC",
    ) -> Grid:
        """A grid from what a schedule says. Raises ValueError with a sentence for the user."""
        grain = Every.parse(every)
        zone = find_zone(timezone)
        last = None if end is None else parse_bound(end, zone)
        return cls(grain, parse_bound(start, zone), last, zone)


def floor(grid: Grid, instant: datetime) -> datetime:
    """The last boundary at or before `instant`. The grid's own start and end do not matter here."""
    if grid.every.is_below_a_day:
        return cell_start(grid.zone, grid.every.grain, instant.astimezone(UTC))
    return first_instant(grid.zone, _period_at(grid, instant))


def next_boundary(grid: Grid, instant: datetime) -> datetime:
    """The first boundary after `instant`. The grid's own start and end do not matter here."""
    if grid.every.is_below_a_day:
        return cell_end(grid.zone, grid.every.grain, instant.astimezone(UTC))
    return first_instant(grid.zone, _next_period(grid.every.unit, _period_at(grid, instant)))


def window_at(grid: Grid, instant: datetime) -> Window:
    """The window that holds `instant`, whether or not the schedule reaches that far."""
    return Window(floor(grid, instant), next_boundary(grid, instant))


def windows_between(grid: Grid, start: datetime, end: datetime) -> list[Window]:
    """The schedule's windows that lie wholly within [start, end), oldest first."""
    return list(_windows_from(grid, start, end))


def holds(grid: Grid, window: Window) -> bool:
    """Whether the window is one of the schedule's: not one of before it was changed."""
    if window.is_full or window.start < grid.start or (grid.end is not None and window.end > grid.end):
        return False
    return window_at(grid, window.start) == window


def due_windows(grid: Grid, done: Set[Window], *, now: datetime) -> list[Window]:
    """Windows still to load, oldest first. One that is still open at `now` is not due."""
    return [window for window in _windows_from(grid, grid.start, now) if window not in done]


def newest_windows(grid: Grid, count: int, *, now: datetime) -> list[Window]:
    """The last `count` windows of the schedule that are over at `now`, oldest first; fewer near its start."""
    found: list[Window] = []
    at = floor(grid, now if grid.end is None else min(now, grid.end))
    while len(found) < count and at > grid.start:
        window = window_at(grid, at - _INSTANT)
        found.append(window)
        at = window.start
    return found[::-1]


def contiguous_end(grid: Grid, done: Set[Window]) -> datetime:
    """How far every window from the grid's start on is done, without a gap: the watermark."""
    latest = max((window.end for window in done if not window.is_full), default=grid.start)
    reached = grid.start
    for window in _windows_from(grid, grid.start, latest):
        if window not in done:
            break
        reached = window.end
    return reached


def _require_boundary(grid: Grid, name: str, instant: datetime) -> None:
    if instant.tzinfo is not UTC:
        raise ValueError(f"the {name} of a grid is a UTC instant, not {instant!r}")
    below = floor(grid, instant)
    if below != instant:
        above = next_boundary(grid, instant)
        raise ValueError(
            f"the {name} {bound_text(grid.zone, instant)} is not where a window of every {grid.every} begins "
            f"in {grid.zone.key}: the nearest that are, are {bound_text(grid.zone, below)} "
            f"and {bound_text(grid.zone, above)}"
        )


def _windows_from(grid: Grid, start: datetime, end: datetime) -> Iterator[Window]:
    start = max(start.astimezone(UTC), grid.start)
    end = end.astimezone(UTC) if grid.end is None else min(end.astimezone(UTC), grid.end)
    if start >= end:
        return
    below = floor(grid, start)
    at = start if below == start else next_boundary(grid, start)
    for boundary in _boundaries_after(grid, at):
        if boundary > end:
            return
        yield Window(at, boundary)
        at = boundary


def _boundaries_after(grid: Grid, at: datetime) -> Iterator[datetime]:
    """Every boundary after the boundary `at`, without end."""
    while True:
        # Most days are ordinary; their boundaries are found by adding, which keeps years of quarters cheap.
        if grid.every.is_below_a_day and starts_a_day(grid.zone, at):
            tomorrow = first_instant(grid.zone, wall_time(grid.zone, at).date() + _DAY)
            if has_even_cells(grid.zone, at, tomorrow):
                while at < tomorrow:
                    at += grid.every.grain
                    yield at
                continue
        at = next_boundary(grid, at)
        yield at


def _period_at(grid: Grid, instant: datetime) -> date:
    """The first date of the day, week or month whose window holds `instant`."""
    unit = grid.every.unit
    period = _period_of(unit, wall_time(grid.zone, instant).date())
    # A clock that is put back across midnight shows the old date again, in a window that has already begun.
    while first_instant(grid.zone, following := _next_period(unit, period)) <= instant:
        period = following
    return period


def _period_of(unit: Unit, day: date) -> date:
    match unit:
        case Unit.WEEK:
            return day - _DAY * day.weekday()
        case Unit.MONTH:
            return day.replace(day=1)
        case _:
            return day


def _next_period(unit: Unit, first: date) -> date:
    match unit:
        case Unit.WEEK:
            return first + 7 * _DAY
        case Unit.MONTH:
            return (first.replace(day=28) + 4 * _DAY).replace(day=1)
        case _:
            return first + _DAY
