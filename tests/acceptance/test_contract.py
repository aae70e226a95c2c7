"""The source's shape: what was accepted, what it is today, and how a person accepts a change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.project import DAY, NEXT_DAY, Shop

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
    assert "samewise contract orders --accept" in refused.json["error"]["next"]

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


def test_a_declared_schema_is_the_contract_and_nothing_to_accept(shop: Shop) -> None:
    shop.pipeline()
    shop.orders()
    assert shop.run().code == 0
    shown = shop.do("contract", "orders", "--accept", "--json")
    assert shown.code == 0
    assert shown.json["tasks"][0]["declared"]
    assert not shown.json["tasks"][0]["accepted"]
