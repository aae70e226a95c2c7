"""How a person writes a window, and how one is shown.

    2026-04             a month          2026-04-25T13     an hour
    2026-04-25          a day            START/END         ISO 8601; without an offset: local

All in the schedule's zone. What covers several windows of the grid expands to them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta

from samewise.core.windows import Window, instant_text
from samewise.plan.grid import Grid, Unit, floor, next_boundary, windows_between
from samewise.plan.local_time import (
    YEARS,
    bound_text,
    cell_end,
    cell_start,
    first_instant,
    instants_at,
    parse_bound,
    wall_time,
)

_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)


def parse_window(text: str, grid: Grid) -> list[Window]:
    """The windows that `text` means, oldest first, at least one.

    Raises ValueError with what to write instead where `text` is off the grid, finer than it, outside the
    schedule, or means a local time that does not exist or happens twice.
    """
    text = text.strip()
    start, end = _span(text, grid)
    _require_on_grid(text, start, end, grid)
    if start < grid.start:
        raise ValueError(f"{text} begins before the schedule, which starts at {bound_text(grid.zone, grid.start)}")
    if grid.end is not None and end > grid.end:
        raise ValueError(f"{text} ends after the schedule, which ends at {bound_text(grid.zone, grid.end)}")
    return windows_between(grid, start, end)


def label(window: Window, grid: Grid) -> str:
    """The shortest text from which `parse_window` makes exactly this window; `full` for the full one."""
    if window.is_full:
        return window.key
    for text in _short_texts(window, grid):
        try:
            span = _span(text, grid)
        except ValueError:
            continue
        if span == (window.start, window.end):
            return text
    return window.key


def _short_texts(window: Window, grid: Grid) -> list[str]:
    """What the window may be called, if nothing is odd about its days and hours."""
    start = wall_time(grid.zone, window.start)
    match grid.every.unit:
        case Unit.MONTH:
            return [f"{start:%Y-%m}"]
        case Unit.DAY:
            return [f"{start:%Y-%m-%d}"]
        case Unit.WEEK:
            return [f"{start:%Y-%m-%d}/{wall_time(grid.zone, window.end):%Y-%m-%d}"]
        case Unit.MINUTE:
            return [f"{start:%Y-%m-%dT%H}"] if grid.every.grain == _HOUR else []


def _span(text: str, grid: Grid) -> tuple[datetime, datetime]:
    if "/" in text:
        first, _, last = text.partition("/")
        start, end = parse_bound(first.strip(), grid.zone), parse_bound(last.strip(), grid.zone)
        if start >= end:
            raise ValueError(f"{text} is empty: its end is not after its start")
        return start, end
    for pattern, read in _FORMS.items():
        if re.fullmatch(pattern, text, re.ASCII):
            return read(text, grid)
    if text == "full":
        raise ValueError(f"'full' is the window of a task without a schedule; this one has a window every {grid.every}")
    raise ValueError(f"{text!r} is not a window: write 2026-04-25, 2026-04-25T13, 2026-04 or START/END")


def _month(text: str, grid: Grid) -> tuple[datetime, datetime]:
    first = _date(f"{text}-01", text)
    following = (first + 31 * _DAY).replace(day=1)
    # Not `parse_bound`: a month whose first date is skipped begins with its second.
    return first_instant(grid.zone, first), first_instant(grid.zone, following)


def _day(text: str, grid: Grid) -> tuple[datetime, datetime]:
    day = _date(text, text)
    return parse_bound(day, grid.zone), first_instant(grid.zone, day + _DAY)


def _hour(text: str, grid: Grid) -> tuple[datetime, datetime]:
    day, hour = _date(text[:10], text), int(text[11:])
    if hour > 23:
        raise ValueError(f"{text} is not an hour: the hours of a day are 00 to 23")
    parse_bound(day, grid.zone)
    wall = datetime.combine(day, datetime.min.time()) + hour * _HOUR
    # Both ends are looked up: an offset that changes by half an hour leaves a part of the hour.
    held = {
        (cell_start(grid.zone, _HOUR, instant), cell_end(grid.zone, _HOUR, instant))
        for edge in (wall, wall + _HOUR - timedelta(seconds=1))
        for instant in instants_at(grid.zone, edge)
    }
    if not held:
        raise ValueError(f"the local hour {text} does not exist in {grid.zone.key}: the clock skips it there")
    if len(held) > 1:
        choices = " or ".join(f"{instant_text(start)}/{instant_text(end)}" for start, end in sorted(held))
        raise ValueError(f"the local hour {text} happens twice in {grid.zone.key}: write {choices}")
    return held.pop()


_FORMS: dict[str, Callable[[str, Grid], tuple[datetime, datetime]]] = {
    r"\d{4}-\d{2}": _month,
    r"\d{4}-\d{2}-\d{2}": _day,
    r"\d{4}-\d{2}-\d{2}T\d{2}": _hour,
}


def _date(iso: str, text: str) -> date:
    try:
        day = date.fromisoformat(iso)
    except ValueError:
        raise ValueError(f"{text} is not in the calendar") from None
    if day.year not in YEARS:
        raise ValueError(f"{text} lies outside the years {YEARS.start} to {YEARS.stop - 1}")
    return day


def _require_on_grid(text: str, start: datetime, end: datetime, grid: Grid) -> None:
    below = floor(grid, start)
    above = end if floor(grid, end) == end else next_boundary(grid, end)
    if (below, above) == (start, end):
        return
    if above == next_boundary(grid, below):
        write = label(Window(below, above), grid)
        raise ValueError(f"{text} is finer than the schedule's windows of every {grid.every}: write {write}")
    raise ValueError(
        f"{text} does not lie on the grid of every {grid.every} in {grid.zone.key}: "
        f"write {bound_text(grid.zone, below)}/{bound_text(grid.zone, above)}"
    )
