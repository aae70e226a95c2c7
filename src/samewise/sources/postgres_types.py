"""PostgreSQL's types in Spark's words: what is carried exactly, how it is asked for, and what is refused by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from samewise.core.errors import Refused
from samewise.core.schema import Column, Schema
from samewise.sources.postgres_reader import HINT, MARK, REFUSED
from samewise.storage.postgres import name, spark_type

if TYPE_CHECKING:
    from samewise.storage.postgres import Session

# Their text is their value, letter by letter.
_AS_TEXT = re.compile(r"jsonb?|uuid|name|citext|xml|inet|cidr|macaddr8?|character(\(\d+\))?|bpchar|\"char\"")
_LOWEST, _BEYOND = "0001-01-01", "10000-01-01"

_TYPES = """
WITH RECURSIVE given(at, type, mod) AS (
    SELECT * FROM unnest(%s::int[], %s::oid[], %s::int[])
), base(at, type, mod, depth) AS (
    SELECT at, type, mod, 0 FROM given
    UNION ALL
    -- A domain is the type that it is made of.
    SELECT b.at, t.typbasetype, t.typtypmod, b.depth + 1
    FROM base b JOIN pg_type t ON t.oid = b.type WHERE t.typtype = 'd'
)
SELECT b.at, format_type(b.type, b.mod), coalesce(e.typtype, t.typtype) = 'e'
FROM base b JOIN pg_type t ON t.oid = b.type LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
WHERE t.typtype <> 'd' ORDER BY b.at
"""


@dataclass(frozen=True, slots=True)
class Carried:
    """A column of a table or query, and Spark's type for it; None where none holds its values exactly."""

    name: str
    type: str
    """PostgreSQL's own spelling, a domain's being that of its base."""
    spark: str | None
    nullable: bool = True

    @property
    def column(self) -> Column:
        assert self.spark is not None
        return Column(self.name, self.spark, self.nullable)

    def sql(self) -> Any:
        """The expression that is asked for: exact, or failing with the column's name and the value."""
        from psycopg import sql

        own, alias = name("q", self.name), name(self.name)
        assert self.spark is not None
        if self.spark.startswith("array<"):
            return sql.SQL("{} AS {}").format(self._array(own), alias)
        if self.spark in ("date", "timestamp", "timestamp_ntz"):
            return sql.SQL("{} AS {}").format(self._guarded(own), alias)
        if self.spark == "string" or self.spark.startswith("decimal"):
            return sql.SQL("{}::text AS {}").format(own, alias)
        return sql.SQL("{} AS {}").format(own, alias)

    def _guarded(self, own: Any) -> Any:
        """Within the years that Spark can tell; `infinity` is beyond them."""
        from psycopg import sql

        kind = sql.SQL(_PLAIN_TIMES[str(self.spark)])
        return sql.SQL(
            "CASE WHEN {own} >= {low}::{kind} AND {own} < {high}::{kind} OR {own} IS NULL THEN {own}"
            " ELSE ({said} || {own}::text || {end})::{kind} END"
        ).format(own=own, kind=kind, low=sql.Literal(_LOWEST), high=sql.Literal(_BEYOND), **self._words())

    def _array(self, own: Any) -> Any:
        """A plain list: counted from 1, of one dimension, each element as a column of its type would be."""
        from psycopg import sql

        element = str(self.spark)[len("array<") : -1]
        fine = sql.SQL("coalesce(array_ndims({own}) = 1 AND array_lower({own}, 1) = 1, true)").format(own=own)
        if element in _PLAIN_TIMES:
            kind = sql.SQL(_PLAIN_TIMES[element])
            told = "({low}::{kind} <= ALL ({own}) AND {high}::{kind} > ALL ({own})) IS NOT FALSE"
            ends = {"low": sql.Literal(_LOWEST), "high": sql.Literal(_BEYOND)}
            fine = sql.SQL("{} AND {}").format(fine, sql.SQL(told).format(own=own, kind=kind, **ends))
        as_text = element == "string" or element.startswith("decimal")
        value = sql.SQL("{}::text[]").format(own) if as_text else own
        # The text is no array literal, so that the cast fails and says what it is.
        kind = sql.SQL("text[]") if as_text else sql.SQL(_PLAIN_ELEMENTS[element] + "[]")
        return sql.SQL("CASE WHEN {fine} THEN {value} ELSE ({said} || {own}::text || {end})::{kind} END").format(
            fine=fine, value=value, own=own, kind=kind, **self._words()
        )

    def _words(self) -> dict[str, Any]:
        from psycopg import sql

        said = f"{MARK}[{REFUSED}] {self.name} holds "
        return {"said": sql.Literal(said), "end": sql.Literal(f", which Spark's {self.spark} cannot: {HINT} {MARK}.")}


_PLAIN_TIMES = {
    "date": "date",
    "timestamp": "timestamp with time zone",
    "timestamp_ntz": "timestamp without time zone",
}
_PLAIN_ELEMENTS = {
    **_PLAIN_TIMES,
    "boolean": "boolean",
    "smallint": "smallint",
    "int": "integer",
    "bigint": "bigint",
    "float": "real",
    "double": "double precision",
    "binary": "bytea",
}


def carried_type(type: str, *, is_enum: bool) -> str | None:
    """Spark's type for values of this one of PostgreSQL; None where none holds them exactly."""
    if type.endswith("[]"):
        element = carried_type(type[:-2], is_enum=is_enum)
        return None if element is None else f"array<{element}>"
    if is_enum or _AS_TEXT.fullmatch(type):
        return "string"
    return spark_type(type)


def resolve(session: Session, found: Sequence[tuple[str, int, int, bool]]) -> list[Carried]:
    """Columns given as (name, oid of the type, its modifier, may be NULL), in Spark's words."""
    numbers = list(range(len(found)))
    rows = session.execute(_TYPES, (numbers, [f[1] for f in found], [f[2] for f in found])).fetchall()
    return [
        Carried(found[at][0], str(type), carried_type(str(type), is_enum=bool(is_enum)), found[at][3])
        for at, type, is_enum in rows
    ]


def check_carried(columns: Sequence[Carried], place: str) -> Schema:
    """Their schema. Raises `Refused` that names every column which Spark cannot hold."""
    bad = [column for column in columns if column.spark is None]
    if bad:
        lines = "\n".join(f"  {column.name} is {column.type}: {_advice(column.type)}" for column in bad)
        raise Refused(
            f"{place} has columns whose values Spark has no exact type for\n{lines}",
            code="unsupported_type",
            next_step="write a query: that casts them, or leaves them out",
        )
    seen: dict[str, str] = {}
    for column in columns:
        other = seen.setdefault(column.name.lower(), column.name)
        if other is not column.name:
            raise Refused(
                f"{place} has two columns, {other} and {column.name}, that Spark cannot tell apart",
                code="same_name",
                next_step="write a query: that gives one of them another name",
            )
    return Schema(tuple(column.column for column in columns))


def _advice(type: str) -> str:
    if type.startswith("numeric"):
        return "it may have any number of digits; cast it, as in amount::numeric(38,10)"
    return "cast it, as in value::text"
