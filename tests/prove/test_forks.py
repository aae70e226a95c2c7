"""Forks of a Delta table: they share files, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from samewise.core.records import Owner
from samewise.targets import delta_fork
from samewise.targets.delta import DeltaTarget
from tests.support.spark import ReadySpark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OWNER = Owner("scratch", "orders", "load", "samewise prove")


NOT_PLAIN = "delta.randomizeFilePrefixes"
"""A property that is not known to be harmless: such a table is cloned by Delta."""


@pytest.mark.parametrize("is_plain", [True, False])
def test_a_fork_is_the_table_as_it_was_its_copies_are_their_own_and_the_table_is_left_alone(
    spark: SparkSession, tmp_path: Path, is_plain: bool
) -> None:
    ready = ReadySpark(spark)

    def target(name: str) -> DeltaTarget:
        return DeltaTarget(str(tmp_path / name), None, ready)

    def ids(name: str) -> list[int]:
        return sorted(row[0] for row in spark.read.format("delta").load(str(tmp_path / name)).collect())

    real = target("real")
    writer = spark.range(0, 3).write.format("delta")
    (writer if is_plain else writer.option(NOT_PLAIN, "false")).save(str(tmp_path / "real"))
    spark.range(3, 5).write.format("delta").mode("append").save(str(tmp_path / "real"))
    files = sorted(tmp_path.joinpath("real").rglob("*"))

    delta_fork.clone(real, target("before"), OWNER, ready, before=1)
    delta_fork.clone(real, target("now"), OWNER, ready, before=None)
    delta_fork.clone(target("nothing"), target("empty"), OWNER, ready, before=None)
    assert (ids("before"), ids("now")) == ([0, 1, 2], [0, 1, 2, 3, 4])
    assert not target("empty").exists()
    head = target("now").head()
    assert head is not None
    assert head.owner == OWNER
    # delta-rs stumbles over the first commit of a clone; Spark does not. Links are told by no clone.
    expected = ["CREATE TABLE", "WRITE"] if is_plain else ["CLONE"]
    assert [commit.operation for commit in target("now").known_commits()] == expected
    assert [commit.version for commit in target("now").commits(-1) or ()] == list(range(len(expected)))

    delta_fork.copy(str(tmp_path / "now"), str(tmp_path / "copy"), ready)
    assert delta_fork.identity(target("copy")) == delta_fork.identity(target("now"))
    assert delta_fork.identity(target("copy")) != delta_fork.identity(target("before"))
    spark.sql(f"DELETE FROM delta.`{tmp_path}/copy` WHERE id IN (1, 4)")
    spark.range(9, 10).write.format("delta").mode("append").save(str(tmp_path / "copy"))
    assert (ids("copy"), ids("now"), ids("real")) == ([0, 2, 3, 9], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4])
    assert delta_fork.identity(target("copy")) != delta_fork.identity(target("now"))
    assert delta_fork.count_rows(target("now")) == 5
    assert sorted(tmp_path.joinpath("real").rglob("*")) == files


def test_delta_finds_the_checksum_of_a_fork_right_and_spares_its_queries_over_the_log(
    spark: SparkSession, tmp_path: Path
) -> None:
    ready = ReadySpark(spark)
    rows = spark.createDataFrame([(1, "a"), (2, "line\u2028separator")], "id INT, text STRING")
    writer = rows.write.format("delta").option("txnAppId", "app").option("txnVersion", 1)
    writer.option(NOT_PLAIN, "false").save(str(tmp_path / "real"))
    fork = DeltaTarget(str(tmp_path / "fork"), None, ready)
    delta_fork.clone(DeltaTarget(str(tmp_path / "real"), None, ready), fork, OWNER, ready, before=None)
    delta_fork.copy(str(tmp_path / "fork"), str(tmp_path / "copy"), ready)

    jvm = spark._jvm
    assert jvm is not None
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, str(tmp_path / "copy"))
    snapshot = log.unsafeVolatileSnapshot()
    assert snapshot.checksumOpt().isDefined()
    assert snapshot.protocol().minWriterVersion() == 2
    assert not snapshot.stateReconstructionTriggered()
    # Raises where the log says otherwise.
    assert snapshot.validateChecksum(jvm.PythonUtils.toScalaMap(jvm.java.util.HashMap()))


def test_where_vacuum_has_been_the_newest_version_is_forked(spark: SparkSession, tmp_path: Path) -> None:
    ready = ReadySpark(spark)
    place = tmp_path / "real"
    spark.range(0, 3).write.format("delta").save(str(place))
    gone = list(place.glob("*.parquet"))
    spark.range(3, 5).write.format("delta").mode("overwrite").save(str(place))
    for file in gone:
        file.unlink()
    fork = DeltaTarget(str(tmp_path / "fork"), None, ready)
    delta_fork.clone(DeltaTarget(str(place), None, ready), fork, OWNER, ready, before=1)
    assert sorted(row[0] for row in spark.read.format("delta").load(str(tmp_path / "fork")).collect()) == [3, 4]


def test_a_fork_is_read_from_its_files_only_where_they_say_all_about_its_rows(
    tmp_path: Path, spark: SparkSession
) -> None:
    def made(name: str, properties: str = "'samewise.test' = 'x'", clause: str = "") -> DeltaTarget:
        place = str(tmp_path / name)
        spark.sql(
            f"CREATE TABLE delta.`{place}` (id INT, day STRING) USING DELTA {clause} TBLPROPERTIES ({properties})"
        )
        spark.sql(f"INSERT INTO delta.`{place}` VALUES (1, 'a'), (2, 'b'), (3, 'c')")
        return DeltaTarget(place, None, ReadySpark(spark))

    plain = made("plain")
    spark.sql(f"ALTER TABLE delta.`{plain.folder}` ADD COLUMNS (note STRING)")
    spark.sql(f"DELETE FROM delta.`{plain.folder}` WHERE id = 2")
    found = delta_fork.rows(plain, ReadySpark(spark))
    assert found is not None
    assert sorted(map(tuple, found.collect())) == [(1, "a", None), (3, "c", None)]

    deleted = made("deleted", "'delta.enableDeletionVectors' = 'true'")
    spark.sql(f"DELETE FROM delta.`{deleted.folder}` WHERE id = 2")
    assert delta_fork.rows(deleted, ReadySpark(spark)) is None
    assert delta_fork.rows(made("parts", clause="PARTITIONED BY (day)"), ReadySpark(spark)) is None
    assert delta_fork.rows(made("widened", "'delta.enableTypeWidening' = 'true'"), ReadySpark(spark)) is None
    assert delta_fork.rows(made("mapped", "'delta.columnMapping.mode' = 'name'"), ReadySpark(spark)) is None
