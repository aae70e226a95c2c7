"""A schedule that is changed makes other windows: they must not end up beside the old ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.project import Answer, Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def load_a_day_then_change_the_zone(shop: Shop, window_column: str | None) -> Answer:
    shop.orders()
    shop.pipeline({"write.window_column": window_column})
    assert shop.run().code == 0
    shop.pipeline({"write.window_column": window_column, "schedule.timezone": "Europe/Berlin"})
    return shop.run()


def test_windows_of_another_zone_are_refused_where_rows_are_known_by_their_window(
    shop: Shop, spark: SparkSession
) -> None:
    answer = load_a_day_then_change_the_zone(shop, None)
    assert (answer.code, answer.json["error"]["code"]) == (2, "changed_grid")
    assert shop.ids(spark) == [1, 2]


def test_windows_of_another_zone_replace_the_rows_of_their_days_where_those_have_a_column(
    shop: Shop, spark: SparkSession
) -> None:
    assert load_a_day_then_change_the_zone(shop, "order_date").code == 0
    assert shop.ids(spark) == [1, 2]


def test_another_target_is_loaded_by_the_new_schedule(shop: Shop, spark: SparkSession) -> None:
    load_a_day_then_change_the_zone(shop, None)
    shop.pipeline({"write.window_column": None, "schedule.timezone": "Europe/Berlin", "target.table": "orders_local"})
    assert shop.run().code == 0
    assert shop.ids(spark, table="orders_local") == [1, 2]
