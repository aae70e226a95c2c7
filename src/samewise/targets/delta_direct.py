"""A publication that rewrites no row: Spark writes the files, and one entry of the log puts them in their place.

Delta's own writer computes the whole state of a table before and after every commit, with Spark. Where every file that
holds a row of the window holds nothing else, what there is to do can be read off the log: these files go, the new ones
come. The entry is written only as the one that follows the version which was read, so that everything which was seen
there (the token is free, no other file is concerned) is still true when it lands.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from glob import escape
from typing import TYPE_CHECKING, TypeAlias

from samewise.core.errors import ConfigError, Conflict, MayHaveLanded
from samewise.core.sql import Span
from samewise.storage.delta_log import CannotRead, DeltaLog, LiveFile, Log
from samewise.storage.delta_writer import CHECKPOINTS, NewFile, OldFile, commit, is_plain_type
from samewise.storage.file_bounds import holds
from samewise.storage.files import (
    is_local,
    join,
    list_files,
    local_path,
    remove_if_empty,
    remove_tree,
    spark_folder,
    spark_path,
)
from samewise.storage.parquet_stats import ColumnBounds, FileRows, read_rows
from samewise.storage.stats_text import statistics_text
from samewise.targets.delta_commit import outside_window
from samewise.targets.delta_keyed import COUNTED_COLUMNS, DELTAS_DEFAULT
from samewise.targets.delta_make import owner_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import DataFrame, SparkSession

    from samewise.core.ports import Write
    from samewise.core.records import Stamp
    from samewise.core.schema import Schema

_LAST_PLAIN_WRITER = 2
"""Writers were numbered before features had names: 2 stands for NOT NULL and `appendOnly`, 3 for constraints."""
_HARMLESS = frozenset(
    {
        CHECKPOINTS,
        COUNTED_COLUMNS,
        "delta.isolationLevel",
        "delta.logRetentionDuration",
        "delta.deletedFileRetentionDuration",
        "delta.enableExpiredLogCleanup",
    }
)
"""Settings of a table that ask nothing of who writes its files. One that is not known may."""
_OTHER_FILES = (
    "spark.databricks.delta.optimizeWrite.enabled",
    "spark.databricks.delta.autoCompact.enabled",
    "spark.sql.parquet.writeLegacyFormat",
)
"""Settings of a session by which Delta's own writer would write other files."""
_OTHER_TABLES = "spark.databricks.delta.properties.defaults."
"""And by which it would make another table."""
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_.=-]+(/[A-Za-z0-9_.=-]+)*")
"""Written the same in the log, in a list of files and on the disk."""
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_]+")
_PARQUET_NAME = re.compile(r"[^ ,;{}()\n\t=]+")
"""Delta takes no other without a mapping of columns."""
_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
_PARTITION_TYPES = frozenset({"date", "tinyint", "smallint", "int", "bigint"})
"""Those whose values are written in one way only."""
_TRIES = 12

LookAgain: TypeAlias = "Callable[[], Ground | None]"
"""The ground as it is now."""


class Writer(StrEnum):
    """Who writes a table's files and its log."""

    AUTO = "auto"
    """Spark the files, and delta-rs the log, wherever that comes to the same."""
    SPARK = "spark"
    """Delta's own writer, always."""


@dataclass(frozen=True, slots=True)
class Ground:
    """A table as a direct commit finds it, and the files that make way."""

    log: DeltaLog
    replaced: Sequence[LiveFile]

    def is_like(self, other: Ground) -> bool:
        """Whether nothing has happened in between that concerns the same rows: others' rows may have come or gone."""
        return (
            self.log.table_id == other.log.table_id
            and self.log.schema == other.log.schema
            # The owner among them.
            and self.log.properties == other.log.properties
            and list(self.replaced) == list(other.replaced)
        )


def writes_plain_files(spark: SparkSession) -> bool:
    """Whether nothing in the session's settings is meant for Delta's own writer."""
    return all(str(spark.conf.get(key, "false")).lower() in ("false", "none") for key in _OTHER_FILES)


def makes_plain_tables(spark: SparkSession) -> bool:
    """Whether new tables of this session are to have no properties but their own."""
    return not any(key.startswith(_OTHER_TABLES) for key in spark.conf.getAll)


def is_plain_schema(schema: Schema, partition_by: Sequence[str]) -> bool:
    """Whether a table of these columns asks nothing of its writers."""
    if len({name.lower() for name in schema.names}) < len(schema.names):
        return False
    partitions = [schema.get(name) for name in partition_by]
    return all(is_plain_type(column.type) and _PARQUET_NAME.fullmatch(column.name) for column in schema) and all(
        column is not None and column.type in _PARTITION_TYPES and _PLAIN_NAME.fullmatch(column.name)
        for column in partitions
    )


def ground_for(log: Log | None, columns: Schema, write: Write) -> Ground | None:
    """How the table can take these rows as they are; None where only Delta's own writer can tell, or do it."""
    try:
        if not isinstance(log, DeltaLog) or not _is_plain(log, columns, write):
            return None
        replaced = _replaced(log, write)
    except CannotRead:
        return None
    if replaced is None or not all(_PLAIN_PATH.fullmatch(file.path) for file in replaced):
        return None
    return Ground(log, replaced)


def publish_directly(rows: DataFrame, write: Write, stamp: Stamp, ground: Ground, again: LookAgain) -> None:
    """Write the rows' files, then the log's next entry. Nothing happens where the token is taken.

    Raises `Refused` for rows outside the span and `Conflict` where the table has changed in a way that concerns
    these rows; what was written is removed then. Files of a process that was killed are for VACUUM to remove.
    """
    if _is_taken(ground.log, stamp):
        return None
    folder = f"{stamp.attempt_id}-{uuid.uuid4().hex[:8]}"
    with _removed_unless_landed(join(ground.log.location, folder)):
        writer = rows.write.mode("error")
        if partitions := ground.log.partition_columns:
            writer = writer.partitionBy(*partitions)
        writer.parquet(spark_folder(join(ground.log.location, folder)))
        added = _new_files(ground.log, folder, write, rows.sparkSession)
        for _ in range(_TRIES):
            now = again()
            if now is None or not now.is_like(ground):
                raise Conflict("another commit has changed what these rows replace, or the table itself")
            if (owner := owner_in(now.log.properties)) is None or owner.store_id != stamp.store_id:
                raise Conflict("the table has changed hands")
            if _is_taken(now.log, stamp):
                raise _Skipped
            removed = [OldFile(file.path, file.size_bytes, _partition_of(file.path, now.log)) for file in now.replaced]
            try:
                return commit(now.log, stamp, added, removed)
            except Conflict:
                continue  # Of other windows, most likely: what matters is looked at again.
        raise Conflict("other commits came first again and again")


def burn_directly(stamp: Stamp, read_log: Callable[[], Log | None]) -> bool:
    """Record the token in an entry without a row; False where Delta's own writer must. A second call does nothing."""
    for _ in range(_TRIES):
        log = read_log()
        if not isinstance(log, DeltaLog) or not _has_plain_protocol(log):
            return False
        if _is_taken(log, stamp):
            return True
        try:
            commit(log, stamp, ())
            return True
        except Conflict:
            continue
    raise Conflict("other commits came first again and again")


class _Skipped(Exception):
    """The token was taken while the files were written."""


@contextmanager
def _removed_unless_landed(folder: str) -> Iterator[None]:
    try:
        yield
    except _Skipped:
        remove_tree(folder)
    except MayHaveLanded:
        raise
    except BaseException:
        remove_tree(folder)
        raise


def _is_taken(log: DeltaLog, stamp: Stamp) -> bool:
    return log.token(stamp.app_id) >= stamp.generation


def _has_plain_protocol(log: DeltaLog) -> bool:
    settings = {key for key in log.properties if key.startswith("delta.")}
    plain = log.writer_features is None and log.writer_version <= _LAST_PLAIN_WRITER and settings <= _HARMLESS
    return plain and is_local(log.location)


def is_plain_table(log: DeltaLog) -> bool:
    """Whether there is nothing to the table but its files: no rule, no setting, no feature that its writers keep."""
    if not _has_plain_protocol(log) or not is_plain_schema(log.schema, log.partition_columns):
        return False
    # NOT NULL, a default, a generated or an identity column, VARCHAR.
    fields = json.loads(log.table.schema().to_json())["fields"]
    return not any(field["metadata"] or not field["nullable"] for field in fields)


def _is_plain(log: DeltaLog, columns: Schema, write: Write) -> bool:
    if not is_plain_table(log):
        return False
    there = {column.name: column.type for column in log.schema}
    same = all(there.get(column.name) == column.type for column in columns)
    if write.span is None and not write.keep and write.keyed is None:
        # The whole table is replaced, its shape included.
        same = same and list(there) == list(columns.names) and list(write.partition_by) == log.partition_columns
    return same


def _replaced(log: DeltaLog, write: Write) -> Sequence[LiveFile] | None:
    if write.keyed is not None:
        # Whether a key is there already is for a MERGE to say, unless there is none at all.
        return None if log.files(None, log.version) else []
    return log.files(None, log.version) if write.span is None else log.files_within(write.span)


def _new_files(log: DeltaLog, folder: str, write: Write, spark: SparkSession) -> list[NewFile]:
    """The files that Spark has written, as the log is to know them. Those without a row are removed."""
    place, schema = local_path(join(log.location, folder)), log.schema
    if not os.path.isdir(place):
        raise ConfigError(
            f"Spark has written the rows of this run to {place}, and there is no such folder on this machine",
            kept="the target is untouched",
            next_step="set `target.writer: spark`; better, name a place that Spark and this machine share",
        )
    added: list[NewFile] = []
    doubtful: list[str] = []
    for file in list_files(f"{escape(place)}/**"):
        path = f"{folder}/{os.path.relpath(file.path, place)}"
        found = read_rows(file.path, schema)
        if found.rows == 0:
            remove_tree(file.path)
            continue
        partition = _partition_of(path, log)
        if not write.inside and isinstance(write.span, Span):
            within = _lies_within(write.span, found.columns, partition)
            if within is False:
                raise outside_window()
            if within is None:
                doubtful.append(file.path)
        added.append(_new_file(log, path, found, file.size_bytes, int(file.version)))
    if doubtful:
        assert isinstance(write.span, Span)
        strays = spark.read.parquet(*map(spark_path, doubtful)).where(f"NOT coalesce({write.span.sql}, false)")
        if strays.limit(1).count():
            raise outside_window()
    remove_tree(join(place, "_SUCCESS"))
    remove_if_empty(place)
    return added


def known_files(log: DeltaLog, files: Sequence[LiveFile]) -> list[NewFile]:
    """Files of a plain table, as the log of another table is to know them that has them under the same names."""
    found: list[NewFile] = []
    for file in files:
        if not _PLAIN_PATH.fullmatch(file.path) or len(_partition_of(file.path, log)) < len(log.partition_columns):
            raise ValueError(f"a path that does not say all by itself: {file.path}")
        there = local_path(join(log.location, file.path))
        rows = read_rows(there, log.schema)
        found.append(_new_file(log, file.path, rows, file.size_bytes, os.stat(there).st_mtime_ns))
    return found


def _new_file(log: DeltaLog, path: str, found: FileRows, size_bytes: int, changed_at_ns: int) -> NewFile:
    partition = _partition_of(path, log)
    # Of the first columns of the table, as Delta counts them; those that are in the folder's name it leaves out.
    counted = int(log.properties.get(COUNTED_COLUMNS, DELTAS_DEFAULT))
    names = [column.name for column in log.schema if column.name not in partition]
    statistics = statistics_text(found, names if counted < 0 else names[:counted])
    return NewFile(path, size_bytes, found.rows, changed_at_ns // 1_000_000, statistics, partition)


def _partition_of(path: str, log: DeltaLog) -> dict[str, str | None]:
    """The values that are in the names of a file's folders."""
    found: dict[str, str | None] = {}
    for part in path.split("/")[:-1]:
        name, _, value = part.partition("=")
        if name in log.partition_columns:
            found[name] = None if value == _NULL_PARTITION else value
    return found


def _lies_within(span: Span, columns: Mapping[str, ColumnBounds], partition: Mapping[str, str | None]) -> bool | None:
    """Whether all rows of a file lie in the span; None where the file does not say between which values they are."""
    column = span.column.lower()
    for name, value in partition.items():
        if name.lower() == column:
            day = None if value is None else date.fromisoformat(value)
            return day is not None and holds(span, day, day)
    bounds = next((found for name, found in columns.items() if name.lower() == column), ColumnBounds())
    if bounds.nulls:
        return False
    if bounds.nulls is None or bounds.low is None:
        return None
    return holds(span, bounds.low, bounds.high)
