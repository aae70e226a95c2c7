"""Commits on a Delta table that need no JVM: delta-rs writes the log's next entry, about files that are there."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from samewise.core.errors import Conflict, MayHaveLanded
from samewise.core.records import Stamp
from samewise.core.schema import Schema
from samewise.storage.delta_log import DeltaLog
from samewise.storage.files import is_local, local_path

_DELTA_NAMES = {"bigint": "long", "int": "integer", "smallint": "short", "tinyint": "byte"}
_PLAIN_TYPE = re.compile(
    r"bigint|int|smallint|tinyint|string|date|timestamp|boolean|binary|float|double|decimal\(\d+,\d+\)"
)
_COMMITS_A_CHECKPOINT = 10
"""As Spark has it. delta-rs by itself would let every reader read up to a hundred entries first."""
CHECKPOINTS = "delta.checkpointInterval"


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that becomes part of a table."""

    path: str
    """Below the table's own place."""
    size_bytes: int
    rows: int
    changed_at_ms: int
    statistics: str
    partition: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OldFile:
    """A file that is part of a table no longer."""

    path: str
    size_bytes: int
    partition: Mapping[str, str | None] = field(default_factory=dict)


def is_plain_type(type: str) -> bool:
    """Whether a column of this type asks nothing of a table but to be read as Parquet."""
    return _PLAIN_TYPE.fullmatch(type) is not None


def create_table(location: str, schema: Schema, partition_by: Sequence[str], properties: Mapping[str, str]) -> DeltaLog:
    """Make an empty table of plain types; one that is there stays as it is. Raises whatever delta-rs raises."""
    from deltalake import DeltaTable
    from deltalake import Schema as DeltaSchema

    fields = [
        {"name": column.name, "type": _DELTA_NAMES.get(column.type, column.type), "nullable": True, "metadata": {}}
        for column in schema
    ]
    place = local_path(location) if is_local(location) else location
    table = DeltaTable.create(
        place,
        DeltaSchema.from_json(json.dumps({"type": "struct", "fields": fields})),
        mode="ignore",
        partition_by=list(partition_by) or None,
        configuration={CHECKPOINTS: str(_COMMITS_A_CHECKPOINT), **properties},
        raise_if_key_not_exists=False,
    )
    return DeltaLog(place, table)


def add_files(log: DeltaLog, added: Sequence[NewFile]) -> None:
    """Make files part of a table that nobody else writes to."""
    log.table.create_write_transaction(
        _add_actions(added), "append", log.table.schema(), partition_by=list(log.partition_columns) or None
    )


def commit(log: DeltaLog, stamp: Stamp, added: Sequence[NewFile], removed: Sequence[OldFile] = ()) -> None:
    """Write the entry that follows the newest one of `log`, as it was read, with the stamp and its token.

    Raises `Conflict` where there is such an entry already, whatever it says: nothing has landed then. Whoever calls
    this has seen in `log` that the token is free.
    """
    from deltalake import CommitProperties, Transaction
    from deltalake.exceptions import CommitFailedError
    from deltalake.transaction import RemoveAction

    now_ms = time.time_ns() // 1_000_000
    actions: list[Any] = _add_actions(added)
    actions += [
        RemoveAction(file.path, True, now_ms, size=file.size_bytes, partition_values=dict(file.partition))
        for file in removed
    ]
    metrics = {
        "numFiles": str(len(added)),
        "numOutputRows": str(sum(file.rows for file in added)),
        "numOutputBytes": str(sum(file.size_bytes for file in added)),
        "numRemovedFiles": str(len(removed)),
    }
    # Not a blind append, even where nothing is removed: it was seen that there was nothing to remove.
    told = {"userMetadata": stamp.text, "operationMetrics": metrics, "isBlindAppend": False}
    try:
        log.table.create_write_transaction(
            actions,
            "append",
            log.table.schema(),
            partition_by=list(log.partition_columns) or None,
            commit_properties=CommitProperties(
                custom_metadata=told,
                max_commit_retries=0,
                app_transactions=[Transaction(stamp.app_id, stamp.generation, now_ms)],
            ),
        )
    except CommitFailedError as error:
        raise Conflict(f"another commit came first: {error}") from error
    except Exception as error:
        raise MayHaveLanded(f"the entry in the table's log may be written or not: {error}") from error


def _add_actions(files: Sequence[NewFile]) -> list[Any]:
    from deltalake.transaction import AddAction

    return [
        AddAction(file.path, file.size_bytes, file.partition, file.changed_at_ms, True, file.statistics)
        for file in files
    ]
