"""Neighbouring days around a change of the clock, by each type of window column: neither touches the other's rows."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from tests.support.project import Row, Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TICK = timedelta(microseconds=1)
NEW_YORK, BERLIN = "America/New_York", "Europe/Berlin"
KATHMANDU, LORD_HOWE = "Asia/Kathmandu", "Australia/Lord_Howe"


class TwoDays:
    """A day on which the clock changes, and the next: each with a row at its first and at its last instant."""

    def __init__(self, shop: Shop, zone: str, first: date, type: str) -> None:
        self.shop, self.zone, self.type = shop, ZoneInfo(zone), type
        self.days = [first, first + timedelta(days=1)]
        shop.pipeline(
            {
                "schedule": {
                    "every": "day",
                    "start": first.isoformat(),
                    "end": (first + timedelta(days=2)).isoformat(),
                    "timezone": zone,
                },
                "source.schema": {"order_id": "bigint", "at": "timestamp" if type == "none" else type},
                "write.window_column": None if type == "none" else "at",
            }
        )
        for number, day in enumerate(self.days):
            last = self.midnight(day + timedelta(days=1)) - TICK
            self.fill(day, [(2 * number + 1, self.midnight(day)), (2 * number + 2, last)])

    def midnight(self, day: date) -> datetime:
        return datetime.combine(day, time(), self.zone).astimezone(UTC)

    def fill(self, day: date, rows: list[tuple[int, datetime]]) -> None:
        written: list[Row] = [(number, self.text(at)) for number, at in rows]
        self.shop.orders(written, day=day.isoformat(), columns=("order_id", "at"))

    def text(self, at: datetime) -> str:
        local = at.astimezone(self.zone).replace(tzinfo=None)
        if self.type == "date":
            return local.date().isoformat()
        if self.type == "timestamp_ntz":
            return local.isoformat(timespec="microseconds")
        return at.isoformat(timespec="microseconds").replace("+00:00", "Z")

    def load(self, day: date | None = None) -> list[object]:
        answer = self.shop.run(window=None if day is None else day.isoformat())
        assert answer.code == 0, answer.json["error"]
        return [w["rows_written"] for w in answer.json["windows"]]


@pytest.mark.parametrize(
    ("zone", "first", "type"),
    [
        (NEW_YORK, date(2026, 3, 8), "timestamp"),  # 23 hours
        (NEW_YORK, date(2026, 11, 1), "date"),  # 25 hours
        (BERLIN, date(2026, 3, 29), "date"),
        (BERLIN, date(2025, 10, 26), "timestamp_ntz"),
        (KATHMANDU, date(2026, 4, 25), "timestamp_ntz"),  # five and three quarter hours, no change
        (KATHMANDU, date(2026, 4, 25), "date"),
        (LORD_HOWE, date(2026, 4, 5), "timestamp"),  # half an hour
        (LORD_HOWE, date(2025, 10, 5), "timestamp_ntz"),
    ],
)
def test_a_day_that_becomes_empty_takes_its_own_rows_away_and_no_others(
    shop: Shop, spark: SparkSession, zone: str, first: date, type: str
) -> None:
    days = TwoDays(shop, zone, first, type)
    # A row that its own time puts outside its window would have been refused.
    assert days.load() == [2, 2]
    days.fill(first, [])
    assert days.load(first) == [0]
    assert shop.ids(spark) == [3, 4]


@pytest.mark.parametrize(("zone", "first"), [(NEW_YORK, date(2026, 3, 8)), (LORD_HOWE, date(2026, 4, 5))])
def test_without_a_window_column_late_rows_belong_to_the_window_that_loaded_them(
    shop: Shop, spark: SparkSession, zone: str, first: date
) -> None:
    days = TwoDays(shop, zone, first, "none")
    second = days.days[1]
    late = days.midnight(first) + timedelta(hours=3)
    days.fill(second, [(3, days.midnight(second)), (4, late)])
    assert days.load() == [2, 2]
    days.fill(first, [(1, days.midnight(first))])
    assert days.load(first) == [1]
    assert shop.ids(spark) == [1, 3, 4]
    bounds = [days.midnight(first), days.midnight(second), days.midnight(second + timedelta(days=1))]
    a, b, c = (f"{bound:%Y-%m-%dT%H:%M:%SZ}" for bound in bounds)
    assert shop.rows(spark, "order_id", "_samewise_window") == [
        (1, f"{a}/{b}"),
        (3, f"{b}/{c}"),
        (4, f"{b}/{c}"),
    ]
