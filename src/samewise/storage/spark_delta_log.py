"""A Delta table's log as Spark tells it: slower, and able to read whatever Delta writes."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from samewise.core.errors import ConfigError
from samewise.storage.files import spark_path
from samewise.storage.frames import schema_of
from samewise.storage.log import LiveFile, VersionGone, commit_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

    from samewise.core.records import TargetCommit
    from samewise.core.schema import Schema
    from samewise.core.sql import Span

_PATH_PREFIX = "delta.`"
_NO_TABLE = {"DELTA_MISSING_DELTA_TABLE", "PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND"}
_NOT_DELTA = "DELTA_TABLE_ONLY_OPERATION"
_NO_VERSION = {"DELTA_VERSION_NOT_FOUND", "DELTA_LOG_FILE_NOT_FOUND", "DELTA_TRUNCATED_TRANSACTION_LOG"}


class SparkDeltaLog:
    """The log of a table that Spark SQL knows as `reference`: delta.`/path`, or a name of the catalog."""

    def __init__(self, spark: SparkSession, reference: str, version: int) -> None:
        self._spark = spark
        self._reference = reference
        self._version = version
        self._details: Row | None = None

    @classmethod
    def open(cls, spark: SparkSession, reference: str) -> SparkDeltaLog | None:
        """The log as it is now; None if there is no table. Raises ConfigError for one that is not Delta."""
        from pyspark.errors import AnalysisException

        try:
            newest = spark.sql(f"DESCRIBE HISTORY {reference} LIMIT 1").select("version").first()
        except AnalysisException as error:
            condition = error.getCondition()
            if condition in _NO_TABLE or (condition == _NOT_DELTA and reference.startswith(_PATH_PREFIX)):
                return None
            if condition == _NOT_DELTA:
                raise ConfigError(
                    f"{reference} is a table, but not a Delta table",
                    code="not_delta",
                    next_step="name a Delta table, or a name that is not taken",
                ) from error
            raise
        return None if newest is None else cls(spark, reference, int(newest["version"]))

    @property
    def version(self) -> int:
        return self._version

    @property
    def table_id(self) -> str:
        return str(self._detail["id"])

    @property
    def schema(self) -> Schema:
        return self.schema_at(self._version)

    @property
    def partition_columns(self) -> list[str]:
        return list(self._detail["partitionColumns"])

    @property
    def properties(self) -> dict[str, str]:
        return dict(self._detail["properties"])

    def commits(self, since: int) -> list[TargetCommit] | None:
        wanted = self._version - since
        if wanted < 0:
            return None
        history = [commit for commit in self._history() if since < commit.version <= self._version]
        return history if len(history) == wanted else None

    def known_commits(self) -> list[TargetCommit]:
        return [commit for commit in self._history() if commit.version <= self._version]

    def token(self, app_id: str) -> int:
        history = self._history()
        stamps = [c.stamp for c in history if c.stamp is not None and c.stamp.app_id == app_id]
        if stamps or not history or history[0].version == 0:
            return max((stamp.generation for stamp in stamps), default=0)
        # The log was cut off. A checkpoint keeps every token, though not who used it.
        return self._checkpointed_token(app_id)

    def files(self, span: Span | None, version: int) -> list[LiveFile]:
        """Files that do hold rows of the span: Spark has to read the span's column to know."""
        rows = self._rows_at(version)
        if span is not None:
            rows = rows.where(span.sql)
        found = rows.selectExpr("_metadata.file_path AS path", "_metadata.file_size AS size").groupBy("path", "size")
        root = str(self._detail["location"]).rstrip("/") + "/"
        return sorted(
            LiveFile(unquote(row["path"]).removeprefix(root), row["size"], str(row["count"]))
            for row in found.count().collect()
        )

    def schema_at(self, version: int) -> Schema:
        return schema_of(self._rows_at(version))

    def _rows_at(self, version: int) -> DataFrame:
        from pyspark.errors import AnalysisException

        try:
            rows = self._spark.sql(f"SELECT * FROM {self._reference} VERSION AS OF {int(version)}")
            # Over Spark Connect nothing is resolved before it is asked for.
            rows.schema  # noqa: B018
        except AnalysisException as error:
            if error.getCondition() in _NO_VERSION:
                raise VersionGone(f"{self._reference} has no version {version} any more") from error
            raise
        return rows

    def _checkpointed_token(self, app_id: str) -> int:
        from pyspark.errors import AnalysisException
        from pyspark.sql import functions as f

        checkpoints = f"{spark_path(str(self._detail['location']))}/_delta_log/*.checkpoint*.parquet"
        try:
            tokens = self._spark.read.parquet(checkpoints).where(f.col("txn.appId") == app_id)
        except AnalysisException as error:
            if error.getCondition() in _NO_TABLE:
                return 0
            raise
        found = tokens.agg(f.max("txn.version")).first()
        return 0 if found is None or found[0] is None else int(found[0])

    def _history(self) -> list[TargetCommit]:
        rows = self._spark.sql(f"DESCRIBE HISTORY {self._reference}").selectExpr(
            "version",
            "unix_micros(timestamp) AS timestamp_us",
            "operation",
            "userMetadata",
            "operationMetrics",
        )
        return [
            commit_of(
                row["version"],
                row["timestamp_us"],
                row["operation"],
                row["userMetadata"],
                row["operationMetrics"],
            )
            for row in sorted(rows.collect(), key=lambda row: int(row["version"]))
        ]

    @property
    def _detail(self) -> Row:
        if self._details is None:
            self._details = self._spark.sql(f"DESCRIBE DETAIL {self._reference}").first()
            assert self._details is not None, "DESCRIBE DETAIL gives one row for a table that is there"
        return self._details
