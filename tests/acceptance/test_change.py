"""A window that is out of line with those before it is refused before anyone sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.project import Shop, told_in_three_parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAYS = ["2026-04-24", "2026-04-25", "2026-04-26", "2026-04-27"]
TODAY = DAYS[-1]
SUM: dict[str, Any] = {"expect": [{"change": {"column": "amount", "within": "30%"}}]}
ROWS: dict[str, Any] = {"expect": [{"change": {"within": "30%"}}]}
IDS: dict[str, Any] = {"expect": [{"change": {"column": "order_id", "within": "30%"}}]}


def load(shop: Shop, rule: dict[str, Any], days: list[str]) -> None:
    shop.pipeline(rule)
    for day in days:
        shop.orders([(1, "60.00", "new"), (2, "40.00", "paid")], day=day)
        assert shop.run(window=day).code == 0


def test_a_doubled_revenue_is_refused_before_it_is_published(shop: Shop, spark: SparkSession) -> None:
    load(shop, SUM, DAYS[:3])
    before = (shop.version(), shop.rows(spark))
    for file in ("part-1.csv", "part-1-again.csv"):
        shop.orders([(1, "60.00", "new"), (2, "40.00", "paid")], day=TODAY, file=file)
    answer = shop.run(window=TODAY)
    assert (answer.code, answer.json["status"], answer.json["error"]["code"]) == (3, "refused", "change")
    assert told_in_three_parts(answer)
    message = answer.json["error"]["message"]
    assert "the sum of amount is 200.00, too far from 100.00" in message
    assert all(day in message for day in DAYS[:3])
    assert (shop.version(), shop.rows(spark)) == before
    assert shop.leftovers() == []


def test_the_mended_source_is_loaded_by_the_same_command(shop: Shop, spark: SparkSession) -> None:
    load(shop, SUM, DAYS[:3])
    shop.orders([(1, "200.00", "new")], day=TODAY)
    assert shop.run(window=TODAY).code == 3
    shop.orders([(1, "120.00", "new")], day=TODAY)
    assert shop.run(window=TODAY).code == 0


def test_a_jump_that_is_right_is_let_through_by_name_and_not_by_force(shop: Shop, spark: SparkSession) -> None:
    load(shop, SUM, DAYS[:3])
    shop.orders([(1, "200.00", "new")], day=TODAY)
    assert shop.run("--force", window=TODAY).code == 3
    assert shop.run("--accept-change", window=None).json["error"]["code"] == "usage"
    told = shop.told("--accept-change", window=TODAY)
    assert told.code == 0
    assert "the sum of amount is 200.00, median 100.00: accepted" in told.text
    assert len(shop.rows(spark)) == 7


@pytest.mark.parametrize(
    ("rule", "rows", "found"),
    [
        (ROWS, [(1, "100.00", "new")], "the number of rows is 1, too far from 2"),
        (IDS, [(1, "50.00", "new"), (9, "50.00", "new")], "the sum of order_id is 10, too far from 3"),
    ],
    ids=["rows", "whole numbers"],
)
def test_rows_and_whole_numbers_are_compared_too(
    shop: Shop, spark: SparkSession, rule: dict[str, Any], rows: list[tuple[object, ...]], found: str
) -> None:
    load(shop, rule, DAYS[:3])
    shop.orders(rows, day=TODAY)
    answer = shop.run(window=TODAY)
    assert (answer.code, answer.json["error"]["code"]) == (3, "change")
    assert found in answer.json["error"]["message"]


def test_a_window_is_not_compared_with_later_ones_nor_with_its_own_past(shop: Shop, spark: SparkSession) -> None:
    load(shop, SUM, DAYS[1:])
    shop.orders([(1, "900.00", "new")], day=DAYS[0])
    told = shop.told(window=DAYS[0])
    assert told.code == 0
    assert "the sum of amount is not compared: 0 earlier loads, 3 are needed" in told.text
    shop.orders([(1, "1.00", "new")], day=DAYS[1])
    assert shop.run(window=DAYS[1]).code == 0


def test_an_empty_window_counts_as_nought(shop: Shop, spark: SparkSession) -> None:
    load(shop, IDS, DAYS[:3])
    shop.orders([], day=TODAY)
    answer = shop.run(window=TODAY)
    assert "the sum of order_id is 0, too far from 3" in answer.json["error"]["message"]


def test_a_refresh_is_compared_with_its_earlier_generations(shop: Shop, spark: SparkSession) -> None:
    changes = {"schedule": None, "write": {"strategy": "refresh"}, "source.path": "landing/all/*.csv"}
    shop.pipeline({**changes, **SUM})
    for amount in ("100.00", "101.00", "99.00", "102.00"):
        shop.orders([(1, amount, "new", DAYS[0])], day="all")
        assert shop.run(window=None).code == 0
    shop.orders([(1, "204.00", "new", DAYS[0])], day="all")
    answer = shop.run(window=None)
    assert answer.code == 3
    assert "too far from 100.50" in answer.json["error"]["message"]
    assert "generation 4" in answer.json["error"]["message"]
    assert shop.run("--accept-change", window=None).code == 0


def test_a_column_without_an_exact_sum_is_refused_before_any_row_moves(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({"expect": [{"change": {"column": "status", "within": "30%"}}], "transform": "same.sql"})
    shop.write("pipelines/same.sql", "SELECT * FROM source")
    shop.orders()
    answer = shop.run()
    assert (answer.code, answer.json["error"]["message"]) == (
        2,
        "orders 2026-04-25: expect: change: column status: it is string",
    )
