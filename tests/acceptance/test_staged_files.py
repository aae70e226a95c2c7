"""Somebody changes what was staged: as many rows, as many bytes, at the same time, and another value."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from samewise.core import failpoints
from samewise.core.failpoints import Failpoint
from samewise.core.ports import Published
from samewise.targets.delta import DeltaTarget
from tests.support.project import DAY, NEXT_DAY, Shop, told_in_three_parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STAGED: dict[str, Any] = {"expect": ["order_id is not null"], "retries": {"attempts": 1}}
MERGED: dict[str, Any] = {**STAGED, "write": {"strategy": "merge", "key": ["order_id"], "version_by": ["order_date"]}}
BOTH_DAYS = ("--from", DAY, "--to", "2026-04-27")


def tamper(shop: Shop, *, where: str = "*.parquet") -> None:
    """Set every `paid` to `void`. The rows are stored as they are, so this is as easy as it sounds."""
    files = [file for file in (shop.root / "warehouse" / "_samewise" / "staging").rglob(where) if file.is_file()]
    changed = [file for file in files if _set_void(file)]
    assert changed, "there was nothing to change"


def touch(shop: Shop) -> None:
    """As a backup or an administrator may."""
    for file in (shop.root / "warehouse" / "_samewise" / "staging").rglob("*.parquet"):
        file.chmod(0o600)


def _set_void(file: Path) -> bool:
    content = file.read_bytes()
    if b"paid" not in content:
        return False
    times = file.stat()
    file.write_bytes(content.replace(b"paid", b"void"))
    (file.parent / f".{file.name}.crc").unlink(missing_ok=True)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    return True


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[Failpoint, Callable[[], None]], None]:
    """Do something when a run comes by a failpoint, the first time."""

    def arm(point: Failpoint, act: Callable[[], None]) -> None:
        todo = [act]

        def reach(reached: Failpoint) -> None:
            if reached is point and todo:
                todo.pop()()

        monkeypatch.setattr(failpoints, "reach", reach)

    return arm


@pytest.fixture
def while_publishing(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Do something when the last check is over and the commit has not read a row yet, the first time."""

    def arm(act: Callable[[], None]) -> None:
        todo, publish = [act], DeltaTarget.publish

        def publish_later(*arguments: Any) -> Published:
            if todo:
                todo.pop()()
            return publish(*arguments)

        monkeypatch.setattr(DeltaTarget, "publish", publish_later)

    return arm


@pytest.mark.parametrize("point", [Failpoint.VERIFIED, Failpoint.COMMITTING])
def test_staged_rows_that_were_changed_after_they_were_verified_are_not_published(
    shop: Shop, spark: SparkSession, at: Callable[[Failpoint, Callable[[], None]], None], point: Failpoint
) -> None:
    shop.pipeline(STAGED)
    shop.orders()
    at(point, lambda: tamper(shop))

    stopped = shop.run()

    assert (stopped.code, stopped.json["error"]["code"]) == (75, "transient"), stopped.text
    assert "has been changed by someone else" in stopped.json["error"]["message"]
    assert told_in_three_parts(stopped)
    assert shop.rows(spark) == []
    assert shop.run().code == 0
    assert shop.rows(spark, "status") == [("new",), ("paid",)]
    assert shop.leftovers() == []


def test_a_run_that_may_be_tried_again_stages_anew(
    shop: Shop, spark: SparkSession, at: Callable[[Failpoint, Callable[[], None]], None]
) -> None:
    shop.pipeline({**MERGED, "retries": {"attempts": 2, "backoff": "20ms"}})
    shop.orders()
    # What is compared with the target is staged a second time: those of the rows that change it. The first rows of all
    # are compared with nothing.
    shop.orders([(7, "1.00", "sent")], day=NEXT_DAY)
    assert shop.run(window=NEXT_DAY).code == 0
    at(Failpoint.COMMITTING, lambda: tamper(shop, where="changes/*.parquet"))

    done = shop.run()

    assert (done.code, done.window["attempt"], done.window["generation"]) == (0, 2, 1), done.text
    assert shop.rows(spark, "status") == [("new",), ("paid",), ("sent",)]


@pytest.mark.parametrize("how", [STAGED, MERGED], ids=["by window", "by key"])
def test_rows_that_were_changed_while_they_were_published_are_not_recorded_as_verified(
    shop: Shop, spark: SparkSession, while_publishing: Callable[[Callable[[], None]], None], how: dict[str, Any]
) -> None:
    shop.pipeline(how)
    shop.orders()
    while_publishing(lambda: tamper(shop))

    stopped = shop.run()

    assert stopped.json["error"]["code"] == "published_differs", stopped.text
    assert "RESTORE" in stopped.json["error"]["next"]
    assert [run["status"] for run in shop.history()] == ["failed"]
    version = shop.version()
    spark.sql(f"RESTORE TABLE delta.`{shop.root}/warehouse/orders` TO VERSION AS OF {version - 1}")
    assert shop.run().code == 0
    assert shop.rows(spark, "status") == [("new",), ("paid",)]


def test_files_that_somebody_only_touched_while_they_were_published_hold_what_was_verified(
    shop: Shop, spark: SparkSession, while_publishing: Callable[[Callable[[], None]], None]
) -> None:
    shop.pipeline(STAGED)
    shop.orders()
    while_publishing(lambda: touch(shop))
    done = shop.run()
    assert (done.code, done.window["rows_written"]) == (0, 2), done.text


def test_a_group_whose_staged_rows_were_changed_is_not_published(
    shop: Shop, spark: SparkSession, at: Callable[[Failpoint, Callable[[], None]], None]
) -> None:
    shop.pipeline(STAGED)
    for number, day in enumerate((DAY, NEXT_DAY)):
        shop.orders([(number, "1.00", "paid")], day=day)
    at(Failpoint.VERIFIED, lambda: tamper(shop))

    stopped = shop.do("backfill", "orders", *BOTH_DAYS, "--json")

    assert (stopped.code, stopped.json["error"]["code"]) == (75, "transient"), stopped.text
    assert "has been changed by someone else" in stopped.json["error"]["message"]
    assert shop.rows(spark) == []
    assert shop.leftovers() == []


def test_a_group_that_was_changed_while_it_was_published_is_loaded_again(
    shop: Shop, spark: SparkSession, while_publishing: Callable[[Callable[[], None]], None]
) -> None:
    shop.pipeline(STAGED)
    for number, day in enumerate((DAY, NEXT_DAY)):
        shop.orders([(number, "1.00", "paid")], day=day)
    while_publishing(lambda: tamper(shop))

    done = shop.do("backfill", "orders", *BOTH_DAYS, "--json")

    assert (done.code, done.json["status"]) == (0, "done"), done.text
    assert shop.rows(spark, "order_id", "status") == [(0, "paid"), (1, "paid")]
    with shop.state() as state:
        closed = state.execute("SELECT group_id IS NULL, status, count(*) FROM samewise_runs GROUP BY 1, 2").fetchall()
    assert sorted(closed) == [(0, "failed", 2), (1, "succeeded", 2)]
