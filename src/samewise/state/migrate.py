"""Numbered migrations: `migrations/0001_….sql`, applied in order, once, under a lock."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from samewise.core.errors import ConfigError
from samewise.state.engine import LOCK_WAIT_SECONDS, WRITES, now

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from samewise.state.plain import Row

READ_META = "SELECT store_id, level FROM samewise_meta"
_TABLE = "samewise_meta"

# Any number will do, as long as it stays the same: "samewise" in ASCII, as PostgreSQL's BIGINT.
_ADVISORY_LOCK = int.from_bytes(b"samewise", "big")


@dataclass(frozen=True, slots=True)
class Meta:
    """The store's identity and how far its tables have been migrated."""

    store_id: str
    level: int


def read_meta(engine: Engine) -> Meta | None:
    """None where there is no state store yet. One query, unless it fails."""
    from sqlalchemy import inspect
    from sqlalchemy.exc import DBAPIError

    with engine.connect() as connection:
        try:
            return _read(connection)
        except DBAPIError:
            # Only the absence of the table is an answer. Where it is there, another process has just made it, or
            # the error is another one and comes again.
            connection.rollback()
            return _read(connection) if inspect(connection).has_table(_TABLE) else None


def meta_of(rows: Sequence[Row]) -> Meta | None:
    """What `READ_META` found."""
    return Meta(rows[0]["store_id"], rows[0]["level"]) if rows else None


def upgrade(engine: Engine, place: str) -> Meta:
    """Bring the tables to the newest level. A second call, also at the same time, changes nothing."""
    from sqlalchemy import inspect, update

    from samewise.state.tables import meta

    if engine.dialect.name == "sqlite":
        _use_write_ahead_log(engine, place)
    with engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
        found = _read(connection) if inspect(connection).has_table(meta.name) else None
        refuse_newer(found, place)
        level = found.level if found else 0
        for number in range(level + 1, newest_level() + 1):
            for statement in statements(_migrations()[number].read_text(encoding="utf-8")):
                connection.exec_driver_sql(statement)
        if found is None:
            found = Meta(uuid.uuid4().hex, newest_level())
            connection.execute(
                meta.insert().values(store_id=found.store_id, level=found.level, created_at=now(connection))
            )
        else:
            connection.execute(update(meta).values(level=newest_level()))
    return Meta(found.store_id, newest_level())


def refuse_newer(found: Meta | None, place: str) -> None:
    """Raise `ConfigError` for a store that a newer Samewise has migrated."""
    if found is not None and found.level > newest_level():
        raise ConfigError(
            f"{place} was written by a newer Samewise: its tables are at level {found.level},"
            f" this version knows {newest_level()}",
            kept="the state store was not touched",
            next_step="upgrade samewise here: `pip install --upgrade samewise`",
        )


def newest_level() -> int:
    """The highest migration that this version brings."""
    return max(_migrations())


def statements(script: str) -> list[str]:
    """The statements of a migration, without its comments."""
    bare = re.sub(r"^\s*--.*$", "", script, flags=re.MULTILINE)
    return [part.strip() for part in re.split(r";\s*$", bare, flags=re.MULTILINE) if part.strip()]


@cache
def _migrations() -> dict[int, Path]:
    files = Path(__file__).with_name("migrations").glob("*.sql")
    found = {int(file.name.split("_")[0]): file for file in files}
    assert sorted(found) == list(range(1, len(found) + 1)), f"migrations leave a gap: {sorted(found)}"
    return found


def _read(connection: Connection) -> Meta | None:
    return meta_of(connection.exec_driver_sql(READ_META).mappings().all())


def _use_write_ahead_log(engine: Engine, place: str) -> None:
    # Kept in the file, so that once is enough. Changing it needs the whole file for a moment, and SQLite
    # does not wait for that by itself when another process is doing the same.
    give_up_at = time.monotonic() + LOCK_WAIT_SECONDS
    connection = engine.raw_connection()
    try:
        while True:
            try:
                row = connection.cursor().execute("PRAGMA journal_mode = WAL").fetchone()
                break
            except engine.dialect.loaded_dbapi.OperationalError as error:
                if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > give_up_at:
                    raise
                time.sleep(0.02)
    finally:
        connection.close()
    if row[0] != "wal":
        raise ConfigError(
            f"{place}: SQLite cannot keep a write-ahead log there (it uses {row[0]!r})",
            kept="nothing was run",
            next_step="name a file on a local disk, or a postgresql:// URL, under `state:` in samewise.yaml",
        )
