"""Where local wall time meets UTC instants: the rules of a zone, without a schedule.

zoneinfo knows the offset at an instant and no list of its changes. A change is therefore found by bisection,
to the second, and only where the two ends of a span already differ.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from samewise.core.windows import instant_text

_SECOND = timedelta(seconds=1)
_DAY = timedelta(days=1)
YEARS = range(1900, 3000)
"""A year outside is a slip of the pen, and far enough from the ends of Python's calendar."""


def find_zone(name: str) -> ZoneInfo:
    """The zone called `name`. Raises ValueError that suggests the nearest name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        from difflib import get_close_matches

        near = get_close_matches(name, available_timezones(), n=1)
        hint = f"did you mean {near[0]!r}?" if near else "write one such as Europe/Berlin or UTC"
        raise ValueError(f"there is no time zone {name!r}: {hint}") from None


def wall_time(zone: ZoneInfo, instant: datetime) -> datetime:
    """What a clock on the wall shows at `instant`: a naive datetime."""
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)


def instants_at(zone: ZoneInfo, wall: datetime) -> tuple[datetime, ...]:
    """The instants at which the clock shows `wall`: none in a gap, two where the hour is repeated."""
    found = {wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)}
    return tuple(sorted(instant for instant in found if wall_time(zone, instant) == wall))


@lru_cache(maxsize=4096)
def first_instant(zone: ZoneInfo, day: date) -> datetime:
    """The first instant whose local date is `day` or later.

    Usually local midnight. Where midnight is skipped it is the end of the gap, and where a whole
    date is skipped the date and its successor have the same first instant.
    """
    midnight = datetime.combine(day, time())
    found = instants_at(zone, midnight)
    if found:
        return found[0]
    # In a gap, fold=1 gives an instant before the change and fold=0 one that is not.
    before, after = (midnight.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (1, 0))
    return _first_where(before, after, lambda instant: wall_time(zone, instant).date() >= day)


def starts_a_day(zone: ZoneInfo, instant: datetime) -> bool:
    """True if a local date begins at `instant`."""
    return first_instant(zone, wall_time(zone, instant).date()) == instant


def cell_start(zone: ZoneInfo, grain: timedelta, instant: datetime) -> datetime:
    """The last boundary at or before `instant`.

    The wall clock is divided into cells of `grain`, counted from midnight. A boundary is an instant at which
    the wall time is a multiple of the grain, or at which a changed offset throws the clock into another cell.
    So a window never holds two cells, and a repeated hour is two windows.
    """
    wall = wall_time(zone, instant)
    candidate = instant - (wall - _cell(wall, grain))
    if candidate.astimezone(zone).utcoffset() == instant.astimezone(zone).utcoffset():
        return candidate
    change = _offset_change(zone, candidate, instant)
    before = change - _SECOND
    if _cell(wall_time(zone, before), grain) != _cell(wall_time(zone, change), grain):
        return change
    return cell_start(zone, grain, before)


def cell_end(zone: ZoneInfo, grain: timedelta, instant: datetime) -> datetime:
    """The first boundary after `instant`; see `cell_start`."""
    wall = wall_time(zone, instant)
    cell = _cell(wall, grain)
    candidate = instant + (cell + grain - wall)
    if candidate.astimezone(zone).utcoffset() == instant.astimezone(zone).utcoffset():
        return candidate
    change = _offset_change(zone, instant, candidate)
    new_wall = wall_time(zone, change)
    new_cell = _cell(new_wall, grain)
    if new_cell == new_wall or new_cell != _cell(wall_time(zone, change - _SECOND), grain):
        return change
    return cell_end(zone, grain, change)


def has_even_cells(zone: ZoneInfo, start: datetime, end: datetime) -> bool:
    """True if [start, end) is an ordinary local day, whose cells all have the same length."""
    return (
        end - start == _DAY
        and start.astimezone(zone).utcoffset() == end.astimezone(zone).utcoffset()
        and wall_time(zone, start).time() == time()
    )


@lru_cache(maxsize=64)
def offset_changes_after_1970(zone: ZoneInfo) -> bool:
    """True if the zone's offset was not, or will not be, the same all through 1970 to 2040."""
    first = datetime(1970, 1, 1, 12, tzinfo=UTC)
    offset = first.astimezone(zone).utcoffset()
    days = (datetime(2041, 1, 1, tzinfo=UTC) - first).days
    # The shortest that any zone kept an offset since 1970 is a week: Recife, in October 2000.
    return any((first + _DAY * number).astimezone(zone).utcoffset() != offset for number in range(5, days, 5))


def parse_bound(value: str | date | datetime, zone: ZoneInfo) -> datetime:
    """An instant from a date (its first instant in `zone`), a local time, or a time with its offset.

    Raises ValueError for a local time or date that does not exist, and for one that happens twice.
    """
    shown = value if isinstance(value, str) else value.isoformat()
    if isinstance(value, str):
        try:
            is_date = len(value) <= len("2026-04-25") and "T" not in value
            value = date.fromisoformat(value) if is_date else datetime.fromisoformat(value)
        except ValueError:
            raise ValueError(
                f"{shown!r} is not a time: write 2026-04-25, 2026-04-25T13:00 or 2026-04-25T13:00:00Z"
            ) from None
    if value.year not in YEARS:
        raise ValueError(f"{shown} lies outside the years {YEARS.start} to {YEARS.stop - 1}")
    if not isinstance(value, datetime):
        instant = first_instant(zone, value)
        if wall_time(zone, instant).date() != value:
            raise ValueError(f"the date {shown} does not exist in {zone.key}: the calendar skips it there")
        return instant
    if value.tzinfo is not None:
        return value.astimezone(UTC)
    found = instants_at(zone, value)
    if not found:
        raise ValueError(f"the local time {shown} does not exist in {zone.key}: the clock skips it there")
    if len(found) > 1:
        first, second = map(instant_text, found)
        raise ValueError(f"the local time {shown} happens twice in {zone.key}: write {first} or {second}")
    return found[0]


def bound_text(zone: ZoneInfo, instant: datetime) -> str:
    """The shortest text from which `parse_bound` makes `instant` again."""
    wall = wall_time(zone, instant)
    if starts_a_day(zone, instant):
        return wall.date().isoformat()
    if len(instants_at(zone, wall)) > 1:
        return instant_text(instant)
    return wall.isoformat(timespec="auto" if wall.second or wall.microsecond else "minutes")


def _cell(wall: datetime, grain: timedelta) -> datetime:
    midnight = datetime.combine(wall.date(), time())
    return wall - (wall - midnight) % grain


def _offset_change(zone: ZoneInfo, before: datetime, after: datetime) -> datetime:
    """The instant in (before, after] from which the offset is the one at `after`."""
    offset = after.astimezone(zone).utcoffset()
    return _first_where(before, after, lambda instant: instant.astimezone(zone).utcoffset() == offset)


def _first_where(before: datetime, after: datetime, holds: Callable[[datetime], bool]) -> datetime:
    """The first whole second in (before, after] where `holds`, which must be true at `after`."""
    low = before.replace(microsecond=0)
    seconds = -((low - after) // _SECOND)
    below, above = 0, seconds
    while above - below > 1:
        middle = (below + above) // 2
        if holds(low + _SECOND * middle):
            above = middle
        else:
            below = middle
    return low + _SECOND * above
