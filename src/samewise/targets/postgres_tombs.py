"""The keys of a PostgreSQL target, and the table beside it that remembers which of them were deleted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from samewise.core.errors import ConfigError
from samewise.core.keyed import DELETED_AT, EPOCH, Keyed
from samewise.storage.postgres import Relation, find_relation, name, names, run_bound, text
from samewise.targets.postgres_book import Book, Entry
from samewise.targets.postgres_stage import HASH

if TYPE_CHECKING:
    from psycopg.sql import Composable

    from samewise.storage.postgres import Session


@dataclass(frozen=True, slots=True)
class Keys:
    """A target that rows are merged into, with the names that its columns really have."""

    place: tuple[str, str]
    tombstones: tuple[str, str]
    there: Relation
    key: tuple[str, ...]
    version_by: tuple[str, ...]
    null_safe: bool

    @classmethod
    def of(cls, keyed: Keyed, place: tuple[str, str], tombstones: tuple[str, str], there: Relation) -> Keys:
        def real(columns: Sequence[str]) -> tuple[str, ...]:
            found = [there.attribute(column) for column in columns]
            return tuple(attribute.name for attribute in found if attribute is not None)

        return cls(place, tombstones, there, real(keyed.key), real(keyed.version_by), keyed.null_safe)

    def same_key(self, one: str, other: str, nullable: Sequence[str]) -> Composable:
        """A condition that an index can be used for, wherever no NULL has to equal a NULL."""
        parts = [
            text("{} IS NOT DISTINCT FROM {}" if column in nullable else "{} = {}").format(
                name(one, column), name(other, column)
            )
            for column in self.key
        ]
        return text(" AND ").join(parts)

    def value(self, of: str, column: str) -> Composable:
        """A column as it is compared: text by its bytes, as Spark does, whatever the collation."""
        attribute = self.there.attribute(column)
        as_text = attribute is not None and (attribute.type == "text" or attribute.type.startswith("character"))
        return text('{} COLLATE "C"' if as_text else "{}").format(name(of, column))


def ensure_tombstones(session: Session, keys: Keys) -> None:
    """Make the table of deleted keys where it is not there yet."""
    schema, table = keys.tombstones
    if find_relation(session, schema, table) is not None:
        return
    own = [keys.there.attribute(column) for column in own_tomb_columns(keys)]
    body = [text("{} {}").format(name(a.name), text(a.type)) for a in own if a is not None]
    for column, type_ in ((EPOCH, "bigint"), (DELETED_AT, "timestamptz NOT NULL"), (HASH, "bigint NOT NULL")):
        body.append(text("{} " + type_).format(name(column)))
    session.execute(text("CREATE TABLE {} ({})").format(name(schema, table), text(", ").join(body)))
    nulls = " NULLS NOT DISTINCT" if keys.null_safe else ""
    session.execute(text("CREATE UNIQUE INDEX ON {} ({})" + nulls).format(name(schema, table), names(keys.key)))


def forget(session: Session, keys: Keys, before: datetime) -> tuple[int, str | None]:
    """Drop deletes from before an instant: how many, and the highest version among them, as text."""
    schema, table = keys.tombstones
    if find_relation(session, schema, table) is None:
        return 0, None
    order = text(", ").join([text("{} DESC NULLS LAST").format(keys.value("d", column)) for column in keys.version_by])
    values = text(", ").join([_to_text(keys, column) for column in keys.version_by])
    query = text("SELECT {} FROM {} d WHERE d.{} < $1::timestamptz ORDER BY {} LIMIT 1")
    whole = query.format(values, name(schema, table), name(DELETED_AT), order)
    newest = run_bound(session, whole, [before]).fetchone()
    if newest is None:
        return 0, None
    delete = text("DELETE FROM {} WHERE {} < $1::timestamptz").format(name(schema, table), name(DELETED_AT))
    gone = run_bound(session, delete, [before])
    return gone.rowcount, json.dumps(list(newest))


def highest(session: Session, keys: Keys, versions: Sequence[str]) -> str:
    """The highest of versions that were written down as text."""
    from psycopg import sql

    rows = []
    for at, version in enumerate(versions):
        values = json.loads(version)
        limits = []
        for column, value in zip(keys.version_by, values, strict=True):
            attribute = keys.there.attribute(column)
            assert attribute is not None
            limits.append(from_text(attribute.type, value, sql))
        rows.append(text("({}, {})").format(text(str(at)), text(", ").join(limits)))
    order = text(", ").join([text("v{} DESC NULLS LAST").format(text(str(i))) for i in range(len(keys.version_by))])
    heads = text(", ").join([text(f"v{i}") for i in range(len(keys.version_by))])
    query = text("SELECT at FROM (VALUES {}) AS x(at, {}) ORDER BY {} LIMIT 1")
    found = session.execute(query.format(text(", ").join(rows), heads, order)).fetchone()
    assert found is not None
    return versions[int(found[0])]


def _to_text(keys: Keys, column: str) -> Composable:
    attribute = keys.there.attribute(column)
    if attribute is not None and attribute.type == "timestamp with time zone":
        return text("(extract(epoch FROM {}) * 1000000)::bigint::text").format(name("d", column))
    return text("{}::text").format(name("d", column))


def own_tomb_columns(keys: Keys) -> tuple[str, ...]:
    return (*keys.key, *(column for column in keys.version_by if column not in keys.key))


def tomb_columns(keys: Keys) -> tuple[str, ...]:
    return (*own_tomb_columns(keys), EPOCH, DELETED_AT, HASH)


def from_text(type_: str, value: str | None, sql: Any) -> Composable:
    """A version that was written down as text, as a value again."""
    if value is not None and type_ == "timestamp with time zone":
        return text("(timestamptz 'epoch' + {} * interval '1 microsecond')").format(sql.Literal(int(value)))
    cast = '({})::text COLLATE "C"' if type_ == "text" or type_.startswith("character") else "({})::" + type_
    return text(cast).format(sql.Literal(value))


def forget_before(
    session: Session,
    book: Book,
    entry: Entry,
    keyed: Keyed,
    place: tuple[str, str],
    tombstones: tuple[str, str],
    there: Relation,
    before: datetime,
) -> int:
    """Drop old deletes, and remember up to which version, in the caller's transaction; how many."""
    keys = Keys.of(keyed, place, tombstones, there)
    known = floor_of(entry, keyed, f"{place[0]}.{place[1]}")
    count, version = forget(session, keys, before)
    if version is None:
        return 0
    newest = version if known is None else highest(session, keys, [version, str(known["version"])])
    book.set_forgotten(session, entry, {"by": list(keyed.version_by), "version": newest})
    return count


def floor_of(entry: Entry, keyed: Keyed, target: str) -> Mapping[str, Any] | None:
    """The version up to which deleted keys have been forgotten; None if none has been."""
    known = entry.forgotten
    if known is not None and list(known["by"]) != list(keyed.version_by):
        raise ConfigError(
            f"{target} has forgotten deletes by {', '.join(known['by'])}, and write.version_by is now "
            f"{', '.join(keyed.version_by)}",
            kept="the target is untouched",
            next_step="take version_by back; or name another target, to be loaded from the start",
            code="changed_version",
        )
    return known


def latest_epoch(session: Session, there: Relation, place: tuple[str, str], tombstones: tuple[str, str]) -> int:
    """The highest load epoch of any row, and of any key that was deleted."""
    highest_seen = 0
    for table, has_epoch in (
        (place, there.attribute(EPOCH) is not None),
        (tombstones, find_relation(session, *tombstones) is not None),
    ):
        if has_epoch:
            found = session.execute(text("SELECT max({}) FROM {}").format(name(EPOCH), name(*table))).fetchone()
            highest_seen = max(highest_seen, 0 if found is None or found[0] is None else int(found[0]))
    return highest_seen
