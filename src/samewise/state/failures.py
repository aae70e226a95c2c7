"""What a database's error means to Samewise: the one place that knows the codes of both databases."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from samewise.core.errors import ConfigError, OutOfSpace, SamewiseError, Transient

if TYPE_CHECKING:
    from sqlalchemy.exc import DBAPIError

_KEPT = "whatever was stored before is still there"
_LATER = "run the same command again"

_SQLITE_TRANSIENT = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_IOERR", "SQLITE_PROTOCOL", "SQLITE_INTERRUPT")
_SQLITE_FORBIDDEN = ("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH", "SQLITE_CANTOPEN")
_SQLITE_DAMAGED = ("SQLITE_NOTADB", "SQLITE_CORRUPT")

# SQLSTATE classes and codes: lost or refused connections, resources, shutdowns, serialization, lock timeouts.
_POSTGRES_TRANSIENT = ("08", "53", "57", "40", "55P03", "25P03")
_POSTGRES_FORBIDDEN = ("25006", "28", "3D", "3F", "42501")
# Of these, those that a server gives which is going down, starting up or cutting a connection.
_POSTGRES_AWAY = ("08", "57P", "25P03")
# libpq gives no SQLSTATE for a connection that was never made, only a text.
_POSTGRES_WRONG_SETTINGS = (
    "authentication failed",
    "does not exist",
    "no password supplied",
    "no pg_hba.conf entry",
    "certificate",
    "does not support SSL",
    "definition of service",
    "service file",
    "invalid connection option",
    "sslmode",
)


class StoreAway(Transient):
    """The connection to the store was lost, or not made: it may be restarting. Waited for where a run is under way."""


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Raise Samewise's own error for one that the database at `place` raises inside."""
    try:
        yield
    except SamewiseError:
        raise
    except Exception as error:
        known = translate(error, place)
        if known is None:
            raise
        raise known from error


def translate(error: Exception, place: str) -> SamewiseError | None:
    """What to tell the user; None for an error that is none of the database's, or that only a bug can cause."""
    if isinstance(error, sqlite3.Error):
        return _from_sqlite(error, place)
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.exc import TimeoutError as PoolTimeout

    if isinstance(error, PoolTimeout):
        return _transient(place, "every connection was in use")
    if not isinstance(error, DBAPIError):
        return None
    if isinstance(error.orig, sqlite3.Error):
        return _from_sqlite(error.orig, place)
    return _from_postgres(error, place)


def _from_sqlite(cause: sqlite3.Error, place: str) -> SamewiseError | None:
    name: str = getattr(cause, "sqlite_errorname", "")
    if name.startswith("SQLITE_FULL"):
        return _out_of_space(place)
    if name.startswith(_SQLITE_DAMAGED):
        return ConfigError(
            f"{place}: {cause}",
            kept="the file was not touched",
            next_step="move the file away or name another one under `state:` in samewise.yaml,"
            " then `samewise recover` rebuilds the state from the targets",
        )
    if name.startswith(_SQLITE_FORBIDDEN):
        return _forbidden(place, str(cause))
    if name.startswith(_SQLITE_TRANSIENT):
        return _transient(place, str(cause))
    return None


def _from_postgres(error: DBAPIError, place: str) -> SamewiseError | None:
    from sqlalchemy.exc import OperationalError

    code: str | None = getattr(error.orig, "sqlstate", None)
    said = str(error.orig).strip()
    if code == "53100":
        return _out_of_space(place)
    if code is not None and code.startswith(_POSTGRES_FORBIDDEN):
        return _forbidden(place, said)
    if code is None and any(text in said for text in _POSTGRES_WRONG_SETTINGS):
        return _forbidden(place, said)
    is_away = error.connection_invalidated or (code is None and isinstance(error, OperationalError))
    if is_away or (code is not None and code.startswith(_POSTGRES_AWAY)):
        return StoreAway(_unreached(place, said), kept=_KEPT, next_step=_LATER)
    if code is not None and code.startswith(_POSTGRES_TRANSIENT):
        return _transient(place, said)
    return None


def _transient(place: str, said: str) -> Transient:
    return Transient(_unreached(place, said), kept=_KEPT, next_step=_LATER)


def _unreached(place: str, said: str) -> str:
    return f"the state store {place} could not be reached: {said}"


def _out_of_space(place: str) -> OutOfSpace:
    return OutOfSpace(f"the disk of the state store {place} is full", kept=_KEPT, next_step=f"make room, then {_LATER}")


def _forbidden(place: str, said: str) -> ConfigError:
    return ConfigError(
        f"the state store {place} cannot be used: {said}",
        kept="nothing was run",
        next_step="check the permissions there, or `state:` in samewise.yaml",
    )
