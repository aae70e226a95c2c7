"""A Delta table as a target: one log commit publishes, and carries the token and who wrote it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from samewise.core.errors import ConfigError, Conflict, NoOlderVersion
from samewise.core.keyed import DELETED_AT, EPOCH, Batch, Keyed
from samewise.core.measures import Measures, measure_expressions, read_measures
from samewise.core.ownership import check_owner
from samewise.core.records import Answer, Landed, Owner, RunRecord, Stamp, TargetCommit
from samewise.core.sql import AT, Span, Spans, literal, quote
from samewise.storage.delta_log import CannotRead, DeltaLog, Log, SparkDeltaLog
from samewise.storage.delta_writer import create_table
from samewise.storage.files import is_local, join, list_files, local_path, spark_folder
from samewise.storage.frames import measure_by, schema_of
from samewise.targets.delta_commit import committing, token
from samewise.targets.delta_direct import (
    Ground,
    Writer,
    burn_directly,
    ground_for,
    is_plain_schema,
    makes_plain_tables,
    publish_directly,
    writes_plain_files,
)
from samewise.targets.delta_fresh import is_empty, measure_files, plain_rows
from samewise.targets.delta_keyed import classified, merge_statement, version_text, with_files
from samewise.targets.delta_make import (
    ADOPTED,
    columns_text,
    create_statement,
    first_properties,
    key_statements,
    own_statement,
    owner_in,
    set_statement,
)
from samewise.targets.delta_rewrite import Rewrite, parts_if_worth_it, rewritten

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from samewise.core.ports import Head, Lineage, Published, Spark, Write
    from samewise.core.schema import Schema

_FORGOTTEN = "samewise.forgotten"
"""The table property that says up to which version deleted keys have been dropped."""
_APP_ID = "spark.databricks.delta.write.txnAppId"
_APP_VERSION = "spark.databricks.delta.write.txnVersion"
_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_COPY_OF_SOURCE = "spark.databricks.delta.merge.materializeSource"
_SORT_FIRST = "spark.sql.join.preferSortMergeJoin"
_LOG_SECONDS = 1.0
"""How old a reading of the log may be where it only saves work; a commit's answer is always read anew."""


class DeltaTarget:
    """A table at `location`, or, where `table` is given, a table of Spark's catalog."""

    def __init__(
        self,
        location: str | None,
        table: Sequence[str] | None,
        spark: Spark,
        *,
        deletion_vectors: bool = False,
        rewrite: Rewrite = Rewrite.AUTO,
        writer: Writer = Writer.AUTO,
    ) -> None:
        if (location is None) == (table is None):
            raise ValueError("a Delta target is a location or a catalog table, not both")
        self._location = location
        self._table = table
        self._spark = spark
        self._deletion_vectors = deletion_vectors
        self._rewrite = rewrite
        self._writer = writer
        self._has_plain_session: bool | None = None
        self._log: Log | None = None
        self._log_read_at = float("-inf")

    @property
    def key(self) -> str:
        if self._table is not None:
            return "delta:" + ".".join(self._table)
        return f"delta:{self._location}"

    @property
    def works_alone(self) -> bool:
        return False

    @property
    def reference(self) -> str:
        """The table as Spark SQL names it."""
        if self._table is not None:
            return ".".join(quote(part) for part in self._table)
        assert self._location is not None
        return f"delta.{quote(spark_folder(self._location))}"

    @property
    def folder(self) -> str | None:
        """Where the table lies; None where only the catalog knows."""
        return self._location

    def exists(self) -> bool:
        if self._location is not None and is_local(self._location):
            return os.path.isdir(join(local_path(self._location), "_delta_log"))
        return self.head() is not None

    def head(self) -> Head | None:
        log = self._read_log()
        if log is None:
            return None
        from samewise.core.ports import Head

        return Head(log.version, log.schema, owner_in(log.properties), log.table_id, ADOPTED in log.properties)

    def generation(self, app_id: str) -> int:
        log = self._read_log()
        return 0 if log is None else log.token(app_id)

    def commits(self, since: int) -> Sequence[TargetCommit] | None:
        log = self._read_log()
        if log is None or since > log.version:
            return None
        try:
            return log.commits(since)
        except CannotRead:
            return self._by_spark().commits(since)

    def known_commits(self) -> Sequence[TargetCommit]:
        log = self._read_log()
        try:
            return [] if log is None else log.known_commits()
        except CannotRead:
            return self._by_spark().known_commits()

    def _by_spark(self) -> Log:
        """The log as Spark reads it: delta-rs stumbles over the first commit of a clone."""
        self._log = SparkDeltaLog.open(self._spark(), self.reference)
        assert self._log is not None
        return self._log

    def landed(self, run: RunRecord) -> Landed:
        log = self._read_log(fresh=True)
        if log is None:
            return Landed(Answer.ABSENT)
        # A table that was dropped and made again starts at zero: then the pinned version says nothing.
        since = run.base_version if run.base_version <= log.version else -1
        commits = self.commits(since)
        stamped = [
            c for c in commits or () if c.stamp is not None and c.stamp.app_id == run.app_id and c.stamp.takes_token
        ]
        newest = max(stamped, key=_generation, default=None)
        if newest is not None and newest.stamp is not None and newest.stamp.generation >= run.token:
            mine = newest.stamp.run_id == run.commit_id and newest.stamp.kind == "data"
            return Landed(Answer.MINE, newest) if mine else Landed(Answer.SUPERSEDED, newest)
        token = log.token(run.app_id)
        if token < run.token:
            return Landed(Answer.ABSENT)
        # The token is taken and the commit that took it is not in the log. Where the log was cut off, the
        # run's own number is proof enough: the owner's fence keeps other stores from using it.
        mine = token == run.token and commits is None
        return Landed(Answer.MINE if mine else Answer.SUPERSEDED)

    def fitted(self, result: Schema) -> Schema:
        return result

    def prepare(self, schema: Schema, owner: Owner, partition_by: Sequence[str], *, keyed: Keyed | None = None) -> None:
        head = self._fresh_head()
        if head is None:
            self._check_place()
            self._create(schema, owner, partition_by, keyed=keyed is not None)
            head = self._fresh_head()
        if head is None:
            self._create_over(schema, partition_by)
            head = self._fresh_head()
            assert head is not None
        if head.owner is None:
            self._set_owner(owner)
            head = self._fresh_head()
            assert head is not None
        check_owner(head.owner, owner, self.key)
        if keyed is not None:
            self._prepare_for_keys(schema, head.schema)

    def adopt(self, owner: Owner) -> None:
        head = self._fresh_head()
        if head is not None and head.owner != owner:
            self._set_owner(owner, adopted=True)

    def publish(self, rows: DataFrame, write: Write, stamp: Stamp) -> Published:
        from samewise.core.ports import Published

        if write.keep:
            self._append_nothing(stamp)
            return Published()
        if (ground := self._ground(schema_of(rows), write)) is not None:
            again = partial(self._ground, schema_of(rows), write)
            with self._committing():
                publish_directly(rows, write, stamp, ground, again)
            return Published()
        if write.keyed is not None:
            parts = parts_if_worth_it(self._read_log(), schema_of(rows), write, self._rewrite)
            if parts is None:
                self._merge(rows, write.keyed, write.batch or Batch({}), stamp)
            else:
                self._write_anew(rows, write.keyed, stamp, parts)
            return Published()
        writer = rows.write.format("delta").mode("overwrite")
        if write.inside and is_empty(self._read_log(fresh=True)):
            # Nothing is there to be replaced: Delta need not look for it.
            writer = writer.mode("append").option("mergeSchema", "true")
        elif write.span is None:
            writer = writer.option("overwriteSchema", "true")
            if write.partition_by:
                writer = writer.partitionBy(*write.partition_by)
        else:
            writer = writer.option("replaceWhere", write.span.sql).option("mergeSchema", "true")
        with self._committing():
            writer.options(**token(stamp)).save(self._path())
        return Published()

    def burn(self, stamp: Stamp) -> None:
        if self._fresh_head() is not None:
            self._append_nothing(stamp)

    def tidy(self) -> None:
        """Nothing: a commit that was cut off leaves files that VACUUM knows."""

    def is_bare(self) -> bool:
        log = self._read_log(fresh=True)
        try:
            return isinstance(log, DeltaLog) and _FORGOTTEN not in log.properties and not log.files(None, log.version)
        except CannotRead:
            return False

    def compare(self, rows: DataFrame, keyed: Keyed, batch: Batch) -> DataFrame:
        there = self._fresh_head() is not None
        table = with_files(self._spark().read.format("delta").load(self._path())) if there else None
        return classified(rows, table, keyed, batch, self._floor(keyed))

    def rows(self, span: Span | None) -> DataFrame | None:
        head = self._fresh_head()
        if head is None:
            return None
        found = plain_rows(self._spark(), self._log, span, head.version)
        if found is not None:
            return found
        table = self._spark().read.format("delta").load(self._path())
        return table if span is None else table.where(span.sql)

    def forget(self, keyed: Keyed, before: datetime, stamp: Stamp) -> int:
        head = self._fresh_head()
        if head is None or head.schema.get(DELETED_AT) is None:
            return 0
        condition = f"{quote(DELETED_AT)} < {literal(before)}"
        old = self._spark().read.format("delta").load(self._path()).where(condition)
        count = old.count()
        if count == 0:
            return 0
        floor = version_text(keyed, head.schema, old, self._floor(keyed))
        assert floor is not None
        # Remembered first: whoever is killed in between refuses a little too much, and forgets nothing.
        with self._committing():
            known = json.dumps({"by": list(keyed.version_by), "version": floor})
            self._spark().sql(set_statement(self.reference, {_FORGOTTEN: known}))
        self._execute(f"DELETE FROM {self.reference} WHERE {condition}", {_METADATA: stamp.text})
        return count

    def latest_epoch(self) -> int:
        head = self._fresh_head()
        if head is None or head.schema.get(EPOCH) is None:
            return 0
        table = self._spark().read.format("delta").load(self._path())
        found = table.selectExpr(f"max({quote(EPOCH)}) AS epoch").first()
        return 0 if found is None or found["epoch"] is None else int(found["epoch"])

    def measure(self, span: Span | None, version: int) -> Measures:
        rows = plain_rows(self._spark(), self._read_log(), span, version)
        if rows is None:
            rows = self._at(version) if span is None else self._at(version).where(span.sql)
        expressions = measure_expressions(schema_of(rows))
        found = rows.selectExpr(*[f"{sql} AS {quote(name)}" for name, sql in expressions.items()]).first()
        assert found is not None
        measures = read_measures(found.asDict())
        assert measures is not None, "more than 2**41 rows in one window"
        return measures

    def measure_windows(self, spans: Spans, version: int, *, like: int | None = None) -> list[Measures]:
        rows = self._at(version)
        schema = schema_of(rows) if like is None else self._schema_at(like)
        return measure_by(rows.where(spans.sql).selectExpr("*", f"{spans.number} AS {AT}"), schema, len(spans.parts))

    def measure_published(self, spans: Spans, version: int) -> list[Measures]:
        log = self._read_log()
        found = None
        if log is not None and self._location is not None:
            found = measure_files(self._spark(), self._location, log, spans, version)
        return self.measure_windows(spans, version) if found is None else found

    def lineage(self, keyed: Keyed, window_key: str, version: int) -> Lineage:
        from samewise.targets.delta_lineage import can_show, is_gone, lineage

        now = self._spark().read.format("delta").load(self._path())
        try:
            return lineage(self._at(version), now, keyed, window_key)
        except Exception as error:
            # A file that the table still needs may be the one that is missing: that is another story.
            if is_gone(error) and can_show(now, window_key):
                raise NoOlderVersion(self.key, version) from error
            raise

    def _schema_at(self, version: int) -> Schema:
        from samewise.targets.delta_lineage import is_gone

        try:
            return schema_of(self._at(version))
        except Exception as error:
            if is_gone(error):
                raise NoOlderVersion(self.key, version) from error
            raise

    def _at(self, version: int) -> DataFrame:
        return self._spark().read.format("delta").option("versionAsOf", version).load(self._path())

    def _read_log(self, *, fresh: bool = False) -> Log | None:
        if not fresh and time.monotonic() - self._log_read_at < _LOG_SECONDS:
            return self._log
        self._log = self._open_log()
        self._log_read_at = time.monotonic()
        return self._log

    def _open_log(self) -> Log | None:
        if self._location is not None:
            try:
                return DeltaLog.open(self._location)
            except CannotRead:
                pass  # Spark reads whatever Delta writes, at the price of a JVM.
        return SparkDeltaLog.open(self._spark(), self.reference)

    def _fresh_head(self) -> Head | None:
        self._read_log(fresh=True)
        return self.head()

    def _path(self) -> str:
        """Where the table lies. A catalog knows that for its tables."""
        if self._location is not None:
            return spark_folder(self._location)
        detail = self._spark().sql(f"DESCRIBE DETAIL {self.reference}").first()
        assert detail is not None
        return str(detail["location"])

    def _check_place(self) -> None:
        """Raise if somebody else's files lie where the table is to be: the first VACUUM would remove them."""
        if self._location is None:
            return
        files = list_files(join(self._location, "**"))
        # With a table by now they are another run's, which came first.
        if files and self._fresh_head() is None:
            raise ConfigError(
                f"{self._location} has files in it, and is no Delta table: {files[0].path}",
                kept="nothing was written there",
                next_step="name another table or path, or move these files away",
            )

    def _create(self, schema: Schema, owner: Owner, partition_by: Sequence[str], *, keyed: bool) -> None:
        if self._is_direct and self._create_directly(schema, owner, partition_by, keyed=keyed):
            return
        statement = create_statement(
            self.reference, schema, owner, partition_by, keyed=keyed, deletion_vectors=self._deletion_vectors
        )
        try:
            with self._committing():
                self._spark().sql(statement)
        except Exception as error:
            from samewise.storage.failures import read_failure

            if "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION" not in read_failure(error).conditions:
                raise
            # Another window's first load is at it: half of the table is there already.
            raise Conflict("another run is creating the table") from error

    def _create_directly(self, schema: Schema, owner: Owner, partition_by: Sequence[str], *, keyed: bool) -> bool:
        """Create a plain table without asking Spark; False where that is for Spark to do."""
        assert self._location is not None
        plain = is_plain_schema(schema, partition_by) and makes_plain_tables(self._spark())
        if not plain or (keyed and self._deletion_vectors):
            return False
        try:
            create_table(self._location, schema, partition_by, first_properties(schema, owner, keyed=keyed))
        except Exception:
            return False  # Spark says what is wrong with the place, if it is no other run that came first.
        finally:
            self._log_read_at = float("-inf")
        return True

    def _create_over(self, schema: Schema, partition_by: Sequence[str]) -> None:
        """Create the table where a creation was cut off, or is under way elsewhere. A table that is there stays."""
        # CREATE TABLE takes any folder with something in it for the table, also a log without a commit. The
        # writer looks at the commits.
        writer = self._spark().createDataFrame([], columns_text(schema)).write.format("delta").mode("ignore")
        with self._committing():
            writer.partitionBy(*partition_by).save(self._path())

    def _set_owner(self, owner: Owner, *, adopted: bool = False) -> None:
        # A change of the table's metadata: a commit under way from the former owner conflicts with it,
        # reads the owner again, and is refused.
        with self._committing():
            self._spark().sql(own_statement(self.reference, owner, adopted=adopted))

    def _prepare_for_keys(self, wanted: Schema, there: Schema) -> None:
        assert self._log is not None
        statements = key_statements(self.reference, wanted, there, self._log.properties)
        if statements:
            with self._committing():
                for statement in statements:
                    self._spark().sql(statement)

    def _merge(self, rows: DataFrame, keyed: Keyed, batch: Batch, stamp: Stamp) -> None:
        # MERGE takes its token from the session's conf, so it runs in a session of its own; a global view is
        # how rows of one session are seen from another.
        view = f"samewise_{stamp.attempt_id}"
        rows.createOrReplaceGlobalTempView(view)
        try:
            statement = merge_statement(self.reference, f"global_temp.{quote(view)}", schema_of(rows), keyed, batch)
            # Delta would copy the rows first, in case that a second look shows others: these lie in files of
            # this attempt, which nobody changes. And Spark would sort the whole table to join it with them.
            self._execute(
                statement,
                {
                    _APP_ID: stamp.app_id,
                    _APP_VERSION: str(stamp.generation),
                    _METADATA: stamp.text,
                    _COPY_OF_SOURCE: "none",
                    _SORT_FIRST: "false",
                },
            )
        finally:
            rows.sparkSession.catalog.dropGlobalTempView(view)

    def _write_anew(self, rows: DataFrame, keyed: Keyed, stamp: Stamp, parts: int) -> None:
        # Delta reads a table that is being overwritten as it is when the commit begins, and refuses the commit if
        # another one comes first: no row of anybody is lost, however long ago this was planned.
        table = self._spark().read.format("delta").load(self._path())
        with self._committing():
            writer = rewritten(table, rows, keyed, parts).write.format("delta").mode("overwrite")
            writer.options(**token(stamp)).save(self._path())

    @property
    def _is_plain_place(self) -> bool:
        """Whether entries of the table's log may come from others than Delta's own writer."""
        return self._writer is Writer.AUTO and self._location is not None and is_local(self._location)

    @property
    def _is_direct(self) -> bool:
        """Whether its files may, too."""
        if self._is_plain_place and self._has_plain_session is None:
            self._has_plain_session = writes_plain_files(self._spark())
        return self._is_plain_place and bool(self._has_plain_session)

    def _ground(self, columns: Schema, write: Write) -> Ground | None:
        return ground_for(self._read_log(fresh=True), columns, write) if self._is_direct else None

    def _execute(self, statement: str, conf: Mapping[str, str]) -> None:
        """Run one statement that commits, with what its commit is to carry."""
        with self._committing(), self._spark.alone() as spark:
            for key, value in conf.items():
                spark.conf.set(key, value)
            try:
                spark.sql(statement)
            finally:
                for key in conf:
                    spark.conf.unset(key)

    def _floor(self, keyed: Keyed) -> str | None:
        """The version up to which deleted keys have been forgotten; None if none has been."""
        text = None if self._log is None else self._log.properties.get(_FORGOTTEN)
        if text is None:
            return None
        known = json.loads(text)
        if list(known["by"]) != list(keyed.version_by):
            raise ConfigError(
                f"{self.key} has forgotten deletes by {', '.join(known['by'])}, and write.version_by is now "
                f"{', '.join(keyed.version_by)}",
                kept="the target is untouched",
                next_step="take version_by back; or name another target, to be loaded from the start",
                code="changed_version",
            )
        return str(known["version"])

    def _append_nothing(self, stamp: Stamp) -> None:
        with self._committing():
            if self._is_plain_place and burn_directly(stamp, partial(self._read_log, fresh=True)):
                return
        nothing = self._spark().read.format("delta").load(self._path()).limit(0)
        with self._committing():
            nothing.write.format("delta").mode("append").options(**token(stamp)).save(self._path())

    @contextmanager
    def _committing(self) -> Iterator[None]:
        try:
            with committing(self.reference):
                yield
        finally:
            self._log_read_at = float("-inf")


def _generation(commit: TargetCommit) -> tuple[int, int]:
    assert commit.stamp is not None
    return commit.stamp.generation, commit.version
