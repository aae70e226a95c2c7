"""`refresh: swap`: the new rows are loaded into a table beside the old one, and then the two change their names.

Everything that hangs on the old table is carried over, or named and refused before a row is staged. All of it is one
transaction: a reader finds the old table or the new one under the name, and a killed run leaves nothing.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from samewise.core.errors import Refused
from samewise.core.schema import Schema
from samewise.storage.postgres import Relation, find_relation, name, names, text
from samewise.targets.postgres_book import TRIGGER, Book
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
_VIEWS = """
WITH RECURSIVE v(oid, depth) AS (
    SELECT r.ev_class, 1 FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid
    WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = %s
      AND r.ev_class <> %s)
SELECT DISTINCT oid::bigint FROM v
"""


def check_swap(
    session: Session, place: tuple[str, str], there: Relation, schema: Schema, surplus: Sequence[str]
) -> None:
    """Raise `Refused` with the name of whatever could not be carried over."""
    session.execute("SELECT set_config('search_path', 'pg_catalog', false)")
    try:
        values = {"oid": there.oid, "views": _views(session, there.oid)}
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
    carried = _Carried(session, there.oid)
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


def _hold(session: Session, place: tuple[str, str], views: Sequence[_View]) -> None:
    """Take the views and the table for ourselves, as readers do: first a view, then what is under it.

    Someone may hold the table and ask for the view. So that PostgreSQL need not break such a circle by refusing the
    reader, we let go of everything after a moment, well before it looks for circles, and ask again.
    """
    import psycopg

    patience = int(_one(session, "SELECT setting FROM pg_settings WHERE name = 'lock_timeout'")) / 1000
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


class _Carried:
    """What `LIKE` does not copy: rights, owner, foreign keys, triggers, sequences, views."""

    def __init__(self, session: Session, oid: int) -> None:
        self.owner: str = _one(session, "SELECT pg_get_userbyid(relowner)::text FROM pg_class WHERE oid = %s", oid)
        self.comment: str | None = _one(session, "SELECT obj_description(%s, 'pg_class')", oid)
        self.grants = session.execute(_GRANTS, (oid, oid)).fetchall()
        self.public_default = _one(session, "SELECT relacl IS NULL FROM pg_class WHERE oid = %s", oid)
        self.foreign_keys = session.execute(
            "SELECT conname::text, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = %s AND contype = 'f'",
            (oid,),
        ).fetchall()
        self.triggers = session.execute(
            "SELECT tgname::text, pg_get_triggerdef(oid), tgenabled::text FROM pg_trigger"
            " WHERE tgrelid = %s AND NOT tgisinternal AND tgname <> %s",
            (oid, TRIGGER),
        ).fetchall()
        self.sequences = session.execute(_SEQUENCES, (oid,)).fetchall()
        self.views = [_View(session, view) for view in _views(session, oid)]

    def put_triggers_on(self, session: Session, place: tuple[str, str], new: tuple[str, str]) -> None:
        """The same triggers on another table: their text names the old one once, after the events."""
        old_name, new_name = (name(*one).as_string(session) for one in (place, new))
        plain = _one(session, "SELECT %s::regclass::text", old_name)
        for trigger, definition, enabled in self.triggers:
            session.execute(text(str(definition).replace(f" ON {plain} ", f" ON {new_name} ", 1)))
            state = {"D": "DISABLE TRIGGER", "A": "ENABLE ALWAYS TRIGGER", "R": "ENABLE REPLICA TRIGGER"}.get(enabled)
            if state is not None:
                session.execute(text("ALTER TABLE {} " + state + " {}").format(name(*new), name(trigger)))

    def put_on(self, session: Session, place: tuple[str, str], fresh: Relation) -> None:
        """The old table still is there, under another name; the new one has its own."""
        table = name(*place)
        for schema, sequence, column, kind in self.sequences:
            if kind == "a":
                session.execute(
                    text("ALTER SEQUENCE {} OWNED BY {}").format(name(schema, sequence), name(*place, column))
                )
            else:
                _continue_identity(session, fresh.oid, schema, sequence, column)
        for constraint, definition in self.foreign_keys:
            add = text("ALTER TABLE {} ADD CONSTRAINT {} {}")
            session.execute(add.format(table, name(constraint), text(definition)))
        if not self.public_default:
            session.execute(text("REVOKE ALL ON {} FROM {}").format(table, name(self.owner)))
        for grantee, privilege, grantable, column in self.grants:
            what = text(privilege) if column is None else text(privilege + " ({})").format(name(column))
            to = text("PUBLIC") if grantee is None else name(grantee)
            option = text(" WITH GRANT OPTION") if grantable else text("")
            session.execute(text("GRANT {} ON {} TO {}{}").format(what, table, to, option))
        session.execute(text("ALTER TABLE {} OWNER TO {}").format(table, name(self.owner)))
        if self.comment is not None:
            session.execute(text("COMMENT ON TABLE {} IS {}").format(table, _literal(self.comment)))
        for view in self.views:
            view.make_again(session)


class _View:
    """A view, as it can be said again: its own rights and what hangs on it stay when it is."""

    def __init__(self, session: Session, oid: int) -> None:
        found = session.execute(
            "SELECT n.nspname::text, c.relname::text, pg_get_viewdef(c.oid), c.reloptions FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = %s",
            (oid,),
        ).fetchone()
        assert found is not None
        self._schema, self._name, self._definition, self._options = found

    def make_again(self, session: Session) -> None:
        options = text("")
        if self._options:
            options = text(" WITH (" + ", ".join(str(option) for option in self._options) + ")")
        statement = text("CREATE OR REPLACE VIEW {}{} AS ").format(name(self._schema, self._name), options)
        session.execute(statement + text(self._definition.rstrip().rstrip(";")))


_GRANTS = """
SELECT CASE WHEN a.grantee = 0 THEN NULL ELSE pg_get_userbyid(a.grantee)::text END, a.privilege_type, a.is_grantable,
       NULL::text
FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a WHERE c.oid = %s
UNION ALL
SELECT CASE WHEN a.grantee = 0 THEN NULL ELSE pg_get_userbyid(a.grantee)::text END, a.privilege_type, a.is_grantable,
       t.attname::text
FROM pg_attribute t CROSS JOIN LATERAL aclexplode(t.attacl) a WHERE t.attrelid = %s AND NOT t.attisdropped
"""
_SEQUENCES = """
SELECT n.nspname::text, s.relname::text, a.attname::text, d.deptype::text FROM pg_depend d
JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S' JOIN pg_namespace n ON n.oid = s.relnamespace
JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = %s
  AND d.deptype IN ('a', 'i')
"""
_INDEXES = """
SELECT c.relname::text, replace(pg_get_indexdef(i.indexrelid), quote_ident(c.relname), '') FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = %s ORDER BY i.indisprimary DESC, c.oid
"""


def _paired_indexes(session: Session, old: int, new: int) -> list[tuple[str, str]]:
    """Each new index with the name of the old one that it was copied from."""

    def shapes(oid: int, place: str) -> list[tuple[str, str]]:
        found = session.execute(_INDEXES, (oid,)).fetchall()
        return [(str(index), str(definition).replace(place, "")) for index, definition in found]

    there = shapes(old, _one(session, "SELECT %s::regclass::text", old))
    here = shapes(new, _one(session, "SELECT %s::regclass::text", new))
    pairs = []
    for index, shape in here:
        match = next((pair for pair in there if pair[1] == shape), None)
        if match is not None:
            there.remove(match)
            pairs.append((index, match[0]))
    return pairs


def _continue_identity(session: Session, oid: int, schema: str, sequence: str, column: str) -> None:
    """Go on with the numbers of an identity where the old table's was, under the old name."""
    found = session.execute(text("SELECT last_value, is_called FROM {}").format(name(schema, sequence))).fetchone()
    assert found is not None
    table = _one(session, "SELECT %s::regclass::text", oid)
    fresh = session.execute("SELECT pg_get_serial_sequence(%s, %s)::regclass::oid::bigint", (table, column)).fetchone()
    assert fresh is not None
    session.execute("SELECT setval(%s::oid::regclass, %s, %s)", (fresh[0], found[0], found[1]))


def _views(session: Session, oid: int) -> list[int]:
    return [int(view) for (view,) in session.execute(_VIEWS, (oid, oid))]


def _check_views(
    session: Session, there: Relation, schema: Schema, surplus: Sequence[str], place: tuple[str, str]
) -> None:
    """A view can be said again only while the columns that it shows are there, in their types."""
    if not _views(session, there.oid):
        return
    for column in schema:
        attribute = there.attribute(column.name)
        if attribute is not None and not takes(attribute, column):
            view = _one(session, "SELECT %s::regclass::text", _views(session, there.oid)[0])
            raise _refused(place, f"the view {view}, while {column.name} becomes {column.type}")
    for gone in surplus:
        found = session.execute(_VIEW_OF_COLUMN, (there.oid, gone)).fetchone()
        if found is not None:
            raise _refused(place, f"the view {found[0]}, which shows {gone}, a column that the rows have no more")


def _literal(value: str) -> Composable:
    from psycopg import sql

    return sql.Literal(value)


def _one(session: Session, query: str, *values: Any) -> Any:
    found = session.execute(query, values).fetchone()
    assert found is not None
    return found[0]


def _refused(place: Sequence[str], what: str) -> Refused:
    return Refused(
        f"{'.'.join(place)} cannot be swapped: {what} could not be carried over to the new table",
        code="cannot_swap",
        kept="the target is untouched; nothing was staged",
        next_step="use `refresh: delete`, which leaves everything in place; or drop it, and make it again afterwards",
    )
