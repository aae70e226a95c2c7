"""How far an incremental task reads."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from samewise.core.ports import Bounds
from samewise.core.schema import Schema
from samewise.core.sql import Span
from samewise.plan.since import SinceColumn, next_bounds

NOW = datetime(2026, 4, 25, 12, tzinfo=UTC)
MARK = datetime(2026, 4, 25, 9, tzinfo=UTC)
START = datetime(2026, 4, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
NONE = timedelta()
BERLIN = ZoneInfo("Europe/Berlin")


def bounds(
    mark: datetime | None,
    *,
    overlap: timedelta = NONE,
    lag: timedelta = NONE,
    start: datetime | None = None,
    starts_over: bool = False,
) -> Bounds:
    return next_bounds(mark, now=NOW, overlap=overlap, lag=lag, start=start, starts_over=starts_over)


def column(type: str, zone: str = "Europe/Berlin") -> SinceColumn:
    return SinceColumn.of(Schema.of([("at", type)]), "AT", ZoneInfo(zone))


def test_the_first_run_reads_from_the_oldest_row_up_to_the_clock() -> None:
    assert bounds(None) == Bounds(None, NOW)


def test_the_first_run_begins_where_it_is_told_to() -> None:
    assert bounds(None, start=START) == Bounds(START, NOW)


def test_a_later_run_goes_on_from_the_watermark_less_the_overlap() -> None:
    assert bounds(MARK, overlap=HOUR) == Bounds(MARK - HOUR, NOW)


def test_the_bound_lies_behind_the_clock_by_the_lag() -> None:
    assert bounds(MARK, lag=HOUR) == Bounds(MARK, NOW - HOUR)


def test_the_bound_never_lies_before_the_watermark() -> None:
    assert bounds(MARK, lag=timedelta(days=1), overlap=HOUR) == Bounds(MARK - HOUR, MARK)


def test_the_overlap_does_not_reach_behind_the_start() -> None:
    assert bounds(START + HOUR, start=START, overlap=timedelta(days=1)).lower == START


def test_a_watermark_that_was_moved_before_the_start_is_obeyed() -> None:
    moved = START - timedelta(days=3)
    assert bounds(moved, start=START, overlap=HOUR).lower == moved - HOUR


def test_starting_over_reads_everything_and_leaves_no_gap_up_to_the_watermark() -> None:
    ahead = NOW + timedelta(days=1)
    assert bounds(ahead, start=START, starts_over=True) == Bounds(START, ahead)


def test_an_overlap_that_reaches_behind_all_time_is_the_beginning() -> None:
    assert bounds(MARK, overlap=timedelta(days=900_000)).lower == datetime.min.replace(tzinfo=UTC)


def test_a_start_that_lies_ahead_reads_nothing_yet() -> None:
    ahead = NOW + HOUR
    assert bounds(None, start=ahead) == Bounds(ahead, ahead)


# By the type of the column


def test_a_timestamp_is_compared_with_instants() -> None:
    assert column("timestamp").span(Bounds(MARK, NOW)) == Span("at", MARK, NOW)


def test_a_timestamp_without_zone_is_compared_with_wall_time() -> None:
    found = column("timestamp_ntz").span(Bounds(MARK, NOW))
    assert found == Span("at", datetime(2026, 4, 25, 11), datetime(2026, 4, 25, 14))


def test_a_date_knows_whole_local_days_only() -> None:
    late = datetime(2026, 4, 25, 22, 30, tzinfo=UTC)  # 00:30 on the 26th in Berlin
    days = column("date")
    fitted = days.fit(Bounds(MARK, late))
    assert fitted == Bounds(datetime(2026, 4, 24, 22, tzinfo=UTC), datetime(2026, 4, 25, 22, tzinfo=UTC))
    assert days.span(fitted) == Span("at", date(2026, 4, 25), date(2026, 4, 26))


def test_of_a_day_that_is_not_over_nothing_is_read() -> None:
    assert column("date").fit(Bounds(None, NOW)).upper == datetime(2026, 4, 24, 22, tzinfo=UTC)


@pytest.mark.parametrize("type", ["timestamp", "timestamp_ntz", "date"])
def test_without_a_lower_bound_every_value_is_within(type: str) -> None:
    found = column(type).span(Bounds(None, NOW))
    assert str(found.lower).startswith("0001-01-01")


def test_where_the_clock_is_set_back_a_later_row_with_an_earlier_time_is_not_missed() -> None:
    # On 2026-10-25 Berlin shows 02:00 to 03:00 twice. The watermark lies in the first of the two hours.
    mark = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    second_hour = datetime(2026, 10, 25, 2, 5)  # written at 01:05Z, 35 minutes after the watermark
    found = column("timestamp_ntz").span(Bounds(mark, mark + 2 * HOUR))
    assert isinstance(found.lower, datetime)
    assert found.lower <= second_hour
    assert isinstance(found.upper, datetime)
    assert second_hour < found.upper


def test_on_an_ordinary_day_no_time_is_read_twice() -> None:
    assert column("timestamp_ntz").onwards(MARK).lower == datetime(2026, 4, 25, 11)


@pytest.mark.parametrize("type", ["string", "bigint", "array<timestamp>"])
def test_another_type_is_refused(type: str) -> None:
    with pytest.raises(ValueError, match="TIMESTAMP"):
        column(type)


def test_a_column_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(ValueError, match=r"no column updated; it has at"):
        SinceColumn.of(Schema.of([("at", "date")]), "updated", BERLIN)
