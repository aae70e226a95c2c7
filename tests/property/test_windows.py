"""Windows tile the line: no gap, no overlap, in every zone and for every grain."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

from hypothesis import example, given
from hypothesis import strategies as st

from samewise.core.windows import Window
from samewise.plan.grid import (
    Every,
    Grid,
    Unit,
    contiguous_end,
    due_windows,
    floor,
    next_boundary,
    window_at,
    windows_between,
)
from samewise.plan.local_time import first_instant, wall_time
from samewise.plan.window_text import label, parse_window

ODD_ZONES = [
    "America/New_York",
    "Europe/Berlin",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Pacific/Apia",
    "Pacific/Kiritimati",
    "Pacific/Chatham",
    "UTC",
]
GRAINS = ["1m", "5m", "15m", "30m", "40m", "hour", "90m", "2h", "6h", "12h", "day", "week", "month"]
ODD_INSTANTS = [
    datetime(2026, 3, 29, 1, tzinfo=UTC),  # Berlin goes forward
    datetime(2026, 10, 25, 1, tzinfo=UTC),  # Berlin goes back
    datetime(2018, 11, 4, 3, tzinfo=UTC),  # Sao Paulo skips midnight
    datetime(2019, 2, 17, 2, tzinfo=UTC),  # Sao Paulo repeats the last hour of a day
    datetime(2011, 12, 30, 10, tzinfo=UTC),  # Apia skips a whole date
    datetime(2026, 4, 4, 15, tzinfo=UTC),  # Lord Howe goes back by half an hour
    datetime(2026, 10, 3, 15, 30, tzinfo=UTC),  # Lord Howe goes forward by half an hour
    datetime(2009, 11, 1, 2, 31, tzinfo=UTC),  # St John's goes back from one minute past midnight
    datetime(1994, 12, 31, 10, tzinfo=UTC),  # Kiritimati skips a whole date
]

zones = st.one_of(st.sampled_from(ODD_ZONES), st.sampled_from(sorted(available_timezones()))).map(ZoneInfo)
grains = st.sampled_from(GRAINS).map(Every.parse)
instants = st.one_of(
    st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1)).map(lambda wall: wall.replace(tzinfo=UTC)),
    st.builds(
        lambda instant, seconds: instant + timedelta(seconds=seconds),
        st.sampled_from(ODD_INSTANTS),
        st.integers(-3 * 86_400, 3 * 86_400),
    ),
)


def grid_of(every: Every, zone: ZoneInfo, instant: datetime = datetime(1970, 3, 1, tzinfo=UTC)) -> Grid:
    """A grid that begins with the day, week or month of `instant`."""
    day = wall_time(zone, instant).date()
    if every.unit is Unit.WEEK:
        day -= timedelta(days=day.weekday())
    if every.unit is Unit.MONTH:
        day = day.replace(day=1)
    return Grid(every, first_instant(zone, day), None, zone)


@given(zones, grains, instants)
def test_every_instant_lies_in_the_window_that_is_found_for_it(zone: ZoneInfo, every: Every, instant: datetime) -> None:
    window = window_at(grid_of(every, zone), instant)
    assert window.start <= instant < window.end


@given(zones, grains, instants)
@example(ZoneInfo("Pacific/Apia"), Every.parse("day"), datetime(2011, 12, 30, 9, 59, tzinfo=UTC))
@example(ZoneInfo("Australia/Lord_Howe"), Every.parse("hour"), datetime(2026, 4, 4, 14, 59, tzinfo=UTC))
def test_a_window_ends_where_the_next_one_starts(zone: ZoneInfo, every: Every, instant: datetime) -> None:
    grid = grid_of(every, zone)
    window = window_at(grid, instant)
    assert window_at(grid, window.end).start == window.end


@given(zones, grains, instants)
def test_every_instant_of_a_window_has_the_same_window(zone: ZoneInfo, every: Every, instant: datetime) -> None:
    grid = grid_of(every, zone)
    window = window_at(grid, instant)
    last = window.end - timedelta(microseconds=1)
    middle = window.start + (window.end - window.start) / 2
    assert {window_at(grid, at) for at in (window.start, middle, last)} == {window}


@given(zones, grains, instants)
def test_floor_and_next_boundary_agree(zone: ZoneInfo, every: Every, instant: datetime) -> None:
    grid = grid_of(every, zone)
    below, above = floor(grid, instant), next_boundary(grid, instant)
    assert (floor(grid, below), next_boundary(grid, below)) == (below, above)
    assert floor(grid, above - timedelta(microseconds=1)) == below


@given(zones, grains.filter(lambda every: every.is_below_a_day), instants)
def test_a_window_below_a_day_shows_one_cell_of_the_wall_clock(zone: ZoneInfo, every: Every, instant: datetime) -> None:
    window = window_at(grid_of(every, zone), instant)

    def cell(at: datetime) -> tuple[object, int]:
        wall = wall_time(zone, at)
        return wall.date(), (wall.hour * 60 + wall.minute) // every.minutes

    assert cell(window.start) == cell(instant) == cell(window.end - timedelta(microseconds=1))


@given(zones, grains.filter(lambda every: every.is_below_a_day), instants)
def test_a_window_below_a_day_ends_only_at_a_multiple_or_where_the_clock_is_changed(
    zone: ZoneInfo, every: Every, instant: datetime
) -> None:
    end = window_at(grid_of(every, zone), instant).end
    wall = wall_time(zone, end)
    is_multiple = (wall.hour * 60 + wall.minute) % every.minutes == 0 and wall.second == 0
    before = end - timedelta(seconds=1)
    assert is_multiple or wall - wall_time(zone, before) != timedelta(seconds=1)


@given(zones, grains.filter(lambda every: every.is_below_a_day), instants)
def test_the_first_instant_of_a_date_is_a_boundary_of_every_grain_below_a_day(
    zone: ZoneInfo, every: Every, instant: datetime
) -> None:
    midnight = first_instant(zone, wall_time(zone, instant).date())
    assert floor(grid_of(every, zone), midnight) == midnight


@given(zones, grains.filter(lambda every: every.minutes == 0 or every.minutes >= 15), instants)
@example(ZoneInfo("America/St_Johns"), Every.parse("hour"), datetime(2009, 11, 1, 2, tzinfo=UTC))
@example(ZoneInfo("Pacific/Apia"), Every.parse("day"), datetime(2011, 12, 29, 2, tzinfo=UTC))
def test_the_windows_of_a_span_tile_it(zone: ZoneInfo, every: Every, instant: datetime) -> None:
    grid = grid_of(every, zone, instant)
    windows = windows_between(grid, instant, instant + timedelta(days=70 if every.minutes == 0 else 4))
    # One by one, so that the short cut for ordinary days is held against the long way.
    at = windows[0].start
    for window in windows:
        assert window == window_at(grid, at)
        at = window.end


@given(zones, grains, instants)
@example(ZoneInfo("Europe/Berlin"), Every.parse("hour"), datetime(2026, 10, 25, 0, 30, tzinfo=UTC))
@example(ZoneInfo("Australia/Lord_Howe"), Every.parse("hour"), datetime(2026, 10, 3, 15, 45, tzinfo=UTC))
@example(ZoneInfo("America/St_Johns"), Every.parse("hour"), datetime(2009, 11, 1, 2, 30, 30, tzinfo=UTC))
@example(ZoneInfo("Pacific/Kiritimati"), Every.parse("month"), datetime(1995, 1, 5, tzinfo=UTC))
def test_a_label_is_read_back_as_its_window(zone: ZoneInfo, every: Every, instant: datetime) -> None:
    grid = grid_of(every, zone)
    window = window_at(grid, instant)
    assert parse_window(label(window, grid), grid) == [window]


@given(zones, grains.filter(lambda every: every.minutes == 0 or every.minutes >= 15), instants, st.data())
def test_done_and_due_windows_make_up_the_closed_ones(
    zone: ZoneInfo, every: Every, instant: datetime, data: st.DataObject
) -> None:
    grid = grid_of(every, zone, instant)
    now = instant + timedelta(days=70 if every.minutes == 0 else 2)
    closed = windows_between(grid, grid.start, now)
    done = {window for window in closed if data.draw(st.booleans())} if len(closed) < 100 else set(closed[::2])
    due = due_windows(grid, done, now=now)
    assert sorted([*due, *done]) == closed
    assert due == sorted(due)


@given(zones, st.sampled_from(["hour", "day"]).map(Every.parse), instants, st.integers(0, 20), st.integers(0, 20))
def test_the_watermark_stops_at_the_first_gap(
    zone: ZoneInfo, every: Every, instant: datetime, reached: int, beyond: int
) -> None:
    grid = grid_of(every, zone, instant)
    windows = windows_between(grid, grid.start, grid.start + timedelta(days=60))
    done: set[Window] = {*windows[:reached], *windows[reached + 1 : reached + 1 + beyond]}
    assert contiguous_end(grid, done) == windows[reached].start
