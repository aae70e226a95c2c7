"""Where in a target a batch's keys are looked for."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samewise.core.keyed import Keyed
from samewise.core.schema import Column, Schema
from samewise.run.keyed import read_ranges

BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}


def text_of(low: Any, high: Any, type: str = "bigint", *, horizon: timedelta | None = None) -> tuple[str, str]:
    keyed = Keyed(["id"], horizon=None if horizon is None else ("id", horizon))
    found = {"low_0": low, "high_0": high, "nulls_0": 0}
    return read_ranges(Schema((Column("id", type),)), keyed, found, 0).ranges["id"]


def range_of(low: int, high: int, type: str = "bigint") -> tuple[int, int]:
    first, last = (int(text.removeprefix("CAST(").split("BD")[0].rstrip("YSL")) for text in text_of(low, high, type))
    return first, last


@st.composite
def whole_numbers(draw: st.DrawFn) -> tuple[str, int, int]:
    type = draw(st.sampled_from(sorted(BITS)))
    number = st.integers(-(1 << BITS[type] - 1), (1 << BITS[type] - 1) - 1)
    low, high = sorted((draw(number), draw(number)))
    return type, low, high


@given(whole_numbers())
def test_every_key_lies_in_the_range_and_the_range_in_the_type(drawn: tuple[str, int, int]) -> None:
    type, low, high = drawn
    first, last = range_of(low, high, type)
    assert -(1 << BITS[type] - 1) <= first <= low <= high <= last <= (1 << BITS[type] - 1) - 1


@given(whole_numbers())
def test_a_range_grows_by_a_quarter_of_its_reach_at_most(drawn: tuple[str, int, int]) -> None:
    type, low, high = drawn
    first, last = range_of(low, high, type)
    assert (last - first) - (high - low) <= max(abs(low), abs(high)) / 4


def test_batches_that_are_spread_over_a_growing_table_share_their_range() -> None:
    batches = [(310, 3_015_000), (12, 3_030_000), (1_404, 3_045_000)]
    assert len({text_of(low, high) for low, high in batches}) == 1


def test_batches_of_keys_that_are_hashes_share_their_range() -> None:
    least, most = -(1 << 63), (1 << 63) - 1
    assert range_of(least + 12_345_678, most - 87_654_321) == range_of(least + 11, most - 7) == (least, most)


@pytest.mark.parametrize(
    ("low", "high"), [(5_000_000, 5_030_000), (-5_030_000, -5_000_000), (1005, 1009), (7, 7), (0, 0)]
)
def test_keys_that_lie_together_are_looked_for_there_alone(low: int, high: int) -> None:
    assert range_of(low, high) == (low, high)


@pytest.mark.parametrize(
    ("type", "low", "high", "expected"),
    [
        ("string", "a", "z", ("'a'", "'z'")),
        ("decimal(10,2)", Decimal("0.01"), Decimal("99.99"), ("0.01BD", "99.99BD")),
        ("date", date(1970, 1, 2), date(2026, 4, 25), ("DATE'1970-01-02'", "DATE'2026-04-25'")),
    ],
)
def test_what_is_no_whole_number_stays_as_it_is(type: str, low: Any, high: Any, expected: tuple[str, str]) -> None:
    assert text_of(low, high, type) == expected


def test_a_horizon_is_measured_from_the_batchs_own_times() -> None:
    found = text_of(date(2026, 4, 24), date(2026, 4, 25), "date", horizon=timedelta(days=2))
    assert found == ("DATE'2026-04-22'", "DATE'2026-04-27'")
