"""Short ways past Delta: into a table that is still empty, and to the rows of files that are known by name."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from samewise.core.sql import AT, Span, Spans, quote
from samewise.storage.commit_files import added_files
from samewise.storage.delta_log import CannotRead, DeltaLog, Log, VersionGone
from samewise.storage.files import is_local, local_path, spark_path
from samewise.storage.frames import measure_by, schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from samewise.core.measures import Measures
    from samewise.core.schema import Schema

_MAPPING = "delta.columnMapping.mode"
_WIDENING = "delta.enableTypeWidening"
_MOST_FILES = 1000
"""More are for Delta to find and to read."""
_FLAT = re.compile(r"[a-z_]+(\(\d+(,\d+)?\))?")


def is_empty(log: Log | None) -> bool:
    """True for a table that was made and has got no file yet."""
    try:
        return isinstance(log, DeltaLog) and log.version == 0 and not log.files(None, 0)
    except CannotRead:
        return False


def measure_files(spark: SparkSession, location: str, log: Log, spans: Spans, version: int) -> list[Measures] | None:
    """Measures of windows whose rows are all in the files of one commit; None where Delta itself has to be asked.

    Delta would read its log again first, twice, to find out which files these are.
    """
    # At a later version the table may have other columns than these files.
    files = added_files(location, version) if log.version == version else None
    found = rows_of(spark, log, files) if files else None
    if found is None:
        return None
    rows = found.where(spans.sql)
    return measure_by(rows.selectExpr("*", f"{spans.number} AS {AT}"), schema_of(rows), len(spans.parts))


def plain_rows(spark: SparkSession, log: Log | None, span: Span | Spans | None, version: int) -> DataFrame | None:
    """The rows of `span` at a version, read from the files that the log names; None where Delta itself has to be asked.

    Of a log that it has not seen before Delta makes a table first, and for a small one that takes longer than the rest.
    """
    if not isinstance(log, DeltaLog) or not is_local(log.location):
        return None
    try:
        then = log.at(version)
        files = [] if then.partition_columns else then.files(span, version)
        if then.partition_columns or len(files) > _MOST_FILES or any(file.mark for file in files):
            return None
    except (CannotRead, VersionGone):
        return None
    paths = [unquote(local_path(os.path.join(log.location, file.path))) for file in files]
    if not all(os.path.isfile(path) for path in paths):
        return None
    found = rows_of(spark, then, paths)
    return found if found is None or span is None else found.where(span.sql)


def rows_of(spark: SparkSession, log: Log, files: Sequence[str]) -> DataFrame | None:
    """The rows of some of a table's files; None where a file alone does not say what its rows are.

    No row of a file may be deleted, and no column be named by its folder. One that a file lacks is NULL in it, as in
    the table.
    """
    schema = log.schema
    renamed = log.properties.get(_MAPPING, "none") != "none"
    widened = log.properties.get(_WIDENING, "false").lower() == "true"
    if renamed or widened or not all(_FLAT.fullmatch(column.type) for column in schema):
        return None
    if not files:
        return spark.createDataFrame([], _ddl(schema))
    reader = spark.read.schema(_ddl(schema)).option("recursiveFileLookup", "true")
    reader = reader.option("ignoreCorruptFiles", "false").option("ignoreMissingFiles", "false")
    return reader.parquet(*[spark_path(file) for file in files])


def _ddl(schema: Schema) -> str:
    return ", ".join(f"{quote(column.name)} {column.type}" for column in schema)
