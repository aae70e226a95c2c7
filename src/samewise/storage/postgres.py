"""PostgreSQL through psycopg: connections, quoted names, and what the catalog says about a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from samewise.core.connections import PostgresConnection
from samewise.core.errors import (
    ConfigError,
    Conflict,
    MayHaveLanded,
    OutOfSpace,
    Refused,
    SamewiseError,
    Transient,
)
from samewise.core.schema import Column, Schema
from samewise.storage.failures import Kind, read_failure

if TYPE_CHECKING:
    import psycopg
    from psycopg import sql
    from psycopg.sql import Composable

    Session = psycopg.Connection[tuple[Any, ...]]

APPLICATION = "samewise"
# Text of values must not depend on how a role or a database is set up.
_SESSION = (
    "-c DateStyle=ISO,YMD -c IntervalStyle=postgres -c TimeZone=UTC -c extra_float_digits=1 -c bytea_output=hex"
    " -c default_transaction_isolation=read\\ committed -c row_security=off"
)


def require_psycopg() -> None:
    """Raise ConfigError where psycopg is not installed."""
    try:
        import psycopg
    except ImportError:
        raise ConfigError(
            "a connection to PostgreSQL needs psycopg, which is not installed here",
            kept="nothing was run",
            next_step="pip install 'samewise[postgres]'",
        ) from None
    del psycopg


def connect(place: PostgresConnection, *, purpose: str = "", autocommit: bool = True) -> Session:
    """A session of our own: its text of values is fixed, and it waits for no lock longer than `lock_timeout`.

    Raises ConfigError for a login that is wrong, `Transient` where the server cannot be reached now.
    """
    require_psycopg()
    import psycopg

    with explained(f"connection {place.name} ({place.place})"):
        return psycopg.connect(conninfo(place, purpose=purpose), autocommit=autocommit)


def conninfo(place: PostgresConnection, *, purpose: str = "") -> str:
    """What libpq is given, with our own settings. May hold a password: it is never logged, stored or shown."""
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    own: dict[str, Any] = {**conninfo_to_dict(place.url or ""), **place.options}
    milliseconds = max(1, round(place.lock_timeout.total_seconds() * 1000))
    own["options"] = f"{own.get('options') or ''} {_SESSION} -c lock_timeout={milliseconds}".strip()
    own["application_name"] = f"{APPLICATION} {purpose}".strip()
    own["client_encoding"] = "UTF8"
    own.setdefault("connect_timeout", "15")
    return make_conninfo("", **own)


def resolved_conninfo(session: Session, *, purpose: str) -> str:
    """The same connection as text that needs no service file, environment or password file: for an executor.

    May hold a password: it travels inside a task's closure and nowhere else.
    """
    from psycopg.conninfo import make_conninfo

    parameters: dict[str, Any] = session.info.get_parameters()
    parameters.pop("service", None)
    if "host" in parameters:
        # psycopg has looked the host up; an executor may know it by another address.
        parameters.pop("hostaddr", None)
    parameters["application_name"] = f"{APPLICATION} {purpose}".strip()
    if session.info.password:
        parameters["password"] = session.info.password
    return make_conninfo("", **parameters)


def text(statement: str) -> sql.SQL:
    """SQL that is written in our own code; names go into it by `{}`, values are bound."""
    from psycopg import sql

    return sql.SQL(statement)


def name(*parts: str) -> sql.Identifier:
    """A quoted name: `orders"; drop table x; --` is just a table."""
    from psycopg import sql

    return sql.Identifier(*parts)


def bound_name(*parts: str) -> sql.SQL:
    """The same, for a statement with bound values, in which psycopg takes a `%` for the mark of one."""
    from psycopg import sql

    return sql.SQL(sql.Identifier(*parts).as_string(None).replace("%", "%%"))


def run_bound(session: Session, statement: Composable, values: Sequence[Any]) -> psycopg.Cursor[tuple[Any, ...]]:
    """Run a statement with values that are bound by the server, as `$1`, `$2`: whatever its names look like."""
    import psycopg

    return psycopg.RawCursor(session).execute(statement.as_string(session).encode(), values)


def names(columns: Sequence[str], *, of: str | None = None) -> sql.Composed:
    """Quoted names with commas between them; `of` is a table's alias."""
    return text(", ").join([name(column) if of is None else name(of, column) for column in columns])


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Raise our own error for whatever PostgreSQL or libpq raises; `what` begins its sentence."""
    try:
        yield
    except SamewiseError:
        raise
    except Exception as error:
        known = explain(error, what)
        if known is None:
            raise
        raise known from error


def explain(error: Exception, what: str) -> SamewiseError | None:
    """The error that a person is told; None for one that is not PostgreSQL's, or not known."""
    failure = read_failure(error)
    message = f"{what}: {_message(error) or failure.summary}"
    match failure.kind:
        case Kind.CONFLICT:
            return Conflict(message)
        case Kind.OUT_OF_SPACE:
            return OutOfSpace(message, next_step="free some space on the server, then run the same command again")
        case Kind.TRANSIENT:
            return Transient(message, next_step="run the same command again")
        case Kind.LOST_ENGINE:
            return MayHaveLanded(message, next_step="run the same command again")
        case Kind.REFUSED:
            return Refused(message, code="target_constraint")
        case Kind.SETTINGS:
            return ConfigError(
                message,
                code="connection",
                next_step="mend the connection in samewise.yaml, or grant the role what is missing",
            )
        case _:
            return None


def _message(error: Exception) -> str | None:
    """PostgreSQL's own sentence, with its detail; libpq's first line."""
    diagnosis = getattr(error, "diag", None)
    primary = getattr(diagnosis, "message_primary", None)
    if primary is None:
        return str(error).strip().partition("\n")[0] or None
    detail = getattr(diagnosis, "message_detail", None)
    return f"{primary} ({detail})" if detail else str(primary)


@dataclass(frozen=True, slots=True)
class Server:
    """What a server says about itself."""

    place: str
    version: str
    read_only: str | None
    """Why nothing can be written there; None where it can."""


_ASK = "SELECT current_setting('server_version'), pg_is_in_recovery(), current_setting('transaction_read_only')"


def ask_server(place: PostgresConnection) -> Server:
    """Open the connection and look. Raises as `connect` does."""
    with connect(place, purpose="doctor") as session, explained(f"connection {place.name}"):
        asked = (
            "SELECT current_setting('server_version'), pg_is_in_recovery(), current_setting('transaction_read_only')"
        )
        row = session.execute(asked.encode()).fetchone()
    assert row is not None
    version, standby, read_only = row
    why = "it is a standby" if standby else "its sessions are read-only" if read_only == "on" else None
    return Server(place.place, str(version), why)


# The catalog


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of a table as PostgreSQL knows it."""

    name: str
    type: str
    """PostgreSQL's own spelling: `numeric(12,2)`, `timestamp with time zone`, `text[]`."""
    nullable: bool
    has_default: bool = False
    """A default, an identity or a generated value: it need not be given."""
    generated: bool = False
    """Computed from others, or always by PostgreSQL: it cannot be given."""
    is_enum: bool = False
    collation_is_exact: bool = True
    """False where texts that differ in their bytes can be equal."""

    @property
    def spark_type(self) -> str | None:
        """The type of Spark that holds exactly the same values; None if there is none."""
        return spark_type(self.type)


@dataclass(frozen=True, slots=True)
class Relation:
    """A table, a view or the like."""

    oid: int
    kind: str
    """`r` a table, `p` partitioned, `v` a view, `m` a materialized one, `f` foreign."""
    attributes: tuple[Attribute, ...]
    owner: str = ""

    @property
    def schema(self) -> Schema:
        """In Spark's words. A type that Spark has no equal for keeps PostgreSQL's name."""
        return Schema(tuple(Column(a.name, a.spark_type or a.type, a.nullable) for a in self.attributes))

    def attribute(self, wanted: str) -> Attribute | None:
        """The column called so: exactly, or else without regard to case."""
        exact = [a for a in self.attributes if a.name == wanted]
        alike = [a for a in self.attributes if a.name.lower() == wanted.lower()]
        return next(iter(exact or alike), None)


_RELATION = """
SELECT c.oid::bigint, c.relkind::text, pg_get_userbyid(c.relowner)::text
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s
"""
_ATTRIBUTES = """
SELECT a.attname::text, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull,
       a.atthasdef OR a.attidentity <> '', a.attgenerated <> '' OR a.attidentity = 'a', t.typtype = 'e',
       coalesce(l.collisdeterministic, true)
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_collation l ON l.oid = a.attcollation
WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""


def find_relation(session: Session, schema: str, table: str) -> Relation | None:
    """What the catalog says about a table; None if there is no such table."""
    found = session.execute(_RELATION, (schema, table)).fetchone()
    if found is None:
        return None
    oid, kind, owner = found
    return Relation(int(oid), str(kind), read_attributes(session, int(oid)), str(owner))


def read_attributes(session: Session, oid: int) -> tuple[Attribute, ...]:
    """The columns of a relation, in order."""
    return tuple(Attribute(*row) for row in session.execute(_ATTRIBUTES, (oid,)))


_PLAIN = {
    "boolean": "boolean",
    "smallint": "smallint",
    "integer": "int",
    "bigint": "bigint",
    "real": "float",
    "double precision": "double",
    "text": "string",
    "character varying": "string",
    "bytea": "binary",
    "date": "date",
    "timestamp with time zone": "timestamp",
    "timestamp without time zone": "timestamp_ntz",
}


def spark_type(type: str) -> str | None:
    """The type of Spark that holds exactly the values of this one of PostgreSQL; None if there is none."""
    if type.endswith("[]"):
        element = spark_type(type[:-2])
        return None if element is None else f"array<{element}>"
    if type in _PLAIN:
        return _PLAIN[type]
    if re.fullmatch(r"character varying\(\d+\)", type):
        return "string"
    sized = re.fullmatch(r"numeric\((\d+),(-?\d+)\)", type)
    if sized is not None:
        precision, scale = int(sized[1]), int(sized[2])
        if 0 <= scale <= precision <= 38:
            return f"decimal({precision},{scale})"
    return None
