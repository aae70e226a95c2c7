"""A place of its own for each attempt, where rows wait until they have been verified."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from glob import escape
from typing import TYPE_CHECKING

from samewise.core.errors import Transient
from samewise.storage.files import (
    FileStat,
    is_local,
    list_files,
    local_path,
    remove_if_empty,
    remove_tree,
    spark_folder,
    spark_path,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Staged:
    """Exactly the files that one attempt wrote.

    The same files, untouched, are the same rows: that is how count and hash hold at the commit as they did when the
    rows were verified, without another pass over them.
    """

    folder: str
    files: Sequence[FileStat]

    def check(self) -> None:
        """Raise `Transient` if the files are no longer those that were written and verified."""
        if _files_in(self.folder) != self.files:
            raise Transient(
                f"what was staged in {self.folder} has been changed by someone else",
                kept="nothing of it was published",
                next_step="run the same command again; it stages anew",
            )

    def was_touched(self) -> bool:
        """Whether a file is another one by now. One that is gone was read before, or its reader has failed."""
        now = {file.path: file for file in _files_in(self.folder)}
        return any(now.get(file.path, file) != file for file in self.files)

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
    return [_sealed(file) for file in list_files(f"{escape(folder)}/*.parquet")]


def _sealed(file: FileStat) -> FileStat:
    """The file with a version that cannot be set back, as the time of a file's last change can."""
    if not is_local(file.path):
        return file
    try:
        found = os.stat(local_path(file.path))
    except FileNotFoundError:
        return replace(file, version="gone")
    return replace(file, version=f"{file.version} {found.st_ino} {found.st_ctime_ns}")


def drop(folder: str) -> None:
    """Remove an attempt's staging, and its batch's folder with the last one. A second call changes nothing."""
    remove_tree(folder)
    remove_if_empty(folder.rpartition("/")[0])
