"""What is asked of PostgreSQL: the table or the query, the rows of a window, described without running it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from samewise.core.errors import ConfigError, Refused
from samewise.core.pg_sql import filled_in, without_end
from samewise.core.sql import Span
from samewise.sources.postgres_types import Carried, resolve
from samewise.storage.postgres import explained, find_relation, name

if TYPE_CHECKING:
    from samewise.storage.postgres import Session

Value = str | int | float | bool | date | datetime


@dataclass(frozen=True, slots=True)
class Asked:
    """A table by its schema and name, or a SELECT; `search_path` is where the SELECT's names are looked for."""

    search_path: str
    table: tuple[str, str] | None = None
    query: str | None = None

    @property
    def label(self) -> str:
        """For a person."""
        return "query" if self.table is None else ".".join(self.table)


@dataclass(frozen=True, slots=True)
class Described:
    """What the catalog says about it now."""

    columns: tuple[Carried, ...]
    oid: int | None = None
    """The table's identity; None for a query."""
    kind: str = "q"
    """`q` a query; else as in pg_class: `r` a table, `p` partitioned, `v` a view, `m` a materialized one."""
    values: Mapping[str, Value] = field(default_factory=dict)

    @property
    def has_rows_of_its_own(self) -> bool:
        """True where every row has a place on disk of its own, by which readers can share them out."""
        return self.kind in ("r", "p", "m")


def describe(session: Session, asked: Asked, values: Mapping[str, Value]) -> Described:
    """Names and types, from the catalog: no row is read, and a query is not run.

    Raises `Refused` for a table that is not there, `ConfigError` for a query that PostgreSQL does not take.
    """
    use_path(session, asked)
    if asked.table is not None:
        relation = find_relation(session, *asked.table)
        if relation is None:
            raise Refused(
                f"there is no table {asked.label}",
                code="no_table",
                next_step="check the name and the schema, and whether the role may see it",
            )
        rows = session.execute(
            "SELECT attname::text, atttypid::bigint, atttypmod, NOT attnotnull FROM pg_attribute"
            " WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
            (relation.oid,),
        ).fetchall()
        found = [(str(row[0]), int(row[1]), int(row[2]), bool(row[3])) for row in rows]
        return Described(tuple(resolve(session, found)), relation.oid, relation.kind, values)
    return Described(tuple(resolve(session, _described_query(session, asked, values))), values=values)


def use_path(session: Session, asked: Asked) -> None:
    """Let a query's plain names mean tables of the connection's schema, in this session."""
    session.execute("SELECT set_config('search_path', quote_ident(%s), false)", (asked.search_path,))


def _described_query(session: Session, asked: Asked, values: Mapping[str, Value]) -> list[tuple[str, int, int, bool]]:
    from psycopg import pq

    # As it will be asked: a query that would write cannot stand in a FROM.
    text = f"SELECT * FROM ({query_text(session, asked, values)}) AS q"
    with explained("query"):
        prepared = session.pgconn.prepare(b"", text.encode())
        if prepared.status != pq.ExecStatus.COMMAND_OK:
            raise _wrong_query(prepared.error_message.decode(errors="replace") if prepared.error_message else "")
        result = session.pgconn.describe_prepared(b"")
    if result.nfields == 0:
        raise _wrong_query("it returns no columns")
    return [
        ((result.fname(at) or b"").decode(), result.ftype(at), result.fmod(at), True) for at in range(result.nfields)
    ]


def _wrong_query(said: str) -> ConfigError:
    line = said.strip().partition("\n")[0].removeprefix("ERROR:").strip()
    return ConfigError(
        f"source.query: PostgreSQL does not take it: {line}",
        kept="nothing was read",
        next_step="mend the query: one SELECT, its tables in the connection's schema or named with their own",
        code="query",
    )


def query_text(session: Session, asked: Asked, values: Mapping[str, Value]) -> str:
    """The query with its parameters filled in, each quoted by libpq: COPY takes no bound ones."""
    assert asked.query is not None
    literals = {one: _literal(session, value) for one, value in values.items()}
    return without_end(filled_in(asked.query, literals))


def _literal(session: Session, value: Value) -> str:
    from psycopg import sql

    return sql.Literal(value).as_string(session)


def select(session: Session, asked: Asked, described: Described, columns: tuple[Carried, ...], where: Any) -> str:
    """The SELECT of these columns, and of the rows where `where` holds."""
    from psycopg import sql

    if asked.table is not None:
        origin: Any = name(*asked.table)
    else:
        origin = sql.SQL("({})").format(sql.SQL(query_text(session, asked, described.values)))
    chosen = sql.SQL(", ").join([column.sql() for column in columns])
    statement = sql.SQL("SELECT {} FROM {} AS q").format(chosen, origin)
    if where is not None:
        statement = sql.SQL("{} WHERE {}").format(statement, where)
    return statement.as_string(session)


def within(span: Span | None, *, lower: bool = True) -> Any:
    """The rows of a span, as a condition; None for all. Without `lower`, everything before its end."""
    from psycopg import sql

    if span is None:
        return None
    column = name("q", span.column)
    if span.upper is None:
        return sql.SQL("{} = {}").format(column, sql.Literal(span.lower))
    before = sql.SQL("{} < {}").format(column, sql.Literal(span.upper))
    if not lower:
        return before
    return sql.SQL("{} >= {} AND {}").format(column, sql.Literal(span.lower), before)


def both(*conditions: Any) -> Any:
    """All of them; None where there are none."""
    from psycopg import sql

    told = [sql.SQL("({})").format(condition) for condition in conditions if condition is not None]
    return sql.SQL(" AND ").join(told) if told else None
