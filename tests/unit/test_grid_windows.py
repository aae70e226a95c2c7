"""The grid: windows of a schedule, as a person would count them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from samewise.core.windows import FULL, Window
from samewise.plan.grid import (
    Every,
    Grid,
    Unit,
    contiguous_end,
    due_windows,
    floor,
    holds,
    newest_windows,
    next_boundary,
    window_at,
    windows_between,
)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


def hours_of_day(zone: str, day: str, every: str = "hour") -> list[Window]:
    days = Grid.parse("day", day, None, zone)
    whole = window_at(days, days.start)
    return windows_between(Grid.parse(every, day, None, zone), whole.start, whole.end)


def lengths_in_minutes(windows: list[Window]) -> list[int]:
    return [int((window.end - window.start) / timedelta(minutes=1)) for window in windows]


@pytest.mark.parametrize(
    ("text", "every"),
    [
        ("15m", Every(Unit.MINUTE, 15)),
        ("hour", Every(Unit.MINUTE, 60)),
        ("60m", Every(Unit.MINUTE, 60)),
        ("2h", Every(Unit.MINUTE, 120)),
        ("24h", Every(Unit.DAY)),
        ("day", Every(Unit.DAY)),
        ("week", Every(Unit.WEEK)),
        ("month", Every(Unit.MONTH)),
    ],
)
def test_a_grain_is_read_from_its_text(text: str, every: Every) -> None:
    assert Every.parse(text) == every


@pytest.mark.parametrize("text", ["", "0m", "7m", "5h", "25h", "48h", "1d", "minute", "-15m", "15", "1.5h", "Day"])
def test_a_grain_that_does_not_divide_a_day_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"do not divide a day evenly|is not a grain"):
        Every.parse(text)


@pytest.mark.parametrize("text", ["15m", "hour", "2h", "day", "week", "month"])
def test_a_grain_is_written_as_it_is_read(text: str) -> None:
    assert str(Every.parse(text)) == text


@pytest.mark.parametrize(
    "start",
    [
        "2026-04-01",
        date(2026, 4, 1),
        "2026-04-01T00:00",
        datetime(2026, 4, 1),
        "2026-03-31T22:00:00Z",
        "2026-04-01T00:00+02:00",
        datetime(2026, 4, 1, tzinfo=timezone(timedelta(hours=2))),
    ],
)
def test_a_start_may_be_a_date_a_local_time_or_a_time_with_an_offset(start: str | date) -> None:
    assert Grid.parse("day", start, None, "Europe/Berlin").start == utc(2026, 3, 31, 22)


@pytest.mark.parametrize(
    ("every", "start", "below", "above"),
    [
        ("hour", "2026-04-01T10:20", "2026-04-01T10:00", "2026-04-01T11:00"),
        ("day", "2026-04-01T10:20", "2026-04-01", "2026-04-02"),
        ("week", "2026-04-01", "2026-03-30", "2026-04-06"),
        ("month", "2026-04-02", "2026-04-01", "2026-05-01"),
        ("15m", "2026-04-01T10:20", "2026-04-01T10:15", "2026-04-01T10:30"),
    ],
)
def test_a_start_off_the_grid_is_refused_with_the_nearest_two_that_lie_on_it(
    every: str, start: str, below: str, above: str
) -> None:
    with pytest.raises(ValueError, match=rf"{start} is not .* are, are {below} and {above}$"):
        Grid.parse(every, start, None, "Europe/Berlin")


@pytest.mark.parametrize("text", ["2026-04-01", "2026-03-31", "2026-04-07T12:00"])
def test_an_end_must_lie_on_the_grid_and_after_the_start(text: str) -> None:
    with pytest.raises(ValueError, match="the end"):
        Grid.parse("day", "2026-04-01", text, "Europe/Berlin")


@pytest.mark.parametrize("name", ["Europe/Berln", "Europe", "", "/etc/passwd", "../UTC"])
def test_an_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="there is no time zone"):
        Grid.parse("day", "2026-04-01", None, name)


def test_a_misspelt_zone_brings_a_suggestion() -> None:
    with pytest.raises(ValueError, match="did you mean 'Europe/Berlin'"):
        Grid.parse("day", "2026-04-01", None, "Europe/Berln")


@pytest.mark.parametrize("start", ["yesterday", "2026-13-01", "2026", "0026-04-01", "2011-12-30", "2026-03-29T02:30"])
def test_a_start_that_is_no_time_is_refused(start: str) -> None:
    zone = "Pacific/Apia" if start == "2011-12-30" else "Europe/Berlin"
    with pytest.raises(ValueError, match=r"is not a time|outside the years|does not exist"):
        Grid.parse("hour", start, None, zone)


def test_a_start_that_happens_twice_is_refused_with_both_instants() -> None:
    with pytest.raises(ValueError, match="2026-10-25T00:30:00Z or 2026-10-25T01:30:00Z"):
        Grid.parse("30m", "2026-10-25T02:30", None, "Europe/Berlin")


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", "2026-03-29", 23),
        ("Europe/Berlin", "2026-10-25", 25),
        ("Europe/Berlin", "2026-04-25", 24),
        ("America/New_York", "2026-03-08", 23),
        ("America/New_York", "2026-11-01", 25),
        ("America/Sao_Paulo", "2018-11-04", 23),
        ("America/Sao_Paulo", "2019-02-16", 25),
        ("Pacific/Chatham", "2026-09-27", 24),
        ("Asia/Kathmandu", "2026-04-25", 24),
    ],
)
def test_a_day_has_as_many_hours_as_its_clock_shows(zone: str, day: str, hours: int) -> None:
    assert len(hours_of_day(zone, day)) == hours


def test_hours_in_kathmandu_start_at_a_quarter_past_in_utc() -> None:
    grid = Grid.parse("hour", "2026-04-25", None, "Asia/Kathmandu")
    assert window_at(grid, utc(2026, 4, 25, 10)) == Window(utc(2026, 4, 25, 9, 15), utc(2026, 4, 25, 10, 15))


def test_a_clock_put_back_by_half_an_hour_makes_one_hour_longer() -> None:
    assert lengths_in_minutes(hours_of_day("Australia/Lord_Howe", "2026-04-05"))[:4] == [60, 90, 60, 60]


def test_a_clock_put_forward_by_half_an_hour_makes_one_hour_shorter() -> None:
    assert lengths_in_minutes(hours_of_day("Australia/Lord_Howe", "2026-10-04"))[:4] == [60, 60, 30, 60]


def test_two_hour_windows_stay_on_even_local_hours_after_the_clock_changes() -> None:
    assert lengths_in_minutes(hours_of_day("Europe/Berlin", "2026-03-29", "2h"))[:3] == [120, 60, 120]


def test_two_hour_windows_absorb_a_repeated_hour_that_is_not_even() -> None:
    assert lengths_in_minutes(hours_of_day("America/New_York", "2026-11-01", "2h"))[:3] == [180, 120, 120]


def test_two_hour_windows_begin_again_with_a_repeated_hour_that_is_even() -> None:
    assert lengths_in_minutes(hours_of_day("Europe/Berlin", "2026-10-25", "2h"))[:3] == [120, 60, 120]


def test_a_day_whose_midnight_is_skipped_starts_with_its_first_instant() -> None:
    grid = Grid.parse("day", "2018-11-04", None, "America/Sao_Paulo")
    assert grid.start == utc(2018, 11, 4, 3)


def test_a_date_that_the_calendar_skips_has_no_window() -> None:
    grid = Grid.parse("day", "2011-12-29", None, "Pacific/Apia")
    first, second = windows_between(grid, grid.start, utc(2011, 12, 31, 10))
    assert (first.end, second.end - second.start) == (utc(2011, 12, 30, 10), timedelta(days=1))


def test_a_minute_that_is_repeated_across_midnight_stays_in_the_day_that_had_begun() -> None:
    # In St John's, on 2009-11-01 at 00:01, the clock went back to 23:01 of the day before.
    grid = Grid.parse("day", "2009-10-01", None, "America/St_Johns")
    assert window_at(grid, utc(2009, 11, 1, 3)) == Window(utc(2009, 11, 1, 2, 30), utc(2009, 11, 2, 3, 30))


def test_weeks_start_on_monday() -> None:
    grid = Grid.parse("week", "2026-04-20", None, "Europe/Berlin")
    assert floor(grid, utc(2026, 4, 26, 21, 59)) == utc(2026, 4, 19, 22)


def test_months_follow_the_calendar() -> None:
    grid = Grid.parse("month", "2024-01-01")
    assert next_boundary(grid, utc(2024, 2, 1)) == utc(2024, 3, 1)


def test_a_window_still_open_is_not_due() -> None:
    grid = Grid.parse("day", "2026-04-01")
    assert due_windows(grid, set(), now=utc(2026, 4, 2, 23, 59)) == [Window(utc(2026, 4, 1), utc(2026, 4, 2))]


def test_a_window_is_due_the_moment_it_closes() -> None:
    grid = Grid.parse("day", "2026-04-01")
    assert due_windows(grid, set(), now=utc(2026, 4, 2)) == [Window(utc(2026, 4, 1), utc(2026, 4, 2))]


def test_nothing_is_due_before_the_start() -> None:
    assert due_windows(Grid.parse("day", "2026-04-01"), set(), now=utc(2026, 3, 1)) == []


def test_nothing_after_the_end_is_due() -> None:
    grid = Grid.parse("day", "2026-04-01", "2026-04-03")
    assert [window.start.day for window in due_windows(grid, set(), now=utc(2026, 5, 1))] == [1, 2]


def test_a_window_that_is_done_is_not_due_again() -> None:
    grid = Grid.parse("day", "2026-04-01")
    done = {Window(utc(2026, 4, 1), utc(2026, 4, 2))}
    assert [window.start.day for window in due_windows(grid, done, now=utc(2026, 4, 4))] == [2, 3]


def test_windows_between_leaves_out_those_that_only_reach_in() -> None:
    grid = Grid.parse("day", "2026-04-01")
    found = windows_between(grid, utc(2026, 4, 2, 12), utc(2026, 4, 5, 12))
    assert [window.start.day for window in found] == [3, 4]


def test_the_watermark_is_the_start_before_anything_is_done() -> None:
    grid = Grid.parse("day", "2026-04-01")
    assert contiguous_end(grid, set()) == grid.start


def test_the_watermark_stays_before_a_gap() -> None:
    grid = Grid.parse("day", "2026-04-01")
    done = {window for window in windows_between(grid, grid.start, utc(2026, 4, 6)) if window.start.day != 3}
    assert contiguous_end(grid, done) == utc(2026, 4, 3)


def test_windows_of_another_grain_do_not_move_the_watermark() -> None:
    grid = Grid.parse("day", "2026-04-01")
    assert contiguous_end(grid, {FULL, Window(utc(2026, 4, 1), utc(2026, 4, 3))}) == grid.start


def test_ten_years_of_quarters_are_counted_in_a_moment() -> None:
    grid = Grid.parse("15m", "2016-01-01", None, "Europe/Berlin")
    assert len(windows_between(grid, grid.start, utc(2025, 12, 31, 23))) == 4 * 24 * 3653


def test_the_newest_windows_are_those_that_ended_last() -> None:
    grid = Grid.parse("day", "2026-03-27", timezone="Europe/Berlin")
    now = datetime(2026, 3, 30, 10, tzinfo=UTC)
    found = newest_windows(grid, 2, now=now)
    # The 29th has 23 hours there.
    assert found == windows_between(grid, grid.start, now)[-2:]
    assert [window.end - window.start for window in found] == [timedelta(hours=24), timedelta(hours=23)]


def test_there_are_no_newest_windows_before_the_schedule_or_after_its_end() -> None:
    grid = Grid.parse("day", "2026-04-01", "2026-04-03")
    far = datetime(2026, 7, 1, tzinfo=UTC)
    assert newest_windows(grid, 9, now=far) == windows_between(grid, grid.start, far)
    assert newest_windows(grid, 9, now=datetime(2026, 4, 1, 23, tzinfo=UTC)) == []
    assert newest_windows(grid, 0, now=far) == []


def test_a_window_of_before_the_schedule_was_changed_is_none_of_its_windows() -> None:
    grid = Grid.parse("day", "2026-04-02", "2026-04-04", "UTC")
    first, last = (Window(utc(2026, 4, day), utc(2026, 4, day + 1)) for day in (2, 3))
    assert holds(grid, first)
    assert holds(grid, last)
    hour = Window(utc(2026, 4, 2), utc(2026, 4, 2, 1))
    before, after = (Window(utc(2026, 4, day), utc(2026, 4, day + 1)) for day in (1, 4))
    assert not any(holds(grid, window) for window in (hour, before, after, FULL))
