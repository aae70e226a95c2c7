"""Writing by key: whatever is replayed, in whatever order, the newest row of each key stands."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from samewise.core.keyed import Batch, Keyed
from samewise.run.keyed import look_over
from samewise.targets.delta import DeltaTarget
from tests.support.project import DAY, NEXT_DAY, Answer, Row, Shop
from tests.support.spark import ReadySpark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = {"order_id": "bigint", "amount": "decimal(12,2)", "status": "string", "version": "bigint"}
MERGE: dict[str, Any] = {
    "source.schema": COLUMNS,
    "write": {"strategy": "merge", "key": ["order_id"], "version_by": ["version"]},
}
INSERT: dict[str, Any] = {
    "source.schema": COLUMNS,
    "write": {"strategy": "insert_new", "key": ["order_id"]},
}
DELETES = {"write.delete_when": "status = 'deleted'"}
SEEN = ("order_id", "CAST(amount AS STRING) AS amount", "status", "version")


class Batches:
    """A shop whose days are batches of one table."""

    def __init__(self, shop: Shop, spark: SparkSession, changes: Mapping[str, Any]) -> None:
        self.shop, self.spark = shop, spark
        shop.pipeline(changes)

    def day(self, day: str, *files: Sequence[Row]) -> None:
        for at, rows in enumerate(files):
            self.shop.orders(rows, day=day, file=f"part-{at}.csv", columns=tuple(COLUMNS))

    def load(self, day: str, *words: str) -> dict[str, Any]:
        answer = self.shop.run(*words, window=day)
        assert answer.code == 0, answer.text
        return answer.window

    def refused(self, day: str, *words: str) -> Answer:
        answer = self.shop.run(*words, window=day)
        assert answer.code == 3, answer.text
        return answer

    def rows(self) -> list[Row]:
        """The rows that are there, for a reader who leaves out what was deleted."""
        where = "_samewise_deleted_at IS NULL" if "_samewise_deleted_at" in self.columns() else "true"
        table = self.spark.read.format("delta").load(str(self.shop.root / "warehouse" / "orders"))
        return sorted(tuple(row) for row in table.where(where).selectExpr(*SEEN).collect())

    def columns(self) -> list[str]:
        return self.spark.read.format("delta").load(str(self.shop.root / "warehouse" / "orders")).columns


@pytest.fixture
def merged(shop: Shop, spark: SparkSession) -> Batches:
    return Batches(shop, spark, MERGE)


def test_of_a_batch_the_newest_row_of_each_key_is_written_and_an_old_batch_replayed_changes_nothing(
    merged: Batches,
) -> None:
    merged.day(DAY, [(1, "1.00", "new", 1), (2, "2.00", "new", 1)], [(1, "1.50", "paid", 2)])
    merged.day(NEXT_DAY, [(1, "9.00", "sent", 3), (3, "3.00", "new", 1)])
    first = merged.load(DAY)
    assert (first["rows_read"], first["rows_staged"], first["rows_inserted"]) == (3, 2, 2)
    second = merged.load(NEXT_DAY)
    assert (second["rows_inserted"], second["rows_updated"], second["rows_written"]) == (1, 1, 2)
    stands = merged.rows()
    assert stands == [(1, "9.00", "sent", 3), (2, "2.00", "new", 1), (3, "3.00", "new", 1)]
    version = merged.shop.version()

    replayed = merged.load(DAY, "--force")

    assert merged.rows() == stands
    assert merged.shop.version() == version, "nothing to change means no commit"
    assert (replayed["rows_written"], replayed["rows_unchanged"]) == (0, 2)
    # What had nothing to write is known to be loaded, without Spark.
    assert merged.shop.run(window=DAY).window["status"] == "unchanged"
    assert merged.shop.run(window=NEXT_DAY).window["status"] == "unchanged"


def test_the_days_in_the_wrong_order_give_the_same_table(merged: Batches) -> None:
    merged.day(DAY, [(1, "1.00", "new", 1), (2, "2.00", "new", 1), (2, "2.00", "new", 1)])
    merged.day(NEXT_DAY, [(1, "9.00", "sent", 3)])
    merged.load(NEXT_DAY)
    merged.load(DAY)
    assert merged.rows() == [(1, "9.00", "sent", 3), (2, "2.00", "new", 1)]


def test_a_tie_has_the_same_winner_whichever_file_or_batch_comes_first(shop: Shop, spark: SparkSession) -> None:
    one, other = (1, "1.00", "one", 1), (1, "2.00", "other", 1)
    found = []
    for name, first, second in (("a", [one], [other]), ("b", [other], [one])):
        place = Shop(shop.root / name)
        batches = Batches(place, spark, MERGE)
        batches.day(DAY, first, second)
        batches.load(DAY)
        found.append(batches.rows())
        place = Shop(shop.root / f"{name}2")
        batches = Batches(place, spark, MERGE)
        batches.day(DAY, first)
        batches.day(NEXT_DAY, second)
        batches.load(DAY)
        batches.load(NEXT_DAY)
        found.append(batches.rows())
    assert found[0] == found[1] == found[2] == found[3]


def test_a_mended_transform_replaces_every_row_of_the_same_version(merged: Batches) -> None:
    ids = range(1, 9)
    merged.day(DAY, [(i, "1.00", "new", 1) for i in ids])
    merged.load(DAY)
    merged.shop.write("pipelines/orders.sql", "SELECT order_id, amount, 'mended' AS status, version FROM source")
    merged.shop.pipeline({**MERGE, "transform": "orders.sql"})
    again = merged.load(DAY)
    assert again["rows_updated"] == 8
    assert {row[2] for row in merged.rows()} == {"mended"}
    merged.shop.pipeline(MERGE)
    merged.load(DAY)
    assert {row[2] for row in merged.rows()} == {"new"}, "and back again"


def test_a_forced_run_mends_a_row_that_was_changed_by_hand(merged: Batches, spark: SparkSession) -> None:
    merged.day(DAY, [(i, "1.00", "new", 1) for i in range(6)])
    merged.load(DAY)
    table = str(merged.shop.root / "warehouse" / "orders")
    spark.sql(f"UPDATE delta.`{table}` SET status = concat('x', order_id) WHERE order_id < 5")
    assert merged.shop.run("--dry-run", window=DAY).window["reason"] == "the target was changed by someone else"
    merged.load(DAY, "--force")
    assert {row[2] for row in merged.rows()} == {"new"}


def test_a_delete_and_an_older_update_in_the_wrong_order_leave_the_key_deleted(shop: Shop, spark: SparkSession) -> None:
    batches = Batches(shop, spark, {**MERGE, **DELETES})
    batches.day("2026-04-24", [(1, "1.00", "new", 1), (2, "1.00", "new", 1)])
    batches.day(DAY, [(1, "1.00", "paid", 2)])
    batches.day(NEXT_DAY, [(1, "1.00", "deleted", 3), (7, "1.00", "deleted", 3)])
    batches.load("2026-04-24")
    deleted = batches.load(NEXT_DAY)
    assert (deleted["rows_deleted"], deleted["rows_inserted"]) == (1, 0)
    batches.load(DAY)
    assert batches.rows() == [(2, "1.00", "new", 1)]
    batches.day("2026-04-27", [(1, "5.00", "back", 4), (7, "1.00", "late", 2)])
    batches.load("2026-04-27")
    assert batches.rows() == [(1, "5.00", "back", 4), (2, "1.00", "new", 1)], "a newer row brings the key back"


def test_once_deletes_are_forgotten_an_older_replay_is_refused_and_not_guessed(shop: Shop, spark: SparkSession) -> None:
    batches = Batches(shop, spark, {**MERGE, **DELETES, "write.tombstones": "1ms"})
    batches.day(DAY, [(1, "1.00", "deleted", 5), (2, "1.00", "new", 9)])
    batches.load(DAY)
    batches.day(NEXT_DAY, [(3, "1.00", "new", 10)])
    batches.load(NEXT_DAY)  # By now the delete is older than it is remembered.
    table = spark.read.format("delta").load(str(shop.root / "warehouse" / "orders"))
    assert table.where("_samewise_deleted_at IS NOT NULL").count() == 0
    batches.day("2026-04-27", [(1, "1.00", "old", 4), (2, "1.00", "old", 1)])
    stands = batches.rows()
    refusal = batches.refused("2026-04-27")
    assert refusal.json["error"]["code"] == "older_than_tombstones"
    assert batches.rows() == stands
    # What the windows before wrote is still known to be there.
    assert shop.run(window=DAY).window["status"] == "unchanged"


def test_a_key_that_the_target_holds_twice_is_refused(merged: Batches, spark: SparkSession) -> None:
    merged.day(DAY, [(1, "1.00", "new", 1)])
    merged.load(DAY)
    table = str(merged.shop.root / "warehouse" / "orders")
    spark.sql(f"INSERT INTO delta.`{table}` SELECT * FROM delta.`{table}`")
    merged.day(NEXT_DAY, [(1, "2.00", "new", 2)])
    assert merged.refused(NEXT_DAY).json["error"]["code"] == "target_duplicates"


def test_insert_new_leaves_out_keys_that_are_there_and_repeats_in_the_batch(shop: Shop, spark: SparkSession) -> None:
    batches = Batches(shop, spark, INSERT)
    batches.day(DAY, [(1, "1.00", "new", 1), (2, "2.00", "new", 1)], [(1, "1.00", "new", 1)])
    batches.load(DAY)
    batches.day(NEXT_DAY, [(2, "9.00", "other", 9), (3, "3.00", "new", 1)])
    second = batches.load(NEXT_DAY)
    assert (second["rows_inserted"], second["rows_unchanged"]) == (1, 1)
    assert batches.rows() == [(1, "1.00", "new", 1), (2, "2.00", "new", 1), (3, "3.00", "new", 1)]
    version = shop.version()
    batches.load(NEXT_DAY, "--force")
    assert shop.version() == version


def test_a_lost_state_store_does_not_make_later_loads_lose_against_earlier_ones(
    merged: Batches, spark: SparkSession
) -> None:
    merged.day(DAY, [(i, "1.00", "new", 1) for i in range(6)])
    merged.load(DAY)
    merged.load(DAY, "--force")
    merged.shop.write("pipelines/orders.sql", "SELECT order_id, amount, 'mended' AS status, version FROM source")
    merged.shop.pipeline({**MERGE, "transform": "orders.sql"})
    merged.load(DAY)
    for file in (merged.shop.root / ".samewise").glob("state.db*"):
        file.unlink()
    recovered = merged.shop.do("recover")
    assert recovered.code == 0, recovered.text
    assert merged.shop.run(window=DAY).window["status"] == "unchanged"
    merged.shop.pipeline(MERGE)
    merged.load(DAY)
    assert {row[2] for row in merged.rows()} == {"new"}


def test_a_key_is_looked_for_only_within_the_horizon_and_the_plan_says_what_that_gives_up(
    shop: Shop, spark: SparkSession
) -> None:
    columns = {"order_id": "bigint", "amount": "decimal(12,2)", "status": "string", "day": "date"}
    horizon = {"column": "day", "within": "2d"}
    shop.pipeline(
        {
            "source.schema": columns,
            "write": {"strategy": "insert_new", "key": ["order_id"], "dedup_horizon": horizon},
        }
    )
    shop.orders([(1, "1.00", "far", "2026-04-20"), (2, "1.00", "near", "2026-04-24")], day=DAY, columns=tuple(columns))
    assert shop.run(window=DAY).code == 0
    rows = [(1, "1.00", "again", "2026-04-26"), (2, "1.00", "again", "2026-04-26")]
    shop.orders(rows, day=NEXT_DAY, columns=tuple(columns))
    assert "inserted again" in shop.told("--dry-run", window=NEXT_DAY).stdout
    assert shop.run(window=NEXT_DAY).window["rows_inserted"] == 1
    assert shop.rows(spark, "order_id", "status") == [(1, "again"), (1, "far"), (2, "near")]


def test_only_files_that_can_hold_the_keys_are_read(merged: Batches, spark: SparkSession) -> None:
    merged.day(DAY, [(i, "1.00", "new", 1) for i in range(10)])
    merged.day(NEXT_DAY, [(i, "1.00", "new", 1) for i in range(1000, 1010)])
    merged.load(DAY)
    merged.load(NEXT_DAY)
    target = DeltaTarget(str(merged.shop.root / "warehouse" / "orders"), None, ReadySpark(spark))
    keyed = Keyed(["order_id"], ["version"])
    table = spark.read.format("delta").load(str(merged.shop.root / "warehouse" / "orders"))
    # From Python: Spark would remember a condition, and look for nothing else by itself.
    rows = spark.createDataFrame(table.where("order_id >= 1005").collect(), table.schema)
    everywhere = target.compare(rows, keyed, Batch({})).inputFiles()
    near = target.compare(rows, keyed, look_over(rows, keyed, 0)).inputFiles()
    assert (len(everywhere), len(near)) == (2, 1)


@pytest.mark.parametrize("changes", [MERGE, INSERT], ids=["merge", "insert_new"])
def test_keys_at_both_ends_of_their_type_are_found_again(
    shop: Shop, spark: SparkSession, changes: Mapping[str, Any]
) -> None:
    batches = Batches(shop, spark, changes)
    ends = [-(1 << 63), 5, (1 << 63) - 1]
    batches.day(DAY, [(key, "1.00", "new", 1) for key in ends])
    # A little inside both ends: where these are looked for must not begin or end beyond the type.
    batches.day(NEXT_DAY, [(key, "1.00", "new", 1) for key in [ends[0] + 1, 5, ends[2] - 1]])
    batches.load(DAY)
    assert batches.load(NEXT_DAY)["rows_inserted"] == 2
    version = shop.version()
    assert [batches.load(day, "--force")["rows_unchanged"] for day in (DAY, NEXT_DAY)] == [3, 3]
    assert shop.version() == version
    assert [row[0] for row in batches.rows()] == [ends[0], ends[0] + 1, 5, ends[2] - 1, ends[2]]


def test_taking_delete_when_away_brings_nothing_back(shop: Shop, spark: SparkSession) -> None:
    batches = Batches(shop, spark, {**MERGE, **DELETES})
    batches.day(DAY, [(1, "1.00", "deleted", 5), (2, "1.00", "new", 1)])
    batches.load(DAY)
    shop.pipeline(MERGE)
    batches.day(NEXT_DAY, [(1, "1.00", "old", 4), (2, "2.00", "newer", 2)])
    batches.load(NEXT_DAY)
    assert batches.rows() == [(2, "2.00", "newer", 2)]


@pytest.mark.parametrize("wanted", [True, False], ids=["marked", "copied"])
def test_an_update_copies_the_neighbours_of_the_old_row_unless_it_may_be_marked_as_deleted(
    shop: Shop, spark: SparkSession, wanted: bool
) -> None:
    batches = Batches(shop, spark, {**MERGE, **({"target.deletion_vectors": True} if wanted else {})})
    batches.day(DAY, [(i, "1.00", "new", 1) for i in range(200)])
    batches.load(DAY)
    batches.day(NEXT_DAY, [(7, "2.00", "paid", 2)])
    batches.load(NEXT_DAY)
    assert batches.rows() == sorted([(i, "1.00", "new", 1) for i in range(200) if i != 7] + [(7, "2.00", "paid", 2)])
    table = f"delta.`{shop.root}/warehouse/orders`"
    metrics = spark.sql(f"DESCRIBE HISTORY {table} LIMIT 1").collect()[0]["operationMetrics"]
    assert metrics["numTargetRowsCopied"] == ("0" if wanted else "199")
    # Put together again, it holds the same rows: nothing is due, and nothing has to be written.
    version = shop.version()
    spark.sql(f"OPTIMIZE {table} ZORDER BY (order_id)")
    assert shop.version() > version
    assert [shop.run(window=day).window["status"] for day in (DAY, NEXT_DAY)] == ["unchanged", "unchanged"]
    version = shop.version()
    assert batches.load(DAY, "--force")["rows_unchanged"] == 200
    assert shop.version() == version


def test_files_are_known_by_the_users_columns_and_not_by_the_bookkeeping(merged: Batches) -> None:
    merged.day(DAY, [(1, "1.00", "new", 1)])
    merged.load(DAY)
    assert _counted(merged) == set(COLUMNS)


def test_a_column_that_comes_later_is_one_that_files_are_known_by(merged: Batches) -> None:
    merged.day(DAY, [(1, "1.00", "new", 1)])
    merged.load(DAY)
    columns = {**COLUMNS, "note": "string"}
    merged.shop.pipeline({**MERGE, "source.schema": columns})
    merged.shop.orders([(2, "2.00", "new", 1, "late")], day=NEXT_DAY, columns=tuple(columns))
    merged.load(NEXT_DAY)
    assert "note" in _counted(merged)


def _counted(batches: Batches) -> set[str]:
    """The columns of which the log keeps the least value for each file; of the newest file."""
    log = sorted((batches.shop.root / "warehouse" / "orders" / "_delta_log").glob("*.json"))
    actions = [json.loads(line) for file in log for line in file.read_text().splitlines()]
    return set(json.loads([action["add"]["stats"] for action in actions if "add" in action][-1])["minValues"])
