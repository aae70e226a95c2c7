"""A table of PostgreSQL as a target: one transaction publishes, and carries the token and who wrote it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from samewise.core.connections import PostgresConnection
from samewise.core.errors import MayHaveLanded, NoOlderVersion, SamewiseError, Transient
from samewise.core.keyed import Batch, Keyed
from samewise.core.measures import Measures
from samewise.core.ownership import check_owner
from samewise.core.ports import Head, Published, Spark, Write
from samewise.core.records import Answer, Landed, Owner, RunRecord, Stamp, TargetCommit
from samewise.core.schema import Schema
from samewise.core.sql import Span
from samewise.storage.postgres import Relation, connect, explained, find_relation, name, text
from samewise.storage.postgres_idle import IdleSession
from samewise.targets import postgres_stage as staging
from samewise.targets.postgres_book import Book, Entry
from samewise.targets.postgres_types import fitted_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from samewise.storage.postgres import Session

Result = TypeVar("Result")


class PostgresTarget:
    """A table of a database. Whatever is asked, is asked of the server: nothing is remembered here."""

    def __init__(
        self, connection: PostgresConnection, schema: str, table: str, spark: Spark, *, swap: bool = False
    ) -> None:
        self._connection = connection
        self._schema = schema
        self._table = table
        self._spark = spark
        self._swap = swap
        self._book = Book(connection.bookkeeping, schema, table)
        self._idle = IdleSession(connection)

    @property
    def connection(self) -> PostgresConnection:
        return self._connection

    @property
    def place(self) -> tuple[str, str]:
        """Schema and table."""
        return self._schema, self._table

    @property
    def key(self) -> str:
        return f"postgres:{self._connection.place}/{self._schema}.{self._table}"

    @property
    def works_alone(self) -> bool:
        return True

    # What is there

    def exists(self) -> bool:
        return self._read(lambda session: self._relation(session) is not None)

    def head(self) -> Head | None:
        return self._read(self._head)

    def count_rows(self) -> int:
        """How many rows there are now. Deleted keys lie beside the table."""

        def ask(session: Session) -> int:
            if self._relation(session) is None:
                return 0
            found = session.execute(text("SELECT count(*) FROM {}").format(name(*self.place))).fetchone()
            return 0 if found is None else int(found[0])

        return self._read(ask)

    def generation(self, app_id: str) -> int:
        def ask(session: Session) -> int:
            entry = self._entry(session)
            token = None if entry is None else self._book.token(session, entry.table_id, app_id)
            return 0 if token is None else token.generation

        return self._read(ask)

    def commits(self, since: int) -> Sequence[TargetCommit] | None:
        def ask(session: Session) -> Sequence[TargetCommit] | None:
            entry = self._entry(session)
            if entry is None or since > entry.version or not self._book.watches(session, entry.relid):
                return None
            found = self._book.commits(session, entry, since)
            numbered = sum(commit.version <= entry.version for commit in found)
            # Every number has its commit: one that is missing was deleted, and with it what it said.
            return found if numbered == entry.version - max(since, -1) else None

        return self._read(ask)

    def known_commits(self) -> Sequence[TargetCommit]:
        def ask(session: Session) -> Sequence[TargetCommit]:
            entry = self._entry(session)
            return [] if entry is None else self._book.commits(session, entry, -1)

        return self._read(ask)

    def landed(self, run: RunRecord) -> Landed:
        def ask(session: Session) -> Landed:
            entry = self._entry(session)
            token = None if entry is None else self._book.token(session, entry.table_id, run.app_id)
            if entry is None or token is None or token.generation < run.generation:
                return Landed(Answer.ABSENT)
            found = self._book.commits(session, entry, token.version - 1)
            commit = next((c for c in found if c.version == token.version and c.stamp is not None), None)
            mine = (token.generation, token.run_id, token.kind) == (run.generation, run.run_id, "data")
            return Landed(Answer.MINE if mine else Answer.SUPERSEDED, commit)

        return self._read(ask)

    def fitted(self, result: Schema) -> Schema:
        from samewise.targets.postgres_prepare import require_plain_table

        there = self._read(self._relation)
        if there is not None:
            require_plain_table(there, self.key)
        return fitted_schema(result, None if self._swap else there)

    def latest_epoch(self) -> int:
        from samewise.targets.postgres_tombs import latest_epoch

        def ask(session: Session) -> int:
            entry, there = self._entry(session), self._relation(session)
            if entry is None or there is None:
                return 0
            return latest_epoch(session, there, (self._schema, self._table), self._tombstones(entry))

        return self._read(ask)

    # Whose it is

    def prepare(self, schema: Schema, owner: Owner, partition_by: Sequence[str], *, keyed: Keyed | None = None) -> None:
        from samewise.targets.postgres_prepare import prepare

        del partition_by
        with self._writing("prepare") as session:
            staging.sweep(session, self._book.bookkeeping)
            with session.transaction():
                prepare(
                    session, self._book, (self._schema, self._table), schema, owner, self.key, keyed, swap=self._swap
                )

    def adopt(self, owner: Owner) -> None:
        with self._writing("adopt") as session, session.transaction():
            there = self._relation(session)
            if there is None:
                return
            self._book.ensure(session)
            entry = self._book.find(session, lock=True)
            if entry is None or entry.relid != there.oid:
                self._book.claim(session, there.oid, owner, [], "ADOPT")
            elif entry.owner != owner or entry.owner.place != owner.place:
                self._book.set_owner(session, entry, owner)

    # Publishing

    def publish(self, rows: DataFrame, write: Write, stamp: Stamp) -> Published:
        if write.keep:
            self._record(stamp, "KEEP")
            return Published()
        from samewise.targets.postgres_publish import Publication

        with self._writing(f"publish {stamp.attempt_id}") as session:
            entry, there = self._entry(session), self._relation(session)
            if entry is None or there is None:
                raise Transient(
                    f"{self.key} is gone since the run was prepared", next_step="run the same command again"
                )
            if self._is_taken(session, entry, stamp):
                return Published()
            place = (self._schema, self._table)
            publication = Publication(self._book, place, there, write, stamp, self._tombstones(entry), swap=self._swap)
            try:
                publication.stage(session, rows)
                with self._still(session) as alive:
                    try:
                        return self._in_one_transaction(alive, publication.publish, stamp)
                    finally:
                        publication.drop(alive)
            finally:
                publication.drop(session)

    def burn(self, stamp: Stamp) -> None:
        self._record(stamp, stamp.kind.upper())

    def tidy(self) -> None:
        with self._writing("tidy") as session:
            staging.sweep(session, self._book.bookkeeping)

    def forget(self, keyed: Keyed, before: datetime, stamp: Stamp) -> int:
        from samewise.targets.postgres_tombs import forget_before

        if not self.exists():
            return 0
        with self._writing("forget") as session, session.transaction():
            entry, there = self._locked(session, stamp), self._relation(session)
            if entry is None or there is None:
                return 0
            place = (self._schema, self._table)
            count = forget_before(session, self._book, entry, keyed, place, self._tombstones(entry), there, before)
            if count:
                self._book.record(session, entry.table_id, stamp, "FORGET", None)
            return count

    def _record(self, stamp: Stamp, operation: str) -> None:
        """A commit that takes the token and leaves every row as it is."""
        if not self.exists():
            return
        with self._writing("record") as session:

            def record(session: Session) -> Published:
                entry = self._locked(session, stamp)
                if entry is not None and not self._is_taken(session, entry, stamp):
                    self._book.record(session, entry.table_id, stamp, operation, 0)
                return Published()

            self._in_one_transaction(session, record, stamp)

    def _in_one_transaction(self, session: Session, work: Callable[[Session], Published], stamp: Stamp) -> Published:
        """Do `work` and commit, unless it wrote nothing. Where the answer is lost, the server is asked for it."""
        session.autocommit = False
        try:
            published = work(session)
            if published.wrote:
                self._commit(session, stamp)
            return published
        finally:
            with suppress(Exception):
                session.rollback()
                session.autocommit = True

    def _commit(self, session: Session, stamp: Stamp) -> None:
        import psycopg

        try:
            session.commit()
        except psycopg.OperationalError as error:
            if not self._landed_after_all(stamp):
                raise Transient(
                    f"the server was lost before the commit: {error}", next_step="run the same command again"
                ) from error

    def _landed_after_all(self, stamp: Stamp) -> bool:
        """Ask a server that may have committed. Raises `MayHaveLanded` where there is no answer now."""
        try:
            with self._writing("ask") as session, session.transaction():
                # The row is free only when the lost transaction has ended, one way or the other.
                entry = self._book.find(session, lock=True)
                token = None if entry is None else self._book.token(session, entry.table_id, stamp.app_id)
                return token is not None and (token.generation, token.run_id) == (stamp.generation, stamp.run_id)
        except SamewiseError as error:
            raise MayHaveLanded(
                f"the server was lost during the commit, and does not answer: {error.message}",
                next_step="run the same command again: it asks the server first",
            ) from error

    # Rows, for Spark

    def is_bare(self) -> bool:
        # Rows are compared inside the publishing transaction, where that costs nothing.
        return False

    def compare(self, rows: DataFrame, keyed: Keyed, batch: Batch) -> DataFrame:
        from samewise.targets.delta_keyed import classified
        from samewise.targets.postgres_read import read_keyed

        def ask(session: Session) -> tuple[DataFrame | None, str | None]:
            entry, there = self._entry(session), self._relation(session)
            if there is None:
                return None, None
            tombs = None if entry is None else self._tombstones(entry)
            floor = None if entry is None or entry.forgotten is None else str(entry.forgotten["version"])
            return read_keyed(session, self._spark(), there, (self._schema, self._table), tombs, keyed), floor

        table, floor = self._read(ask)
        # A unique index finds every key: nothing is to be gained by where they lie.
        return classified(rows, table, keyed, replace(batch, ranges={}, with_nulls=frozenset()), floor)

    def rows(self, span: Span | None) -> DataFrame | None:
        from samewise.targets.postgres_read import read_table

        def ask(session: Session) -> DataFrame | None:
            there = self._relation(session)
            if there is None:
                return None
            return read_table(session, self._spark(), there, (self._schema, self._table), span)

        return self._read(ask)

    def measure(self, span: Span | None, version: int) -> Measures:
        from samewise.targets.postgres_read import measured

        rows = self.rows(span)
        head = self.head()
        if rows is None or head is None or head.version != version:
            raise NoOlderVersion(self.key, version)
        return measured(rows)

    # Sessions

    def _head(self, session: Session) -> Head | None:
        there = self._relation(session)
        if there is None:
            return None
        entry = self._entry(session)
        needed = tuple(
            column
            for column, attribute in zip(there.schema, there.attributes, strict=True)
            # What PostgreSQL fills in itself need not be in anyone's SELECT.
            if not (attribute.has_default or attribute.generated)
        )
        if entry is None:
            return Head(0, Schema(needed), None, f"oid:{there.oid}", shared=True)
        shared = any(attribute.name not in entry.columns for attribute in there.attributes)
        return Head(entry.version, Schema(needed), entry.owner, entry.table_id, shared=shared)

    def _relation(self, session: Session) -> Relation | None:
        return find_relation(session, self._schema, self._table)

    def _entry(self, session: Session) -> Entry | None:
        """What is known of the table that is there now; None if nothing is, or only of one that was there before."""
        if not self._book.is_there(session):
            return None
        entry, there = self._book.find(session), self._relation(session)
        return entry if entry is not None and there is not None and entry.relid == there.oid else None

    def _locked(self, session: Session, stamp: Stamp) -> Entry | None:
        """The table's row, held until the transaction ends. Raises `ForeignTarget` if it changed hands meanwhile."""
        if not self._book.is_there(session):
            return None
        entry, there = self._book.find(session, lock=True), self._relation(session)
        if entry is None or there is None or entry.relid != there.oid:
            return None
        check_owner(entry.owner, Owner(stamp.store_id, stamp.pipeline, stamp.task), self.key)
        return entry

    def _is_taken(self, session: Session, entry: Entry, stamp: Stamp) -> bool:
        token = self._book.token(session, entry.table_id, stamp.app_id)
        return token is not None and token.generation >= stamp.generation

    def _tombstones(self, entry: Entry) -> tuple[str, str]:
        return self._book.bookkeeping, f"samewise_tombstones_{entry.table_id[:12]}"

    def _read(self, ask: Callable[[Session], Result]) -> Result:
        with explained(self.key):
            return self._idle.use(ask)

    @contextmanager
    def _still(self, session: Session) -> Iterator[Session]:
        """The same session, or another where it was lost while Spark was at work: what is staged is checked anyway."""
        import psycopg

        try:
            session.execute("SELECT 1")
        except psycopg.OperationalError:
            with self._writing("publish again") as other:
                yield other
        else:
            yield session

    @contextmanager
    def _writing(self, purpose: str) -> Iterator[Session]:
        """A session of its own: its end is the end of everything that it held."""
        with connect(self._connection, purpose=purpose) as session, explained(self.key):
            yield session
