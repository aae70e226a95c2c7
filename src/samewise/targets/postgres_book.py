"""Samewise's own tables in a PostgreSQL database: who owns a table, which tokens it has seen, what was done to it.

samewise_targets    one row a table: its identity, its owner, the number of its last commit
samewise_tokens     the highest generation of each window; kept for ever
samewise_commits    one row a commit, with its stamp; old ones may be deleted
samewise_changes    statements of others, noted by a trigger, until the next run gives them a number
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from samewise.core.records import Owner, Stamp, TargetCommit
from samewise.storage.postgres import bound_name, name, text

if TYPE_CHECKING:
    from samewise.storage.postgres import Session

TRIGGER = "samewise_notes"
PUBLISHING = "samewise.publishing"
"""A setting of our own sessions: the table that they publish to, which the trigger then passes over."""
_MAKING = 0x53414D45
_TABLES = """
CREATE TABLE IF NOT EXISTS {s}.samewise_targets (
    table_id text PRIMARY KEY, schema_name text NOT NULL, table_name text NOT NULL, relid oid NOT NULL,
    version bigint NOT NULL, store_id text, pipeline text, task text, place text, columns text NOT NULL,
    forgotten text, made_at timestamptz NOT NULL DEFAULT now(), UNIQUE (schema_name, table_name));
CREATE TABLE IF NOT EXISTS {s}.samewise_tokens (
    table_id text NOT NULL, app_id text NOT NULL, generation bigint NOT NULL, run_id text NOT NULL,
    kind text NOT NULL, version bigint NOT NULL, PRIMARY KEY (table_id, app_id));
CREATE TABLE IF NOT EXISTS {s}.samewise_commits (
    table_id text NOT NULL, version bigint NOT NULL, app_id text, generation bigint, run_id text,
    operation text NOT NULL, changes_data boolean NOT NULL, rows bigint, stamp text,
    committed_at timestamptz NOT NULL DEFAULT now(), role text NOT NULL DEFAULT session_user,
    PRIMARY KEY (table_id, version));
CREATE TABLE IF NOT EXISTS {s}.samewise_changes (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, relid oid NOT NULL, operation text NOT NULL,
    role text NOT NULL, changed_at timestamptz NOT NULL DEFAULT now());
CREATE INDEX IF NOT EXISTS samewise_changes_relid ON {s}.samewise_changes (relid);
CREATE OR REPLACE FUNCTION {s}.samewise_note_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $note$
BEGIN
    IF coalesce(current_setting('samewise.publishing', true), '') <> TG_RELID::text THEN
        INSERT INTO {s}.samewise_changes (relid, operation, role) VALUES (TG_RELID, TG_OP, session_user);
    END IF;
    RETURN NULL;
END $note$;
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """A table's row in `samewise_targets`."""

    table_id: str
    relid: int
    version: int
    owner: Owner | None
    columns: tuple[str, ...]
    """Those that Samewise made; whatever else is in the table belongs to someone else."""
    forgotten: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """What a window's token says."""

    generation: int
    run_id: str
    kind: str
    version: int


class Book:
    """The bookkeeping of one table. Every method is one statement or a few, in the caller's transaction."""

    def __init__(self, bookkeeping: str, schema: str, table: str) -> None:
        self.bookkeeping = bookkeeping
        self._schema = schema
        self._table = table

    def is_there(self, session: Session) -> bool:
        """Whether the tables have been made: asking never makes them."""
        found = session.execute(
            "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = %s AND c.relname = 'samewise_changes'",
            (self.bookkeeping,),
        )
        return found.fetchone() is not None

    def ensure(self, session: Session) -> None:
        """Make the tables where they are not there yet. A second call changes nothing."""
        session.execute("SELECT pg_advisory_xact_lock(%s)", (_MAKING,))
        if self.is_there(session):
            return
        known = session.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (self.bookkeeping,))
        if known.fetchone() is None:
            session.execute(text("CREATE SCHEMA {}").format(name(self.bookkeeping)))
        session.execute(text(_TABLES).format(s=name(self.bookkeeping)))

    def find(self, session: Session, *, lock: bool = False) -> Entry | None:
        """The table's row; with `lock` nobody else publishes to the table until the transaction ends."""
        found = session.execute(
            self._sql(
                "SELECT table_id, relid::bigint, version, store_id, pipeline, task, place, columns, forgotten"
                " FROM {s}.samewise_targets WHERE schema_name = %s AND table_name = %s" + (" FOR UPDATE" * lock)
            ),
            (self._schema, self._table),
        ).fetchone()
        if found is None:
            return None
        table_id, relid, version, store, pipeline, task, place, columns, forgotten = found
        owner = None if store is None else Owner(store, pipeline, task, place)
        known = None if forgotten is None else json.loads(forgotten)
        return Entry(table_id, int(relid), int(version), owner, tuple(json.loads(columns)), known)

    def claim(self, session: Session, relid: int, owner: Owner, columns: Sequence[str], operation: str) -> Entry:
        """A new identity for a table that is new, or that was made again behind our back."""
        old = self.find(session)
        if old is not None:
            for table in ("targets", "tokens", "commits"):
                session.execute(self._sql(f"DELETE FROM {{s}}.samewise_{table} WHERE table_id = %s"), (old.table_id,))
            session.execute(self._sql("DELETE FROM {s}.samewise_changes WHERE relid = %s"), (old.relid,))
        entry = Entry(uuid.uuid4().hex, relid, 0, owner, tuple(columns))
        session.execute(
            self._sql(
                "INSERT INTO {s}.samewise_targets (table_id, schema_name, table_name, relid, version, store_id,"
                " pipeline, task, place, columns) VALUES (%s, %s, %s, %s, 0, %s, %s, %s, %s, %s)"
            ),
            (
                entry.table_id,
                self._schema,
                self._table,
                relid,
                owner.store_id,
                owner.pipeline,
                owner.task,
                owner.place,
                json.dumps(list(columns)),
            ),
        )
        self._add_commit(session, entry.table_id, 0, operation, changes_data=False)
        return entry

    def set_owner(self, session: Session, entry: Entry, owner: Owner) -> None:
        values = (owner.store_id, owner.pipeline, owner.task, owner.place)
        self._update(session, entry, "store_id = %s, pipeline = %s, task = %s, place = %s", values)

    def set_columns(self, session: Session, entry: Entry, columns: Sequence[str]) -> None:
        self._update(session, entry, "columns = %s", (json.dumps(list(columns)),))

    def set_relid(self, session: Session, entry: Entry, relid: int) -> None:
        self._update(session, entry, "relid = %s", (relid,))

    def set_forgotten(self, session: Session, entry: Entry, known: Mapping[str, Any]) -> None:
        self._update(session, entry, "forgotten = %s", (json.dumps(known),))

    def _update(self, session: Session, entry: Entry, what: str, values: tuple[Any, ...]) -> None:
        statement = self._sql(f"UPDATE {{s}}.samewise_targets SET {what} WHERE table_id = %s")
        session.execute(statement, (*values, entry.table_id))

    # Tokens and commits

    def token(self, session: Session, table_id: str, app_id: str) -> Token | None:
        found = session.execute(
            self._sql(
                "SELECT generation, run_id, kind, version FROM {s}.samewise_tokens WHERE table_id = %s AND app_id = %s"
            ),
            (table_id, app_id),
        ).fetchone()
        return None if found is None else Token(int(found[0]), found[1], found[2], int(found[3]))

    def record(self, session: Session, table_id: str, stamp: Stamp, operation: str, rows: int | None) -> int:
        """Give the commit a number, and take its token. The caller holds the table's row."""
        data = stamp.kind in ("data", "forget")
        version = self._next_version(session, table_id)
        self._add_commit(session, table_id, version, operation, changes_data=data, rows=rows, stamp=stamp)
        if stamp.takes_token:
            session.execute(
                self._sql(
                    "INSERT INTO {s}.samewise_tokens AS t (table_id, app_id, generation, run_id, kind, version)"
                    " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (table_id, app_id) DO UPDATE SET"
                    " generation = excluded.generation, run_id = excluded.run_id, kind = excluded.kind,"
                    " version = excluded.version WHERE t.generation < excluded.generation"
                ),
                (table_id, stamp.app_id, stamp.generation, stamp.run_id, stamp.kind, version),
            )
        return version

    def note(self, session: Session, relid: int, operation: str) -> None:
        """Note a change that nobody else has noted."""
        statement = self._sql("INSERT INTO {s}.samewise_changes (relid, operation, role) VALUES (%s, %s, session_user)")
        session.execute(statement, (relid, operation))

    def fold(self, session: Session, entry: Entry) -> None:
        """Give what others did a number of its own, as one commit. The caller holds the table's row."""
        noted = session.execute(
            self._sql(
                "WITH gone AS (DELETE FROM {s}.samewise_changes WHERE relid = %s RETURNING operation, role)"
                " SELECT string_agg(DISTINCT operation || ' by ' || role, ', '), count(*) FROM gone"
            ),
            (entry.relid,),
        ).fetchone()
        if noted is not None and noted[1]:
            version = self._next_version(session, entry.table_id)
            self._add_commit(session, entry.table_id, version, str(noted[0])[:200], changes_data=True)

    def commits(self, session: Session, entry: Entry, since: int) -> list[TargetCommit]:
        """Commits after `since` as far as they are known, oldest first; last, what others did since then."""
        found = session.execute(
            self._sql(
                "SELECT version, committed_at, operation, changes_data, stamp, rows FROM {s}.samewise_commits"
                " WHERE table_id = %s AND version > %s ORDER BY version"
            ),
            (entry.table_id, since),
        ).fetchall()
        commits = [
            TargetCommit(int(v), at, operation, data, Stamp.parse(s), n) for v, at, operation, data, s, n in found
        ]
        noted = session.execute(
            self._sql(
                "SELECT string_agg(DISTINCT operation || ' by ' || role, ', '), max(changed_at), count(*)"
                " FROM {s}.samewise_changes WHERE relid = %s"
            ),
            (entry.relid,),
        ).fetchone()
        if noted is not None and noted[2]:
            at = noted[1] if isinstance(noted[1], datetime) else datetime.now(UTC)
            commits.append(TargetCommit(entry.version + 1, at, str(noted[0]), True, None))
        return commits

    def _next_version(self, session: Session, table_id: str) -> int:
        found = session.execute(
            self._sql("UPDATE {s}.samewise_targets SET version = version + 1 WHERE table_id = %s RETURNING version"),
            (table_id,),
        ).fetchone()
        assert found is not None
        return int(found[0])

    def _add_commit(
        self,
        session: Session,
        table_id: str,
        version: int,
        operation: str,
        *,
        changes_data: bool,
        rows: int | None = None,
        stamp: Stamp | None = None,
    ) -> None:
        told = (None, None, None, None)
        mine = told if stamp is None else (stamp.app_id, stamp.generation, stamp.run_id, stamp.text)
        session.execute(
            self._sql(
                "INSERT INTO {s}.samewise_commits (table_id, version, operation, changes_data, rows, app_id,"
                " generation, run_id, stamp) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"
            ),
            (table_id, version, operation, changes_data, rows, *mine),
        )

    # The trigger

    def watches(self, session: Session, relid: int) -> bool:
        """Whether changes by others are noted: the trigger is there, and fires for everyone."""
        found = session.execute(
            "SELECT tgenabled::text FROM pg_trigger WHERE tgrelid = %s AND tgname = %s", (relid, TRIGGER)
        ).fetchone()
        return found is not None and found[0] == "A"

    def watch(self, session: Session, schema: str, table: str) -> None:
        """Note changes by others from now on. The caller has seen that nobody does yet, or the note is broken."""
        trigger, place = name(TRIGGER), name(schema, table)
        session.execute(text("DROP TRIGGER IF EXISTS {} ON {}").format(trigger, place))
        session.execute(
            text(
                "CREATE TRIGGER {} AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON {} FOR EACH STATEMENT"
                " EXECUTE FUNCTION {}()"
            ).format(trigger, place, name(self.bookkeeping, "samewise_note_change"))
        )
        # Also for sessions that replicate: they change rows like anyone else.
        session.execute(text("ALTER TABLE {} ENABLE ALWAYS TRIGGER {}").format(place, trigger))

    def _sql(self, statement: str) -> Any:
        """For bound values. What has none is put together by itself."""
        return text(statement).format(s=bound_name(self.bookkeeping))
