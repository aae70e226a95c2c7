"""What a Parquet file holds, without asking Spark: the same that Spark would answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from samewise.sources.file_groups import footer_structs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

FLAT = "1L AS id, CAST(2 AS SMALLINT) AS s, 1.5BD AS amount, 'a' AS text, DATE'2026-04-25' AS day, X'00' AS bytes"
TIMES = "TIMESTAMP'2026-04-25 00:00:00Z' AS at, TIMESTAMP_NTZ'2026-04-25 00:00:00' AS wall"
NESTED = "array(1, 2) AS a, map('k', named_struct('x', 1L, 'y', array(1D))) AS m, named_struct('z', true) AS s"


def written(spark: SparkSession, folder: Path, query: str) -> str:
    spark.sql(query).coalesce(1).write.parquet(str(folder))
    return str(next(folder.glob("*.parquet")))


def never(path: str) -> StructType:
    raise AssertionError(f"Spark was asked about {path}")


@pytest.mark.parametrize("columns", [FLAT, TIMES, NESTED])
def test_a_file_that_spark_wrote_says_what_spark_would_say(spark: SparkSession, tmp_path: Path, columns: str) -> None:
    path = written(spark, tmp_path / "rows", f"SELECT {columns}")
    assert footer_structs([path], "parquet", never, {}) == {path: spark.read.parquet(path).schema}


def test_spark_is_asked_about_the_files_of_others(spark: SparkSession, tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    path = str(tmp_path / "other.parquet")
    parquet.write_table(pyarrow.table({"id": [1, 2]}), path)
    asked: list[str] = []

    def ask(path: str) -> StructType:
        asked.append(path)
        return spark.read.parquet(path).schema

    footer_structs([path], "parquet", ask, {})
    assert asked == [path]


def test_spark_is_asked_where_a_column_is_more_than_its_type(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.sql import functions as f

    rows = spark.sql("SELECT 'ab' AS code").select(f.col("code").alias("code", metadata={"unit": "x"})).coalesce(1)
    rows.write.parquet(str(tmp_path / "rows"))
    path = str(next((tmp_path / "rows").glob("*.parquet")))
    with pytest.raises(AssertionError, match="Spark was asked"):
        footer_structs([path], "parquet", never, {})
