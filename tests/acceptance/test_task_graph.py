"""Several tasks: their order, what a refusal stops, and what a change upstream makes due."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.project import BASE, DAY, NEXT_DAY, Answer, Row, Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASKS: list[dict[str, Any]] = [
    # Written in the order in which they cannot run, so that the graph has something to do.
    {
        "task": "total",
        "depends_on": ["daily"],
        "source": {"type": "delta", "table": "daily"},
        "transform": "total.sql",
        "target": {"type": "delta", "table": "total"},
        "write": {"strategy": "refresh"},
    },
    {
        "task": "daily",
        "depends_on": ["orders"],
        "source": {"type": "delta", "table": "orders", "window_column": "order_date"},
        "transform": "daily.sql",
        "target": {"type": "delta", "table": "daily"},
        "write": {"strategy": "replace_window", "window_column": "order_date"},
    },
    {
        "task": "orders",
        "source": BASE["source"],
        "target": {"type": "delta", "table": "orders"},
        "write": BASE["write"],
        "expect": ["amount >= 0"],
    },
]


@dataclass(frozen=True)
class Story:
    """A pipeline of three tasks through four runs of one day, in this order."""

    first: Answer
    again: Answer
    changed: Answer
    refused: Answer
    sums: dict[str, Sequence[Row]]
    """What `total` held after each of them."""


def told(answer: Answer) -> list[tuple[str, str, str]]:
    return [(w["task"], w["window"], w["status"]) for w in answer.json["windows"]]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Story:
    shop = Shop(tmp_path_factory.mktemp("graph"))
    spec = {"pipeline": "orders", "schedule": BASE["schedule"], "tasks": TASKS}
    shop.write("pipelines/orders.yaml", yaml.safe_dump(spec, sort_keys=False))
    shop.write("pipelines/daily.sql", "SELECT order_date, sum(amount) AS amount FROM source GROUP BY order_date")
    shop.write("pipelines/total.sql", "SELECT sum(amount) AS amount FROM source")
    sums: dict[str, Sequence[Row]] = {}

    def run(name: str) -> Answer:
        answer = shop.run()
        sums[name] = shop.rows(spark, "CAST(amount AS STRING)", table="total")
        return answer

    shop.orders()
    first, again = run("first"), run("again")
    shop.orders([(1, "10.50", "new"), (2, "0.75", "paid")])
    changed = run("changed")
    shop.orders([(1, "-10.50", "new")])
    return Story(first, again, changed, run("refused"), sums)


def test_each_task_runs_after_those_that_it_depends_on(story: Story) -> None:
    assert told(story.first) == [
        ("orders", DAY, "succeeded"),
        ("daily", DAY, "succeeded"),
        ("total", "full", "succeeded"),
    ]
    assert story.sums["first"] == [("10.75",)]


def test_nothing_runs_where_nothing_changed(story: Story) -> None:
    assert told(story.again) == [
        ("orders", DAY, "unchanged"),
        ("daily", DAY, "unchanged"),
        ("total", "full", "unchanged"),
    ]


def test_a_change_upstream_runs_everything_that_depends_on_it(story: Story) -> None:
    assert [(w["task"], w["status"], w["reason"]) for w in story.changed.json["windows"]] == [
        ("orders", "succeeded", "the source changed"),
        ("daily", "succeeded", "the source changed"),
        ("total", "succeeded", "the source changed"),
    ]
    assert story.sums["changed"] == [("11.25",)]


def test_a_refusal_upstream_keeps_what_depends_on_it_from_running(story: Story) -> None:
    assert (story.refused.code, story.refused.json["status"]) == (3, "refused")
    assert ("orders", DAY, "refused") in told(story.refused)
    assert "daily" not in [task for task, *_ in told(story.refused)]
    assert story.sums["refused"] == story.sums["changed"]


def test_the_window_full_has_no_start_and_no_end(story: Story) -> None:
    (full,) = [w for w in story.first.json["windows"] if w["window"] == "full"]
    assert (full["start"], full["end"]) == (None, None)


# A Delta table as a source, and as an input


@pytest.fixture
def rates(shop: Shop, spark: SparkSession) -> Path:
    """A table that a transform looks things up in."""
    place = shop.root / "warehouse" / "rates"
    spark.sql("SELECT 'new' AS status, 2L AS factor").write.format("delta").save(str(place))
    shop.pipeline({"transform": "orders.sql", "inputs": {"rates": {"table": "rates"}}})
    shop.write("pipelines/orders.sql", "SELECT order_id, factor, order_date FROM source JOIN rates USING (status)")
    shop.orders()
    return place


def test_a_declared_input_is_pinned_to_its_version(shop: Shop, spark: SparkSession, rates: Path) -> None:
    (window,) = shop.run("--dry-run").json["windows"]
    assert list(window["inputs"]) == ["rates"]
    assert window["inputs"]["rates"].endswith("warehouse/rates at version 0")


def test_a_change_of_a_declared_input_makes_the_window_due(shop: Shop, spark: SparkSession, rates: Path) -> None:
    assert shop.run().code == 0
    assert shop.run().window["status"] == "unchanged"
    spark.sql("SELECT 'paid' AS status, 3L AS factor").write.format("delta").mode("append").save(str(rates))
    answer = shop.run()
    assert (answer.window["status"], answer.window["reason"]) == ("succeeded", "the source changed")
    assert shop.rows(spark, "order_id", "factor") == [(1, 2), (2, 3)]


def test_a_delta_source_gives_each_window_its_own_rows(shop: Shop, spark: SparkSession) -> None:
    rows = f"SELECT * FROM VALUES (1L, DATE'{DAY}'), (2L, DATE'{NEXT_DAY}') AS t (order_id, order_date)"
    place = str(shop.root / "warehouse" / "events")
    # A file for each day: a change of one leaves the other's window as it was.
    spark.sql(rows).write.format("delta").partitionBy("order_date").save(place)
    shop.pipeline({"source": {"type": "delta", "table": "events", "window_column": "order_date"}})
    answer = shop.run("--from", DAY, "--to", "2026-04-27", window=None)
    assert [w["rows_written"] for w in answer.json["windows"]] == [1, 1]
    spark.sql(f"DELETE FROM delta.`{place}` WHERE order_id = 2")
    answer = shop.run("--from", DAY, "--to", "2026-04-27", window=None)
    assert [w["status"] for w in answer.json["windows"]] == ["unchanged", "succeeded"]
    assert shop.ids(spark) == [1]


def test_a_delta_source_that_is_not_there_is_refused(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({"source": {"type": "delta", "table": "events"}})
    answer = shop.run()
    assert (answer.code, answer.json["error"]["code"]) == (3, "no_table")
