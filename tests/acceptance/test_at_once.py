"""Two windows of one task at once, at the moments that matter: each test runs the second in the middle of the first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from samewise.core import failpoints
from samewise.core.failpoints import Failpoint
from samewise.targets.delta import DeltaTarget
from tests.support.project import DAY, NEXT_DAY, Answer, Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = {"order_id": "bigint", "status": "string", "version": "bigint"}
WIDER = (*COLUMNS, "note")
MERGE: dict[str, Any] = {
    "source.schema": COLUMNS,
    "source.drift": {"added": "add"},
    "retries": {"attempts": 1, "backoff": "10ms"},
    "write": {"strategy": "merge", "key": ["order_id"], "version_by": ["version"]},
}

Interrupt = Callable[[Failpoint, Callable[[], None]], None]


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Interrupt:
    """Do something in the middle of the next run, once, as another process would."""

    def set_up(point: Failpoint, act: Callable[[], None]) -> None:
        waiting = [act]

        def reach(reached: Failpoint) -> None:
            if reached is point and waiting:
                waiting.pop()()

        monkeypatch.setattr(failpoints, "reach", reach)

    return set_up


@pytest.fixture
def merged(shop: Shop) -> Shop:
    shop.pipeline(MERGE)
    shop.orders([(1, "new", 1)], day=DAY, columns=tuple(COLUMNS))
    shop.orders([(1, "sent", 1, "fragile"), (2, "sent", 1, "heavy")], day=NEXT_DAY, columns=WIDER)
    return shop


def test_a_row_is_replaced_as_a_whole_also_where_another_window_has_just_brought_a_column(
    merged: Shop, spark: SparkSession, meanwhile: Interrupt
) -> None:
    answers: list[Answer] = []
    merged.orders([(1, "first", 0)], day="2026-04-24", columns=tuple(COLUMNS))
    assert merged.run(window="2026-04-24").code == 0
    meanwhile(Failpoint.VERIFIED, lambda: answers.append(merged.run(window=NEXT_DAY)))
    merged.orders([(1, "paid", 2)], columns=tuple(COLUMNS))
    answers.append(merged.run())
    assert [answer.code for answer in answers] == [0, 0], [answer.text for answer in answers]
    assert merged.rows(spark, "order_id", "status", "note") == [(1, "paid", None), (2, "sent", "heavy")]


def test_a_column_that_another_window_is_just_bringing_is_a_matter_of_time(
    merged: Shop, spark: SparkSession, meanwhile: Interrupt
) -> None:
    answers: list[Answer] = []
    meanwhile(Failpoint.COMMITTED, lambda: answers.append(merged.run()))
    assert merged.run(window=NEXT_DAY).code == 0
    (early,) = answers
    assert early.code == 75, early.text
    assert early.json["error"]["retryable"]
    assert "is being loaded" in early.json["error"]["message"]
    assert merged.run().code == 0
    # Of the same version the hash decides; that row 2 came through is enough here.
    assert (2, "heavy") in merged.rows(spark, "order_id", "note")


def test_two_first_loads_at_once_make_one_table(shop: Shop, spark: SparkSession, meanwhile: Interrupt) -> None:
    shop.pipeline({"expect": [{"rows": {"min": 1}}]})
    shop.orders([(1, "10.50", "new")])
    shop.orders([(2, "0.25", "paid")], day=NEXT_DAY)
    answers: list[Answer] = []
    meanwhile(Failpoint.VERIFIED, lambda: answers.append(shop.run(window=NEXT_DAY)))
    answers.append(shop.run())
    assert [answer.code for answer in answers] == [0, 0], [answer.text for answer in answers]
    assert shop.ids(spark) == [1, 2]


def test_a_table_that_is_half_made_by_another_run_is_waited_for(
    shop: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The log's folder is there before its first commit is; that is when a second CREATE TABLE of Spark's fails.
    shop.pipeline({"target.writer": "spark"})
    shop.orders()
    place = shop.root / "warehouse" / "orders"
    create, tries = DeltaTarget._create, []

    def with_another(self: DeltaTarget, *words: Any, **more: Any) -> None:
        tries.append(1)
        if len(tries) == 1:
            (place / "_delta_log").mkdir(parents=True)
            (place / "part-0.parquet").write_bytes(b"")
            try:
                create(self, *words, **more)
            finally:
                (place / "part-0.parquet").unlink()
                (place / "_delta_log").rmdir()
            return
        create(self, *words, **more)

    monkeypatch.setattr(DeltaTarget, "_create", with_another)
    answer = shop.run()
    assert answer.code == 0, answer.text
    assert shop.ids(spark) == [1, 2]


def test_a_folder_with_other_files_is_not_taken_for_the_target(shop: Shop, spark: SparkSession) -> None:
    shop.orders()
    other = shop.write("warehouse/orders/report.txt", "mine")
    answer = shop.run()
    assert answer.code == 2, answer.text
    assert "has files in it, and is no Delta table" in answer.json["error"]["message"]
    assert other.read_text() == "mine"
    assert shop.version() == -1
