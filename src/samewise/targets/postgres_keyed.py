"""Rows that find their place by key in PostgreSQL: one statement compares and writes, in the publishing transaction.

Deleted keys are remembered in a table of Samewise's own, beside the target: whoever counts the target's rows counts
what is there. A key is in one of the two, never in both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from samewise.core.errors import ConfigError, Refused
from samewise.core.keyed import DELETED_AT, EPOCH, Change, Keyed
from samewise.core.schema import Schema
from samewise.storage.postgres import name, names, text
from samewise.targets.postgres_stage import HASH, Staging
from samewise.targets.postgres_tombs import Keys, ensure_tombstones, from_text, tomb_columns
from samewise.targets.postgres_types import is_ordered

if TYPE_CHECKING:
    from psycopg.sql import Composable

    from samewise.storage.postgres import Session


def check_order(keyed: Keyed, schema: Schema) -> None:
    """Raise where PostgreSQL would put versions in another order than Spark."""
    for wanted in keyed.version_by:
        column = schema.get(wanted)
        if column is not None and not is_ordered(column):
            raise ConfigError(
                f"write.version_by: {wanted} is {column.type}, which PostgreSQL does not order as Spark does",
                kept="the target is untouched",
                next_step="name a column that is a number, text, a date or a timestamp",
            )


_INDEX = """
SELECT array_agg(a.attname::text), bool_and(a.attnotnull),
       coalesce((to_jsonb(i) ->> 'indnullsnotdistinct')::bool, false)
FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, at)
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
WHERE i.indrelid = %s AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL
  AND k.at <= i.indnkeyatts
GROUP BY i.indexrelid, to_jsonb(i)
"""


def has_unique_index(session: Session, keys: Keys) -> bool:
    """Whether two rows of one key are impossible."""
    for columns, not_null, nulls_equal in session.execute(_INDEX, (keys.there.oid,)):
        if set(columns) == set(keys.key) and (not_null or nulls_equal or not keys.null_safe):
            return True
    return False


def index_statement(keys: Keys, session: Session, *, concurrently: bool) -> str:
    """The statement that makes the unique index."""
    nulls = " NULLS NOT DISTINCT" if keys.null_safe else ""
    how = "CREATE UNIQUE INDEX CONCURRENTLY ON {} ({})" if concurrently else "CREATE UNIQUE INDEX ON {} ({})"
    return text(how + nulls).format(name(*keys.place), names(keys.key)).as_string(session)


def require_unique_index(session: Session, keys: Keys, key: str) -> None:
    """Raise ConfigError where a table that someone else made could hold a key twice."""
    exact = [keys.there.attribute(column) for column in keys.key]
    for attribute in exact:
        if attribute is not None and not attribute.collation_is_exact:
            raise ConfigError(
                f"write.key: the column {attribute.name} of {key} has a collation by which different texts are equal",
                kept="the target is untouched",
                next_step="give the column a deterministic collation",
            )
    if not has_unique_index(session, keys):
        raise ConfigError(
            f"{key} has no unique index on the key ({', '.join(keys.key)}), without which a key could be there twice",
            kept="the target is untouched",
            next_step=f"run: {index_statement(keys, session, concurrently=True)}",
            code="no_unique_index",
        )


def insert_new(session: Session, staging: Staging, keys: Keys, columns: Sequence[str]) -> dict[str, int]:
    """Insert rows whose key is not there yet; how many did what."""
    done = session.execute(
        text("INSERT INTO {} ({}) SELECT {} FROM {} AS s ON CONFLICT ({}) DO NOTHING").format(
            name(*keys.place), names(columns), names(columns), staging.rows, names(keys.key)
        )
    )
    inserted = done.rowcount
    staged = sum(part.rows for part in staging.parts)
    return {Change.INSERT: inserted, Change.SAME: staged - inserted}


def merge(
    session: Session, staging: Staging, keys: Keys, columns: Sequence[str], era: int, floor: Mapping[str, Any] | None
) -> dict[str, int]:
    """Write rows that are newer than what is there, and different; how many did what.

    Raises `Refused` for rows that may have been deleted and forgotten: the caller's transaction then ends in nothing.
    """
    ensure_tombstones(session, keys)
    nullable = _with_nulls(session, staging, keys) if keys.null_safe else []
    session.execute(text("ANALYZE {} ({})").format(staging.place, names(keys.key)))
    parts = {
        "stage": staging.rows,
        "target": name(*keys.place),
        "tombs": name(*keys.tombstones),
        "key": names(keys.key),
        "columns": names(columns),
        "of_b": names(columns, of="c"),
        "change": _change(keys, columns, era, floor),
        "on_t": keys.same_key("t", "b", nullable),
        "on_d": keys.same_key("d", "b", nullable),
        "c_is_t": keys.same_key("t", "c", nullable),
        "c_is_d": keys.same_key("d", "c", nullable),
        "deleted": name("c", DELETED_AT),
        "sets": text(", ").join([text("{0} = excluded.{0}").format(name(c)) for c in columns if c not in keys.key]),
        "tomb": names(tomb_columns(keys)),
        "tomb_of_c": names(tomb_columns(keys), of="c"),
        "tomb_sets": text(", ").join(
            [text("{0} = excluded.{0}").format(name(c)) for c in tomb_columns(keys) if c not in keys.key]
        ),
    }
    found = session.execute(text(_MERGE).format(**parts)).fetchall()
    counts = {str(change): int(count) for change, count in found}
    if counts.get(Change.EXPIRED):
        raise _expired(session, keys, counts[Change.EXPIRED], parts)
    return counts


_COMPARED = """
SELECT b.*, {change} AS change FROM {stage} b LEFT JOIN {target} t ON {on_t} LEFT JOIN {tombs} d ON {on_d}
"""
_MERGE = (
    "WITH c AS MATERIALIZED ("
    + _COMPARED
    + """),
written AS (
    INSERT INTO {target} ({columns}) SELECT {of_b} FROM c
    WHERE change IN ('insert', 'update', 'stamp') AND {deleted} IS NULL
    ON CONFLICT ({key}) DO UPDATE SET {sets}),
deleted AS (DELETE FROM {target} t USING c WHERE c.change = 'delete' AND {c_is_t}),
revived AS (DELETE FROM {tombs} d USING c WHERE c.change = 'insert' AND {c_is_d}),
buried AS (
    INSERT INTO {tombs} ({tomb}) SELECT {tomb_of_c} FROM c
    WHERE change IN ('delete', 'tombstone', 'stamp') AND {deleted} IS NOT NULL
    ON CONFLICT ({key}) DO UPDATE SET {tomb_sets})
SELECT change, count(*) FROM c GROUP BY change
"""
)


def _change(keys: Keys, columns: Sequence[str], era: int, floor: Mapping[str, Any] | None) -> Composable:
    """What a row of the batch (`b`) does to the row (`t`) or the tombstone (`d`) of its key; as `core.keyed` orders."""
    own = [column for column in columns if column != EPOCH]
    epoch = "coalesce(CASE WHEN d.ctid IS NOT NULL THEN d.{epoch} ELSE t.{epoch} END, 0)"
    by_version = [
        text("WHEN {b} IS DISTINCT FROM {x} THEN {x} IS NULL OR coalesce({b} > {x}, false)").format(
            b=keys.value("b", column),
            x=text("CASE WHEN d.ctid IS NOT NULL THEN {} ELSE {} END").format(
                keys.value("d", column), keys.value("t", column)
            ),
        )
        for column in keys.version_by
    ]
    same_version = [
        text("{} IS NOT DISTINCT FROM CASE WHEN d.ctid IS NOT NULL THEN {} ELSE {} END").format(
            keys.value("b", column), keys.value("d", column), keys.value("t", column)
        )
        for column in keys.version_by
    ]
    row_b, row_t = (
        text("ROW({})").format(text(", ").join([keys.value(of, column) for column in own])) for of in ("b", "t")
    )
    template = """CASE
    WHEN t.ctid IS NULL AND d.ctid IS NULL THEN {absent}
    WHEN {same_version} AND b.{gone} IS NOT NULL AND d.ctid IS NOT NULL AND b.{hash} = d.{hash}
      OR {same_version} AND b.{gone} IS NULL AND t.ctid IS NOT NULL AND {row_b} IS NOT DISTINCT FROM {row_t}
      THEN CASE WHEN {there_epoch} >= {era} THEN 'same' ELSE 'stamp' END
    WHEN NOT (CASE {by_version}
      WHEN b.{epoch} <> {there_epoch} THEN b.{epoch} > {there_epoch}
      WHEN (b.{gone} IS NOT NULL) <> (d.ctid IS NOT NULL) THEN b.{gone} IS NOT NULL
      WHEN d.ctid IS NOT NULL THEN b.{hash} > d.{hash}
      ELSE {row_b}::text COLLATE "C" > {row_t}::text COLLATE "C" END) THEN 'older'
    WHEN b.{gone} IS NOT NULL THEN CASE WHEN d.ctid IS NOT NULL THEN 'tombstone' ELSE 'delete' END
    WHEN d.ctid IS NOT NULL THEN 'insert'
    ELSE 'update' END"""
    return text(template).format(
        absent=_absent(keys, floor),
        same_version=text(" AND ").join(same_version),
        by_version=text(" ").join(by_version),
        there_epoch=text(epoch).format(epoch=name(EPOCH)),
        epoch=name(EPOCH),
        gone=name(DELETED_AT),
        hash=name(HASH),
        era=text(str(int(era))),
        row_b=row_b,
        row_t=row_t,
    )


def _absent(keys: Keys, floor: Mapping[str, Any] | None) -> Composable:
    plain = text("CASE WHEN b.{gone} IS NOT NULL THEN 'tombstone' ELSE 'insert' END").format(gone=name(DELETED_AT))
    if floor is None:
        return plain
    from psycopg import sql

    newer = []
    for column, value in zip(keys.version_by, json.loads(floor["version"]), strict=True):
        attribute = keys.there.attribute(column)
        assert attribute is not None
        limit = from_text(attribute.type, value, sql)
        newer.append(
            text("WHEN {b} IS DISTINCT FROM {x} THEN {x} IS NULL OR coalesce({b} > {x}, false)").format(
                b=keys.value("b", column), x=limit
            )
        )
    return text(
        "CASE WHEN NOT (CASE {newer} ELSE false END) THEN"
        " CASE WHEN b.{gone} IS NOT NULL THEN 'older' ELSE 'expired' END ELSE {plain} END"
    ).format(newer=text(" ").join(newer), gone=name(DELETED_AT), plain=plain)


def _expired(session: Session, keys: Keys, count: int, parts: Mapping[str, Any]) -> Refused:
    # Asked of the table as it is inside this transaction, which has written the other rows by now: an expired one
    # has no row in either table still.
    key = text("jsonb_build_object({})").format(
        text(", ").join([text("{}, {}").format(_literal(column), name("e", column)) for column in keys.key])
    )
    query = text("SELECT {key} FROM (" + _COMPARED + ") e WHERE e.change = 'expired' LIMIT 1")
    found = session.execute(query.format(**{**parts, "key": key})).fetchone()
    example = "" if found is None else json.dumps(found[0])
    return Refused(
        f"{count} rows are older than deletes that the target has forgotten, and not in it: "
        f"each may be one of those, e.g. {example}",
        code="older_than_tombstones",
        next_step="leave these rows out of the source; or load this history into another target. "
        "write.tombstones says how long deletes are remembered",
    )


def _with_nulls(session: Session, staging: Staging, keys: Keys) -> list[str]:
    checks = text(", ").join([text("coalesce(bool_or({} IS NULL), false)").format(name(c)) for c in keys.key])
    found = session.execute(text("SELECT {} FROM {} AS s").format(checks, staging.rows)).fetchone()
    assert found is not None
    return [column for column, has_null in zip(keys.key, found, strict=True) if has_null]


def _literal(value: str) -> Composable:
    from psycopg import sql

    return sql.Literal(value)
