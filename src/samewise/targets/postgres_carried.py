"""What hangs on a table and is not copied by `LIKE`: carried over to the table that takes its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from samewise.storage.postgres import Relation, name, text
from samewise.targets.postgres_book import TRIGGER

if TYPE_CHECKING:
    from psycopg.sql import Composable

    from samewise.storage.postgres import Session

_VIEWS = """
WITH RECURSIVE v(oid, depth) AS (
    SELECT r.ev_class, 1 FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid
    WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = %s
      AND r.ev_class <> %s)
SELECT DISTINCT oid::bigint FROM v
"""


class Carried:
    """What `LIKE` does not copy: rights, owner, foreign keys, triggers, sequences, views."""

    def __init__(self, session: Session, oid: int) -> None:
        self.owner: str = only_value(
            session, "SELECT pg_get_userbyid(relowner)::text FROM pg_class WHERE oid = %s", oid
        )
        self.comment: str | None = only_value(session, "SELECT obj_description(%s, 'pg_class')", oid)
        self.grants = session.execute(_GRANTS, (oid, oid)).fetchall()
        self.public_default = only_value(session, "SELECT relacl IS NULL FROM pg_class WHERE oid = %s", oid)
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
        self.views = [View(session, view) for view in views_over(session, oid)]

    def put_triggers_on(self, session: Session, place: tuple[str, str], new: tuple[str, str]) -> None:
        """The same triggers on another table: their text names the old one once, after the events."""
        old_name, new_name = (name(*one).as_string(session) for one in (place, new))
        plain = only_value(session, "SELECT %s::regclass::text", old_name)
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


class View:
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


def _continue_identity(session: Session, oid: int, schema: str, sequence: str, column: str) -> None:
    """Go on with the numbers of an identity where the old table's was, under the old name."""
    found = session.execute(text("SELECT last_value, is_called FROM {}").format(name(schema, sequence))).fetchone()
    assert found is not None
    table = only_value(session, "SELECT %s::regclass::text", oid)
    fresh = session.execute("SELECT pg_get_serial_sequence(%s, %s)::regclass::oid::bigint", (table, column)).fetchone()
    assert fresh is not None
    session.execute("SELECT setval(%s::oid::regclass, %s, %s)", (fresh[0], found[0], found[1]))


def views_over(session: Session, oid: int) -> list[int]:
    """The views that read a table directly: those over them stay with their own."""
    return [int(view) for (view,) in session.execute(_VIEWS, (oid, oid))]


def _literal(value: str) -> Composable:
    from psycopg import sql

    return sql.Literal(value)


def only_value(session: Session, query: str, *values: Any) -> Any:
    """The one value of a query that always has one."""
    found = session.execute(query, values).fetchone()
    assert found is not None
    return found[0]
