"""Someone changes the target by hand while a run that writes by key is under way: no loss is buried by its commit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable

from samewise.core import failpoints
from samewise.core.failpoints import Failpoint
from tests.support.project import DAY, Answer, Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MERGE = {"strategy": "merge", "key": ["order_id"], "version_by": ["order_date"]}
NEW_FILES: dict[str, Any] = {
    "schedule": None,
    "source.path": "landing/*/*.csv",
    "source.incremental": "new_files",
    "write": MERGE,
}
Meddle = Callable[[Failpoint], None]


@pytest.fixture
def delete_at(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Meddle:
    """Says where in the next run somebody deletes order 1 from the target."""
    wanted: list[Failpoint] = []

    def reach(point: Failpoint) -> None:
        if point in wanted:
            wanted.remove(point)
            DeltaTable(shop.root / "warehouse" / "orders").delete("order_id = 1")

    monkeypatch.setattr(failpoints, "reach", reach)
    return wanted.append


def succeeded(answer: Answer) -> bool:
    assert answer.code == 0, answer.text
    return bool(answer.window["status"] == "succeeded")


def test_a_run_of_new_files_reads_everything_when_rows_were_deleted_after_its_plan(
    shop: Shop, spark: SparkSession, delete_at: Meddle
) -> None:
    shop.pipeline(NEW_FILES)
    shop.orders([(1, "1.00", "new")], file="a.csv")
    assert succeeded(shop.run(window=None))
    shop.orders([(2, "2.00", "new")], file="b.csv")
    delete_at(Failpoint.STAGED)
    assert succeeded(shop.run(window=None))
    assert shop.ids(spark) == [1, 2]
    assert not succeeded(shop.run(window=None))


def test_rows_that_were_deleted_just_before_an_incremental_commit_are_brought_back_by_the_next_run(
    shop: Shop, spark: SparkSession, delete_at: Meddle
) -> None:
    shop.pipeline(NEW_FILES)
    shop.orders([(1, "1.00", "new")], file="a.csv")
    assert succeeded(shop.run(window=None))
    shop.orders([(2, "2.00", "new")], file="b.csv")
    delete_at(Failpoint.COMMITTING)
    assert succeeded(shop.run(window=None))
    assert shop.ids(spark) == [2], "nobody can know of it before the commit"
    again = shop.run(window=None)
    assert (succeeded(again), again.window["reason"]) == (True, "the target was changed by someone else")
    assert shop.ids(spark) == [1, 2]
    assert not succeeded(shop.run(window=None))


@pytest.mark.parametrize("more", [[], [(3, "3.00", "new")]], ids=["nothing to write", "something to write"])
def test_rows_that_were_deleted_while_a_window_was_merged_are_brought_back_by_the_next_run(
    shop: Shop, spark: SparkSession, delete_at: Meddle, more: list[tuple[object, ...]]
) -> None:
    shop.pipeline({"write": MERGE})
    known = [(1, "1.00", "new"), (2, "2.00", "new")]
    shop.orders(known)
    assert succeeded(shop.run())
    shop.orders([*known, *more], file="part-2.csv")
    # It has been compared with the batch, in which it was nothing new, and left out.
    delete_at(Failpoint.COMMITTING)
    assert succeeded(shop.run())
    assert 1 not in shop.ids(spark)
    again = shop.run(window=DAY)
    assert (succeeded(again), again.window["reason"]) == (True, "the target was changed by someone else")
    assert shop.ids(spark) == [1, 2, *(row[0] for row in more)]
    assert not succeeded(shop.run())
