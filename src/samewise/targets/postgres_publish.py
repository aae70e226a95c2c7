"""One publication: rows into a staging table, then everything else in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from samewise.core.errors import Conflict, Refused, Transient
from samewise.core.keyed import WRITTEN, Batch, content
from samewise.core.measures import Measures
from samewise.core.ownership import check_owner
from samewise.core.ports import Published, Write
from samewise.core.records import Owner, Stamp
from samewise.core.schema import Schema
from samewise.core.sql import Span, Spans
from samewise.storage.frames import schema_of
from samewise.storage.postgres import Relation, find_relation, name, names, run_bound, text
from samewise.targets import postgres_keyed as keyed_sql
from samewise.targets import postgres_stage as staging
from samewise.targets.postgres_book import PUBLISHING, Book, Entry
from samewise.targets.postgres_prepare import staged_columns, written_columns
from samewise.targets.postgres_tombs import Keys, floor_of

if TYPE_CHECKING:
    from psycopg.sql import Composable
    from pyspark.sql import DataFrame

    from samewise.storage.postgres import Session


@dataclass(slots=True)
class Publication:
    """The rows of one attempt on their way into a table."""

    book: Book
    place: tuple[str, str]
    there: Relation
    write: Write
    stamp: Stamp
    tombstones: tuple[str, str]
    swap: bool = False
    _staging: staging.Staging | None = field(init=False, default=None)
    _schema: Schema = field(init=False, default_factory=lambda: Schema(()))

    @property
    def key(self) -> str:
        return f"{self.place[0]}.{self.place[1]}"

    def stage(self, session: Session, rows: DataFrame) -> None:
        """Copy the rows into a table of this attempt's own."""
        shape = schema_of(rows)
        self._schema = written_columns(shape, self.write.keyed)
        columns = staged_columns(shape, self.write.keyed)
        hashed = shape if self.write.keyed is None else content(shape)
        if self.swap:
            from samewise.targets.postgres_swap import check_swap

            check_swap(session, self.place, self.there, self._schema, self._surplus(session))
        self._staging = staging.create(session, self.book.bookkeeping, self.stamp.attempt_id, self.there, columns)
        staging.fill(self._staging, session, rows, columns, hashed)

    def drop(self, session: Session) -> None:
        if self._staging is not None and staging.drop(self._staging, session):
            self._staging = None

    def publish(self, session: Session) -> Published:
        """Everything that lands together. The caller commits, or, where nothing was written, does not."""
        assert self._staging is not None
        entry = self._lock(session)
        if entry is None:
            return Published()
        measures = staging.check(self._staging, session)
        if not staging.agrees(measures, self.stamp.measures):
            raise Transient("the staged rows are not those that were verified", next_step="run the same command again")
        self.book.fold(session, entry)
        session.execute("SELECT set_config(%s, %s, true)", (PUBLISHING, str(self.there.oid)))
        if self.write.keyed is not None:
            return self._by_key(session, entry)
        if self.swap:
            from samewise.targets.postgres_swap import swap

            surplus = self._surplus(session)
            relid = swap(session, self.place, self.there, self._schema, surplus, self._staging, self.book)
            self.book.set_relid(session, entry, relid)
            self.book.set_columns(session, entry, self._schema.names)
        else:
            # Only a target that measures by window is given several at once.
            assert not isinstance(self.write.span, Spans)
            self._replace(session, entry, self.write.span)
        self._record(session, entry, measures, "SWAP" if self.swap else "REPLACE", measures.rows)
        return Published()

    def _lock(self, session: Session) -> Entry | None:
        """Hold the table's row and keep other writers out; None if the token is taken. Readers are not disturbed."""
        entry = self.book.find(session, lock=True)
        there = find_relation(session, *self.place)
        if entry is None or there is None or not entry.relid == there.oid == self.there.oid:
            raise Transient(f"{self.key} was dropped or made again meanwhile", next_step="run the same command again")
        if there.attributes != self.there.attributes:
            raise Conflict(f"the columns of {self.key} have changed meanwhile")
        stamp = self.stamp
        check_owner(entry.owner, Owner(stamp.store_id, stamp.pipeline, stamp.task), self.key)
        token = self.book.token(session, entry.table_id, stamp.app_id)
        if token is not None and token.generation >= stamp.generation:
            return None
        session.execute(text("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE").format(name(*self.place)))
        return entry

    def _replace(self, session: Session, entry: Entry, span: Span | None) -> None:
        assert self._staging is not None
        check_cascades(session, self.there.oid, self.key)
        columns = self._real(self._schema.names)
        where: Composable = text("true")
        values: list[Any] = []
        if span is not None:
            where, values = _predicate(span, self._real([span.column])[0])
            self._check_span(session, where, values)
        # One statement: a foreign key that points here is checked when the new rows are there, not in between.
        statement = text(
            "WITH gone AS (DELETE FROM {target} WHERE {where} RETURNING 1)"
            " INSERT INTO {target} ({columns}) SELECT {columns} FROM {stage} AS s"
            " WHERE (SELECT count(*) FROM gone) >= 0"
        )
        whole = statement.format(
            target=name(*self.place), where=where, columns=names(columns), stage=self._staging.rows
        )
        run_bound(session, whole, values)
        if span is not None and entry.version == 0:
            self._index(session, entry, self._real([span.column])[0])
        if span is None:
            self._drop_columns(session, entry)

    def _check_span(self, session: Session, where: Composable, values: Sequence[Any]) -> None:
        assert self._staging is not None
        query = text("SELECT count(*) FILTER (WHERE ({}) IS NOT TRUE), count(*) FROM {} AS s")
        found = run_bound(session, query.format(where, self._staging.rows), values).fetchone()
        assert found is not None
        if found[0]:
            raise Refused(
                f"{found[0]} of {found[1]} rows lie outside the window",
                code="outside_window",
                next_step="filter them in the transform, or leave out write.window_column so that late rows "
                "belong to the window that loaded them",
            )

    def _index(self, session: Session, entry: Entry, column: str) -> None:
        """With the first rows of a table that we made: without an index each window would read the whole of it."""
        if entry.columns:
            session.execute(text("CREATE INDEX ON {} ({})").format(name(*self.place), name(column)))

    def _drop_columns(self, session: Session, entry: Entry) -> None:
        """A refresh replaces the schema too: of the columns that we made, and of no others."""
        surplus = self._surplus(session)
        if surplus:
            drops = text(", ").join([text("DROP COLUMN {}").format(name(column)) for column in surplus])
            session.execute(text("ALTER TABLE {} {}").format(name(*self.place), drops))
            self.book.set_columns(session, entry, [column for column in entry.columns if column not in surplus])

    def _surplus(self, session: Session) -> list[str]:
        """Columns that we made once, and that the rows do not have any more."""
        entry = self.book.find(session)
        wanted = {column.lower() for column in self._schema.names}
        known = () if entry is None else entry.columns
        return [c for c in known if c.lower() not in wanted and self.there.attribute(c) is not None]

    def _by_key(self, session: Session, entry: Entry) -> Published:
        keyed = self.write.keyed
        assert keyed is not None and self._staging is not None
        keys = Keys.of(keyed, self.place, self.tombstones, self.there)
        columns = self._real(self._schema.names)
        if keyed.updates:
            batch = self.write.batch or Batch({})
            floor = floor_of(entry, keyed, self.key)
            counts = keyed_sql.merge(session, self._staging, keys, columns, batch.era, floor)
        else:
            counts = keyed_sql.insert_new(session, self._staging, keys, columns)
        counts = {change: count for change, count in counts.items() if count}
        written = sum(counts.get(change, 0) for change in WRITTEN)
        if written == 0:
            return Published(counts, wrote=False)
        self.stamp = replace(self.stamp, changes=counts)
        self._record(session, entry, None, "MERGE" if keyed.updates else "INSERT", written)
        return Published(counts)

    def _record(self, session: Session, entry: Entry, measures: Measures | None, operation: str, rows: int) -> None:
        stamp = self.stamp
        if stamp.measures is None and measures is not None:
            stamp = replace(stamp, measures=measures.to_json())
        self.book.record(session, entry.table_id, stamp, operation, rows)

    def _real(self, columns: Sequence[str]) -> list[str]:
        """The names that the table itself has for these columns."""
        found = [(column, self.there.attribute(column)) for column in columns]
        return [column if attribute is None else attribute.name for column, attribute in found]


_CASCADES = """
SELECT format('%%I on %%s', c.conname, c.conrelid::regclass) FROM pg_constraint c
WHERE c.confrelid = %s AND c.contype = 'f' AND c.confdeltype IN ('c', 'n', 'd')
"""


def check_cascades(session: Session, oid: int, key: str) -> None:
    """Raise if replacing rows would change rows of other tables: a cascade does not know that they come back."""
    found = session.execute(_CASCADES, (oid,)).fetchall()
    if found:
        raise Refused(
            f"replacing rows of {key} would delete or empty rows elsewhere, by the foreign key {found[0][0]}",
            code="target_constraint",
            next_step="make that foreign key ON DELETE NO ACTION, or write by key (merge), which updates rows in place",
        )


def _predicate(span: Span, column: str) -> tuple[Composable, list[Any]]:
    """The rows of a span, with bound values: never true for NULL."""
    if span.upper is None:
        return text("{} = $1").format(name(column)), [span.lower]
    kind = _type_of(span.lower)
    return text(f"{{0}} >= $1::{kind} AND {{0}} < $2::{kind}").format(name(column)), [span.lower, span.upper]


def _type_of(value: str | date | datetime) -> str:
    if isinstance(value, datetime):
        return "timestamp" if value.tzinfo is None else "timestamptz"
    return "date" if isinstance(value, date) else "text"
