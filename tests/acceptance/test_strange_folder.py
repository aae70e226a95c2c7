"""A table in a folder that delta-rs cannot be given: Spark reads its log, and everything else is as elsewhere."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from samewise.storage.delta_log import CannotRead, DeltaLog
from tests.support.project import DAY, Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = "warehouse/a%20b"


@pytest.fixture
def loaded(shop: Shop, spark: SparkSession) -> Shop:
    """The orders of one day, in that folder."""
    shop.pipeline({"target": {"type": "delta", "path": FOLDER}, "expect": ["order_id > 0"]})
    shop.orders()
    assert shop.run().window["rows_written"] == 2
    with pytest.raises(CannotRead):
        DeltaLog.open(str(shop.root / FOLDER))
    return shop


def ids(shop: Shop, spark: SparkSession) -> list[int]:
    rows = spark.read.format("delta").load(str(shop.root / FOLDER)).select("order_id").collect()
    return sorted(row[0] for row in rows)


def test_what_has_not_changed_is_not_loaded_again(loaded: Shop, spark: SparkSession) -> None:
    assert loaded.run().window["status"] == "unchanged"
    assert ids(loaded, spark) == [1, 2]


def test_a_day_that_has_changed_is_replaced(loaded: Shop, spark: SparkSession) -> None:
    loaded.orders([(2, "0.25", "paid"), (3, "1.00", "new")])
    assert loaded.run().window["generation"] == 2
    assert ids(loaded, spark) == [2, 3]


def test_a_lost_state_store_is_made_again_from_the_table(loaded: Shop, spark: SparkSession) -> None:
    shutil.rmtree(loaded.root / ".samewise")
    assert loaded.do("recover").code == 0
    assert loaded.run().window["status"] == "unchanged"
    (run,) = loaded.history()
    assert (run["window"], run["generation"]) == (DAY, 1)
