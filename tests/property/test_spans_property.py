"""The spans of neighbouring windows tile, and every value falls in exactly one of them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from hypothesis import assume, given
from hypothesis import strategies as st

from samewise.core.sql import Span
from samewise.plan.grid import Every, Grid, Unit, windows_between
from samewise.plan.local_time import first_instant, offset_changes_after_1970, wall_time
from samewise.plan.spans import grain_problem, window_span

TYPES = ["date", "timestamp", "timestamp_ntz"]
# Days on which a clock or a calendar changes somewhere, and an ordinary one.
DAYS = [
    date(2026, 3, 29),
    date(2026, 10, 25),
    date(2026, 11, 1),
    date(2018, 11, 4),
    date(2019, 2, 17),
    date(2011, 12, 30),
    date(2009, 11, 1),
    date(2026, 4, 5),
    date(2026, 6, 15),
]
ZONES = ["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "America/Sao_Paulo"]
ZONES += ["Pacific/Apia", "America/St_Johns", "Pacific/Chatham", "UTC"]
zones = st.one_of(st.sampled_from(ZONES), st.sampled_from(sorted(available_timezones()))).map(ZoneInfo)
grains = st.sampled_from(["15m", "hour", "2h", "day", "week", "month"]).map(Every.parse)


def spans_around(type_: str, every: Every, zone: ZoneInfo, day: date) -> list[Span]:
    assume(grain_problem(type_, every, zone) is None)
    first = day - timedelta(days=2)
    if every.unit is Unit.WEEK:
        first -= timedelta(days=first.weekday())
    if every.unit is Unit.MONTH:
        first = first.replace(day=1)
    grid = Grid(every, first_instant(zone, first), None, zone)
    length = timedelta(days=6 if every.unit in (Unit.MINUTE, Unit.DAY) else 75)
    return [window_span("at", type_, window, zone) for window in windows_between(grid, grid.start, grid.start + length)]


@given(st.sampled_from(TYPES), grains, zones, st.sampled_from(DAYS))
def test_the_spans_of_neighbouring_windows_meet(type_: str, every: Every, zone: ZoneInfo, day: date) -> None:
    spans = spans_around(type_, every, zone, day)
    assert [span.upper for span in spans[:-1]] == [span.lower for span in spans[1:]]


@given(st.sampled_from(TYPES), grains, zones, st.sampled_from(DAYS), st.integers(-86_400, 2 * 86_400))
def test_a_value_falls_in_exactly_one_span(type_: str, every: Every, zone: ZoneInfo, day: date, seconds: int) -> None:
    spans = spans_around(type_, every, zone, day)
    wall = datetime.combine(day, datetime.min.time()) + timedelta(seconds=seconds)
    # Wall times and dates that no clock or calendar ever showed are in real data too.
    value: Any = {"date": wall.date(), "timestamp_ntz": wall, "timestamp": wall.replace(tzinfo=UTC)}[type_]
    if type_ == "timestamp":
        value = max(value, spans[0].lower)
    assert sum(span.lower <= value < span.upper for span in spans) == 1


@given(zones, st.datetimes(datetime(1971, 1, 1), datetime(2039, 1, 1)))
def test_a_zone_that_is_said_never_to_change_has_one_offset(zone: ZoneInfo, wall: datetime) -> None:
    assume(not offset_changes_after_1970(zone))
    first = datetime(1970, 1, 1, 12, tzinfo=UTC)
    instant = wall.replace(tzinfo=UTC)
    assert wall_time(zone, instant) - wall == wall_time(zone, first) - first.replace(tzinfo=None)
