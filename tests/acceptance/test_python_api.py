"""From Python: a notebook, a spark-submit job, an orchestrator."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

import samewise
from samewise import RunResult, Status, Window, WindowResult, open_project
from samewise.core.errors import SpecError, UsageError
from tests.support.project import DAY, Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_run_gives_a_typed_result(shop: Shop, spark: SparkSession) -> None:
    shop.orders()
    with open_project(shop.root, spark=spark) as project:
        result = project.run("orders", window=DAY)
    assert isinstance(result, RunResult)
    (window,) = result.windows
    assert isinstance(window, WindowResult)
    assert (result.status, result.exit_code, result.error) == (Status.SUCCEEDED, 0, None)
    assert (window.rows_read, window.rows_written, window.sums) == (2, 2, {"amount": "10.75"})
    assert window.window == Window(datetime(2026, 4, 25, tzinfo=UTC), datetime(2026, 4, 26, tzinfo=UTC))


def test_a_window_may_be_given_as_one(shop: Shop, spark: SparkSession) -> None:
    shop.orders()
    window = Window(datetime(2026, 4, 25, tzinfo=UTC), datetime(2026, 4, 26, tzinfo=UTC))
    with open_project(shop.root, spark=spark) as project:
        assert project.run("orders", window=window).status is Status.SUCCEEDED


def test_refused_data_is_a_result_not_an_exception(shop: Shop) -> None:
    with open_project(shop.root) as project:
        result = project.run("orders", window=DAY)
    assert (result.status, result.exit_code) == (Status.REFUSED, 3)
    assert result.error is not None
    assert result.error.code == "no_files"


def test_a_wrong_request_is_an_exception(shop: Shop) -> None:
    with open_project(shop.root) as project, pytest.raises(UsageError):
        project.run("orders", window="yesterday")


def test_wrong_files_are_an_exception_with_every_problem(shop: Shop) -> None:
    shop.pipeline({"write.stratgey": "refresh", "target.type": "delt"})
    with pytest.raises(SpecError) as caught:
        open_project(shop.root)
    assert len(caught.value.problems) == 2


def test_the_session_that_the_caller_brought_is_as_it_was(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({"transform": "orders.sql", "schedule.timezone": "Asia/Kathmandu"})
    shop.write("pipelines/orders.sql", "SELECT * FROM source")
    shop.orders()
    mine = spark.newSession()
    mine.conf.set("spark.sql.session.timeZone", "America/New_York")
    mine.conf.set("spark.sql.ansi.enabled", "false")
    mine.range(1).createOrReplaceTempView("source")
    confs, views = mine.conf.getAll, mine.sql("SHOW TABLES").collect()
    with open_project(shop.root, spark=mine) as project:
        assert project.run("orders", window=DAY).exit_code == 0
    assert mine.conf.getAll == confs
    assert mine.sql("SHOW TABLES").collect() == views
    assert mine.table("source").columns == ["id"]
    assert mine.range(1).count() == 1, "it is still alive"


def test_a_dry_run_in_python_writes_nothing(shop: Shop) -> None:
    shop.orders()
    before = sorted(shop.root.rglob("*"))
    with open_project(shop.root) as project:
        (plan,) = project.plan("orders", window=DAY)
    assert plan.window.key == "2026-04-25T00:00:00Z/2026-04-26T00:00:00Z"
    written = [path for path in sorted(shop.root.rglob("*")) if path not in before]
    assert [path for path in written if "cache" not in path.parts and path.name != ".samewise"] == []


def test_the_public_names_are_these() -> None:
    assert samewise.__all__ == [
        *("Context", "Project", "RunResult", "SamewiseError", "Status", "Window", "WindowResult"),
        "open_project",
    ]
    assert all(getattr(samewise, name) is not None for name in samewise.__all__)
