"""`dedup:` takes repeats out of the source before the transform; NULL keys are refused or set aside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from samewise.plan.window_text import parse_window
from samewise.run.events import ignore
from samewise.run.job import Job
from samewise.run.results import WindowResult
from samewise.run.verify import Rules
from samewise.run.window import Options, run_window
from samewise.wiring.project import open_project
from tests.support.project import DAY, PIPELINE, Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEDUP: dict[str, Any] = {"dedup": {"key": ["order_id"], "version_by": ["status"]}}


def test_the_newest_row_of_a_natural_key_is_kept(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline(DEDUP)
    shop.orders([(1, "1.00", "a"), (1, "9.00", "b"), (2, "2.00", "a"), (2, "2.00", "a")])
    shop.orders([(1, "5.00", "a")], file="part-2.csv")
    answer = shop.run()
    assert (answer.code, answer.window["rows_read"], answer.window["rows_written"]) == (0, 5, 2)
    assert shop.rows(spark, "order_id", "CAST(amount AS STRING)", "status") == [(1, "9.00", "b"), (2, "2.00", "a")]


def test_a_manifest_still_counts_the_rows_that_were_sent(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({**DEDUP, "source.manifest": "landing/{{ window.start | date }}/manifest.json"})
    shop.orders([(1, "1.00", "a"), (1, "9.00", "b")])
    shop.write(f"landing/{DAY}/manifest.json", json.dumps({"rows": 2, "sums": {"amount": "10.00"}}))
    answer = shop.run()
    assert (answer.code, answer.window["rows_read"], answer.window["rows_staged"]) == (0, 2, 1)


def test_the_transform_sees_the_rows_without_their_repeats(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({**DEDUP, "transform": "sums.sql"})
    shop.write("pipelines/sums.sql", "SELECT order_date, sum(amount) AS amount FROM source GROUP BY order_date")
    shop.orders([(1, "1.00", "a"), (1, "9.00", "b"), (2, "2.00", "a")])
    assert shop.run().code == 0
    assert shop.rows(spark, "CAST(amount AS STRING)") == [("11.00",)]


def test_a_natural_key_that_is_not_in_the_source_is_told(shop: Shop, spark: SparkSession) -> None:
    files = {"source.format": "parquet", "source.schema": None, "source.path": "landing/*.parquet"}
    shop.pipeline({"dedup": {"key": ["order_no"]}, **files})
    spark.sql(f"SELECT 1L AS order_id, DATE'{DAY}' AS order_date").write.parquet(str(shop.root / "landing"))
    answer = shop.run()
    assert answer.code == 4
    assert "there is no column order_no; there are order_id, order_date" in answer.json["error"]["message"]
    assert "mend dedup" in answer.json["error"]["next"]


# NULL in a key. Tried on the quickest strategy: where rows are found by their key it is the same step.


@contextmanager
def running(shop: Shop) -> Iterator[Any]:
    with open_project(shop.root) as project:
        (job,) = project.graph(PIPELINE).jobs

        def run(changed: Job) -> WindowResult:
            assert job.grid is not None
            return run_window(changed, parse_window(DAY, job.grid)[0], project.store, Options(), ignore)

        yield job, run


ROWS = [(1, "1.00", "a"), ("", "2.00", "b"), (3, "3.00", "c"), ("", "4.00", "d")]


def test_a_null_in_a_key_refuses_the_batch_and_shows_the_rows(shop: Shop, spark: SparkSession) -> None:
    shop.orders(ROWS)
    with running(shop) as (job, run):
        result = run(replace(job, rules=Rules(key=["order_id", "status"])))
    assert (result.status, result.error.code) == ("refused", "null_key")
    assert "2 of 4 rows have a NULL in the key (order_id, status)" in result.error.message
    assert '{"order_id":null,"amount":2.00,"status":"b"' in result.error.message
    assert shop.version() == -1


def test_a_null_in_a_key_goes_to_the_quarantine_where_that_is_declared(shop: Shop, spark: SparkSession) -> None:
    shop.orders(ROWS)
    with running(shop) as (job, run):
        result = run(replace(job, set_aside_without=["order_id"]))
        assert (result.status, result.rows_read, result.rows_written) == ("succeeded", 4, 2)
        assert result.rows_quarantined == 2
        set_aside = [line for file in (shop.root / "quarantine").rglob("*.json") for line in file.open()]
        assert sorted(json.loads(line)["status"] for line in set_aside) == ["b", "d"]
        assert shop.ids(spark) == [1, 3]
        shop.orders([(1, "1.00", "a")])
        assert run(replace(job, set_aside_without=["order_id"])).rows_quarantined == 0
    assert list((shop.root / "quarantine").rglob("*.json")) == []


@pytest.mark.parametrize("rows", [5, 4])
def test_a_manifest_counts_the_rows_whose_key_is_null(shop: Shop, spark: SparkSession, rows: int) -> None:
    shop.pipeline({"source.manifest": "landing/{{ window.start | date }}/manifest.json"})
    shop.orders(ROWS)
    shop.write(f"landing/{DAY}/manifest.json", json.dumps({"rows": rows}))
    with running(shop) as (job, run):
        result = run(replace(job, set_aside_without=["order_id"]))
    assert result.status == ("succeeded" if rows == 4 else "refused")
