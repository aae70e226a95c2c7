"""Is it still what was loaded? What `backfill verify` and `resume` find in the target, and what they cannot know."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable

from samewise import open_project
from samewise.core.failpoints import Failpoint, Kill, Killed, killing
from tests.support.postgres import PostgresServer
from tests.support.postgres_shop import PostgresShop
from tests.support.project import Answer, Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAYS = ["2026-04-24", "2026-04-25", "2026-04-26"]
SPAN = ("--from", DAYS[0], "--to", "2026-04-27")
MERGE: dict[str, Any] = {"write": {"strategy": "merge", "key": ["order_id"], "version_by": ["order_date"]}}


@pytest.fixture
def db(tmp_path: Path, postgres_server: PostgresServer, spark: SparkSession) -> PostgresShop:
    del spark  # The commands find the tests' own session.
    return PostgresShop(tmp_path, postgres_server)


def _backfill(shop: Shop, *words: object) -> Answer:
    return shop.do("backfill", *words, "--json")


def _stopped_at_the_third_day(shop: Shop) -> Answer:
    """A backfill with two days loaded, which can be resumed: the third day is mended by now."""
    shop.orders([(1, "1.00", "new"), (2, "1.00", "new")], day=DAYS[0])
    shop.orders([(2, "2.00", "paid"), (3, "1.00", "new")], day=DAYS[1])
    shop.orders([("x", "1.00", "new")], day=DAYS[2])
    stopped = _backfill(shop, "orders", *SPAN)
    assert (stopped.code, stopped.json["done_windows"]) == (3, 2), stopped.text
    shop.orders([(4, "1.00", "new")], day=DAYS[2])
    return stopped


def _right(verified: Answer) -> list[bool | None]:
    return [window["right"] for window in verified.json["windows"]]


def _table(shop: Shop) -> str:
    return f"delta.`{shop.root}/warehouse/orders`"


# PostgreSQL


def test_a_value_that_was_changed_in_postgres_is_found_by_verify_and_on_resume(db: PostgresShop) -> None:
    db.pipeline()
    _stopped_at_the_third_day(db)
    assert _backfill(db, "verify").json["right"] is True
    db.ask("UPDATE {s}.orders SET amount = 9 WHERE order_id = 3")

    verified = _backfill(db, "verify")
    resumed = _backfill(db, "resume")

    assert (verified.code, verified.json["right"], _right(verified)) == (3, False, [True, False])
    assert (resumed.code, resumed.json["error"]["code"]) == (3, "tampered"), resumed.text
    assert DAYS[1] in resumed.json["error"]["message"]


def test_by_key_nobody_claims_that_the_windows_of_a_postgres_table_are_right(db: PostgresShop) -> None:
    db.strategy("merge")
    _stopped_at_the_third_day(db)

    verified = _backfill(db, "verify")
    resumed = db.do("backfill", "resume")

    assert (verified.code, verified.json["right"], _right(verified)) == (3, None, [None, None])
    assert resumed.code == 0, resumed.text
    assert "cannot be checked" in resumed.text


def test_a_column_of_somebody_else_in_postgres_is_no_difference_and_hides_no_lost_row(db: PostgresShop) -> None:
    db.ask(
        "CREATE TABLE {s}.orders (order_id bigint, amount numeric(12,2), status text, order_date date,"
        " seen timestamptz DEFAULT now())"
    )
    db.pipeline()
    _stopped_at_the_third_day(db)
    before = _backfill(db, "verify")
    db.ask("DELETE FROM {s}.orders WHERE order_id = 1")

    after = _backfill(db, "verify")

    assert (before.code, before.json["right"], _right(before)) == (3, None, [None, None])
    assert before.json["error"]["code"] == "not_checked", "that nothing was found wrong is no proof"
    assert (after.code, after.json["right"], _right(after)) == (3, False, [False, None])


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


def test_a_lost_row_of_the_last_window_is_found_on_resume_by_its_key(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline(MERGE)
    _stopped_at_the_third_day(shop)
    spark.sql(f"DELETE FROM {_table(shop)} WHERE order_id = 3")

    resumed = _backfill(shop, "resume")

    assert (resumed.code, resumed.json["error"]["code"]) == (3, "tampered"), resumed.text
    assert "1 missing" in resumed.json["error"]["message"]


# Versions that are gone


def _data(table: Path) -> list[Path]:
    """Every data file on the disk, part of the table or not."""
    return [file for file in table.rglob("*.parquet") if "_delta_log" not in file.parts]


def test_a_window_whose_old_files_were_vacuumed_cannot_be_checked_by_key(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline(MERGE)
    _stopped_at_the_third_day(shop)
    folder = shop.root / "warehouse" / "orders"
    needed = {Path(file).name for file in DeltaTable(folder).file_uris()}
    vacuumed = [file for file in _data(folder) if file.name not in needed]
    assert vacuumed
    for file in vacuumed:
        file.unlink()

    verified = _backfill(shop, "verify")

    assert (verified.code, verified.json["right"], _right(verified)) == (0, None, [None, True]), verified.text
    assert "any more" in verified.json["windows"][0]["target"]
    # A file that the table itself needs is no old story.
    for file in _data(folder):
        file.unlink()
    assert _backfill(shop, "verify").code not in (0, 3)


def test_windows_are_compared_also_when_their_versions_can_not_be_read_any_more(
    shop: Shop, spark: SparkSession
) -> None:
    _stopped_at_the_third_day(shop)
    spark.sql(
        f"ALTER TABLE {_table(shop)} SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 1 second')"
    )
    time.sleep(1.5)
    assert _backfill(shop, "verify").json["right"] is True
    spark.sql(f"ALTER TABLE {_table(shop)} ADD COLUMNS (note STRING)")
    time.sleep(1.5)
    unknown = _backfill(shop, "verify")
    spark.sql(f"DELETE FROM {_table(shop)} WHERE order_id = 1")
    lost = _backfill(shop, "verify")

    assert (unknown.code, unknown.json["right"], _right(unknown)) == (3, None, [None, None]), unknown.text
    assert (lost.code, _right(lost)) == (3, [False, None])
