"""A snapshot that all readers of one attempt share, held open by the driver until their rows are written."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from samewise.core.connections import PostgresConnection
from samewise.sources.postgres_horizon import READ_PURPOSE
from samewise.sources.postgres_query import Asked, use_path
from samewise.storage.postgres import connect, explained, find_relation, name, resolved_conninfo

if TYPE_CHECKING:
    from samewise.storage.postgres import Session

_LOCKABLE = ("r", "p", "v")


class Snapshot:
    """An open REPEATABLE READ transaction. It also keeps the table from being dropped, altered or emptied meanwhile."""

    def __init__(self, place: PostgresConnection, asked: Asked) -> None:
        self.session: Session = connect(place, purpose=READ_PURPOSE)
        try:
            with explained(f"connection {place.name} ({place.place})"):
                self.session.execute("SET idle_in_transaction_session_timeout = 0")
                use_path(self.session, asked)
                relation = None if asked.table is None else find_relation(self.session, *asked.table)
                self.session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                if relation is not None and relation.kind in _LOCKABLE:
                    assert asked.table is not None
                    self._lock(asked.table)
                row = self.session.execute("SELECT pg_export_snapshot()").fetchone()
                assert row is not None
                self.name = str(row[0])
                path = self.session.execute("SHOW search_path").fetchone()
                self.search_path = "pg_catalog" if path is None else str(path[0])
                encoding = self.session.execute("SHOW server_encoding").fetchone()
                self.checks_text = encoding is not None and encoding[0] == "SQL_ASCII"
        except BaseException:
            self.session.close()
            raise

    def _lock(self, table: tuple[str, str]) -> None:
        from psycopg import sql

        # LOCK takes no snapshot, and the snapshot must come after it: TRUNCATE would otherwise show the readers
        # an empty table.
        self.session.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(name(*table)))

    @property
    def conninfo(self) -> str:
        """For a worker, whose search path must be this session's. May hold a password."""
        return resolved_conninfo(self.session, purpose=READ_PURPOSE)

    @property
    def is_alive(self) -> bool:
        """False once the server has ended it: readers can no longer join."""
        try:
            self.session.execute("SELECT 1")
        except Exception:
            return False
        return True

    def close(self) -> None:
        """Let go of it. A second call does nothing."""
        self.session.close()


class Snapshots:
    """The open ones, by what they are read for. Threads may share it."""

    def __init__(self) -> None:
        self._open: dict[str, list[Snapshot]] = {}
        self._lock = threading.Lock()

    def add(self, key: str, snapshot: Snapshot) -> None:
        with self._lock:
            self._open.setdefault(key, []).append(snapshot)

    def all_alive(self, key: str) -> bool:
        with self._lock:
            found = list(self._open.get(key, []))
        return all(snapshot.is_alive for snapshot in found)

    def close(self, key: str) -> None:
        """Close those of one reading. A second call does nothing."""
        with self._lock:
            found = self._open.pop(key, [])
        for snapshot in found:
            snapshot.close()
