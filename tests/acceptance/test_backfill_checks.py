"""Is it still what was loaded? What `backfill verify` and `resume` find in the target, and what they cannot know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from samewise import open_project
from samewise.core.failpoints import Failpoint, Kill, Killed, killing
from tests.support.project import Answer, Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAYS = ["2026-04-24", "2026-04-25", "2026-04-26"]
SPAN = ("--from", DAYS[0], "--to", "2026-04-27")
MERGE: dict[str, Any] = {"write": {"strategy": "merge", "key": ["order_id"], "version_by": ["order_date"]}}


def _backfill(shop: Shop, *words: object) -> Answer:
    return shop.do("backfill", *words, "--json")


def _table(shop: Shop) -> str:
    return f"delta.`{shop.root}/warehouse/orders`"


# The last commit


def test_a_commit_that_the_backfill_was_killed_after_is_checked_on_resume(shop: Shop, spark: SparkSession) -> None:
    for day in DAYS:
        shop.orders(day=day)
    with (
        open_project(shop.root, spark=spark) as project,
        killing(Kill(Failpoint.CHECKPOINTED)),
        pytest.raises(Killed),
    ):
        project.backfills.run("orders", start=DAYS[0], end="2026-04-27")
    assert _backfill(shop, "status").json["backfills"][0]["done_windows"] == 0, "its receipts are all there is"
    spark.sql(f"DELETE FROM {_table(shop)} WHERE order_id = 1 AND order_date = DATE'{DAYS[1]}'")

    resumed = _backfill(shop, "resume")

    assert (resumed.code, resumed.json["error"]["code"]) == (3, "tampered"), resumed.text
    assert f"{DAYS[1]}  receipt: 2 rows" in resumed.json["error"]["message"]
