"""`expect: change` as a decision: what is usual, and what is too far from it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from samewise.core.measures import Measures
from samewise.plan.change import Change, is_usual, usual

WEEK = [Decimal(text) for text in ("100.00", "104.00", "96.00", "101.00", "99.00", "98.00", "102.00")]


def within(share: str, over: int = 7, column: str | None = "amount") -> Change:
    return Change(column, Decimal(share), over)


@pytest.mark.parametrize(
    ("found", "fits"),
    [("100.00", True), ("130.00", True), ("130.01", False), ("70.00", True), ("69.99", False), ("200.00", False)],
)
def test_exactly_the_share_is_allowed_and_a_cent_more_is_not(found: str, fits: bool) -> None:
    assert is_usual(within("30"), Decimal(found), WEEK) is fits


def test_one_window_that_was_off_does_not_move_the_median() -> None:
    assert usual([*WEEK[:6], Decimal("100000")]) == Decimal("100.00")


def test_the_median_of_an_even_number_is_exact_to_the_last_digit() -> None:
    high = Decimal("9" * 38)
    assert usual([high, high - 1]) * 2 == 2 * high - 1


@pytest.mark.parametrize(("over", "earlier", "fits"), [(7, 2, True), (7, 3, False), (2, 2, False), (1, 1, False)])
def test_too_few_windows_say_nothing(over: int, earlier: int, fits: bool) -> None:
    assert is_usual(within("10", over), Decimal(500), WEEK[:earlier]) is fits


def test_nothing_but_nought_fits_a_median_of_nought() -> None:
    assert is_usual(within("1000"), Decimal(0), [Decimal(0)] * 3)
    assert not is_usual(within("1000"), Decimal("0.01"), [Decimal(0)] * 3)


def test_a_negative_sum_is_measured_by_its_size() -> None:
    assert is_usual(within("30"), Decimal(-130), [Decimal(-100)] * 3)
    assert not is_usual(within("30"), Decimal(100), [Decimal(-100)] * 3)


def test_without_a_column_rows_are_counted_and_a_column_is_found_whatever_its_case() -> None:
    measures = Measures(5, "0", {"Amount": "7.50"})
    assert within("30", column=None).figure(measures) == 5
    assert within("30", column="aMOUNT").figure(measures) == Decimal("7.50")
    assert within("30", column="quantity").figure(measures) is None
