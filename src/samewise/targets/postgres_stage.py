"""A staging table for each publication: filled by Spark's tasks, checked as a whole, dropped by whoever is left.

A session holds an advisory lock for as long as its staging table is wanted. PostgreSQL lets go of it when the session
ends, however it ends: a table whose lock is free belongs to nobody, and the next run drops it.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from types import ModuleType
from typing import TYPE_CHECKING, Any

from samewise.core.errors import ConfigError, MayHaveLanded, OutOfSpace, Refused, SamewiseError, Transient
from samewise.core.measures import Measures, row_hash_expression
from samewise.core.schema import Schema
from samewise.core.sql import quote
from samewise.storage.failures import Kind, of_sqlstate, read_failure
from samewise.storage.postgres import Relation, name, names, resolved_conninfo, text
from samewise.targets import postgres_copy
from samewise.targets.postgres_types import made_type, takes, text_expression

if TYPE_CHECKING:
    from psycopg.sql import Composable
    from pyspark.sql import DataFrame

    from samewise.storage.postgres import Session

PREFIX = "samewise_stage_"
HASH = "_samewise_hash"
TAG = "_samewise_tag"
_HASH_BITS = 96
_LONGEST_SUM = 38
_MARK = re.compile(rf"\[{postgres_copy.MARK} (\w+)\] ([^\n]*)")
_NO_MODULE = re.compile(r"No module named '(psycopg|pyarrow|pandas)\b")
_GONE = "what was staged is not all there any more: the server was restarted, or someone emptied {}"


@dataclass(frozen=True, slots=True)
class Part:
    """What one task says that it wrote."""

    tag: int
    rows: int
    hash: int


@dataclass(slots=True)
class Staging:
    """One table, and what is known to be in it."""

    schema: str
    table: str
    columns: tuple[str, ...]
    """As the target calls them."""
    summed: tuple[str, ...] = ()
    """Decimal columns, whose sums a receipt keeps."""
    parts: list[Part] = field(default_factory=list)

    @property
    def place(self) -> Composable:
        return name(self.schema, self.table)

    @property
    def rows(self) -> Composable:
        """The rows that count, as a subquery: also of a task that nobody waits for, which ends at this very moment."""
        tags = ", ".join(str(part.tag) for part in self.parts)
        return text("(SELECT * FROM {} WHERE {} = ANY(ARRAY[{}]::bigint[]))").format(self.place, name(TAG), text(tags))


def create(session: Session, bookkeeping: str, attempt: str, there: Relation, rows: Schema) -> Staging:
    """A new table with the target's own columns, as far as the rows have them, and with room for hash and tag."""
    table = f"{PREFIX}{attempt or 'none'}_{uuid.uuid4().hex[:8]}"
    # First the lock: a table without one is dropped by whoever sees it.
    session.execute("SELECT pg_advisory_lock(%s)", (_lock_of(bookkeeping, table),))
    columns, types = [], []
    for column in rows:
        attribute = there.attribute(column.name)
        columns.append(column.name if attribute is None else attribute.name)
        # A column that is not there is kept elsewhere; or the table is about to be made anew, in another shape.
        kept = attribute is not None and takes(attribute, column)
        types.append(attribute.type if attribute is not None and kept else made_type(column))
    body = text(", ").join(
        [
            text("{} " + type_.replace("{", "{{").replace("}", "}}")).format(name(c))
            for c, type_ in zip(columns, types, strict=True)
        ]
        + [text("{} bigint").format(name(HASH)), text("{} bigint").format(name(TAG))]
    )
    place = name(bookkeeping, table)
    session.execute(text("CREATE UNLOGGED TABLE {} ({}) WITH (autovacuum_enabled = off)").format(place, body))
    decimals = [c for c, column in zip(columns, rows, strict=True) if column.type.startswith("decimal(")]
    return Staging(bookkeeping, table, tuple(columns), tuple(decimals))


def fill(staging: Staging, session: Session, rows: DataFrame, schema: Schema, hashed: Schema) -> None:
    """Copy `rows` into the table from Spark's tasks, and remember what those say whose results count."""
    statement = text("COPY {} ({}) FROM STDIN (FORMAT csv)").format(staging.place, names([*staging.columns, HASH, TAG]))
    conninfo = resolved_conninfo(session, purpose=f"stage {staging.table}")
    send_by_value()
    copy = postgres_copy.copier(conninfo, statement.as_string(session), HASH)
    expressions = [f"{text_expression(column)} AS {quote(column.name)}" for column in schema]
    ready = rows.selectExpr(*expressions, f"{row_hash_expression(hashed)} AS {quote(HASH)}")
    try:
        found = ready.mapInArrow(copy, postgres_copy.RESULT).collect()
    except Exception as error:
        raise _explained(error) from error
    staging.parts = [Part(int(row["tag"]), int(row["rows"]), int(row["hash"])) for row in found]


def send_by_value() -> None:
    """Let Spark send its workers our functions themselves: they need not have Samewise."""
    from pyspark import cloudpickle

    register: Callable[[ModuleType], None] = cloudpickle.register_pickle_by_value
    register(postgres_copy)


def check(staging: Staging, session: Session) -> Measures:
    """Measure what is in the table, inside the publishing transaction, as far as a result speaks of it.

    Raises `Transient` if anything is missing that a task wrote: a crash of the server empties the table.
    """
    sums = text("").join([text(", sum({})").format(name(column)) for column in staging.summed])
    query = text("SELECT {tag}, count(*), coalesce(sum({hash}), 0){sums} FROM {place} GROUP BY 1")
    try:
        found = session.execute(query.format(tag=name(TAG), hash=name(HASH), sums=sums, place=staging.place)).fetchall()
    except Exception as error:
        if getattr(error, "sqlstate", None) != "42P01":
            raise
        raise Transient(_GONE.format(staging.table), next_step="run the same command again") from error
    there = {int(row[0]): row for row in found}
    wanted = {part.tag: part for part in staging.parts}
    whole = len(wanted) == len(staging.parts) and all(
        tag in there and (int(there[tag][1]), int(there[tag][2])) == (part.rows, part.hash)
        for tag, part in wanted.items()
    )
    if not whole:
        raise Transient(_GONE.format(staging.table), next_step="run the same command again; it stages anew")
    return _measures(staging, [there[tag] for tag in wanted])


def _measures(staging: Staging, rows: Sequence[Sequence[Any]]) -> Measures:
    total = sum(int(row[2]) for row in rows)
    sums: dict[str, str] = {}
    for at, column in enumerate(staging.summed, start=3):
        values = [Decimal(row[at]) for row in rows if row[at] is not None]
        added = sum(values, Decimal(0)) if values else None
        # As Spark's own sum of decimals, which does not go beyond 38 digits.
        if added is not None and len(added.as_tuple().digits) <= _LONGEST_SUM:
            sums[column] = format(added, "f")
    return Measures(sum(int(row[1]) for row in rows), f"{total % (1 << _HASH_BITS):0{_HASH_BITS // 4}x}", sums)


def agrees(measures: Measures, verified: Mapping[str, Any] | None) -> bool:
    """Whether the staged rows are those that were verified before; True where nothing was."""
    return verified is None or measures.same_rows(Measures.from_json(verified))


def drop(staging: Staging, session: Session) -> bool:
    """Drop the table and let go of its lock; whether it worked. Never raises: what is left, the next run drops."""
    try:
        session.execute(text("DROP TABLE IF EXISTS {}").format(staging.place))
        session.execute("SELECT pg_advisory_unlock(%s)", (_lock_of(staging.schema, staging.table),))
    except Exception:
        return False
    return True


_ORPHANS = """
SELECT c.relname::text, c.oid::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname LIKE 'samewise\\_stage\\_%%' AND c.relkind = 'r'
  AND pg_has_role(c.relowner, 'USAGE')
"""
_WRITERS = """
SELECT pg_terminate_backend(pid) FROM pg_locks
WHERE relation = %s AND pid <> pg_backend_pid()
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


def sweep(session: Session, bookkeeping: str) -> list[str]:
    """Drop staging tables whose sessions are gone; their names. One that is still wanted is left alone."""
    dropped = []
    for table, oid in session.execute(_ORPHANS, (bookkeeping,)).fetchall():
        lock = _lock_of(bookkeeping, table)
        free = session.execute("SELECT pg_try_advisory_lock(%s)", (lock,)).fetchone()
        if free is None or not free[0]:
            continue
        try:
            # A task of a killed run may still be copying into it.
            with suppress(Exception):
                session.execute(_WRITERS, (oid,))
            with suppress(Exception):
                session.execute(text("DROP TABLE IF EXISTS {}").format(name(bookkeeping, table)))
                dropped.append(table)
        finally:
            with suppress(Exception):
                session.execute("SELECT pg_advisory_unlock(%s)", (lock,))
    return dropped


def _lock_of(schema: str, table: str) -> int:
    digest = hashlib.sha256(f"samewise/{schema}/{table}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _explained(error: Exception) -> Exception:
    """What a failure of the copying job means: a worker's own words tell, where there are any."""
    found = _MARK.search(str(error))
    missing = _NO_MODULE.search(str(error))
    if missing is not None:
        return _worker_error("", f"{missing[1]} is not installed where they run")
    if found is None:
        failure = read_failure(error)
        if failure.kind is Kind.LOST_ENGINE:
            return MayHaveLanded(f"Spark was lost: {failure.summary}", next_step="run the same command again")
        return error
    state, sentence = found[1], found[2].strip()
    return _worker_error(state, sentence)


def _worker_error(state: str, sentence: str) -> SamewiseError:
    if not re.fullmatch(r"[0-9A-Z]{5}", state):
        return ConfigError(
            f"rows are copied to PostgreSQL by Spark's Python workers, and {sentence}",
            kept="the target is untouched",
            next_step="install psycopg and pyarrow there: pip install 'psycopg[binary]' pyarrow",
            code="executor",
        )
    match of_sqlstate(state):
        case Kind.REFUSED:
            return Refused(
                f"PostgreSQL refuses a row: {sentence}",
                code="target_constraint",
                kept="the target is untouched",
                next_step="mend the source or the transform, then run the same command again",
            )
        case Kind.SETTINGS:
            return ConfigError(f"staging in PostgreSQL: {sentence}", kept="the target is untouched", code="connection")
        case Kind.OUT_OF_SPACE:
            return OutOfSpace(f"staging in PostgreSQL: {sentence}", next_step="free some space on the server")
        case _:
            return Transient(f"staging in PostgreSQL: {sentence}", next_step="run the same command again")
