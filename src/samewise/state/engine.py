"""A SQLAlchemy engine for a state URL, and what SQLite and PostgreSQL do differently."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samewise.core.errors import ConfigError
from samewise.core.windows import parse_instant
from samewise.state import plain
from samewise.state.network_fs import MOUNTINFO, network_file_system

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine, Table

LOCK_WAIT_SECONDS = 15
"""How long a write waits for another one. Writes are short: longer means that someone is frozen."""

_SECRET_OPTIONS = ("password", "sslpassword")

WRITES = "samewise_writes"
"""The execution option of a connection whose transaction will write."""


def read_url(text: str) -> URL:
    """The URL with its driver filled in. Raises `ConfigError` for one that cannot hold a state store."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(text)
    except ArgumentError:
        # The text is not repeated: it may hold a password.
        raise _bad_url("the state URL cannot be read") from None
    if url.drivername in ("postgresql", "postgres"):
        url = url.set(drivername="postgresql+psycopg")
    if url.drivername == "sqlite+pysqlite":
        url = url.set(drivername="sqlite")
    if url.drivername not in ("sqlite", "postgresql+psycopg"):
        raise _bad_url(f"a state store cannot be kept in {url.drivername!r}")
    if url.drivername == "sqlite" and (not url.database or url.database.startswith((":memory:", "file:"))):
        raise _bad_url(f"{text}: the state must lie in a file, so that it outlives the process")
    return url


def place_of(url: URL) -> str:
    """How the store is named to a user: the file, or the URL without its password."""
    if url.drivername == "sqlite":
        return str(url.database)
    # libpq takes a password among the options as well.
    hidden = {name: "***" for name in _SECRET_OPTIONS if name in url.query}
    return url.update_query_dict(hidden).render_as_string(hide_password=True)


def sqlite_file(url: URL) -> Path | None:
    """The file of a SQLite store; None for a PostgreSQL one."""
    return Path(url.database or "").absolute() if url.drivername == "sqlite" else None


def connect(url: URL) -> Engine:
    """An engine for `url`; nothing is opened yet."""
    return _sqlite(url) if url.drivername == "sqlite" else _postgres(url)


def prepare_folder(file: Path) -> None:
    """Make the folder of a SQLite file. Raises `ConfigError` on a network file system."""
    refuse_network_file_system(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"the folder of the state store cannot be made: {error}",
            kept="nothing was run",
            next_step="check the permissions there, or `state:` in samewise.yaml",
        ) from error


def refuse_network_file_system(file: Path) -> None:
    """Raise `ConfigError` if `file` lies, or would lie, on a network file system."""
    # Only Linux says where a path is mounted in a file.
    if not MOUNTINFO.exists():
        return
    kind = network_file_system(Path(os.path.realpath(file)), MOUNTINFO.read_text(errors="replace"))
    if kind is not None:
        raise ConfigError(
            f"{file} lies on a network file system ({kind}), where SQLite's locks do not hold",
            kept="nothing was run",
            next_step="name a local file or a postgresql:// URL under `state:` in samewise.yaml",
            code="network_file_system",
        )


def now(connection: Connection) -> datetime:
    """The database's own clock: the only one that all runners share."""
    if connection.dialect.name == "sqlite":
        return parse_instant(connection.exec_driver_sql(plain.NOW).scalar_one())
    instant: datetime = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
    return instant.astimezone(UTC)


def insert_new(
    connection: Connection, table: Table, values: Mapping[str, Any], keys: Sequence[str] | None = None
) -> bool:
    """Insert a row; False, and nothing changed, if one with the same `keys` (any unique key) is there."""
    # Without this SQLAlchemy may not keep the count of an INSERT.
    counted = {"preserve_rowcount": True}
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects import sqlite

        on_sqlite = sqlite.insert(table).values(values).on_conflict_do_nothing(index_elements=keys)
        return connection.execute(on_sqlite, execution_options=counted).rowcount == 1
    from sqlalchemy.dialects import postgresql

    on_postgres = postgresql.insert(table).values(values).on_conflict_do_nothing(index_elements=keys)
    return connection.execute(on_postgres, execution_options=counted).rowcount == 1


def insert_all_new(
    connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]], keys: Sequence[str] | None = None
) -> None:
    """Insert those of the rows that are not there yet, by `keys` (any unique key), in their order."""
    from sqlalchemy.dialects import postgresql, sqlite

    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    # Given beside the statement, not in it: it is put together once for all rows.
    connection.execute(insert(table).on_conflict_do_nothing(index_elements=keys), [dict(row) for row in rows])


def _sqlite(url: URL) -> Engine:
    from sqlalchemy import create_engine, event

    engine = create_engine(url, connect_args={"timeout": LOCK_WAIT_SECONDS})

    @event.listens_for(engine, "connect")
    def _settings(connection: Any, record: object) -> None:
        # Python would begin transactions by itself, lazily and never IMMEDIATE; we begin them below.
        connection.isolation_level = None
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # IMMEDIATE: a write that began as a read could not wait for another writer, only fail.
        writes = connection.get_execution_options().get(WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgres(url: URL) -> Engine:
    from sqlalchemy import create_engine, event
    from sqlalchemy.exc import NoSuchModuleError

    defaults = {"connect_timeout": "10", "application_name": "samewise"}
    try:
        engine = create_engine(
            url,
            connect_args={name: value for name, value in defaults.items() if name not in url.query},
            # Between two writes of a run lie minutes, in which a firewall may have cut the connection.
            pool_pre_ping=True,
        )
    except (ImportError, NoSuchModuleError) as error:
        raise ConfigError(
            "a state store in PostgreSQL needs the package psycopg",
            kept="nothing was run",
            next_step="pip install 'samewise[postgres]'",
        ) from error

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A process that is frozen inside a transaction must not keep the others waiting for ever.
        # Local to the transaction, so that a connection pooler in between does not mix them up.
        if connection.get_execution_options().get(WRITES):
            connection.exec_driver_sql(
                f"SELECT set_config('lock_timeout', '{LOCK_WAIT_SECONDS}s', true),"
                " set_config('idle_in_transaction_session_timeout', '60s', true)"
            )

    return engine


def _bad_url(message: str) -> ConfigError:
    return ConfigError(
        message,
        kept="nothing was run",
        next_step="write `state: sqlite:///.samewise/state.db` or `state: postgresql://HOST/DATABASE`",
    )
