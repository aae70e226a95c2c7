"""A Delta table as a source, pinned to the version that is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote

from samewise.core.errors import PinsGone, Refused, SamewiseError
from samewise.core.ids import stable_hash
from samewise.core.ports import Bounds, Spark, TimeColumn
from samewise.core.records import Pins
from samewise.core.schema import Column, Schema
from samewise.core.shapes import Fit, Shape, Taken
from samewise.core.sql import AT, Span, Spans, quote
from samewise.core.windows import Window, instant_text, parse_instant
from samewise.sources import fitting
from samewise.sources.failure_text import failure_text
from samewise.sources.fitting import fitted, with_casts
from samewise.storage import files as storage
from samewise.storage.delta_log import CannotRead, DeltaLog, Log, SparkDeltaLog, VersionGone
from samewise.storage.files import is_local, join, spark_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Answer = TypeVar("Answer")

_SINCE = "delta_since"

_VANISHED = (
    "FAILED_READ_FILE.FILE_NOT_EXIST",
    "DELTA_FILE_NOT_FOUND",
    "DELTA_VERSION_NOT_FOUND",
    "FileNotFoundException",
)


class DeltaSource:
    """A table at `location`, or, where `table` is given, a table of Spark's catalog.

    `span` says which rows belong to a window, given the table's schema; without it every window reads
    the whole table. The fingerprint is that of the files which may hold the window's rows: a commit
    that touches other files leaves the window as it was. `since` finds the column by which an incremental
    task goes on from where it was.
    """

    def __init__(
        self,
        location: str | None,
        table: Sequence[str] | None,
        spark: Spark,
        *,
        span: Callable[[Schema, Window], Span | None] | None = None,
        since: Callable[[Schema], TimeColumn] | None = None,
        version: int | None = None,
    ) -> None:
        if (location is None) == (table is None):
            raise ValueError("a Delta source is a location or a catalog table, not both")
        self._location = location
        self._table = table
        self._spark = spark
        self._span = span
        self._read: dict[str, list[tuple[DataFrame, Fit]]] = {}
        self._since = since
        self._fixed = version

    @property
    def version(self) -> int | None:
        return self._ask(lambda log: None if log is None else log.version)

    def at_version(self, version: int) -> DeltaSource:
        return DeltaSource(
            self._location, self._table, self._spark, span=self._span, since=self._since, version=version
        )

    @property
    def pins_without_spark(self) -> bool:
        """A table of a catalog is found by Spark alone."""
        return self._location is not None

    @property
    def name(self) -> str:
        """The table, for a person."""
        return ".".join(self._table) if self._table is not None else str(self._location)

    def pin(self, window: Window) -> Pins:
        return self._ask(lambda log: self._pins(log, window))

    def pin_since(self, wanted: Bounds, last: Pins | None) -> Pins:
        return self._ask(lambda log: self._pins_since(log, wanted, last))

    def check(self, pins: Pins) -> None:
        self._ask(lambda log: self._check(log, pins))

    def shapes(self, pins: Pins) -> list[Shape]:
        return [Shape(self._schema(pins), (self.name,))]

    def read(self, pins: Pins, window: Window, fits: Sequence[Fit] | None = None) -> DataFrame:
        rows = self._table_at(pins)
        span = self._span_pinned(pins, window)
        if span is not None:
            rows = rows.where(span.sql)
        if fits is None:
            return rows
        (fit,) = fits
        self._read[pins.fingerprint] = with_casts([(rows, fit)])
        return fitted(rows, fit)

    def read_many(
        self, pins: Sequence[Pins], windows: Sequence[Window], fits: Sequence[Sequence[Fit] | None]
    ) -> DataFrame | None:
        """One read of the version that all of them pin; None where they pin several, or the whole table."""
        versions = {(each.kind, each.details["version"], each.details["table_id"]) for each in pins}
        if len(versions) != 1 or any(each is None or each != fits[0] for each in fits):
            return None
        schema = self._schema(pins[0])
        found = [self._span_of(schema, window) for window in windows]
        parts = tuple(span for span in found if span is not None)
        if len(parts) != len(windows):
            return None
        assert fits[0] is not None
        (fit,) = fits[0]
        if any(taken.casts for taken in fit):
            return None  # A value that does not fit is told with its window.
        spans, tag = Spans(parts), Column(AT, "int")
        rows = self._table_at(pins[0]).where(spans.sql).selectExpr("*", f"{spans.number} AS {quote(AT)}")
        return fitted(rows, (*fit, Taken(tag, tag)))

    def malformed(self, pins: Pins) -> DataFrame | None:
        """A Delta table has no malformed rows."""
        return None

    def release(self, pins: Pins) -> None:
        self._read.pop(pins.fingerprint, None)

    def horizon(self) -> None:
        """A table that is pinned to a version has no clock."""

    def explain_failure(self, error: BaseException, pins: Pins) -> SamewiseError | None:
        """What a failure of a job that reads these pins really means; None if this source is not at fault."""
        try:
            self.check(pins)
        except PinsGone as gone:
            return gone
        text = failure_text(error)
        # The file that is missing may be another one: only a file of this very table counts.
        if any(word in text for word in _VANISHED) and self._is_named_in(text):
            return _gone(f"a file of {self.name} at version {pins.details['version']} has vanished")
        return fitting.refusal(error, self._read.get(pins.fingerprint, []))

    def _table_at(self, pins: Pins) -> DataFrame:
        reader = self._spark().read.option("versionAsOf", int(pins.details["version"]))
        if self._table is not None:
            return reader.table(self._reference)
        assert self._location is not None
        return reader.format("delta").load(spark_folder(self._location))

    @property
    def _reference(self) -> str:
        if self._table is not None:
            return ".".join(quote(part) for part in self._table)
        assert self._location is not None
        return f"delta.{quote(spark_folder(self._location))}"

    def _ask(self, question: Callable[[Log | None], Answer]) -> Answer:
        """Ask the log without Spark where that works: Spark reads whatever Delta writes, but needs a JVM."""
        if self._location is not None:
            try:
                return question(DeltaLog.open(self._location))
            except CannotRead:
                pass
        return question(SparkDeltaLog.open(self._spark(), self._reference))

    def _pins(self, log: Log | None, window: Window) -> Pins:
        if log is None:
            raise self._no_table()
        version = log.version if self._fixed is None else self._fixed
        try:
            files = log.files(self._span_of(log.schema_at(version), window), version)
        except VersionGone as error:
            raise _gone(f"{self.name} cannot be read at version {version} any more") from error
        return Pins(
            kind="delta",
            fingerprint=stable_hash(["delta", log.table_id, [list(file) for file in files]]),
            summary=f"{self.name} at version {version}",
            details={
                "version": version,
                "table_id": log.table_id,
                "bytes": sum(file.size_bytes for file in files),
            },
        )

    def _pins_since(self, log: Log | None, wanted: Bounds, last: Pins | None) -> Pins:
        if log is None:
            raise self._no_table()
        assert self._since is not None
        column = self._since(log.schema)
        bounds = column.fit(wanted)
        lower = None if bounds.lower is None else instant_text(bounds.lower)
        upper = instant_text(bounds.upper)
        if last is not None and self._nothing_new(log, column, bounds, last):
            fingerprint = last.fingerprint
        else:
            fingerprint = stable_hash(["since", lower, upper, _hashed(log, column.span(bounds))])
        return Pins(
            kind=_SINCE,
            fingerprint=fingerprint,
            summary=f"{self.name} at version {log.version}, from {lower or 'the beginning'} to {upper}",
            details={
                "version": log.version,
                "table_id": log.table_id,
                "from": lower,
                "to": upper,
                "seen": _hashed(log, column.onwards(bounds.lower)),
            },
        )

    def _nothing_new(self, log: Log, column: TimeColumn, bounds: Bounds, last: Pins) -> bool:
        """True if every row within the bounds was there when the last run read them, and was within its bounds."""
        if last.kind != _SINCE or last.details["table_id"] != log.table_id:
            return False
        before = _bounds(last)
        reaches_back = before.lower is not None and (bounds.lower is None or bounds.lower < before.lower)
        if reaches_back or log.files(column.onwards(before.upper), log.version):
            return False
        if last.details["version"] == log.version:
            return True
        return bool(_hashed(log, column.onwards(before.lower)) == last.details["seen"])

    def _no_table(self) -> Refused:
        return Refused(
            f"there is no Delta table {self.name}",
            code="no_table",
            next_step="check the name, or load that table first",
        )

    def _check(self, log: Log | None, pins: Pins) -> None:
        version = int(pins.details["version"])
        if log is None:
            raise _gone(f"{self.name} has vanished since it was pinned")
        if log.table_id != pins.details["table_id"] or version > log.version:
            raise _gone(f"{self.name} is another table than the one that was pinned")
        if version == log.version:
            return
        try:
            if isinstance(log, DeltaLog):
                self._check_files(log, version)
            else:
                log.schema_at(version)
        except VersionGone as error:
            raise _gone(f"{self.name} cannot be read at version {version} any more") from error

    def _schema(self, pins: Pins) -> Schema:
        return self._ask(lambda log: self._schema_in(log, pins))

    def _schema_in(self, log: Log | None, pins: Pins) -> Schema:
        if log is None:
            raise _gone(f"{self.name} has vanished since it was pinned")
        try:
            return log.schema_at(int(pins.details["version"]))
        except VersionGone as error:
            raise _gone(f"{self.name} cannot be read as it was pinned: {error}") from error

    def _span_pinned(self, pins: Pins, window: Window) -> Span | None:
        schema = self._schema(pins)
        if pins.kind != _SINCE:
            return self._span_of(schema, window)
        assert self._since is not None
        return self._since(schema).span(_bounds(pins))

    def _span_of(self, schema: Schema, window: Window) -> Span | None:
        return None if self._span is None else self._span(schema, window)

    def _check_files(self, log: DeltaLog, version: int) -> None:
        """Files that a newer version does not use any more may have been removed from the disk."""
        assert self._location is not None
        then, now = log.files(None, version), log.files(None, log.version)
        if not is_local(self._location):
            return  # A look at every file costs a request each; a missing one fails the read.
        for path in sorted({file.path for file in then} - {file.path for file in now}):
            # A log may spell a path with escapes that the folder does not have.
            if not any(storage.stat(join(self._location, name)) for name in (path, unquote(path))):
                raise _gone(f"{self.name} cannot be read at version {version} any more: {path} was removed")

    def _is_named_in(self, text: str) -> bool:
        return self._table is not None or str(self._location).rstrip("/") in text


def _hashed(log: Log, span: Span) -> str:
    """A hash of the files that may hold rows of the span."""
    return stable_hash([log.table_id, [list(file) for file in log.files(span, log.version)]])


def _bounds(pins: Pins) -> Bounds:
    lower = pins.details["from"]
    return Bounds(None if lower is None else parse_instant(lower), parse_instant(pins.details["to"]))


def _gone(message: str) -> PinsGone:
    return PinsGone(message, next_step="run the same command again: it takes the table as it is then")
