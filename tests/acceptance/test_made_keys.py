"""A key that a Python function makes while it runs is found in Spark's plan, before a row moves."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from samewise.core.errors import ConfigError
from samewise.run.transform import Keys, check_plan
from tests.support.project import Shop, told_in_three_parts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RUN_TS = datetime(2026, 4, 26, 3, 0, 0, 120000, tzinfo=UTC)


@pytest.fixture(scope="module")
def source(spark: SparkSession) -> DataFrame:
    """Rows of a source, counted on their way as a run does."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    rows = spark.sql("SELECT 1L AS id, 'x' AS a, TIMESTAMP'2026-04-25 10:00:00' AS at, 1 AS _samewise_window")
    return rows.observe(Observation("reading"), f.count(f.lit(1)).alias("rows"))


def refusal(rows: DataFrame, spark: SparkSession, *, version: bool = False) -> str | None:
    names: tuple[list[str], list[str]] = ([], ["k"]) if version else (["k"], [])
    try:
        check_plan(rows, spark, incremental=False, keys=Keys(*names, RUN_TS, ZoneInfo("UTC")))
    except ConfigError as error:
        return f"{error.code}: {error.message}"
    return None


def _over(rows: DataFrame, *order: object) -> DataFrame:
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    return rows.withColumn("k", f.row_number().over(Window.partitionBy("a").orderBy(*order)))  # type: ignore[arg-type]


def _lit(value: object) -> object:
    from pyspark.sql import functions as f

    return f.lit(value)


Build = Callable[["DataFrame"], "DataFrame"]
MADE: dict[str, tuple[Build, str]] = {
    "uuid": (lambda rows: rows.selectExpr("uuid() AS k"), "uuid(): it is another value at every attempt"),
    "number of the row": (
        lambda rows: rows.selectExpr("monotonically_increasing_id() AS n").selectExpr("concat('o-', n) AS k"),
        "monotonically_increasing_id(): it follows from how the rows lie",
    ),
    "rand": (lambda rows: rows.selectExpr("CAST(rand() * 1000 AS INT) AS k"), "rand()"),
    "clock": (lambda rows: rows.selectExpr("date_format(now(), 'yyyy') AS k"), "now()"),
    "partition": (lambda rows: rows.selectExpr("spark_partition_id() + id AS k"), "spark_partition_id()"),
    "block": (lambda rows: rows.selectExpr("input_file_block_start() AS k"), "input_file_block_start()"),
    "constant order": (lambda rows: _over(rows, _lit(1)), "row_number() over no order: the numbers go round"),
    "constant order, by a column": (
        lambda rows: _over(rows.withColumn("one", _lit(1)), "one"),  # type: ignore[arg-type]
        "row_number() over no order",
    ),
    "order of the rows as they lie": (
        lambda rows: _over(rows.selectExpr("*", "monotonically_increasing_id() AS n"), "n"),
        "row_number() over no order",
    ),
    "the time of the run": (
        lambda rows: rows.withColumn("k", _lit(RUN_TS)),  # type: ignore[arg-type]
        "context.run_ts: it is the time of the run",
    ),
    "the time of the run, as text": (
        lambda rows: rows.withColumn("k", _lit(f"{RUN_TS.isoformat()}-1")),  # type: ignore[arg-type]
        "context.run_ts",
    ),
    "the run's own column": (lambda rows: rows.selectExpr("_samewise_window AS k"), "_samewise_window: it is the run"),
    "second branch of a union": (
        lambda rows: rows.selectExpr("CAST(id AS STRING) AS k").union(rows.selectExpr("uuid() AS other")),
        "uuid()",
    ),
    "after a filter, a join and a group": (
        lambda rows: (
            rows.selectExpr("id", "uuid() AS u")
            .where("u > ''")
            .join(rows.select("id", "a"), "id")
            .groupBy("a")
            .agg({"u": "max"})
            .toDF("a", "k")
        ),
        "uuid()",
    ),
    "explode": (lambda rows: rows.selectExpr("explode(array(uuid(), 'b')) AS k"), "uuid()"),
    "with": (
        lambda rows: rows.sparkSession.sql(
            "WITH c AS (SELECT uuid() AS u, id FROM {rows}) SELECT x.u AS k FROM c AS x JOIN c AS y ON x.id = y.id",
            rows=rows,
        ),
        "uuid()",
    ),
}


@pytest.mark.parametrize("case", MADE)
def test_a_key_that_is_made_at_processing_time_is_refused(source: DataFrame, spark: SparkSession, case: str) -> None:
    build, made = MADE[case]
    message = refusal(build(source), spark)
    assert message is not None
    assert message.startswith(f"made_key: the key k is made of {made}"), message
    assert "added again under another key" in message


def test_so_is_a_version(source: DataFrame, spark: SparkSession) -> None:
    message = refusal(source.withColumn("k", _lit(RUN_TS)), spark, version=True)  # type: ignore[arg-type]
    assert message is not None
    assert message.startswith("made_version: the version k is made of context.run_ts")
    assert "a replay of old rows" in message


def _by_udf(rows: DataFrame) -> DataFrame:
    from pyspark.sql.functions import udf

    return rows.withColumn("k", udf(lambda value: f"o-{value}")("id"))


DATA: dict[str, Build] = {
    "column": lambda rows: rows.selectExpr("id AS k", "1 AS one"),
    "hash": lambda rows: rows.selectExpr("sha2(concat_ws('|', a, id), 256) AS k"),
    "numbered in an order": lambda rows: _over(rows, "at", "id"),
    "numbered in an order that is made of the data": lambda rows: _over(rows.selectExpr("*", "id % 7 AS m"), "m"),
    "another column is the time of the run": lambda rows: rows.selectExpr("id AS k").withColumn("t", _lit(RUN_TS)),  # type: ignore[arg-type]
    "another column has no order": lambda rows: _over(rows, _lit(1)).selectExpr("id AS k", "k AS rank"),
    "a text that looks like a call": lambda rows: rows.selectExpr("concat(a, ' AS uuid(x) [1') AS k"),
    "union": lambda rows: rows.selectExpr("id AS k").union(rows.selectExpr("id + 1")),
    "udf": _by_udf,
    "a table beside the source": lambda rows: rows.sparkSession.range(3).selectExpr("id AS k"),
}


@pytest.mark.parametrize("case", DATA)
def test_a_key_that_comes_from_the_data_is_none_of_these(source: DataFrame, spark: SparkSession, case: str) -> None:
    assert refusal(DATA[case](source), spark) is None


def test_nothing_is_read_and_the_command_ends_as_it_does_for_a_select(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline(
        {
            "transform": "mine.py:clean",
            "write": {"strategy": "merge", "key": ["n"], "version_by": ["order_date"]},
        }
    )
    shop.write(
        "pipelines/mine.py",
        "from pyspark.sql import Window, functions as f\n\n\n"
        "def clean(rows, context):\n"
        "    return rows.withColumn('n', f.row_number().over(Window.orderBy(f.lit(0))))\n",
    )
    shop.orders()
    answer = shop.run()
    assert (answer.code, answer.json["error"]["code"]) == (2, "made_key")
    assert "the key n is made of row_number() over no order" in answer.json["error"]["message"]
    assert told_in_three_parts(answer)
    assert shop.version() == -1
    assert shop.leftovers() == []
