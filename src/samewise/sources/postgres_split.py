"""How readers share out the rows: each row to exactly one of them, whatever the statistics say.

The planner's estimate says how many readers are worth while, and how it would look for the rows says how they are
shared. Where it reads the whole table, each reader takes a range of pages. Where it uses an index, the rows of a
window lie close together, so that a range of pages would give one reader everything: each then takes those whose
place on disk has its hash. A view or a query has no such place: it is split by `partition_by`, or not at all.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from samewise.core.errors import ConfigError
from samewise.sources.postgres_query import Asked, Described
from samewise.storage.postgres import name

if TYPE_CHECKING:
    from samewise.storage.postgres import Session

DEFAULT_READERS = 4
ROWS_A_READER = 100_000
"""Fewer are not worth a connection and a task of their own."""
_TID_RANGE_SINCE = 140000
_WRITES = ("ModifyTable",)


@dataclass(frozen=True, slots=True)
class Split:
    """What the source says about its readers."""

    readers: int | None = None
    partition_by: str | None = None
    most: int = DEFAULT_READERS
    """How many there are at most where `readers` does not say: more than run at once only wait for each other."""


def shares(session: Session, statement: str, asked: Asked, described: Described, split: Split) -> list[Any]:
    """One condition a reader, in psycopg's SQL; `[None]` for a single one that reads everything."""
    plan = _explained(session, statement)
    wanted = split.readers
    if wanted is None:
        wanted = max(1, min(split.most, -(-int(plan["Plan Rows"]) // ROWS_A_READER)))
    if wanted == 1:
        return [None]
    if split.partition_by is not None:
        return _by_column(session, asked, described, split.partition_by, wanted)
    if not described.has_rows_of_its_own or session.info.server_version < _TID_RANGE_SINCE:
        return [None]
    if described.kind != "p" and plan["Node Type"] == "Seq Scan":
        return _by_pages(session, described, wanted)
    return [_hashed("hashtid({})", name("q", "ctid"), number, wanted) for number in range(wanted)]


def _explained(session: Session, statement: str) -> dict[str, Any]:
    """The planner's idea of the statement; it is not run. Raises `ConfigError` for one that would write."""
    from psycopg import sql

    row = session.execute(sql.SQL("EXPLAIN (FORMAT JSON) {}").format(sql.SQL(statement))).fetchone()
    assert row is not None
    plans = row[0] if isinstance(row[0], list) else json.loads(str(row[0]))
    plan: dict[str, Any] = plans[0]["Plan"]
    if any(node.get("Node Type") in _WRITES for node in _nodes(plan)):
        raise ConfigError("source.query: it would write", kept="nothing was read", next_step="write a plain SELECT")
    # A parallel plan has its estimate at the top, and the scan below a Gather.
    scan = next((node for node in _nodes(plan) if "Scan" in str(node.get("Node Type"))), plan)
    return {"Plan Rows": plan["Plan Rows"], "Node Type": scan["Node Type"]}


def _nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for child in plan.get("Plans", []) for node in _nodes(child))]


def _by_pages(session: Session, described: Described, readers: int) -> list[Any]:
    """Even ranges of pages. The last one is open: it has the rows beyond today's end, should there be any."""
    from psycopg import sql

    row = session.execute(
        "SELECT pg_relation_size(%s::regclass) / current_setting('block_size')::int", (described.oid,)
    ).fetchone()
    assert row is not None
    pages = int(row[0])
    ends = [pages * number // readers for number in range(1, readers)]
    place = name("q", "ctid")
    conditions: list[Any] = []
    for low, high in zip([None, *ends], [*ends, None], strict=True):
        parts = []
        if low is not None:
            parts.append(sql.SQL("{} >= {}::tid").format(place, sql.Literal(f"({low},0)")))
        if high is not None:
            parts.append(sql.SQL("{} < {}::tid").format(place, sql.Literal(f"({high},0)")))
        conditions.append(sql.SQL(" AND ").join(parts))
    return conditions


_HISTOGRAM = """
SELECT s.histogram_bounds::text::text[] FROM pg_stats s
WHERE s.schemaname = %s AND s.tablename = %s AND s.attname = %s
"""


def _by_column(session: Session, asked: Asked, described: Described, column: str, readers: int) -> list[Any]:
    """Ranges of the column with as many rows each, as its histogram says; by its hash where there is none."""
    from psycopg import sql

    carried = next((c for c in described.columns if c.name.lower() == column.lower()), None)
    if carried is None:
        raise ConfigError(
            f"source.partition_by: {asked.label} has no column {column}",
            kept="nothing was read",
            next_step=f"name one of {', '.join(c.name for c in described.columns)}",
        )
    place = name("q", carried.name)
    row = None if asked.table is None else session.execute(_HISTOGRAM, (*asked.table, carried.name)).fetchone()
    bounds: list[str] = [] if row is None or row[0] is None else [str(value) for value in row[0]]
    if len(bounds) <= readers or carried.type.endswith("[]"):
        hashed = "hashtextextended(coalesce({}::text, '') COLLATE \"C\", 0)"
        return [_hashed(hashed, place, number, readers) for number in range(readers)]
    ends = [bounds[len(bounds) * number // readers] for number in range(1, readers)]
    kind = sql.SQL(carried.type)
    conditions: list[Any] = []
    for low, high in zip([None, *ends], [*ends, None], strict=True):
        parts = []
        if low is not None:
            parts.append(sql.SQL("{} >= {}::{}").format(place, sql.Literal(low), kind))
        if high is not None:
            parts.append(sql.SQL("{} < {}::{}").format(place, sql.Literal(high), kind))
        condition = sql.SQL(" AND ").join(parts)
        # NULL is in no range: the first reader takes it.
        conditions.append(sql.SQL("{} OR {} IS NULL").format(condition, place) if low is None else condition)
    return conditions


def _hashed(function: str, place: Any, number: int, readers: int) -> Any:
    from psycopg import sql

    value = sql.SQL(function).format(place)
    # Twice modulo: a hash may be negative.
    return sql.SQL("mod(mod({value}::bigint, {of}) + {of}, {of}) = {number}").format(
        value=value, of=sql.Literal(readers), number=sql.Literal(number)
    )
