"""How a window is written and shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from samewise.core.windows import FULL, Window
from samewise.plan.grid import Grid, window_at
from samewise.plan.window_text import label, parse_window

BERLIN = "Europe/Berlin"


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


def grid(every: str, zone: str = BERLIN, start: str = "2026-01-01") -> Grid:
    return Grid.parse(every, "2026-01-05" if every == "week" else start, None, zone)


def test_a_day_is_the_local_day() -> None:
    window = Window(utc(2026, 4, 24, 22), utc(2026, 4, 25, 22))
    assert parse_window("2026-04-25", grid("day")) == [window]


def test_an_hour_is_the_local_hour() -> None:
    window = Window(utc(2026, 4, 25, 11), utc(2026, 4, 25, 12))
    assert parse_window("2026-04-25T13", grid("hour")) == [window]


@pytest.mark.parametrize(("text", "count"), [("2026-03-29", 23), ("2026-04-25", 24), ("2026-10-25", 25)])
def test_a_day_on_an_hourly_grid_is_all_its_hours(text: str, count: int) -> None:
    assert len(parse_window(text, grid("hour"))) == count


def test_a_month_on_a_daily_grid_is_all_its_days() -> None:
    assert len(parse_window("2026-04", grid("day"))) == 30


def test_an_hour_on_a_grid_of_quarters_is_four_of_them() -> None:
    assert len(parse_window("2026-04-25T13", grid("15m"))) == 4


@pytest.mark.parametrize(
    "text",
    [
        "2026-04-25/2026-04-27",
        "2026-04-25T00:00/2026-04-27T00:00",
        "2026-04-24T22:00:00Z/2026-04-26T22:00:00Z",
        "2026-04-25T00:00+02:00/2026-04-26T18:00-04:00",
        " 2026-04-25 / 2026-04-27 ",
    ],
)
def test_a_range_expands_to_the_windows_of_the_grid(text: str) -> None:
    assert [window.start for window in parse_window(text, grid("day"))] == [
        utc(2026, 4, 24, 22),
        utc(2026, 4, 25, 22),
    ]


@pytest.mark.parametrize(
    ("text", "every", "instead"),
    [
        ("2026-04-25T13:10/2026-04-25T15:00", "hour", "2026-04-25T13:00/2026-04-25T15:00"),
        ("2026-04-25T13:10/2026-04-25T15:20", "hour", "2026-04-25T13:00/2026-04-25T16:00"),
        ("2026-04-25T12:00/2026-04-27", "day", "2026-04-25/2026-04-27"),
        ("2026-04-24T20:00Z/2026-04-25T22:00Z", "day", "2026-04-24/2026-04-26"),
        ("2026-04", "week", "2026-03-30/2026-05-04"),
    ],
)
def test_bounds_off_the_grid_are_refused_with_the_aligned_ones(text: str, every: str, instead: str) -> None:
    with pytest.raises(ValueError, match=rf"does not lie on the grid .*: write {instead}$"):
        parse_window(text, grid(every))


@pytest.mark.parametrize(
    ("text", "every", "instead"),
    [
        ("2026-04-25T13", "day", "2026-04-25"),
        ("2026-04-25", "month", "2026-04"),
        ("2026-04-25", "week", "2026-04-20/2026-04-27"),
        ("2026-04-25T13", "2h", "2026-04-25T10:00:00Z/2026-04-25T12:00:00Z"),
        ("2026-04-25T13:10/2026-04-25T13:20", "hour", "2026-04-25T13"),
    ],
)
def test_what_is_finer_than_the_grid_is_refused_with_the_window_around_it(text: str, every: str, instead: str) -> None:
    with pytest.raises(ValueError, match=rf"is finer than .*: write {instead}$"):
        parse_window(text, grid(every))


def test_what_to_write_instead_is_accepted() -> None:
    assert parse_window("2026-04-25T13:00/2026-04-25T16:00", grid("hour"))


def test_a_window_before_the_start_is_refused() -> None:
    with pytest.raises(ValueError, match="begins before the schedule, which starts at 2026-01-01"):
        parse_window("2025-12-31", grid("day"))


def test_a_window_after_the_end_is_refused() -> None:
    bounded = Grid.parse("day", "2026-04-01", "2026-05-01", BERLIN)
    with pytest.raises(ValueError, match="ends after the schedule, which ends at 2026-05-01"):
        parse_window("2026-05-01", bounded)


def test_the_last_window_before_the_end_is_accepted() -> None:
    assert parse_window("2026-04-30", Grid.parse("day", "2026-04-01", "2026-05-01", BERLIN))


@pytest.mark.parametrize("every", ["hour", "15m"])
def test_an_hour_that_happens_twice_is_refused_with_both_in_utc(every: str) -> None:
    both = "2026-10-25T00:00:00Z/2026-10-25T01:00:00Z or 2026-10-25T01:00:00Z/2026-10-25T02:00:00Z"
    with pytest.raises(ValueError, match=f"happens twice in {BERLIN}: write {both}"):
        parse_window("2026-10-25T02", grid(every))


def test_either_of_two_equal_hours_is_accepted_in_utc() -> None:
    (window,) = parse_window("2026-10-25T01:00:00Z/2026-10-25T02:00:00Z", grid("hour"))
    assert window.start == utc(2026, 10, 25, 1)


@pytest.mark.parametrize("text", ["2026-03-29T02", "2026-03-29T02:30/2026-03-29T04:00"])
def test_a_local_time_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="does not exist in Europe/Berlin"):
        parse_window(text, grid("30m"))


def test_a_bound_that_happens_twice_is_refused_with_both_in_utc() -> None:
    with pytest.raises(ValueError, match="write 2026-10-25T00:30:00Z or 2026-10-25T01:30:00Z"):
        parse_window("2026-10-25T02:30/2026-10-25T04:00", grid("30m"))


def test_a_date_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="2011-12-30 does not exist in Pacific/Apia"):
        parse_window("2011-12-30", Grid.parse("day", "2011-12-01", None, "Pacific/Apia"))


def test_a_half_hour_that_is_left_of_an_hour_is_still_that_hour() -> None:
    (window,) = parse_window("2026-10-04T02", grid("hour", "Australia/Lord_Howe"))
    assert window.end - window.start == timedelta(minutes=30)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "today",
        "2026",
        "2026-4-25",
        "2026-02-30",
        "2026-04-25T24",
        "2026-04-25T13:15",
        "2026-04-25/",
        "a/b",
        "9999-12",
    ],
)
def test_what_is_no_window_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a|is not in the calendar|outside the years"):
        parse_window(text, grid("hour"))


def test_a_range_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(ValueError, match="is empty"):
        parse_window("2026-04-25/2026-04-25", grid("day"))


def test_full_is_not_a_window_of_a_schedule() -> None:
    with pytest.raises(ValueError, match="without a schedule"):
        parse_window("full", grid("day"))


@pytest.mark.parametrize(
    ("every", "expected"),
    [
        ("month", "2026-04"),
        ("week", "2026-04-20/2026-04-27"),
        ("day", "2026-04-25"),
        ("hour", "2026-04-25T13"),
        ("15m", "2026-04-25T11:30:00Z/2026-04-25T11:45:00Z"),
        ("2h", "2026-04-25T10:00:00Z/2026-04-25T12:00:00Z"),
    ],
)
def test_a_window_is_shown_as_short_as_it_can_be(every: str, expected: str) -> None:
    on = grid(every)
    assert label(window_at(on, utc(2026, 4, 25, 11, 30)), on) == expected


def test_an_hour_that_happens_twice_is_shown_in_utc() -> None:
    on = grid("hour")
    assert label(window_at(on, utc(2026, 10, 25, 0, 30)), on) == "2026-10-25T00:00:00Z/2026-10-25T01:00:00Z"


def test_the_full_window_is_shown_as_full() -> None:
    assert label(FULL, grid("day")) == "full"


def test_a_window_of_another_grain_is_shown_by_its_key() -> None:
    day = window_at(grid("day"), utc(2026, 4, 25))
    assert label(day, grid("hour")) == day.key


def test_a_window_before_the_start_is_shown_all_the_same() -> None:
    on = grid("day")
    assert label(window_at(on, utc(2020, 1, 1, 12)), on) == "2020-01-01"
