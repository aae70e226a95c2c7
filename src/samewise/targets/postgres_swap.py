"""`refresh: swap`: the new rows are loaded into a table beside the old one, and then the two change their names.

Everything that hangs on the old table is carried over, or named and refused before a row is staged. All of it is one
transaction: a reader finds the old table or the new one under the name, and a killed run leaves nothing.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from samewise.core.errors import Refused
from samewise.core.schema import Schema
from samewise.storage.postgres import Relation, find_relation, name, names, text
from samewise.targets.postgres_book import Book
from samewise.targets.postgres_carried import Carried, View, only_value, views_over
from samewise.targets.postgres_stage import Staging
from samewise.targets.postgres_types import made_type, takes

if TYPE_CHECKING:
    from psycopg.sql import Composable

    from samewise.storage.postgres import Session

_MOMENT_MILLISECONDS = 300
"""Less than the second after which PostgreSQL looks for a deadlock."""
_CANNOT = {
    "a foreign key of another table": """
        SELECT format('%%I on %%s', conname, conrelid::regclass) FROM pg_constraint
        WHERE confrelid = %(oid)s AND contype = 'f' AND conrelid <> %(oid)s""",
    "a materialized view": """
        SELECT DISTINCT c.oid::regclass::text FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid
        JOIN pg_class c ON c.oid = r.ev_class WHERE d.classid = 'pg_rewrite'::regclass AND c.relkind = 'm'
        AND d.refclassid = 'pg_class'::regclass AND d.refobjid = %(oid)s""",
    "a rule": "SELECT rulename::text FROM pg_rewrite WHERE ev_class = %(oid)s",
    "a policy of row security": "SELECT polname::text FROM pg_policy WHERE polrelid = %(oid)s",
    "row security": "SELECT 'it is enabled' FROM pg_class WHERE oid = %(oid)s AND relrowsecurity",
    "inheritance": """
        SELECT CASE WHEN inhparent = %(oid)s THEN inhrelid ELSE inhparent END::regclass::text FROM pg_inherits
        WHERE %(oid)s IN (inhparent, inhrelid)""",
    "a publication": """
        SELECT p.pubname::text FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid
        WHERE r.prrelid = %(oid)s""",
    "a replica identity": """
        SELECT relreplident::text FROM pg_class WHERE oid = %(oid)s AND relreplident NOT IN ('d', 'n')""",
    "a security label": "SELECT provider FROM pg_seclabels WHERE objoid = %(oid)s AND classoid = 'pg_class'::regclass",
    "a view of another role": """
        SELECT v.oid::regclass::text FROM pg_class v WHERE v.oid = ANY(%(views)s)
        AND NOT pg_has_role(v.relowner, 'USAGE')""",
    "its row type in use": """
        SELECT pg_describe_object(d.classid, d.objid, d.objsubid) FROM pg_depend d
        WHERE d.refclassid = 'pg_type'::regclass AND d.deptype = 'n'
        AND d.refobjid IN (SELECT reltype FROM pg_class WHERE oid = %(oid)s)""",
    "an object that depends on it": """
        SELECT pg_describe_object(d.classid, d.objid, d.objsubid) FROM pg_depend d
        WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = %(oid)s AND d.deptype = 'n'
        AND d.classid NOT IN ('pg_rewrite'::regclass, 'pg_constraint'::regclass, 'pg_trigger'::regclass,
                              'pg_attrdef'::regclass)
        AND NOT (d.classid = 'pg_class'::regclass AND d.objid = %(oid)s)""",
}


def check_swap(
    session: Session, place: tuple[str, str], there: Relation, schema: Schema, surplus: Sequence[str]
) -> None:
    """Raise `Refused` with the name of whatever could not be carried over."""
    session.execute("SELECT set_config('search_path', 'pg_catalog', false)")
    try:
        values = {"oid": there.oid, "views": views_over(session, there.oid)}
        for what, query in _CANNOT.items():
            found = session.execute(query, values).fetchone()
            if found is not None:
                raise _refused(place, f"{what}: {found[0]}")
        _check_views(session, there, schema, surplus, place)
    finally:
        session.execute("RESET search_path")


_VIEW_OF_COLUMN = """
SELECT r.ev_class::regclass::text FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid
JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = %s AND a.attname = %s
"""


def swap(
    session: Session,
    place: tuple[str, str],
    there: Relation,
    schema: Schema,
    surplus: Sequence[str],
    staging: Staging,
    book: Book,
) -> int:
    """Make the new table, load it, and put it in the old one's place; its oid. In the caller's transaction."""
    namespace, table = place
    new, old = (namespace, f"samewise_new_{there.oid}"), (namespace, f"samewise_old_{there.oid}")
    # Every text that PostgreSQL writes for us from here on names things in full.
    session.execute("SELECT set_config('search_path', 'pg_catalog', true)")
    carried = Carried(session, there.oid)
    _make(session, place, new, there, schema, surplus)
    # Before the rows: what they do to a row, they do to these.
    carried.put_triggers_on(session, place, new)
    columns = [column if a is None else a.name for column in schema.names for a in [there.attribute(column)]]
    session.execute(
        text("INSERT INTO {} ({}) SELECT {} FROM {} AS s").format(
            name(*new), names(columns), names(columns), staging.rows
        )
    )
    fresh = find_relation(session, *new)
    assert fresh is not None
    indexes = _paired_indexes(session, there.oid, fresh.oid)
    # From here on readers wait, for as long as it takes to change some names.
    _hold(session, place, carried.views)
    session.execute(text("ALTER TABLE {} RENAME TO {}").format(name(*place), name(old[1])))
    session.execute(text("ALTER TABLE {} RENAME TO {}").format(name(*new), name(table)))
    carried.put_on(session, place, fresh)
    session.execute(text("DROP TABLE {}").format(name(*old)))
    for one, other in indexes:
        if one != other:
            session.execute(text("ALTER INDEX {} RENAME TO {}").format(name(namespace, one), name(other)))
    book.watch(session, *place)
    session.execute("SELECT set_config('samewise.publishing', %s, true)", (str(fresh.oid),))
    return fresh.oid


def _hold(session: Session, place: tuple[str, str], views: Sequence[View]) -> None:
    """Take the views and the table for ourselves, as readers do: first a view, then what is under it.

    Someone may hold the table and ask for the view. So that PostgreSQL need not break such a circle by refusing the
    reader, we let go of everything after a moment, well before it looks for circles, and ask again.
    """
    import psycopg

    patience = int(only_value(session, "SELECT setting FROM pg_settings WHERE name = 'lock_timeout'")) / 1000
    give_up_at = time.monotonic() + patience
    while True:
        session.execute("SAVEPOINT names")
        session.execute("SELECT set_config('lock_timeout', %s, true)", (f"{_MOMENT_MILLISECONDS}ms",))
        try:
            for view in views:
                view.make_again(session)
            session.execute(text("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(name(*place)))
            session.execute("SELECT set_config('lock_timeout', %s, true)", (f"{round(patience * 1000)}ms",))
            return
        except psycopg.errors.LockNotAvailable:
            session.execute("ROLLBACK TO SAVEPOINT names")
            if time.monotonic() > give_up_at:
                raise
            time.sleep(random.uniform(0.02, 0.2))


def _make(
    session: Session,
    place: tuple[str, str],
    new: tuple[str, str],
    there: Relation,
    schema: Schema,
    surplus: Sequence[str],
) -> None:
    """A table like the old one in everything that PostgreSQL can copy, in the shape of the new rows."""
    tablespace = session.execute(
        "SELECT coalesce(s.spcname::text, ''), c.reloptions FROM pg_class c"
        " LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace WHERE c.oid = %s",
        (there.oid,),
    ).fetchone()
    assert tablespace is not None
    space, options = tablespace
    tail: Composable = text("")
    if options:
        tail = tail + text(" WITH (" + ", ".join(str(option) for option in options) + ")")
    if space:
        tail = tail + text(" TABLESPACE {}").format(name(space))
    create = text("CREATE TABLE {} (LIKE {} INCLUDING ALL)").format(name(*new), name(*place))
    session.execute(create + tail)
    for column_name in surplus:
        session.execute(text("ALTER TABLE {} DROP COLUMN {}").format(name(*new), name(column_name)))
    for column in schema:
        attribute = there.attribute(column.name)
        if attribute is None:
            change = text("ADD COLUMN {} {}").format(name(column.name), text(made_type(column)))
        elif not takes(attribute, column):
            kind = made_type(column)
            change = text("ALTER COLUMN {0} TYPE {1} USING {0}::{1}").format(name(attribute.name), text(kind))
        else:
            continue
        session.execute(text("ALTER TABLE {} {}").format(name(*new), change))


_INDEXES = """
SELECT c.relname::text, replace(pg_get_indexdef(i.indexrelid), quote_ident(c.relname), '') FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = %s ORDER BY i.indisprimary DESC, c.oid
"""


def _paired_indexes(session: Session, old: int, new: int) -> list[tuple[str, str]]:
    """Each new index with the name of the old one that it was copied from."""

    def shapes(oid: int, place: str) -> list[tuple[str, str]]:
        found = session.execute(_INDEXES, (oid,)).fetchall()
        return [(str(index), str(definition).replace(place, "")) for index, definition in found]

    there = shapes(old, only_value(session, "SELECT %s::regclass::text", old))
    here = shapes(new, only_value(session, "SELECT %s::regclass::text", new))
    pairs = []
    for index, shape in here:
        match = next((pair for pair in there if pair[1] == shape), None)
        if match is not None:
            there.remove(match)
            pairs.append((index, match[0]))
    return pairs


def _check_views(
    session: Session, there: Relation, schema: Schema, surplus: Sequence[str], place: tuple[str, str]
) -> None:
    """A view can be said again only while the columns that it shows are there, in their types."""
    if not views_over(session, there.oid):
        return
    for column in schema:
        attribute = there.attribute(column.name)
        if attribute is not None and not takes(attribute, column):
            view = only_value(session, "SELECT %s::regclass::text", views_over(session, there.oid)[0])
            raise _refused(place, f"the view {view}, while {column.name} becomes {column.type}")
    for gone in surplus:
        found = session.execute(_VIEW_OF_COLUMN, (there.oid, gone)).fetchone()
        if found is not None:
            raise _refused(place, f"the view {found[0]}, which shows {gone}, a column that the rows have no more")


def _refused(place: Sequence[str], what: str) -> Refused:
    return Refused(
        f"{'.'.join(place)} cannot be swapped: {what} could not be carried over to the new table",
        code="cannot_swap",
        kept="the target is untouched; nothing was staged",
        next_step="use `refresh: delete`, which leaves everything in place; or drop it, and make it again afterwards",
    )
