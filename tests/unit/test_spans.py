"""Which rows belong to a window, by the type of the column that says so."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from samewise.core.windows import FULL, Window
from samewise.plan.grid import Every, Grid
from samewise.plan.spans import WINDOW_COLUMN, grain_problem, loaded_span, window_span
from samewise.plan.window_text import parse_window

BERLIN = ZoneInfo("Europe/Berlin")


def window(text: str, zone: ZoneInfo = BERLIN, every: str = "day") -> Window:
    return parse_window(text, Grid.parse(every, "2011-01-01", None, zone.key))[0]


def test_a_date_is_compared_with_the_local_date() -> None:
    span = window_span("day", "date", window("2026-04-25"), BERLIN)
    assert (span.lower, span.upper) == (date(2026, 4, 25), date(2026, 4, 26))


def test_a_timestamp_is_compared_with_instants() -> None:
    span = window_span("at", "timestamp", window("2026-04-25"), BERLIN)
    assert (span.lower, span.upper) == (
        datetime(2026, 4, 24, 22, tzinfo=UTC),
        datetime(2026, 4, 25, 22, tzinfo=UTC),
    )


def test_a_timestamp_ntz_is_compared_with_wall_time() -> None:
    span = window_span("at", "timestamp_ntz", window("2026-03-29"), BERLIN)
    assert (span.lower, span.upper) == (datetime(2026, 3, 29), datetime(2026, 3, 30))


def test_a_wall_time_in_a_skipped_midnight_belongs_to_the_new_day() -> None:
    zone = ZoneInfo("America/Sao_Paulo")
    span = window_span("at", "timestamp_ntz", window("2018-11-04", zone), zone)
    assert span.lower == datetime(2018, 11, 4)


def test_a_date_that_the_calendar_skips_belongs_to_the_day_before() -> None:
    zone = ZoneInfo("Pacific/Apia")
    span = window_span("day", "date", window("2011-12-29", zone), zone)
    assert (span.lower, span.upper) == (date(2011, 12, 29), date(2011, 12, 31))


@pytest.mark.parametrize("hour", ["2026-04-25T13", "2026-04-25T23", "2026-04-25T00"])
def test_a_window_below_a_day_has_no_span_of_dates(hour: str) -> None:
    with pytest.raises(ValueError, match="whole local dates"):
        window_span("day", "date", window(hour, every="hour"), BERLIN)


@pytest.mark.parametrize("type_", ["string", "bigint", "array<date>", ""])
def test_a_column_that_is_no_time_is_refused(type_: str) -> None:
    with pytest.raises(ValueError, match="is a DATE, a TIMESTAMP or a TIMESTAMP_NTZ"):
        window_span("x", type_, window("2026-04-25"), BERLIN)


def test_the_full_window_has_no_span() -> None:
    with pytest.raises(ValueError, match="whole table"):
        window_span("day", "date", FULL, BERLIN)


def test_a_repeated_hour_has_no_span_of_wall_time_of_its_own() -> None:
    repeated = Window(datetime(2026, 10, 25, 0, tzinfo=UTC), datetime(2026, 10, 25, 1, tzinfo=UTC))
    with pytest.raises(ValueError, match="no wall time"):
        window_span("at", "timestamp_ntz", repeated, BERLIN)


def test_rows_without_a_time_of_their_own_are_found_by_the_window_that_loaded_them() -> None:
    day = window("2026-04-25")
    assert (loaded_span(day).column, loaded_span(day).lower, loaded_span(day).upper) == (
        WINDOW_COLUMN,
        day.key,
        None,
    )


@pytest.mark.parametrize(
    ("type_", "every", "zone"),
    [
        ("date", "day", "Europe/Berlin"),
        ("date", "month", "Europe/Berlin"),
        ("timestamp", "15m", "Europe/Berlin"),
        ("TIMESTAMP", "hour", "America/New_York"),
        ("timestamp_ntz", "day", "Europe/Berlin"),
        ("timestamp_ntz", "hour", "UTC"),
        ("timestamp_ntz", "hour", "Asia/Dubai"),
    ],
)
def test_a_grain_that_fits_has_no_problem(type_: str, every: str, zone: str) -> None:
    assert grain_problem(type_, Every.parse(every), ZoneInfo(zone)) is None


@pytest.mark.parametrize(
    ("type_", "every", "zone", "why"),
    [
        ("date", "hour", "UTC", "would replace the whole day"),
        ("timestamp_ntz", "hour", "Europe/Berlin", "two windows share a wall time"),
        ("timestamp_ntz", "12h", "Asia/Kathmandu", "two windows share a wall time"),
        ("string", "day", "UTC", "not STRING"),
    ],
)
def test_a_grain_that_does_not_fit_is_explained(type_: str, every: str, zone: str, why: str) -> None:
    assert why in (grain_problem(type_, Every.parse(every), ZoneInfo(zone)) or "")
