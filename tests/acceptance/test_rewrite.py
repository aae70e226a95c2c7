"""A batch that changes rows in nearly every file: the table is written anew in one commit, and holds the same rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from samewise.core.keyed import FileMarks
from samewise.targets import delta, delta_rewrite
from samewise.targets.delta_rewrite import rewritten
from tests.acceptance.test_merge import DELETES, MERGE, Batches
from tests.support.project import DAY, NEXT_DAY, Shop

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

THIRD_DAY = "2026-04-27"
ALWAYS = {**MERGE, **DELETES, "target.rewrite": "always"}
BASE = [(i, "1.00", "new", 1) for i in range(20)]
CHANGES = [(3, "2.00", "paid", 2), (5, "9.00", "late", 0), (7, "1.00", "deleted", 2), (50, "5.00", "new", 1)]
AFTER = sorted(
    [row for row in BASE if row[0] not in (3, 7)] + [row for row in CHANGES if row[0] in (3, 50)],
)


def _operation(shop: Shop, spark: SparkSession) -> str:
    history = spark.sql(f"DESCRIBE HISTORY delta.`{shop.root}/warehouse/orders` LIMIT 1")
    return str(history.collect()[0]["operation"])


@pytest.fixture
def batches(shop: Shop, spark: SparkSession) -> Batches:
    made = Batches(shop, spark, ALWAYS)
    made.day(DAY, BASE)
    made.load(DAY)
    made.day(NEXT_DAY, CHANGES)
    return made


def test_a_table_that_is_written_anew_holds_what_a_merge_would_have_left(batches: Batches, spark: SparkSession) -> None:
    counts = batches.load(NEXT_DAY)
    assert (counts["rows_inserted"], counts["rows_updated"], counts["rows_deleted"], counts["rows_unchanged"]) == (
        1,
        1,
        1,
        1,
    )
    assert _operation(batches.shop, spark) == "WRITE"
    anew = _everything(batches)
    assert batches.rows() == AFTER
    # The same by MERGE, from where it began.
    spark.sql(f"RESTORE delta.`{batches.shop.root}/warehouse/orders` TO VERSION AS OF 1")
    batches.shop.pipeline({**ALWAYS, "target.rewrite": "never"})
    batches.load(NEXT_DAY, "--force")
    assert _operation(batches.shop, spark) == "MERGE"
    assert [row[:-1] for row in _everything(batches)] == [row[:-1] for row in anew]


def test_what_is_there_already_is_not_written_again(batches: Batches) -> None:
    batches.load(NEXT_DAY)
    version = batches.shop.version()
    assert batches.load(NEXT_DAY, "--force")["rows_written"] == 0
    assert batches.load(DAY, "--force")["rows_written"] == 0
    assert batches.shop.version() == version
    assert batches.rows() == AFTER


def test_a_batch_of_new_keys_alone_leaves_every_file_where_it_is(batches: Batches, spark: SparkSession) -> None:
    batches.day(THIRD_DAY, [(100, "1.00", "new", 1)])
    batches.load(THIRD_DAY)
    assert _operation(batches.shop, spark) == "MERGE"
    metrics = spark.sql(f"DESCRIBE HISTORY delta.`{batches.shop.root}/warehouse/orders` LIMIT 1").collect()[0]
    assert metrics["operationMetrics"]["numTargetFilesRemoved"] == "0"


def test_rows_that_another_commit_changes_between_the_plan_and_the_write_are_neither_lost_nor_doubled(
    batches: Batches, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = f"delta.`{batches.shop.root}/warehouse/orders`"

    def meanwhile() -> None:
        marks = "'elsewhere', 1L, CAST(NULL AS TIMESTAMP)"
        # A row of its own; one with a key that the batch brings as new, and one that it means to update is gone.
        spark.sql(f"INSERT INTO {table} SELECT 900L, 1.00BD, 'other', 1L, {marks}")
        spark.sql(f"INSERT INTO {table} SELECT 50L, 1.00BD, 'other', 9L, {marks}")
        spark.sql(f"DELETE FROM {table} WHERE order_id = 3")

    _in_between(monkeypatch, meanwhile)
    batches.load(NEXT_DAY)
    assert _operation(batches.shop, spark) == "WRITE"
    expected = [row for row in AFTER if row[0] != 50] + [(50, "1.00", "other", 9), (900, "1.00", "other", 1)]
    assert batches.rows() == sorted(expected)


def test_a_commit_that_comes_first_while_the_table_is_being_written_makes_it_look_again(
    batches: Batches, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(batches.shop.root / "warehouse" / "orders")
    version = batches.shop.version()
    planned: list[DataFrame] = []

    def disturbed(*given: Any) -> DataFrame:
        plan = rewritten(*given)
        planned.append(plan)
        return plan.coalesce(1).mapInArrow(_disturb(place, version), plan.schema) if len(planned) == 1 else plan

    monkeypatch.setattr(delta, "rewritten", disturbed)
    batches.load(NEXT_DAY)
    assert len(planned) == 2, "it was not tried again"
    assert batches.rows() == sorted([*AFTER, (900, "1.00", "other", 1)])


@pytest.mark.parametrize(
    ("numbers", "changes", "operation"),
    [
        ([1, 11], {}, "WRITE"),
        ([1, 2], {}, "MERGE"),
        ([1, 11], {"target.partition_by": ["status"]}, "MERGE"),
        ([1, 11], {"target.rewrite": "never"}, "MERGE"),
        ([1, 11], {"target.deletion_vectors": True}, "MERGE"),
    ],
    ids=["every file", "half of the files", "partitioned", "never", "deletion vectors"],
)
def test_it_is_written_anew_by_itself_where_a_merge_would_copy_nearly_all_of_it(
    shop: Shop,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    numbers: list[int],
    changes: dict[str, Any],
    operation: str,
) -> None:
    monkeypatch.setattr(delta_rewrite, "_FROM_BYTES", 1)
    made = Batches(shop, spark, {**MERGE, **changes})
    for day, first in (("2026-04-24", 0), (DAY, 10)):
        made.day(day, [(i, "1.00", "new", 1) for i in range(first, first + 10)])
        made.load(day)
    made.day(NEXT_DAY, [(i, "2.00", "paid", 2) for i in numbers])
    made.load(NEXT_DAY)
    assert _operation(shop, spark) == operation
    assert made.rows() == [(i, "2.00", "paid", 2) if i in numbers else (i, "1.00", "new", 1) for i in range(20)]


@pytest.mark.parametrize("feature", ["delta.enableChangeDataFeed", "delta.enableRowTracking"])
def test_a_table_that_would_lose_something_by_it_is_never_written_anew(
    batches: Batches, spark: SparkSession, feature: str
) -> None:
    spark.sql(f"ALTER TABLE delta.`{batches.shop.root}/warehouse/orders` SET TBLPROPERTIES ('{feature}' = 'true')")
    batches.load(NEXT_DAY)
    assert _operation(batches.shop, spark) == "MERGE"
    assert batches.rows() == AFTER


def test_a_small_table_is_merged_into(shop: Shop, spark: SparkSession) -> None:
    made = Batches(shop, spark, MERGE)
    made.day(DAY, BASE)
    made.load(DAY)
    made.day(NEXT_DAY, [(3, "2.00", "paid", 2)])
    made.load(NEXT_DAY)
    assert _operation(shop, spark) == "MERGE"


def test_files_are_marked_by_spark_and_found_again_by_name(spark: SparkSession) -> None:
    names = [f"part-{at:05}-é.parquet" for at in range(50)]
    rows = spark.createDataFrame([(name,) for name in [*names, names[0], None]], "name string")
    found = rows.selectExpr(f"{FileMarks.expression('name')} AS bits").collect()[0]["bits"]
    marks = FileMarks(bytes(found))
    assert all(name in marks for name in names)
    assert [f"part-{at:05}-é.parquet" in marks for at in range(50, 1000)].count(True) < 10
    assert not FileMarks()
    assert "a" not in FileMarks()


def test_a_column_of_the_users_may_have_the_name_of_sparks_own(shop: Shop, spark: SparkSession) -> None:
    columns = {"order_id": "bigint", "_metadata": "string", "version": "bigint"}
    shop.pipeline({**MERGE, "source.schema": columns, "target.rewrite": "always"})
    for day, row in ((DAY, (1, "first", 1)), (NEXT_DAY, (1, "second", 2))):
        shop.orders([row], day=day, columns=tuple(columns))
        assert shop.run(window=day).code == 0
    assert _operation(shop, spark) == "WRITE"
    assert shop.rows(spark, *columns) == [(1, "second", 2)]


def _in_between(monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], None]) -> None:
    """Let something happen after the rows have been compared and the new table planned, before it is written."""

    def late(table: DataFrame, *others: Any) -> DataFrame:
        planned = rewritten(table, *others)
        _ = planned.schema
        meanwhile()
        return planned

    monkeypatch.setattr(delta, "rewritten", late)


def _disturb(place: str, version: int) -> Callable[[Iterable[Any]], Iterable[Any]]:
    """Rows as they are; when the last has passed, the table at `version` gets another writer's commit."""

    def passing(parts: Iterable[Any]) -> Iterator[Any]:
        import deltalake
        import pyarrow as pa

        yield from parts
        found = deltalake.DeltaTable(place)
        if found.version() == version:
            row = {"order_id": 900, "amount": Decimal("1.00"), "status": "other", "version": 1, "_samewise_epoch": 1}
            rows = pa.Table.from_pylist([row], schema=found.to_pyarrow_table().schema)
            deltalake.write_deltalake(place, rows, mode="append")

    return passing


def _everything(batches: Batches) -> list[tuple[Any, ...]]:
    """Every row with its bookkeeping, tombstones too; when it was deleted comes last."""
    table = batches.spark.read.format("delta").load(str(batches.shop.root / "warehouse" / "orders"))
    columns = ["order_id", "amount", "status", "version", "_samewise_window", "_samewise_deleted_at"]
    return sorted((tuple(row) for row in table.select(*columns).collect()), key=lambda row: row[0])
