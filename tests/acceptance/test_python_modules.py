"""A Python transform with modules of its own: they travel to Spark's workers, and shadow nobody."""

from __future__ import annotations

import calendar
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.project import Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRANSFORM = """
from pyspark.sql.functions import udf

from words import shouted


def loud(value):
    return shouted(value)


def clean(rows, context):
    return rows.withColumn("status", udf(loud, "string")("status"))
"""


def test_a_function_of_another_module_of_the_project_runs_on_the_workers(
    shop: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    shop.write("pipelines/words.py", "def shouted(value):\n    return value.upper()\n")
    shop.write("pipelines/calendar.py", TRANSFORM)
    shop.pipeline({"transform": "calendar.py:clean"})
    shop.orders([(1, "1.00", "new")])

    assert shop.run().code == 0

    assert shop.rows(spark, "status") == [("NEW",)]
    del sys.modules["words"]
    monkeypatch.delitem(sys.modules, "calendar")
    assert __import__("calendar").__file__ == calendar.__file__, "the standard library's calendar is still itself"
