"""What an incremental task brings makes the loaded windows of the tasks that depend on it due."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from samewise.core.failpoints import Killed
from samewise.run.window import run_window
from tests.support.project import BASE, DAY, NEXT_DAY, PIPELINE, Answer, Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AFTER = "2026-04-27"
TASKS: list[dict[str, Any]] = [
    {
        "task": "orders",
        "source": {**BASE["source"], "path": "landing/*/*.csv", "incremental": "new_files"},
        "target": {"type": "delta", "table": "orders", "partition_by": ["order_date"]},
        "write": {"strategy": "merge", "key": ["order_id"], "version_by": ["order_date"]},
    },
    {
        "task": "daily",
        "depends_on": ["orders"],
        "source": {"type": "delta", "table": "orders", "window_column": "order_date"},
        "transform": "daily.sql",
        "target": {"type": "delta", "table": "daily"},
        "write": {"strategy": "replace_window", "window_column": "order_date"},
    },
]


def told(answer: Answer) -> list[tuple[str, str, str]]:
    assert answer.code == 0, answer.text
    return [(w["task"], w["window"], w["status"]) for w in answer.json["windows"]]


@pytest.fixture
def loaded(shop: Shop, spark: SparkSession) -> Shop:
    """Two days, loaded by a task without windows and counted by one with windows."""
    spec = {"pipeline": PIPELINE, "schedule": {**BASE["schedule"], "start": DAY, "end": AFTER}, "tasks": TASKS}
    shop.write("pipelines/orders.yaml", yaml.safe_dump(spec, sort_keys=False))
    shop.write("pipelines/daily.sql", "SELECT order_date, count(*) AS n FROM source GROUP BY order_date")
    shop.orders([(1, "1.00", "new")])
    shop.orders([(2, "1.00", "new")], day=NEXT_DAY)
    first = told(shop.run(window=None))
    assert first == [("orders", "full", "succeeded"), ("daily", DAY, "succeeded"), ("daily", NEXT_DAY, "succeeded")]
    assert told(shop.run(window=None)) == [("orders", "full", "unchanged")]
    return shop


def counted(shop: Shop, spark: SparkSession) -> list[tuple[object, ...]]:
    return shop.rows(spark, "CAST(order_date AS STRING)", "n", table="daily")


def test_a_late_row_upstream_is_counted_by_the_same_command_in_the_day_that_it_belongs_to(
    loaded: Shop, spark: SparkSession
) -> None:
    loaded.orders([(3, "1.00", "late")], file="late.csv")
    again = told(loaded.run(window=None))
    assert again == [("orders", "full", "succeeded"), ("daily", DAY, "succeeded"), ("daily", NEXT_DAY, "unchanged")]
    assert counted(loaded, spark) == [(DAY, 2), (NEXT_DAY, 1)]
    # The other day was looked at once, and is not looked at for ever.
    assert told(loaded.run(window=None)) == [("orders", "full", "unchanged")]


def test_it_is_counted_by_a_later_command_if_the_process_died_between_or_the_window_was_refused(
    loaded: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded.orders([(3, "1.00", "late")], file="late.csv")

    def dies_before_daily(job: Any, *rest: Any) -> Any:
        if job.task == "daily":
            raise Killed
        return run_window(job, *rest)

    with monkeypatch.context() as patched:
        patched.setattr("samewise.run.pipeline.run_window", dies_before_daily)
        with pytest.raises(Killed):
            loaded.run(window=None)
    assert counted(loaded, spark) == [(DAY, 1), (NEXT_DAY, 1)]
    good = loaded.root.joinpath("pipelines/daily.sql").read_text()
    loaded.write("pipelines/daily.sql", good.replace("count(*)", "'many'"))
    assert loaded.run(window=None).code == 3
    loaded.write("pipelines/daily.sql", good)
    assert ("daily", DAY, "succeeded") in told(loaded.run(window=None))
    assert counted(loaded, spark) == [(DAY, 2), (NEXT_DAY, 1)]
    assert told(loaded.run(window=None)) == [("orders", "full", "unchanged")]
