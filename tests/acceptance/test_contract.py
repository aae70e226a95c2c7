"""The source's shape: what was accepted, what it is today, and how a person accepts a change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.support.project import BASE, DAY, NEXT_DAY, Answer, Shop

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture
def copied(shop: Shop, spark: SparkSession) -> Path:
    """A pipeline that copies days of another table, the first of them loaded."""
    table = shop.root / "warehouse" / "upstream"
    _days(spark, DAY, NEXT_DAY).write.format("delta").save(str(table))
    shop.pipeline({"source": {"type": "delta", "table": "upstream", "window_column": "order_date"}})
    assert shop.run().code == 0
    return table


def _days(spark: SparkSession, *days: str) -> DataFrame:
    return spark.createDataFrame([(1, day) for day in days], "order_id BIGINT, day STRING").selectExpr(
        "order_id", "CAST(day AS DATE) AS order_date"
    )


def test_a_column_that_the_source_gained_is_refused_until_it_is_accepted(
    shop: Shop, spark: SparkSession, copied: Path
) -> None:
    spark.sql(f"ALTER TABLE delta.`{copied}` ADD COLUMNS (note STRING)")

    refused = shop.run(window=NEXT_DAY)
    assert refused.code == 3
    assert refused.json["error"]["code"] == "drift"
    assert f"samewise contract orders --window {NEXT_DAY} --accept" in refused.json["error"]["next"]

    shown = shop.do("contract", "orders", "--json").json["tasks"][0]
    assert [(c["kind"], c["column"]) for c in shown["changes"]] == [("added", "note")]
    assert not shown["accepted"]

    assert shop.do("contract", "orders", "--accept").code == 0
    assert shop.run(window=NEXT_DAY).code == 0
    assert shop.do("contract", "orders", "--json").json["tasks"][0]["changes"] == []


def test_looking_at_a_contract_changes_nothing(shop: Shop, spark: SparkSession, copied: Path) -> None:
    spark.sql(f"ALTER TABLE delta.`{copied}` ADD COLUMNS (note STRING)")
    shop.do("contract", "orders")
    assert shop.run(window=NEXT_DAY).code == 3


# Which window is looked at

WITHOUT_SCHEMA = {
    "source": {"type": "files", "format": "parquet", "path": "landing/{{ window.start | date }}/*.parquet"},
    "schedule.start": "2026-04-01",
}


def _land(shop: Shop, spark: SparkSession, *days: str, more: Sequence[str] = ()) -> None:
    for day in days:
        rows = spark.range(2).selectExpr("id AS order_id", *more, f"DATE'{day}' AS order_date")
        rows.coalesce(1).write.mode("overwrite").parquet(str(shop.root / "landing" / day))


def _printed(refused: Answer) -> list[str]:
    """The words of the `samewise contract` that a refusal offers, as a person would type them."""
    (command,) = re.findall(r"`samewise (contract [^`]*--accept)`", refused.json["error"]["next"])
    return str(command).split()


def test_after_a_backfill_from_the_middle_of_the_schedule_the_printed_command_accepts_what_was_refused(
    shop: Shop, spark: SparkSession
) -> None:
    shop.pipeline(WITHOUT_SCHEMA)
    # The oldest day waits, and is as it always was: nobody asked for it.
    _land(shop, spark, "2026-04-01", "2026-04-20", "2026-04-21")
    _land(shop, spark, "2026-04-22", more=["'x' AS note"])
    refused = shop.do("backfill", "orders", "--from", "2026-04-20", "--to", "2026-04-23", "--json")
    assert (refused.code, refused.json["error"]["code"], refused.json["done_windows"]) == (3, "drift", 2)

    shown = shop.do("contract", "orders", "--json").json["tasks"][0]
    assert (shown["window"], [change["column"] for change in shown["changes"]]) == ("2026-04-22", ["note"])
    accepted = shop.do(*_printed(refused))
    assert accepted.code == 0, accepted.text
    assert "as of 2026-04-22" in accepted.stdout
    assert "accepted: the next run loads under the new contract" in accepted.stdout
    resumed = shop.do("backfill", "resume", "--json")
    assert (resumed.code, resumed.json["status"]) == (0, "done"), resumed.text


def test_a_day_that_is_delivered_again_with_another_column_is_the_one_that_is_accepted(
    shop: Shop, spark: SparkSession
) -> None:
    shop.pipeline({**WITHOUT_SCHEMA, "schedule.start": "2026-04-24", "schedule.end": NEXT_DAY, "schedule.lookback": 2})
    _land(shop, spark, "2026-04-24", DAY)
    assert shop.run(window=None).code == 0
    _land(shop, spark, "2026-04-24", more=["'x' AS note"])
    refused = shop.run(window=None)
    assert (refused.code, refused.json["error"]["code"]) == (3, "drift")

    assert "as of 2026-04-24" in shop.do("contract", "orders").stdout, "without --window, too"
    assert shop.do(*_printed(refused)).code == 0
    assert shop.run(window="2026-04-24").code == 0


def test_a_window_that_has_been_loaded_since_it_was_refused_is_not_looked_at_for_that(
    shop: Shop, spark: SparkSession
) -> None:
    shop.pipeline(WITHOUT_SCHEMA)
    _land(shop, spark, "2026-04-01", DAY)
    assert shop.run().code == 0
    _land(shop, spark, NEXT_DAY, more=["'x' AS note"])
    assert shop.run(window=NEXT_DAY).code == 3
    _land(shop, spark, NEXT_DAY)
    assert shop.run(window=NEXT_DAY).code == 0
    assert shop.do("contract", "orders", "--json").json["tasks"][0]["window"] == "2026-04-01"


def test_where_there_is_nothing_to_accept_the_window_is_named_and_that_nothing_was_stored(
    shop: Shop, spark: SparkSession
) -> None:
    shop.pipeline(WITHOUT_SCHEMA)
    _land(shop, spark, "2026-04-01", DAY)
    assert shop.run().code == 0
    told = shop.do("contract", "orders", "--accept")
    assert told.code == 0
    assert "nothing to accept in 2026-04-01: nothing was stored" in told.stdout
    assert "name it with --window" in told.stdout
    assert "nothing to accept" not in shop.do("contract", "orders").stdout


@pytest.mark.parametrize(
    ("window", "code", "said"),
    [("2026-04-01/2026-04-03", 2, "2 windows"), ("2026-04-03", 3, "no file"), ("2025-01-01", 2, "before the schedule")],
)
def test_a_contract_is_compared_with_one_window_that_is_there(
    shop: Shop, spark: SparkSession, window: str, code: int, said: str
) -> None:
    shop.pipeline(WITHOUT_SCHEMA)
    _land(shop, spark, "2026-04-01")
    told = shop.do("contract", "orders", "--window", window)
    assert (told.code, said in told.text) == (code, True), told.text


def test_of_a_chain_a_task_without_a_table_hides_no_other_and_one_can_be_chosen(
    shop: Shop, spark: SparkSession
) -> None:
    first = {"task": "orders", "source": WITHOUT_SCHEMA["source"], "target": BASE["target"], "write": BASE["write"]}
    second = {
        "task": "copy",
        "depends_on": ["orders"],
        "source": {"type": "delta", "table": "orders", "window_column": "order_date"},
        "target": {"type": "delta", "table": "copy"},
        "write": dict(BASE["write"]),
    }
    spec = {"pipeline": "orders", "schedule": BASE["schedule"], "tasks": [first, second]}
    shop.write("pipelines/orders.yaml", yaml.safe_dump(spec, sort_keys=False))
    _land(shop, spark, DAY)
    told = shop.do("contract", "orders", "--json")
    assert (told.code, told.json["error"]["code"]) == (3, "no_table")
    found = {task["task"]: (task["window"], task["error"] is None) for task in told.json["tasks"]}
    assert found == {"orders": (DAY, True), "copy": (None, False)}
    shown = shop.do("contract", "orders")
    assert (shown.code, f"orders/orders, as of {DAY}" in shown.stdout) == (3, True)
    assert "orders/copy: there is no Delta table" in shown.stderr
    assert shop.do("contract", "orders", "--task", "orders").code == 0
    assert shop.do("contract", "orders", "--task", "other").code == 2

    assert shop.run().code == 0
    _land(shop, spark, NEXT_DAY, more=["'x' AS note"])
    refused = shop.run(window=NEXT_DAY)
    assert f"contract orders --task orders --window {NEXT_DAY} --accept" in refused.json["error"]["next"]
    assert shop.do(*_printed(refused)).code == 0
    # The table that the first task writes has the column from now on, and so the second one is asked about it.
    refused = shop.run(window=NEXT_DAY)
    assert [(w["task"], w["status"]) for w in refused.json["windows"]] == [("orders", "succeeded"), ("copy", "refused")]
    assert shop.do(*_printed(refused)).code == 0
    assert shop.run(window=NEXT_DAY).code == 0


def test_a_declared_schema_is_the_contract_and_nothing_to_accept(shop: Shop) -> None:
    shop.pipeline()
    shop.orders()
    assert shop.run().code == 0
    shown = shop.do("contract", "orders", "--accept", "--json")
    assert shown.code == 0
    assert shown.json["tasks"][0]["declared"]
    assert not shown.json["tasks"][0]["accepted"]
