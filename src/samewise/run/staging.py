"""A place of its own for each attempt, where rows wait until they have been verified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from glob import escape
from typing import TYPE_CHECKING

from samewise.core.errors import Transient
from samewise.storage.files import FileStat, list_files, remove_if_empty, remove_tree, spark_folder, spark_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Staged:
    """Exactly the files that one attempt wrote."""

    folder: str
    files: Sequence[FileStat]

    def check(self) -> None:
        """Raise `Transient` if the files are no longer those that were written and verified."""
        if _files_in(self.folder) != self.files:
            raise Transient(
                f"what was staged in {self.folder} has been changed by someone else",
                next_step="run the same command again; it stages anew",
            )

    def read(self, spark: SparkSession, like: DataFrame) -> DataFrame:
        """The staged rows, from these files and no others."""
        if not self.files:
            return spark.createDataFrame([], like.schema)
        return spark.read.schema(like.schema).parquet(*[spark_path(file.path) for file in self.files])


def stage(rows: DataFrame, folder: str) -> Staged:
    """Write `rows` under `folder`. A second call replaces what the first one wrote there."""
    # Read once, minutes later, by us: plain encoding is the cheapest to write and to read.
    (
        rows.write.mode("overwrite")
        .option("compression", "none")
        .option("parquet.enable.dictionary", "false")
        .parquet(spark_folder(folder))
    )
    return Staged(folder, _files_in(folder))


def _files_in(folder: str) -> list[FileStat]:
    return list_files(f"{escape(folder)}/*.parquet")


def drop(folder: str) -> None:
    """Remove an attempt's staging, and its batch's folder with the last one. A second call changes nothing."""
    remove_tree(folder)
    remove_if_empty(folder.rpartition("/")[0])
