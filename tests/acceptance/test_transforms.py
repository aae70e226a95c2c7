"""The user's own code: what it gets, and what it is told when it raises (exit code 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.project import DAY, Answer, Shop, told_in_three_parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def assert_theirs(answer: Answer, *words: str) -> None:
    assert (answer.code, answer.json["status"], answer.json["error"]["code"]) == (4, "failed", "transform")
    assert told_in_three_parts(answer)
    for word in words:
        assert word in answer.json["error"]["message"]


def sql(shop: Shop, text: str, **changes: object) -> None:
    shop.pipeline({"transform": "orders.sql", **changes})
    shop.write("pipelines/orders.sql", text)


def python(shop: Shop, body: str, **changes: object) -> None:
    shop.pipeline({"transform": "mine.py:clean", **changes})
    shop.write("pipelines/mine.py", f"def clean(rows, context):\n{body}")


def test_a_function_that_raises_shows_its_own_traceback_and_none_of_ours(shop: Shop, spark: SparkSession) -> None:
    python(shop, "    return half(rows)\n\n\ndef half(rows):\n    return 1 / 0\n")
    shop.orders()
    answer = shop.told()
    assert answer.code == 4
    assert "mine.py:clean raised ZeroDivisionError: division by zero" in answer.stderr
    trace = answer.stderr[answer.stderr.index("Traceback") : answer.stderr.index("  kept:")]
    assert "return half(rows)" in trace
    assert "1 / 0" in trace
    assert "samewise/" not in trace.replace(str(shop.root), "")


def test_a_function_that_raises_publishes_nothing(shop: Shop, spark: SparkSession) -> None:
    python(shop, "    raise ValueError('no')\n")
    shop.orders()
    assert_theirs(shop.run(), "ValueError: no")
    assert shop.version() == -1
    assert shop.run().window["error"]["code"] == "transform"


def test_a_python_udf_that_raises_on_the_data_is_theirs_too(shop: Shop, spark: SparkSession) -> None:
    python(
        shop,
        "    from pyspark.sql.functions import udf\n"
        "    broken = udf(lambda value: 1 // 0, 'bigint')\n"
        "    return rows.withColumn('broken', broken('order_id'))\n",
    )
    shop.orders()
    assert_theirs(shop.run(), "ZeroDivisionError")
    assert shop.ids(spark) == []


def test_a_function_that_returns_no_rows_is_told_what_to_return(shop: Shop, spark: SparkSession) -> None:
    python(shop, "    return 7\n")
    shop.orders()
    assert_theirs(shop.run(), "returned int, not a DataFrame")


def test_a_column_that_does_not_exist_is_theirs(shop: Shop, spark: SparkSession) -> None:
    sql(shop, "SELECT order_idd, order_date FROM source")
    shop.orders()
    assert_theirs(shop.run(), "pipelines/orders.sql", "order_idd")


@pytest.mark.parametrize("changes", [{}, {"expect": ["order_id > 0"]}], ids=["one pass", "staged"])
def test_a_division_by_zero_in_the_data_is_theirs(shop: Shop, spark: SparkSession, changes: dict[str, object]) -> None:
    sql(shop, "SELECT order_id, 1 / (order_id - 2) AS broken, order_date FROM source", **changes)
    shop.orders()
    answer = shop.run()
    assert_theirs(answer, "DIVIDE_BY_ZERO")
    assert shop.ids(spark) == []
    assert len(shop.history()[0]["attempts"]) == 1


def test_a_cast_that_fails_is_theirs_not_a_null(shop: Shop, spark: SparkSession) -> None:
    sql(shop, "SELECT CAST(status AS INT) AS broken, order_date FROM source")
    shop.orders()
    assert_theirs(shop.run(), "CAST_INVALID_INPUT")


@pytest.mark.parametrize("clock", ["current_timestamp()", "rand()", "uuid()", "monotonically_increasing_id()"])
def test_a_clock_or_a_random_value_in_a_function_is_found_in_the_plan(
    shop: Shop, spark: SparkSession, clock: str
) -> None:
    python(shop, f"    return rows.selectExpr('*', '{clock} AS x')\n")
    shop.orders()
    answer = shop.run()
    assert_theirs(answer, clock.partition("(")[0])
    assert "context.run_ts" in answer.json["error"]["next"]
    assert shop.version() == -1


def test_a_clock_after_thirty_columns_is_found_in_a_session_that_was_there_before(
    shop: Shop, spark: SparkSession
) -> None:
    python(
        shop,
        "    many = [f'order_id + {at} AS c{at}' for at in range(30)]\n"
        "    return rows.selectExpr('order_date', *many, 'current_timestamp() AS loaded_at')\n",
    )
    shop.orders()
    assert_theirs(shop.run(), "current_timestamp")
    assert shop.version() == -1


def test_a_parameter_is_a_value_whatever_it_looks_like(shop: Shop, spark: SparkSession) -> None:
    sql(
        shop,
        "SELECT order_id, order_date, :wanted AS wanted FROM source WHERE status <> :wanted",
        params={"wanted": "new' OR '1'='1"},
    )
    shop.orders()
    assert shop.run().code == 0
    assert shop.rows(spark, "order_id", "wanted") == [(1, "new' OR '1'='1"), (2, "new' OR '1'='1")]


def test_the_bounds_of_the_window_and_the_time_of_the_run_are_bound(shop: Shop, spark: SparkSession) -> None:
    sql(
        shop,
        "SELECT order_date, :window_start AS a, :window_end AS b, :window_start_date AS c,"
        " :window_end_local AS d, date_trunc('DAY', :run_ts) = :run_ts AS e FROM source LIMIT 1",
        **{"schedule.timezone": "Europe/Berlin"},
    )
    shop.orders()
    assert shop.run().code == 0
    assert shop.rows(
        spark, "CAST(a AS STRING)", "CAST(b AS STRING)", "CAST(c AS STRING)", "CAST(d AS STRING)", "e"
    ) == [("2026-04-24 22:00:00", "2026-04-25 22:00:00", DAY, "2026-04-26 00:00:00", False)]


def test_a_function_gets_the_window_the_parameters_and_the_frozen_time(shop: Shop, spark: SparkSession) -> None:
    python(
        shop,
        "    from pyspark.sql import functions as f\n"
        "    told = [context.window_start.isoformat(), context.params['factor']]\n"
        "    return rows.limit(1).withColumn('told', f.lit(str(told)))\n",
        params={"factor": 3},
        **{"schedule.timezone": "Asia/Kathmandu"},
    )
    shop.orders()
    assert shop.run().code == 0
    assert shop.rows(spark, "told") == [("['2026-04-25T00:00:00+05:45', 3]",)]


def test_a_mended_transform_loads_the_window_again(shop: Shop, spark: SparkSession) -> None:
    sql(shop, "SELECT order_id, amount, order_date FROM source")
    shop.orders()
    assert shop.run().code == 0
    shop.write("pipelines/orders.sql", "SELECT order_id, amount * 2 AS amount, order_date FROM source")
    answer = shop.run()
    assert answer.code == 3, "decimal(13,2) does not fit decimal(12,2)"
    shop.write(
        "pipelines/orders.sql",
        "SELECT order_id, CAST(amount * 2 AS DECIMAL(12,2)) AS amount, order_date FROM source",
    )
    answer = shop.run()
    assert (answer.window["status"], answer.window["reason"]) == ("succeeded", "the definition changed")
    assert [str(row[0]) for row in shop.rows(spark, "amount")] == ["0.50", "21.00"]
