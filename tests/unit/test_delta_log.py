"""One suite over both readers of a Delta log: delta-rs and Spark must say the same about the same table."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from samewise.core.ids import app_id
from samewise.core.records import Stamp
from samewise.core.schema import Column, Schema
from samewise.core.sql import Span
from samewise.core.windows import Window
from samewise.storage.delta_log import CannotRead, DeltaLog, Log, SparkDeltaLog, VersionGone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAY = Window(datetime(2026, 4, 25, tzinfo=UTC), datetime(2026, 4, 26, tzinfo=UTC))
SPAN = Span("day", date(2026, 4, 25), date(2026, 4, 26))
APP = app_id("orders", "load", DAY)


def stamp(generation: int, kind: str = "data") -> Stamp:
    return Stamp("store", "run", "attempt", "orders", "load", DAY, generation, "d", "f", None, DAY.start, kind=kind)


class Table(NamedTuple):
    path: str
    reference: str
    spark: SparkSession


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Table:
    """A table with a past: every kind of commit that matters."""
    path = str(tmp_path_factory.mktemp("log") / "a table")
    reference = f"delta.`{path}`"
    spark.sql(
        f"CREATE TABLE {reference} (id BIGINT NOT NULL, small SMALLINT, tiny TINYINT, n INT, "
        "amount DECIMAL(12,2), at TIMESTAMP, wall TIMESTAMP_NTZ, day DATE, "
        "st STRUCT<a: INT, b: ARRAY<STRING>>, m MAP<STRING, BIGINT>) "
        "USING DELTA PARTITIONED BY (day) TBLPROPERTIES ('samewise.owner' = 'orders/load')"
    )
    rows = spark.sql(
        "SELECT id, SMALLINT(id) small, TINYINT(id) tiny, INT(id) n, CAST(id AS DECIMAL(12,2)) amount, "
        "TIMESTAMP'2026-04-25 00:00:00' + make_interval(0, 0, 0, 0, INT(id)) at, "
        "TIMESTAMP_NTZ'2026-04-25 00:00:00' wall, DATE'2026-04-25' + INT(id % 2) day, "
        "named_struct('a', 1, 'b', array('x')) st, map('k', id) m FROM range(0, 12, 1, 1)"
    )
    token: dict[str, str | int] = {"txnAppId": APP, "txnVersion": 3, "userMetadata": stamp(3).text}
    rows.write.format("delta").mode("append").options(**token).save(path)
    spark.sql(f"DELETE FROM {reference} WHERE id = 3")
    rows.where("id > 9").write.format("delta").mode("append").save(path)
    spark.sql(f"OPTIMIZE {reference}")
    burn: dict[str, str | int] = {"txnAppId": APP, "txnVersion": 4, "userMetadata": stamp(4, "burn").text}
    rows.limit(0).write.format("delta").mode("append").options(**burn).save(path)
    spark.sql(f"RESTORE TABLE {reference} TO VERSION AS OF 1")
    return Table(path, reference, spark)


OPERATIONS = [
    ("CREATE TABLE", False),
    ("WRITE", True),
    ("DELETE", True),
    ("WRITE", True),
    ("OPTIMIZE", False),
    ("WRITE", False),
    ("RESTORE", True),
]


@pytest.fixture(params=["delta-rs", "spark"])
def log(request: pytest.FixtureRequest, table: Table) -> Log:
    opened: Log | None
    if request.param == "delta-rs":
        opened = DeltaLog.open(table.path)
    else:
        opened = SparkDeltaLog.open(table.spark, table.reference)
    assert opened is not None
    return opened


def test_the_version_is_that_of_the_last_commit(log: Log) -> None:
    assert log.version == 6


def test_types_are_spelled_as_spark_spells_them(log: Log) -> None:
    types = {column.name: column.type for column in log.schema}
    assert types == {
        "id": "bigint",
        "small": "smallint",
        "tiny": "tinyint",
        "n": "int",
        "amount": "decimal(12,2)",
        "at": "timestamp",
        "wall": "timestamp_ntz",
        "day": "date",
        "st": "struct<a:int,b:array<string>>",
        "m": "map<string,bigint>",
    }


def test_partition_columns_are_known(log: Log) -> None:
    assert list(log.partition_columns) == ["day"]


def test_properties_are_known(log: Log) -> None:
    assert log.properties["samewise.owner"] == "orders/load"


def test_only_operations_known_to_keep_rows_leave_the_data_unchanged(log: Log) -> None:
    commits = log.commits(-1)
    assert commits is not None
    assert [(commit.operation, commit.changes_data) for commit in commits] == OPERATIONS


def test_commits_since_a_version_begin_right_after_it(log: Log) -> None:
    assert [commit.version for commit in log.commits(3) or ()] == [4, 5, 6]


def test_there_are_no_commits_since_now(log: Log) -> None:
    assert log.commits(6) == []


def test_a_version_that_is_still_to_come_says_that_the_log_is_another(log: Log) -> None:
    assert log.commits(7) is None


def test_a_stamp_comes_back_as_it_was_written(log: Log) -> None:
    commits = log.commits(0)
    assert commits is not None
    assert commits[0].stamp == stamp(3)


def test_rows_written_are_counted_by_the_table(log: Log) -> None:
    commits = log.commits(0)
    assert commits is not None
    assert commits[0].rows == 12


def test_the_token_is_the_highest_one_seen(log: Log) -> None:
    assert log.token(APP) == 4


def test_an_unknown_token_is_zero(log: Log) -> None:
    assert log.token("samewise/other") == 0


def test_files_of_other_partitions_are_left_out(log: Log) -> None:
    assert {file.path.partition("/")[0] for file in log.files(SPAN, 1)} == {"day=2026-04-25"}


def test_a_version_that_is_not_there_is_gone(log: Log) -> None:
    with pytest.raises(VersionGone):
        log.files(None, 99)


def test_both_readers_tell_the_same_commits(table: Table) -> None:
    ours, sparks = DeltaLog.open(table.path), SparkDeltaLog.open(table.spark, table.reference)
    assert ours is not None
    assert sparks is not None
    # Delta's own history takes the time from the file, which is written some milliseconds later.
    still = datetime(2026, 1, 1, tzinfo=UTC)
    a, b = ([replace(c, timestamp=still) for c in log.commits(-1) or ()] for log in (ours, sparks))
    assert a == b


def test_both_readers_tell_the_time_in_utc(table: Table) -> None:
    ours, sparks = DeltaLog.open(table.path), SparkDeltaLog.open(table.spark, table.reference)
    assert ours is not None
    assert sparks is not None
    pairs = zip(ours.commits(-1) or (), sparks.commits(-1) or (), strict=True)
    assert all(abs(a.timestamp - b.timestamp) < timedelta(seconds=20) for a, b in pairs)


def test_both_readers_tell_the_same_schema(table: Table) -> None:
    ours, sparks = DeltaLog.open(table.path), SparkDeltaLog.open(table.spark, table.reference)
    assert ours is not None
    assert sparks is not None
    assert (ours.schema, ours.table_id) == (sparks.schema, sparks.table_id)


@pytest.mark.parametrize("version", [1, 2, 4, 6])
def test_both_readers_tell_the_same_files(table: Table, version: int) -> None:
    ours, sparks = DeltaLog.open(table.path), SparkDeltaLog.open(table.spark, table.reference)
    assert ours is not None
    assert sparks is not None
    a, b = ([file[:2] for file in log.files(None, version)] for log in (ours, sparks))
    assert a == b


def test_a_deletion_that_writes_no_file_again_changes_the_mark(
    spark: SparkSession, tmp_path: Path, open_log: Callable[[str], Log]
) -> None:
    spark.sql(
        f"CREATE TABLE delta.`{tmp_path}/t` (id BIGINT) USING DELTA "
        "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    )
    spark.range(0, 9, 1, 1).write.format("delta").mode("append").save(f"{tmp_path}/t")
    spark.sql(f"DELETE FROM delta.`{tmp_path}/t` WHERE id = 4")
    log = open_log(f"{tmp_path}/t")
    (before,), (after,) = log.files(None, 1), log.files(None, 2)
    assert (before.path == after.path, before.mark == after.mark) == (True, False)


@pytest.fixture(params=["delta-rs", "spark"])
def open_log(request: pytest.FixtureRequest, spark: SparkSession) -> Callable[[str], Log]:
    def opened(path: str) -> Log:
        log = DeltaLog.open(path) if request.param == "delta-rs" else SparkDeltaLog.open(spark, f"delta.`{path}`")
        assert log is not None
        return log

    return opened


def test_a_log_without_its_oldest_commits_does_not_reach_back(tmp_path: Path, open_log: Callable[[str], Log]) -> None:
    path = _appended(tmp_path, 8)
    DeltaTable(path).create_checkpoint()
    for version in range(4):
        os.remove(_log_file(path, version))
    assert open_log(path).commits(-1) is None


def test_a_log_without_its_oldest_commits_tells_the_rest(tmp_path: Path, open_log: Callable[[str], Log]) -> None:
    path = _appended(tmp_path, 8)
    DeltaTable(path).create_checkpoint()
    for version in range(4):
        os.remove(_log_file(path, version))
    assert [commit.version for commit in open_log(path).commits(3) or ()] == [4, 5, 6, 7]


def test_there_is_no_log_where_there_is_no_table(spark: SparkSession, tmp_path: Path) -> None:
    assert (DeltaLog.open(str(tmp_path)), SparkDeltaLog.open(spark, f"delta.`{tmp_path}`")) == (None, None)


def test_there_is_no_log_where_there_is_no_folder(spark: SparkSession, tmp_path: Path) -> None:
    gone = f"{tmp_path}/gone"
    assert (DeltaLog.open(gone), SparkDeltaLog.open(spark, f"delta.`{gone}`")) == (None, None)


def test_there_is_no_log_for_a_name_that_the_catalog_does_not_know(spark: SparkSession) -> None:
    assert SparkDeltaLog.open(spark, "no_such_table") is None


def test_a_table_with_an_unknown_feature_is_left_to_spark(tmp_path: Path) -> None:
    path = _appended(tmp_path, 1)
    feature = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["x"], "writerFeatures": ["x"]}
    Path(_log_file(path, 1)).write_text(json.dumps({"protocol": feature}) + "\n")
    with pytest.raises(CannotRead):
        DeltaLog.open(path)


@pytest.fixture
def silent(tmp_path: Path) -> DeltaLog:
    """The log of six commits, of which the fourth says nothing about itself."""
    path = _appended(tmp_path, 6)
    commit = Path(_log_file(path, 3))
    commit.write_text("".join(line for line in commit.open() if "commitInfo" not in line))
    log = DeltaLog.open(path)
    assert log is not None
    return log


def test_commits_after_one_that_says_nothing_about_itself_are_told(silent: DeltaLog) -> None:
    assert [commit.version for commit in silent.commits(3) or ()] == [4, 5]


def test_commits_are_not_told_across_one_that_says_nothing_about_itself(silent: DeltaLog) -> None:
    assert silent.commits(1) is None


def test_no_commit_gets_a_wrong_number_once_all_have_been_asked_for(silent: DeltaLog) -> None:
    assert [commit.version for commit in silent.known_commits()] == [4, 5]
    assert silent.commits(1) is None


@pytest.mark.parametrize("name", ["a b", "ü#", "x=1", "[b]"])
def test_a_table_may_lie_in_a_folder_of_any_name(tmp_path: Path, name: str) -> None:
    os.rename(_appended(tmp_path, 1), tmp_path / name)
    log = DeltaLog.open(str(tmp_path / name))
    assert log is not None
    assert len(log.files(None, 0)) == 1


@pytest.mark.parametrize("name", ["a%20b", "a\\b"])
def test_a_path_that_delta_rs_takes_for_another_is_left_to_spark(tmp_path: Path, name: str) -> None:
    os.rename(_appended(tmp_path, 1), tmp_path / name)
    with pytest.raises(CannotRead):
        DeltaLog.open(str(tmp_path / name))


def test_two_hundred_commits_are_read_in_less_than_a_second(tmp_path: Path) -> None:
    path = _appended(tmp_path, 1)
    text = Path(_log_file(path, 0)).read_text()
    info = next(line for line in text.splitlines() if "commitInfo" in line)
    for version in range(1, 201):
        Path(_log_file(path, version)).write_text(info + "\n")
    began = time.perf_counter()
    log = DeltaLog.open(path)
    assert log is not None
    assert len(log.commits(0) or ()) == 200
    assert log.token(APP) == 0
    assert len(log.files(None, log.version)) == 1
    assert time.perf_counter() - began < 1


STATISTICS: list[tuple[Span, bool]] = [
    (Span("at", datetime(2026, 4, 25, 9, tzinfo=UTC), datetime(2026, 4, 25, 10, tzinfo=UTC)), False),
    (Span("at", datetime(2026, 4, 25, 9, tzinfo=UTC), datetime(2026, 4, 25, 11, tzinfo=UTC)), True),
    # The statistics say 12:00:00.000 and the last row is from 12:00:00.000500.
    (
        Span("at", datetime(2026, 4, 25, 12, 0, 0, 400, tzinfo=UTC), datetime(2026, 4, 26, tzinfo=UTC)),
        True,
    ),
    (Span("at", datetime(2026, 4, 25, 12, 0, 1, tzinfo=UTC), datetime(2026, 4, 26, tzinfo=UTC)), False),
    (Span("name", "b"), True),
    (Span("name", "d"), False),
    (Span("NAME", "d"), False),
    (Span("at", date(2026, 4, 1), date(2026, 4, 2)), True),
    (Span("unknown", "b"), True),
]


@pytest.mark.parametrize(("span", "holds"), STATISTICS)
def test_a_file_is_left_out_only_where_its_statistics_are_sure(tmp_path: Path, span: Span, holds: bool) -> None:
    at = [datetime(2026, 4, 25, 10, tzinfo=UTC), datetime(2026, 4, 25, 12, 0, 0, 500, tzinfo=UTC)]
    write_deltalake(f"{tmp_path}/t", pa.table({"at": at, "name": ["a", "c"]}))
    log = DeltaLog.open(f"{tmp_path}/t")
    assert log is not None
    assert bool(log.files(span, 0)) is holds


def test_a_partition_of_nulls_holds_no_row_of_any_span(tmp_path: Path) -> None:
    write_deltalake(f"{tmp_path}/t", pa.table({"id": [1], "day": pa.array([None], pa.date32())}), partition_by=["day"])
    log = DeltaLog.open(f"{tmp_path}/t")
    assert log is not None
    assert log.files(SPAN, 0) == []


def test_a_schema_keeps_what_may_not_be_null(table: Table) -> None:
    log = DeltaLog.open(table.path)
    assert log is not None
    assert log.schema.get("id") == Column("id", "bigint", nullable=False)


def test_an_older_version_has_the_schema_of_its_time(tmp_path: Path, open_log: Callable[[str], Log]) -> None:
    path = _appended(tmp_path, 1)
    write_deltalake(path, pa.table({"x": [1], "y": ["a"]}), mode="append", schema_mode="merge")
    assert open_log(path).schema_at(0) == Schema.of([("x", "bigint")])


def _appended(folder: Path, versions: int) -> str:
    path = f"{folder}/t"
    for n in range(versions):
        write_deltalake(path, pa.table({"x": [n]}), mode="append")
    return path


def _log_file(path: str, version: int) -> str:
    return f"{path}/_delta_log/{version:020d}.json"
