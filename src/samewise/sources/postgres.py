"""A table or a query of a PostgreSQL database as a source: read in parallel, in one snapshot."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from samewise.core.connections import PostgresConnection
from samewise.core.errors import ConfigError, PinsGone, Refused, SamewiseError, Transient
from samewise.core.ids import stable_hash
from samewise.core.pg_sql import filled_in, without_end
from samewise.core.ports import Bounds, Spark, TimeColumn
from samewise.core.records import Pins
from samewise.core.schema import Schema
from samewise.core.shapes import Fit, Shape, as_it_is
from samewise.core.sql import Span, quote
from samewise.core.windows import FULL, Window, instant_text, parse_instant
from samewise.sources import fitting, postgres_reader
from samewise.sources.failure_text import failure_text
from samewise.sources.fitting import fitted, with_casts
from samewise.sources.postgres_horizon import READ_PURPOSE, find_horizon
from samewise.sources.postgres_query import Asked, Described, Value, both, describe, select, use_path, within
from samewise.sources.postgres_reader import GONE, MARK, REFUSED, SETTINGS, Reading, Told, as_function
from samewise.sources.postgres_snapshot import Snapshot, Snapshots
from samewise.sources.postgres_split import Split, shares
from samewise.sources.postgres_types import Carried, check_carried
from samewise.storage.postgres import APPLICATION, connect, explained, text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from samewise.storage.postgres import Session

_SINCE = "postgres_since"
_TOLD = re.compile(rf"{MARK}\[(\w+)\] (.*?) {MARK}\.", re.DOTALL)
_AGAIN = "run the same command again"

Values = Callable[[Window], Mapping[str, Value]]


@dataclass(frozen=True, slots=True)
class Ways:
    """How a source's rows belong to windows and to each other; the wiring knows, from the spec."""

    span: Callable[[Schema, Window], Span | None] | None = None
    since: Callable[[Schema], TimeColumn] | None = None
    has_lag: bool = False
    """True where the pipeline says how late a row may commit."""
    fingerprint: str | None = None
    """A SELECT whose answer changes whenever the rows do; without one nobody can know."""
    split: Split = field(default_factory=Split)
    values: Values = lambda _: {}
    """What a query's parameters mean for a window."""


class PostgresSource:
    """Rows of a table or a query. Every attempt reads them in one snapshot, however many readers it has."""

    def __init__(self, place: PostgresConnection, asked: Asked, spark: Spark, ways: Ways | None = None) -> None:
        self._place = place
        self._asked = asked
        self._spark = spark
        self._ways = ways or Ways()
        self._snapshots = Snapshots()
        self._read: dict[str, list[tuple[DataFrame, Fit]]] = {}

    @property
    def name(self) -> str:
        """The table, or the query, and the database, for a person."""
        return f"{self._asked.label} of {self._place.place}"

    def pin(self, window: Window) -> Pins:
        with self._session() as session:
            described = self._described(session, window)
            schema = self._schema(described)
            if self._ways.span is not None:
                self._ways.span(schema, window)
            fingerprint, can_tell = self._fingerprint(session, described, window)
        return Pins(
            kind="postgres",
            fingerprint=fingerprint,
            summary=self.name,
            details={"oid": described.oid, "can_tell": can_tell},
        )

    def horizon(self) -> datetime | None:
        with self._session() as session:
            return find_horizon(session, own_name=_READERS, has_lag=self._ways.has_lag).at

    def pin_since(self, wanted: Bounds, last: Pins | None) -> Pins:
        assert self._ways.since is not None
        with self._session() as session:
            described = self._described(session, FULL)
            bounds = self._ways.since(self._schema(described)).fit(wanted)
            lower = None if bounds.lower is None else instant_text(bounds.lower)
            upper = instant_text(bounds.upper)
            found, can_tell = self._fingerprint(session, described, None)
        nothing_new = can_tell and last is not None and last.kind == _SINCE and last.details.get("found") == found
        return Pins(
            kind=_SINCE,
            fingerprint=last.fingerprint if nothing_new and last is not None else stable_hash([lower, upper, found]),
            summary=f"{self.name}, from {lower or 'the beginning'} to {upper}",
            details={"oid": described.oid, "from": lower, "to": upper, "found": found, "can_tell": can_tell},
        )

    def check(self, pins: Pins) -> None:
        with self._session() as session:
            try:
                described = self._described(session, _ANY)
            except Refused as error:
                raise _gone(f"{self.name} has vanished since it was pinned") from error
        if described.oid != pins.details["oid"]:
            raise _gone(f"{self.name} is another table than the one that was pinned")

    def shapes(self, pins: Pins) -> list[Shape]:
        with self._session() as session:
            described = self._described(session, _ANY)
        return [Shape(self._schema(described), (self.name,))]

    def read(self, pins: Pins, window: Window, fits: Sequence[Fit] | None = None) -> DataFrame:
        """Open a snapshot and give the rows that it holds, lazily. `release` lets go of it."""
        snapshot = Snapshot(self._place, self._asked)
        self._snapshots.add(pins.fingerprint, snapshot)
        with explained(self.name):
            described = self._described(snapshot.session, window)
            schema = self._schema(described)
            (fit,) = fits if fits is not None else (as_it_is(Shape(schema, (self.name,))),)
            columns = self._wanted(described, fit)
            statements = self._statements(snapshot.session, described, pins, window, columns)
            reading = Reading(
                snapshot.conninfo,
                snapshot.name,
                tuple(statements),
                tuple(Told(column.name, str(column.spark)) for column in columns),
                search_path=snapshot.search_path,
                checks_text=snapshot.checks_text,
            )
        rows = self._frame(reading)
        if fits is None:
            return rows
        self._read[pins.fingerprint] = with_casts([(rows, fit)])
        return fitted(rows, fit)

    def release(self, pins: Pins) -> None:
        self._snapshots.close(pins.fingerprint)
        self._read.pop(pins.fingerprint, None)

    def malformed(self, pins: Pins) -> DataFrame | None:
        """A table has no malformed rows."""
        return None

    def explain_failure(self, error: BaseException, pins: Pins) -> SamewiseError | None:
        """What a failure of a job that reads these pins really means; None if this source is not at fault."""
        found = _TOLD.search(failure_text(error))
        if found is not None:
            return self._told(found[1], " ".join(found[2].split()))
        try:
            self.check(pins)
        except (PinsGone, Transient) as known:
            return known
        if not self._snapshots.all_alive(pins.fingerprint):
            return self._told(GONE, "the transaction that held the snapshot was ended")
        return fitting.refusal(error, self._read.get(pins.fingerprint, []))

    def _told(self, kind: str, sentence: str) -> SamewiseError:
        if kind == REFUSED:
            return Refused(
                f"{self.name}: {sentence}", code="unsupported_value", next_step="mend the source or the query"
            )
        if kind == SETTINGS:
            return ConfigError(
                f"{self.name}: {sentence}",
                code="connection",
                next_step="mend the connection, the role's privileges or the workers' packages",
            )
        what = f"the snapshot is gone: {sentence}" if kind == GONE else sentence
        return Transient(f"{self.name}: {what}", next_step=f"{_AGAIN}: it reads in a new snapshot")

    @contextmanager
    def _session(self) -> Iterator[Session]:
        with connect(self._place, purpose="plan") as session, explained(self.name):
            yield session

    def _described(self, session: Session, window: Window) -> Described:
        return describe(session, self._asked, self._ways.values(window))

    def _schema(self, described: Described) -> Schema:
        return check_carried(described.columns, self.name)

    def _fingerprint(self, session: Session, described: Described, window: Window | None) -> tuple[str, bool]:
        """A hash of the fingerprint query's answer; without one, something that was never there before."""
        if self._ways.fingerprint is None:
            return uuid.uuid4().hex, False
        from psycopg import sql

        use_path(session, self._asked)
        literals = {name: sql.Literal(value).as_string(session) for name, value in described.values.items()}
        statement = without_end(filled_in(self._ways.fingerprint, literals))
        session.execute("BEGIN READ ONLY")
        rows = session.execute(text(statement)).fetchall()
        session.execute("ROLLBACK")
        answer = [[None if value is None else str(value) for value in row] for row in rows]
        where = None if window is None else window.key
        return stable_hash(["postgres", described.oid, where, list(answer)]), True

    def _wanted(self, described: Described, fit: Fit) -> tuple[Carried, ...]:
        """The columns that are read, as they are now. Raises `PinsGone` if one has changed since it was looked at."""
        by_name = {column.name: column for column in described.columns}
        found: list[Carried] = []
        for taken in fit:
            if taken.found is None:
                continue
            column = by_name.get(taken.found.name)
            if column is None or column.spark != taken.found.type:
                raise _gone(f"{self.name}: the column {taken.found.name} was changed while the run began")
            found.append(column)
        return tuple(dict.fromkeys(found)) or (described.columns[0],)

    def _statements(
        self, session: Session, described: Described, pins: Pins, window: Window, columns: tuple[Carried, ...]
    ) -> list[str]:
        where = self._where(self._schema(described), pins, window)
        whole = select(session, self._asked, described, columns, where)
        conditions = shares(session, whole, self._asked, described, self._ways.split)
        return [select(session, self._asked, described, columns, both(where, one)) for one in conditions]

    def _where(self, schema: Schema, pins: Pins, window: Window) -> object:
        if pins.kind == _SINCE:
            assert self._ways.since is not None
            lower = pins.details["from"]
            bounds = Bounds(None if lower is None else parse_instant(lower), parse_instant(pins.details["to"]))
            return within(self._ways.since(schema).span(bounds), lower=lower is not None)
        return None if self._ways.span is None else within(self._ways.span(schema, window))

    def _frame(self, reading: Reading) -> DataFrame:
        from pyspark import cloudpickle

        # The workers may have no Samewise.
        cloudpickle.register_pickle_by_value(postgres_reader)  # type: ignore[no-untyped-call]
        readers = len(reading.statements)
        types = ", ".join(f"{quote(column.name)} {column.type}" for column in reading.columns)
        return self._spark().range(0, readers, 1, readers).mapInArrow(as_function(reading), types)


_ANY = Window(datetime(2000, 1, 1, tzinfo=UTC), datetime(2000, 1, 2, tzinfo=UTC))
"""Something to fill in where only the columns are asked for: they are the same for every window."""
_READERS = f"{APPLICATION} {READ_PURPOSE}"


def _gone(message: str) -> PinsGone:
    return PinsGone(message, next_step=f"{_AGAIN}: it takes the table as it is then")


__all__ = ["Asked", "PostgresSource", "Split", "Ways"]
