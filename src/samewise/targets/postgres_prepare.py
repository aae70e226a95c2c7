"""Before a publication: the table is there, it is ours, it has every column, and whoever else changes it is noted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from samewise.core.errors import ConfigError, ForeignTarget
from samewise.core.keyed import DELETED_AT, EPOCH, Keyed, content
from samewise.core.ownership import check_owner
from samewise.core.records import Owner
from samewise.core.schema import Column, Schema
from samewise.storage.postgres import Relation, bound_name, find_relation, name, text
from samewise.targets.postgres_book import Book
from samewise.targets.postgres_keyed import check_order, index_statement, require_unique_index
from samewise.targets.postgres_tombs import Keys
from samewise.targets.postgres_types import fitted_schema, made_type

if TYPE_CHECKING:
    from samewise.storage.postgres import Session

_KINDS = {
    "p": "partitioned: changes made to a partition itself could not be noticed",
    "v": "a view",
    "m": "a materialized view",
    "f": "a foreign table",
    "S": "a sequence",
    "i": "an index",
    "c": "a type",
}


def written_columns(rows: Schema, keyed: Keyed | None) -> Schema:
    """The columns that the target itself gets: by key, of the bookkeeping only the load epoch of a merge."""
    if keyed is None:
        return rows
    epoch = (Column(EPOCH, "bigint"),) if keyed.updates else ()
    return Schema((*content(rows).columns, *epoch))


def staged_columns(rows: Schema, keyed: Keyed | None) -> Schema:
    """What goes into the staging table: with it, of a merge, which rows delete their key."""
    deleted = (Column(DELETED_AT, "timestamp"),) if keyed is not None and keyed.updates else ()
    return Schema((*written_columns(rows, keyed).columns, *deleted))


def require_plain_table(there: Relation, key: str) -> None:
    """Raise ConfigError for whatever else can have a table's name."""
    if there.kind != "r":
        raise ConfigError(
            f"{key} is {_KINDS.get(there.kind, 'no plain table')}",
            kept="nothing was written",
            next_step="name a plain table, or one that does not exist yet",
        )


def prepare(
    session: Session,
    book: Book,
    place: tuple[str, str],
    rows: Schema,
    owner: Owner,
    key: str,
    keyed: Keyed | None,
    *,
    swap: bool,
) -> None:
    """Create the table, or claim one that nobody owns, in the caller's transaction. A second call changes nothing."""
    schema = written_columns(rows, keyed)
    if keyed is not None:
        check_order(keyed, schema)
    book.ensure(session)
    there = find_relation(session, *place)
    made = there is None
    if there is None:
        there = _create(session, place, schema)
    else:
        require_plain_table(there, key)
    entry = book.find(session, lock=True)
    if entry is None or entry.relid != there.oid:
        if not made:
            _look_elsewhere(session, book, there.oid, key)
        entry = book.claim(session, there.oid, owner, list(schema.names) if made else [], "CREATE" if made else "CLAIM")
    elif entry.owner is None:
        book.set_owner(session, entry, owner)
    else:
        check_owner(entry.owner, owner, key)
    if not swap:
        # One that is swapped is made anew, in its new shape.
        fitted_schema(schema, there)
        missing = [column for column in schema if there.attribute(column.name) is None]
        if missing:
            _add(session, place, missing)
            book.set_columns(session, entry, [*entry.columns, *(column.name for column in missing)])
            there = _again(session, place)
    if not book.watches(session, there.oid):
        book.watch(session, *place)
        if not made and entry.version > 0:
            # Nobody was looking for a while: whatever was loaded before may have been changed.
            book.note(session, there.oid, "UNWATCHED")
    if keyed is not None:
        keys = Keys.of(keyed, place, place, there)
        if made:
            session.execute(text(index_statement(keys, session, concurrently=False)))
        else:
            require_unique_index(session, keys, key)
    entry = book.find(session, lock=True)
    assert entry is not None
    book.fold(session, entry)


def _create(session: Session, place: tuple[str, str], schema: Schema) -> Relation:
    known = session.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (place[0],)).fetchone()
    if known is None:
        session.execute(text("CREATE SCHEMA {}").format(name(place[0])))
    body = text(", ").join([text("{} {}").format(name(column.name), text(made_type(column))) for column in schema])
    session.execute(text("CREATE TABLE {} ({})").format(name(*place), body))
    return _again(session, place)


def _add(session: Session, place: tuple[str, str], columns: Sequence[Column]) -> None:
    parts = [text("ADD COLUMN {} " + made_type(column)).format(name(column.name)) for column in columns]
    session.execute(text("ALTER TABLE {} {}").format(name(*place), text(", ").join(parts)))


def _again(session: Session, place: tuple[str, str]) -> Relation:
    there = find_relation(session, *place)
    assert there is not None
    return there


def _look_elsewhere(session: Session, book: Book, relid: int, key: str) -> None:
    """Raise if the table is known to bookkeeping in another schema: its tokens and its owner are there."""
    found = session.execute(
        "SELECT n.nspname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.relname = 'samewise_targets' AND c.relkind = 'r' AND n.nspname <> %s"
        " AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')",
        (book.bookkeeping,),
    ).fetchall()
    for (schema,) in found:
        query = text("SELECT 1 FROM {} WHERE relid = %s").format(bound_name(schema, "samewise_targets"))
        if session.execute(query, (relid,)).fetchone() is not None:
            raise ForeignTarget(
                f"{key} is known to the bookkeeping in the schema {schema}",
                kept="the target is untouched",
                next_step=f"write `bookkeeping: {schema}` in the connection",
            )
