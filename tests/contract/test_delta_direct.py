"""Files that Spark wrote, put in their place by an entry in the log: when that is done, and what it comes to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable

from samewise.core.errors import Conflict, MayHaveLanded, Refused
from samewise.core.keyed import Batch, Keyed
from samewise.core.ports import Write
from samewise.core.records import Answer, Owner, RunRecord, Stamp
from samewise.core.sql import Span, Spans
from samewise.core.windows import FULL, Window
from samewise.storage import delta_writer
from samewise.storage.frames import schema_of
from samewise.targets import delta_direct
from samewise.targets.delta import DeltaTarget
from samewise.targets.delta_direct import Writer
from tests.support.spark import ReadySpark
from tests.support.state import a_run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OWNER = Owner("store-1", "orders_daily", "load", "here")
DAYS = [date(2026, 4, day) for day in range(24, 29)]


def window(day: int) -> Window:
    return Window(datetime(2026, 4, day, tzinfo=UTC), datetime(2026, 4, day + 1, tzinfo=UTC))


def span(*days: int) -> Span | Spans:
    found = tuple(Span("day", date(2026, 4, day), date(2026, 4, day + 1)) for day in days)
    return found[0] if len(found) == 1 else Spans(found)


def stamp_of(run: RunRecord, kind: str = "data") -> Stamp:
    return Stamp(
        store_id=OWNER.store_id,
        run_id=run.run_id,
        attempt_id="attempt1",
        pipeline=run.pipeline,
        task=run.task,
        window=run.window,
        generation=run.generation,
        definition=run.definition,
        fingerprint=run.fingerprint,
        contract=None,
        run_ts=run.run_ts,
        kind=kind,
    )


class Table:
    """A Delta table in a folder, and what is in its log."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder

    def target(self, writer: Writer = Writer.AUTO) -> DeltaTarget:
        return DeltaTarget(str(self.folder), None, ReadySpark(self.spark), writer=writer)

    def frame(self, rows: list[tuple[int, int | None]]) -> DataFrame:
        """Rows of (number, day of April)."""
        found = [(number, None if day is None else date(2026, 4, day)) for number, day in rows]
        return self.spark.createDataFrame(found, "id BIGINT, day DATE").coalesce(1)

    def publish(
        self,
        day: int,
        rows: list[tuple[int, int | None]] | DataFrame,
        *,
        generation: int = 1,
        partition_by: Sequence[str] = (),
        writer: Writer = Writer.AUTO,
        write: Write | None = None,
        target: DeltaTarget | None = None,
    ) -> RunRecord:
        run = replace(a_run(window(day), generation=generation), run_id=f"{day}-{generation}")
        target = target or self.target(writer)
        frame = self.frame(rows) if isinstance(rows, list) else rows
        target.prepare(schema_of(frame), OWNER, partition_by)
        target.publish(frame, write or Write(span(day), partition_by), stamp_of(run))
        return run

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        found = self.spark.read.format("delta").load(str(self.folder)).selectExpr("id", "coalesce(day(day), 0) AS day")
        return sorted((row["id"], row["day"]) for row in found.collect())

    def sql(self, text: str) -> None:
        self.spark.sql(text.format(f"delta.`{self.folder}`"))

    @property
    def last_entry(self) -> dict[str, Any]:
        """The actions of the newest commit, by kind; of several of a kind, one."""
        newest = max((self.folder / "_delta_log").glob("*.json"))
        return {kind: action for line in newest.open() for kind, action in json.loads(line).items()}

    @property
    def wrote_directly(self) -> bool:
        return str(self.last_entry["commitInfo"]["engineInfo"]).startswith("delta-rs")

    @property
    def files(self) -> set[str]:
        """Every file on the disk that could be data."""
        return {
            str(file.relative_to(self.folder))
            for file in self.folder.rglob("*.parquet")
            if "_delta_log" not in str(file)
        }

    @property
    def live(self) -> set[str]:
        return {
            row["path"]
            for row in DeltaTable(self.folder).get_add_actions().select(["path"]).to_struct_array().to_pylist()
        }


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Table:
    return Table(spark, tmp_path / "table")


# When


def test_a_window_is_loaded_and_replaced_without_deltas_writer(table: Table) -> None:
    table.publish(25, [(1, 25), (2, 25)])
    assert table.wrote_directly
    table.publish(26, [(3, 26)])
    table.publish(25, [(4, 25)], generation=2)
    assert table.wrote_directly
    assert table.rows == [(3, 26), (4, 25)]
    assert table.last_entry["commitInfo"]["operationMetrics"]["numOutputRows"] == "1"


def test_the_table_before_a_replacement_can_still_be_read(table: Table) -> None:
    table.publish(25, [(1, 25), (2, 25)])
    version = DeltaTable(table.folder).version()
    table.publish(25, [(4, 25)], generation=2)
    then = table.spark.read.format("delta").option("versionAsOf", version).load(str(table.folder))
    assert sorted(row["id"] for row in then.collect()) == [1, 2]


def test_a_file_that_holds_two_windows_is_left_to_deltas_writer(table: Table) -> None:
    table.publish(25, [(1, 25), (2, 26)], write=Write(span(25, 26), (), inside=True))
    assert table.wrote_directly
    table.publish(26, [(3, 26)], generation=2)
    assert not table.wrote_directly
    assert table.rows == [(1, 25), (3, 26)]


def test_a_file_with_a_null_in_the_window_column_keeps_that_row(table: Table) -> None:
    table.publish(25, [(1, 25)])
    table.frame([(8, 25), (9, None)]).write.format("delta").mode("append").save(str(table.folder))
    table.publish(25, [(2, 25)], generation=2)
    assert table.rows == [(2, 25), (9, 0)]


def test_a_partitioned_table_is_written_in_its_folders(table: Table) -> None:
    table.publish(25, [(1, 25), (2, 25)], partition_by=["day"])
    table.publish(26, [(3, 26)], partition_by=["day"])
    table.publish(25, [(4, 25)], generation=2, partition_by=["day"])
    assert table.wrote_directly
    assert table.last_entry["add"]["partitionValues"] == {"day": "2026-04-25"}
    assert table.last_entry["remove"]["partitionValues"] == {"day": "2026-04-25"}
    assert table.rows == [(3, 26), (4, 25)]
    assert table.spark.read.format("delta").load(str(table.folder)).where("day = DATE'2026-04-25'").count() == 1


def test_an_empty_result_clears_the_window_by_an_entry_alone(table: Table) -> None:
    table.publish(25, [(1, 25)])
    table.publish(26, [(2, 26)])
    before = table.files
    table.publish(25, [], generation=2)
    assert table.wrote_directly
    assert (table.rows, table.files) == ([(2, 26)], before)


def test_the_whole_table_is_replaced_at_once(table: Table) -> None:
    loads: list[list[tuple[int, int | None]]] = [[(1, 25), (2, 26)], [(3, 27)], []]
    for generation, rows in enumerate(loads, start=1):
        run = replace(a_run(FULL, generation=generation), run_id=str(generation))
        target = table.target()
        target.prepare(schema_of(table.frame(rows)), OWNER, ())
        target.publish(table.frame(rows), Write(None, ()), stamp_of(run))
        assert table.wrote_directly
        assert table.rows == rows


def test_the_first_rows_by_key_need_no_merge_and_the_next_ones_do(table: Table) -> None:
    keyed = Keyed(("id",), updates=False)
    write = Write(None, (), keyed=keyed, batch=Batch({}))
    table.publish(25, [(1, 25), (2, 25)], write=write)
    assert table.wrote_directly
    table.publish(26, [(2, 26), (3, 26)], write=write)
    assert not table.wrote_directly
    assert table.rows == [(1, 25), (2, 25), (3, 26)]


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE {} ADD CONSTRAINT few CHECK (id < 100)",
        "ALTER TABLE {} SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
        "ALTER TABLE {} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        "ALTER TABLE {} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        "ALTER TABLE {} SET TBLPROPERTIES ('delta.appendOnly' = 'false')",
        "ALTER TABLE {} SET TBLPROPERTIES ('delta.autoOptimize.optimizeWrite' = 'true')",
    ],
)
def test_a_table_with_rules_of_its_own_is_left_to_deltas_writer(table: Table, change: str) -> None:
    table.publish(25, [(1, 25)])
    table.sql(change)
    table.publish(25, [(2, 25)], generation=2)
    assert not table.wrote_directly
    assert table.rows == [(2, 25)]


@pytest.mark.parametrize("column", ["id BIGINT NOT NULL", "id BIGINT GENERATED ALWAYS AS (7L)"])
def test_a_column_with_a_rule_is_left_to_deltas_writer(table: Table, column: str) -> None:
    table.sql(f"CREATE TABLE {{}} ({column}, day DATE) USING DELTA")
    table.publish(25, [(7, 25)])
    assert not table.wrote_directly
    assert table.rows == [(7, 25)]


def test_who_asks_for_deltas_writer_gets_it(table: Table) -> None:
    table.publish(25, [(1, 25)], writer=Writer.SPARK)
    table.publish(25, [(2, 25)], generation=2, writer=Writer.SPARK)
    engines = {entry["engineInfo"].partition("/")[0] for entry in DeltaTable(table.folder).history()}
    assert engines == {"Apache-Spark"}


@pytest.fixture
def settings(spark: SparkSession) -> Iterator[dict[str, str]]:
    """Settings of the session for the time of a test."""
    found: dict[str, str] = {}
    yield found
    for key in found:
        spark.conf.unset(key)


@pytest.mark.parametrize("key", ["spark.databricks.delta.optimizeWrite.enabled", "spark.sql.parquet.writeLegacyFormat"])
def test_a_session_with_wishes_about_deltas_writer_gets_it(table: Table, settings: dict[str, str], key: str) -> None:
    settings[key] = "true"
    table.spark.conf.set(key, "true")
    table.publish(25, [(1, 25)])
    assert not table.wrote_directly


def test_a_session_with_wishes_about_new_tables_gets_them(table: Table, settings: dict[str, str]) -> None:
    settings["spark.databricks.delta.properties.defaults.logRetentionDuration"] = "interval 9 days"
    for key, value in settings.items():
        table.spark.conf.set(key, value)
    table.publish(25, [(1, 25)])
    assert DeltaTable(table.folder).metadata().configuration["delta.logRetentionDuration"] == "interval 9 days"


def test_a_new_column_is_left_to_deltas_writer_and_then_known(table: Table) -> None:
    table.publish(25, [(1, 25)])
    wider = table.frame([(2, 26)]).selectExpr("*", "'x' AS note")
    table.publish(26, wider)
    assert not table.wrote_directly
    table.publish(27, table.frame([(3, 27)]).selectExpr("*", "'y' AS note"))
    assert table.wrote_directly
    notes = table.spark.read.format("delta").load(str(table.folder)).select("id", "note").collect()
    assert {row["id"]: row["note"] for row in notes} == {1: None, 2: "x", 3: "y"}


# What is refused


@pytest.mark.parametrize("stray", [26, None])
@pytest.mark.parametrize("partition_by", [(), ("day",)])
def test_a_row_outside_its_window_is_refused_and_leaves_no_file(
    table: Table, stray: int | None, partition_by: tuple[str, ...]
) -> None:
    table.publish(25, [(1, 25)], partition_by=partition_by)
    before, version = table.files, DeltaTable(table.folder).version()
    with pytest.raises(Refused) as caught:
        table.publish(25, [(2, 25), (3, stray)], generation=2, partition_by=partition_by)
    assert caught.value.code == "outside_window"
    assert (table.files, DeltaTable(table.folder).version()) == (before, version)


def test_a_file_that_says_nothing_of_its_times_is_read(table: Table, spark: SparkSession) -> None:
    # INT96, Spark's own default for timestamps, has no statistics.
    at = Span("at", datetime(2026, 4, 25, tzinfo=UTC), datetime(2026, 4, 26, tzinfo=UTC))
    inside = spark.sql("SELECT 1L AS id, TIMESTAMP'2026-04-25 23:59:59.999999Z' AS at")
    outside = spark.sql("SELECT 2L AS id, TIMESTAMP'2026-04-26 00:00:00Z' AS at")
    table.publish(25, inside, write=Write(at, ()))
    assert table.wrote_directly
    with pytest.raises(Refused):
        table.publish(25, inside.unionAll(outside), generation=2, write=Write(at, ()))
    assert spark.read.format("delta").load(str(table.folder)).count() == 1


# Against others


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Do something once, after the files have been written and before the table is looked at again."""
    real, done = delta_direct._new_files, list[bool]()

    def written(*arguments: Any) -> Any:
        found = real(*arguments)
        if not done:
            done.append(True)
            act()
        return found

    monkeypatch.setattr(delta_direct, "_new_files", written)


def test_a_commit_of_another_window_in_between_changes_nothing(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    table.publish(24, [(0, 24)])
    meanwhile(monkeypatch, lambda: void(table.publish(26, [(2, 26)])))
    table.publish(25, [(1, 25)])
    assert table.rows == [(0, 24), (1, 25), (2, 26)]


def test_a_commit_of_the_same_window_in_between_is_a_conflict(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    table.publish(25, [(1, 25)])
    meanwhile(monkeypatch, lambda: table.sql("INSERT INTO {} VALUES (7, DATE'2026-04-25')"))
    with pytest.raises(Conflict):
        table.publish(25, [(2, 25)], generation=2)
    assert table.rows == [(1, 25), (7, 25)]
    assert table.files == table.live


def test_a_token_that_is_burned_in_between_stops_the_commit(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    table.publish(25, [(1, 25)])
    late = replace(a_run(window(25), generation=2), run_id="25-2")
    meanwhile(monkeypatch, lambda: table.target().burn(stamp_of(late, kind="burn")))
    table.publish(25, [(2, 25)], generation=2)
    assert table.rows == [(1, 25)]
    assert table.files == table.live
    assert table.target().landed(late).answer is Answer.SUPERSEDED


def test_a_table_that_changes_hands_in_between_refuses_its_former_owner(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.publish(25, [(1, 25)])
    meanwhile(monkeypatch, lambda: table.target().adopt(replace(OWNER, store_id="store-2")))
    with pytest.raises(Conflict):
        table.publish(25, [(2, 25)], generation=2)
    assert table.rows == [(1, 25)]


def test_a_table_that_changed_hands_after_the_last_look_refuses_its_former_owner(table: Table) -> None:
    table.publish(25, [(1, 25)])
    target, frame = table.target(), table.frame([(2, 25)])
    target.prepare(schema_of(frame), OWNER, ())
    table.target().adopt(replace(OWNER, store_id="store-2"))
    with pytest.raises(Conflict):
        target.publish(frame, Write(span(25), ()), stamp_of(a_run(window(25), generation=2)))
    assert table.rows == [(1, 25)]


@pytest.mark.parametrize("name", ["order id", "a=b", "ID"])
def test_a_name_that_delta_refuses_is_refused_before_there_is_a_table(table: Table, name: str) -> None:
    frame = table.frame([(1, 25)]).selectExpr("*", f"1L AS `{name}`")
    with pytest.raises(Exception, match=r"(?i)column"):
        table.target().prepare(schema_of(frame), OWNER, ())
    assert not DeltaTable.is_deltatable(str(table.folder))


def test_a_commit_right_before_ours_is_seen_and_ours_comes_after_it(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.publish(24, [(0, 24)])
    real, done = delta_writer.commit, list[bool]()

    def commit(log: Any, *arguments: Any) -> None:
        if not done:
            done.append(True)
            # The log was read, and is no longer the newest when the entry is written.
            table.sql("INSERT INTO {} VALUES (7, DATE'2026-04-28')")
        real(log, *arguments)

    monkeypatch.setattr(delta_direct, "commit", commit)
    table.publish(25, [(1, 25)])
    assert table.rows == [(0, 24), (1, 25), (7, 28)]
    assert table.files == table.live


def test_an_answer_that_was_lost_keeps_the_files(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    table.publish(24, [(0, 24)])
    real = delta_writer.commit

    def commit(*arguments: Any) -> None:
        real(*arguments)
        raise MayHaveLanded("the answer was lost")

    monkeypatch.setattr(delta_direct, "commit", commit)
    with pytest.raises(MayHaveLanded):
        table.publish(25, [(1, 25)])
    assert table.rows == [(0, 24), (1, 25)]


def test_a_token_outlives_the_entries_that_a_checkpoint_replaces(table: Table) -> None:
    for day in (24, 25, 26, 27):
        for generation in (1, 2, 3):
            table.publish(day, [(day, day)], generation=generation)
    log = table.folder / "_delta_log"
    (newest, *_) = sorted(log.glob("*.checkpoint.parquet"), reverse=True)
    for entry in log.glob("*.json"):
        if entry.stem <= newest.name.partition(".")[0]:
            entry.unlink()
    table.publish(24, [(99, 24)], generation=3)
    table.publish(24, [(99, 24)], generation=3, writer=Writer.SPARK)
    assert (24, 24) in table.rows


def test_vacuum_takes_what_a_killed_run_left_and_nothing_else(table: Table, spark: SparkSession) -> None:
    table.publish(25, [(1, 25)])
    orphan = table.folder / "attempt9-dead" / "part-0.parquet"
    orphan.parent.mkdir()
    orphan.write_bytes(b"")
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    table.sql("VACUUM {} RETAIN 0 HOURS")
    spark.conf.unset("spark.databricks.delta.retentionDurationCheck.enabled")
    assert not orphan.exists()
    assert table.rows == [(1, 25)]


# What the log is told


VALUES = """
    SELECT * FROM VALUES
    (1L, 1, -5S, 3Y, 1.5D, CAST(2.5 AS FLOAT), 12.30BD, 99999999999999999999999999999999999.999BD, 'a',
     DATE'1969-12-31', TIMESTAMP'1969-12-31 23:59:59.999999Z', true, X'00FF'),
    (-9223372036854775808L, 2147483647, 7S, -1Y, -0.25D, CAST(-7 AS FLOAT), -99999999.99BD, -0.001BD, 'straße',
     DATE'9999-12-31', TIMESTAMP'2026-04-25 12:34:56.789123Z', false, X''),
    (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
    AS t(id, i, s, b, d, f, amount, large, text, day, at, flag, bytes)
"""


def test_the_statistics_are_those_of_deltas_own_writer(table: Table, spark: SparkSession, tmp_path: Path) -> None:
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    try:
        rows = spark.sql(VALUES).coalesce(1)
        by_spark = Table(spark, tmp_path / "by_spark")
        write = Write(None, ())
        table.publish(25, rows, write=write)
        by_spark.publish(25, rows, write=write, writer=Writer.SPARK)
    finally:
        spark.conf.unset("spark.sql.parquet.outputTimestampType")
    assert table.wrote_directly
    assert not by_spark.wrote_directly
    ours, theirs = (json.loads(each.last_entry["add"]["stats"]) for each in (table, by_spark))
    assert {key: ours[key] for key in theirs if key != "tightBounds"} == {
        key: value for key, value in theirs.items() if key != "tightBounds"
    }


@pytest.mark.parametrize("text", ["x" * 64, "x" * 65, "x" * 5000, "x" * 64 + "\U0010ffff", "\U0010ffff" * 70])
def test_long_text_is_found_by_its_statistics(table: Table, spark: SparkSession, text: str) -> None:
    rows = spark.createDataFrame([(1, text), (2, "a")], "id BIGINT, text STRING").coalesce(1)
    table.publish(25, rows, write=Write(None, ()))
    assert table.wrote_directly
    found = spark.read.format("delta").load(str(table.folder)).where(f"text = '{text}'")
    assert [row["id"] for row in found.collect()] == [1]


@pytest.mark.parametrize("value", ["CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)", "-0.0D", "1e300D"])
def test_numbers_that_have_no_place_in_json_are_found_all_the_same(
    table: Table, spark: SparkSession, value: str
) -> None:
    rows = spark.sql(f"SELECT 1L AS id, {value} AS d UNION ALL SELECT 2L, 1D").coalesce(1)
    table.publish(25, rows, write=Write(None, ()))
    found = spark.read.format("delta").load(str(table.folder)).where(f"d = {value}")
    assert [row["id"] for row in found.collect()] == [1]


def void(_: object) -> None:
    """Nothing, whatever it was."""
