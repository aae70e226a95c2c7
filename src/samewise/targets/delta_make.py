"""The statements that make a Delta table what Samewise needs: created, owned, ready for keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from samewise.core.records import Owner
from samewise.core.sql import literal, quote
from samewise.targets.delta_keyed import COUNTED_COLUMNS, DELTAS_DEFAULT, counted_columns

if TYPE_CHECKING:
    from samewise.core.schema import Column, Schema

ADOPTED = "samewise.adopted"
_STORE = "samewise.store"
_OWNER = "samewise.owner"
_PLACE = "samewise.place"
_ISOLATION = "delta.isolationLevel"
_SERIALIZABLE = "Serializable"
_DELETION_VECTORS = "delta.enableDeletionVectors"


def create_statement(
    reference: str,
    schema: Schema,
    owner: Owner,
    partition_by: Sequence[str],
    *,
    keyed: bool,
    deletion_vectors: bool,
) -> str:
    """Create the table for its owner; one that is there stays as it is."""
    partitions = ", ".join(quote(name) for name in partition_by)
    clause = f" PARTITIONED BY ({partitions})" if partition_by else ""
    properties = first_properties(schema, owner, keyed=keyed)
    if keyed and deletion_vectors:
        # A MERGE then notes which rows of a file are gone, instead of writing all others once more.
        properties[_DELETION_VECTORS] = "true"
    return (
        f"CREATE TABLE IF NOT EXISTS {reference} ({columns_text(schema)}) USING DELTA{clause}"
        f" TBLPROPERTIES ({_pairs(properties)})"
    )


def first_properties(schema: Schema, owner: Owner, *, keyed: bool) -> dict[str, str]:
    """What a new table of this owner is told about itself."""
    properties = owned_by(owner)
    if keyed:
        properties[_ISOLATION] = _SERIALIZABLE
        if (counted := counted_columns(schema)) is not None:
            properties[COUNTED_COLUMNS] = str(counted)
    return properties


def own_statement(reference: str, owner: Owner, *, adopted: bool) -> str:
    """Give the table to an owner, whoever it was before."""
    return set_statement(reference, owned_by(owner) | ({ADOPTED: "true"} if adopted else {}))


def key_statements(reference: str, wanted: Schema, there: Schema, properties: Mapping[str, str]) -> list[str]:
    """What a MERGE needs beforehand: every column, and that no two commits insert the same key."""
    statements = []
    missing = [column for column in wanted if there.get(column.name) is None]
    if missing:
        statements.append(f"ALTER TABLE {reference} ADD COLUMNS ({columns_text(missing)})")
        if COUNTED_COLUMNS in properties:
            # The new ones come behind the bookkeeping, and files may be passed over by them.
            statements.append(set_statement(reference, {COUNTED_COLUMNS: str(DELTAS_DEFAULT)}))
    if properties.get(_ISOLATION) != _SERIALIZABLE:
        statements.append(set_statement(reference, {_ISOLATION: _SERIALIZABLE}))
    return statements


def set_statement(reference: str, properties: Mapping[str, str]) -> str:
    """Set properties of the table."""
    return f"ALTER TABLE {reference} SET TBLPROPERTIES ({_pairs(properties)})"


def columns_text(columns: Schema | Sequence[Column]) -> str:
    """Columns with their types, for a statement."""
    return ", ".join(f"{quote(column.name)} {column.type}" for column in columns)


def owner_properties(owner: Owner) -> str:
    """The table properties that name the owner, for a statement."""
    return _pairs(owned_by(owner))


def owner_in(properties: Mapping[str, str]) -> Owner | None:
    """Who owns a table with these properties; None for nobody."""
    store, task = properties.get(_STORE), properties.get(_OWNER)
    if store is None or task is None:
        return None
    pipeline, _, name = task.partition("/")
    return Owner(store, pipeline, name, properties.get(_PLACE, ""))


def owned_by(owner: Owner) -> dict[str, str]:
    """The table properties that name the owner."""
    return {_STORE: owner.store_id, _OWNER: f"{owner.pipeline}/{owner.task}", _PLACE: owner.place}


def _pairs(properties: Mapping[str, str]) -> str:
    return ", ".join(f"{literal(key)} = {literal(value)}" for key, value in properties.items())
