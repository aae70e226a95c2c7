"""A backfill among others: what live runs do meanwhile, what a person is told, what goes together and what alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from samewise import open_project
from samewise.state.store import Store
from tests.support.project import Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAYS = [(date(2026, 4, 1) + timedelta(days=at)).isoformat() for at in range(5)]
SPAN = ("--from", DAYS[0], "--to", DAYS[4])
SCHEDULE = {"schedule.start": DAYS[0], "schedule.end": "2026-04-20"}
ALONE: dict[str, Any] = {**SCHEDULE, "expect": [{"change": {"within": "90%"}}]}
"""Each window is compared with those before it."""
SET_ASIDE: dict[str, Any] = {**SCHEDULE, "source.on_malformed": "quarantine"}
"""What is set aside is set aside by window, whatever the others do."""


def _fill(shop: Shop, days: list[str] = DAYS[:4], *, rows: int = 3) -> None:
    for day in days:
        shop.orders([(n, f"{n}.50", "new") for n in range(rows)], day=day)


def _generations(shop: Shop) -> list[int]:
    """How often each window has landed."""
    query = "SELECT max(generation) FROM samewise_receipts GROUP BY window_key ORDER BY window_key"
    with shop.state() as state:
        return [count for (count,) in state.execute(query)]


def _groups(shop: Shop) -> list[int]:
    query = "SELECT count(*) FROM samewise_runs WHERE group_id IS NOT NULL GROUP BY group_id ORDER BY min(window_start)"
    with shop.state() as state:
        return [count for (count,) in state.execute(query)]


def _once_begun(live: Callable[[], object]) -> Callable[[], None]:
    """For a backfill that meets a live run: it comes once the first window is about to be loaded."""
    calls = iter([live])

    def stop() -> None:
        for call in calls:
            call()

    return stop


def test_a_live_run_that_lands_after_the_windows_were_looked_at_is_not_overwritten_by_force(
    shop: Shop, spark: SparkSession
) -> None:
    shop.pipeline(ALONE)
    _fill(shop)

    with open_project(shop.root, spark=spark) as project:
        stop = _once_begun(lambda: shop.run(window=DAYS[2]))
        result = project.backfills.run("orders", start=DAYS[0], end=DAYS[4], force=True, stop=stop)

    assert result.is_done
    assert result.to_json()["outcomes"] == {"loaded": 3, "newer": 1}
    assert [window.reason for window in result.windows] == ["forced", "forced", "newer", "forced"]
    assert _generations(shop) == [1, 1, 1, 1]


def test_a_live_run_is_not_replaced_by_the_older_rows_that_the_backfill_is_pinned_to(
    shop: Shop, spark: SparkSession
) -> None:
    place = str(shop.root / "warehouse" / "events")
    rows = spark.range(8).selectExpr("id AS order_id", f"date_add(DATE'{DAYS[0]}', CAST(id % 4 AS INT)) AS order_date")
    rows.write.format("delta").save(place)
    shop.pipeline({**ALONE, "source": {"type": "delta", "table": "events", "window_column": "order_date"}})

    def live() -> None:
        spark.sql(f"UPDATE delta.`{place}` SET order_id = order_id + 100")
        assert shop.run(window=DAYS[2]).code == 0

    with open_project(shop.root, spark=spark) as project:
        result = project.backfills.run("orders", start=DAYS[0], end=DAYS[4], stop=_once_begun(live))

    assert result.is_done
    assert shop.ids(spark) == [0, 1, 102, 106, 3, 4, 5, 7]


def test_the_same_command_goes_on_a_day_later_where_its_span_ends_ahead(
    shop: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    today = datetime.now(UTC).date()
    days = [(today + timedelta(days=at)).isoformat() for at in range(-3, 3)]
    shop.pipeline({"schedule.start": days[0], "schedule.end": None})
    _fill(shop, days[:1])
    command = ("orders", "--from", days[0], "--to", days[-1], "--json")
    stopped = shop.do("backfill", *command)
    assert (stopped.code, stopped.json["error"]["code"], stopped.json["planned_windows"]) == (3, "no_files", 3)
    _fill(shop, days[:4])
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    monkeypatch.setattr(Store, "now", lambda _: tomorrow)

    resumed = shop.do("backfill", *command)

    assert (resumed.code, resumed.json["id"], resumed.json["status"]) == (0, stopped.json["id"], "done"), resumed.text
    assert resumed.json["done_windows"] == 3, "as it was planned: today is for the next one"
    following = shop.do("backfill", *command)
    assert (following.json["id"] != stopped.json["id"], following.json["done_windows"]) == (True, 4)


@pytest.mark.parametrize("parallel", [1, 2], ids=["in_turn", "side_by_side"])
def test_in_a_pipe_each_window_that_goes_alone_has_a_line(shop: Shop, spark: SparkSession, parallel: int) -> None:
    shop.pipeline(SET_ASIDE)
    _fill(shop)

    lines = shop.do("backfill", "orders", *SPAN, "--parallel", parallel).stderr.splitlines()

    told = [line.split() for line in lines if line.startswith("ok ")]
    assert sorted((words[1], words[2]) for words in told) == [(day, "3") for day in DAYS[:4]], lines
    assert [words[6].rstrip(",") for words in told] == ["1/4", "2/4", "3/4", "4/4"]


def test_how_many_windows_go_together_follows_from_what_their_neighbours_held(shop: Shop, spark: SparkSession) -> None:
    shop.settings(backfill={"rows": 6})
    shop.pipeline(SCHEDULE)
    _fill(shop)
    assert shop.run(window=DAYS[0]).code == 0

    done = shop.do("backfill", "orders", "--from", DAYS[1], "--to", DAYS[4], "--json")

    assert done.json["status"] == "done"
    assert _groups(shop) == [2], "two of three rows each, and the third by itself"


def test_side_by_side_no_window_lands_after_one_whose_schema_has_changed(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline(SET_ASIDE)
    _fill(shop)
    shop.orders([(1, "1.00", "new")], day=DAYS[2], columns=("order_id", "total", "status", "order_date"))

    stopped = shop.do("backfill", "orders", *SPAN, "--parallel", "2", "--json")

    assert (stopped.code, stopped.json["error"]["code"]) == (3, "drift"), stopped.text
    assert stopped.json["error"]["message"].startswith(f"orders {DAYS[2]}")
    assert {row[0] for row in shop.rows(spark, "string(order_date)")} == set(DAYS[:2])


_INTERRUPTED = """\
import os, signal

def as_they_are(rows, context):
    if context.window.start.day == 1:
        os.kill(os.getpid(), signal.SIGINT)
    return rows
"""


def _pressing_ctrl_c_in_the_first_group(shop: Shop) -> None:
    shop.settings(backfill={"windows": 2})
    shop.pipeline({**SCHEDULE, "transform": "orders.py:as_they_are"})
    shop.write("pipelines/orders.py", _INTERRUPTED)
    _fill(shop)


def test_ctrl_c_says_how_many_windows_are_done_and_the_command_that_goes_on(shop: Shop, spark: SparkSession) -> None:
    _pressing_ctrl_c_in_the_first_group(shop)

    stopped = shop.do("backfill", "orders", *SPAN)

    assert stopped.code == 130, stopped.text
    assert "is paused: 2 of 4 windows done" in stopped.stdout
    command = re.search(r"next: samewise (backfill) (resume) ([0-9a-f]{8})\n", stopped.stdout)
    assert command is not None, stopped.stdout
    assert shop.do(*command.groups(), "--json").json["status"] == "done"


def test_ctrl_c_tells_a_machine_how_many_windows_are_done_and_what_goes_on(shop: Shop, spark: SparkSession) -> None:
    _pressing_ctrl_c_in_the_first_group(shop)

    stopped = shop.do("backfill", "orders", *SPAN, "--json")

    assert (stopped.code, stopped.json["stopped_by"], stopped.json["done_windows"]) == (130, "interrupt", 2)
    assert stopped.json["next"] == f"samewise backfill resume {stopped.json['id']}"
    resumed = shop.do("backfill", "resume", stopped.json["id"], "--json")
    assert (resumed.json["status"], resumed.json["next"]) == ("done", None)
