"""A PostgreSQL table's fork: a schema of its own with the table's columns, indexes and constraints.

Nothing in a fork points at anything real. A default that counts gets a sequence of its own. A foreign key gets a
copy of the keys that it refers to: one that referred to the real table would keep others from deleting rows there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from samewise.core.records import Owner
from samewise.core.sql import Span
from samewise.storage.postgres import Relation, bound_name, find_relation, name, names, text
from samewise.targets.postgres_book import Book
from samewise.targets.postgres_prepare import require_plain_table
from samewise.targets.postgres_read import literal_predicate

if TYPE_CHECKING:
    from psycopg.sql import Composable

    from samewise.storage.postgres import Session

PREFIX = "samewise_prove_"
_SCHEMAS = """
SELECT nspname::text, obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE starts_with(nspname::text, %s)
"""
_COUNTERS = """
SELECT a.attname::text, s.oid::bigint, n.nspname::text, s.relname::text
FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
JOIN pg_depend p ON p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid AND p.refclassid = 'pg_class'::regclass
JOIN pg_class s ON s.oid = p.refobjid AND s.relkind = 'S' JOIN pg_namespace n ON n.oid = s.relnamespace
WHERE d.adrelid = %s
"""
_FOREIGN_KEYS = """
SELECT c.confrelid::bigint, n.nspname::text, r.relname::text,
    (SELECT array_agg(a.attname::text ORDER BY k.at) FROM unnest(c.conkey) WITH ORDINALITY k(num, at)
     JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.num),
    (SELECT array_agg(a.attname::text ORDER BY k.at) FROM unnest(c.confkey) WITH ORDINALITY k(num, at)
     JOIN pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.num)
FROM pg_constraint c JOIN pg_class r ON r.oid = c.confrelid JOIN pg_namespace n ON n.oid = r.relnamespace
WHERE c.conrelid = %s AND c.contype = 'f' AND has_table_privilege(c.confrelid, 'SELECT')
    AND has_schema_privilege(n.oid, 'USAGE') ORDER BY c.oid
"""


@dataclass(frozen=True, slots=True)
class Place:
    """A table, and the schema of its bookkeeping."""

    schema: str
    table: str
    bookkeeping: str

    @property
    def book(self) -> Book:
        return Book(self.bookkeeping, self.schema, self.table)


@dataclass(frozen=True, slots=True)
class Others:
    """The rows of other windows: all, or where those are more than `most`, as many of the windows beside."""

    windows: Sequence[Span]
    """Those that a fork begins without."""
    beside: Sequence[Span]
    most: int


def fork_table(
    session: Session, old: Place, new: Place, mark: str, *, rows: bool | Others, owner: Owner | None = None
) -> bool:
    """Fork `old` to `new`, in one transaction; a table that is not there has an empty fork: a schema.

    `mark` says whose the schema is, from the moment that it can be seen. `rows`: with its rows, or with some. `owner`:
    whose the fork is; without it, whose the old one was. Gives whether the fork has all rows that were asked for. The
    old table is only read, and whoever writes to it meanwhile is not held up.
    """
    with session.transaction():
        session.execute(text("CREATE SCHEMA {}").format(name(new.schema)))
        session.execute(text("COMMENT ON SCHEMA {} IS {}").format(name(new.schema), _literal(mark)))
        new.book.ensure(session)
        there = find_relation(session, old.schema, old.table)
        if there is None:
            return True
        require_plain_table(there, f"{old.schema}.{old.table}")
        _make_alike(session, (old.schema, old.table), (new.schema, new.table))
        is_whole = _fill(session, (old.schema, old.table), (new.schema, new.table), there, rows)
        made = find_relation(session, new.schema, new.table)
        assert made is not None
        _own_counters(session, there, new)
        _own_foreign_keys(session, there, made, new)
        _copy_book(session, old, new, there, made, owner, rows=rows is True)
        return is_whole


def hash_outside(session: Session, place: tuple[str, str], spans: Sequence[Span]) -> tuple[object, ...]:
    """The same for the same rows outside of these spans, in whatever order they are."""
    there = find_relation(session, *place)
    if there is None:
        return ()
    hashed = text("SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM {} AS t WHERE ({}) IS NOT TRUE")
    return tuple(session.execute(hashed.format(name(*place), _any_of(spans, there))).fetchone() or ())


def drop_schema(session: Session, schema: str) -> None:
    """Drop a fork. A second call does nothing."""
    assert schema.startswith(PREFIX)
    session.execute(text("DROP SCHEMA IF EXISTS {} CASCADE").format(name(schema)))


def sweep_schemas(session: Session, is_dead: Callable[[str], bool]) -> list[str]:
    """Drop the forks whose mark names an owner that is dead; their names."""
    found = session.execute(_SCHEMAS, (PREFIX,)).fetchall()
    dead = [str(schema) for schema, mark in found if mark is not None and is_dead(str(mark))]
    for schema in dead:
        drop_schema(session, schema)
    return dead


def _make_alike(session: Session, old: tuple[str, str], new: tuple[str, str]) -> None:
    session.execute(text("CREATE TABLE {} (LIKE {} INCLUDING ALL)").format(name(*new), name(*old)))


def _fill(session: Session, old: tuple[str, str], new: tuple[str, str], there: Relation, rows: bool | Others) -> bool:
    """Copy rows; whether all that were asked for are there now."""
    if not isinstance(rows, Others):
        if rows:
            _copy_where(session, old, new, there, text("true"))
        return True
    outside = text("({}) IS NOT TRUE").format(_any_of(rows.windows, there))
    some = text("SELECT count(*) FROM (SELECT FROM {} AS t WHERE {} LIMIT {}) AS s").format(
        name(*old), outside, text(str(rows.most + 1))
    )
    found = session.execute(some).fetchone()
    is_whole = found is not None and int(found[0]) <= rows.most
    if not is_whole:
        outside = text("({}) AND {} LIMIT {}").format(_any_of(rows.beside, there), outside, text(str(rows.most)))
    _copy_where(session, old, new, there, outside)
    return is_whole


def _any_of(spans: Sequence[Span], there: Relation) -> Composable:
    """Rows of these spans. A table without the column has none of them."""
    found = [
        text("({})").format(literal_predicate(span, attribute.name))
        for span in spans
        if (attribute := there.attribute(span.column)) is not None
    ]
    return text(" OR ").join(found) if found else text("false")


def _copy_where(
    session: Session, old: tuple[str, str], new: tuple[str, str], there: Relation, where: Composable
) -> None:
    generated = session.execute(
        "SELECT attname::text FROM pg_attribute WHERE attrelid = %s AND attgenerated <> ''", (there.oid,)
    ).fetchall()
    computed = {column for (column,) in generated}
    columns = names([a.name for a in there.attributes if a.name not in computed])
    session.execute(
        text("INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE SELECT {} FROM {} AS t WHERE {}").format(
            name(*new), columns, columns, name(*old), where
        )
    )


def _own_counters(session: Session, there: Relation, new: Place) -> None:
    """A `serial` column counts by a sequence of the real table: in the fork it must not."""
    for number, (column, _, schema, sequence) in enumerate(session.execute(_COUNTERS, (there.oid,)).fetchall()):
        own = f"samewise_sequence_{number}"
        session.execute(text("CREATE SEQUENCE {}").format(name(new.schema, own)))
        reached = session.execute(text("SELECT last_value FROM {}").format(name(schema, sequence))).fetchone()
        place = text("{}::regclass").format(_literal(name(new.schema, own).as_string(session)))
        session.execute(text("SELECT setval({}, {})").format(place, text(str(int(reached[0] if reached else 1)))))
        session.execute(
            text("ALTER TABLE {} ALTER COLUMN {} SET DEFAULT nextval({})").format(
                name(new.schema, new.table), name(str(column)), place
            )
        )


def _own_foreign_keys(session: Session, there: Relation, made: Relation, new: Place) -> None:
    for number, found in enumerate(session.execute(_FOREIGN_KEYS, (there.oid,)).fetchall()):
        referred, schema, table, columns, keys = found
        other = (new.schema, new.table)
        if int(referred) != there.oid:
            other = (new.schema, f"samewise_keys_{number}")
            session.execute(
                text("CREATE TABLE {} AS SELECT DISTINCT {} FROM {}").format(
                    name(*other), names(keys), name(str(schema), str(table))
                )
            )
            session.execute(text("ALTER TABLE {} ADD UNIQUE ({})").format(name(*other), names(keys)))
        # Not of the rows that are there: some of those that they refer to may be left out.
        session.execute(
            text("ALTER TABLE {} ADD FOREIGN KEY ({}) REFERENCES {} ({}) NOT VALID").format(
                name(new.schema, new.table), names(columns), name(*other), names(keys)
            )
        )


def _copy_book(
    session: Session, old: Place, new: Place, there: Relation, made: Relation, owner: Owner | None, *, rows: bool
) -> None:
    """What the bookkeeping says about the table, said of the fork. One that nobody owned yet is claimed by a run."""
    if not old.book.is_there(session):
        return
    entry = old.book.find(session)
    if entry is None or entry.relid != there.oid:
        return
    for table in ("targets", "tokens", "commits"):
        _copy_rows(session, old, new, f"samewise_{table}", entry.table_id)
    own: Any = (new.schema, new.table, made.oid, entry.table_id)
    session.execute(
        text("UPDATE {} SET schema_name = %s, table_name = %s, relid = %s WHERE table_id = %s").format(
            bound_name(new.bookkeeping, "samewise_targets")
        ),
        own,
    )
    if owner is not None:
        new.book.set_owner(session, entry, owner)
    tombs = f"samewise_tombstones_{entry.table_id[:12]}"
    deleted = find_relation(session, old.bookkeeping, tombs)
    if deleted is not None:
        places = (old.bookkeeping, tombs), (new.bookkeeping, tombs)
        _make_alike(session, *places)
        _fill(session, *places, deleted, rows)
    new.book.watch(session, new.schema, new.table)


def _copy_rows(session: Session, old: Place, new: Place, table: str, table_id: str) -> None:
    session.execute(
        text("INSERT INTO {} SELECT * FROM {} WHERE table_id = %s").format(
            bound_name(new.bookkeeping, table), bound_name(old.bookkeeping, table)
        ),
        (table_id,),
    )


def _literal(value: str) -> Any:
    from psycopg import sql

    return sql.Literal(value)
