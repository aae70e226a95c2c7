"""A Delta table's log, read without a JVM (by delta-rs), or by Spark where delta-rs cannot."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from samewise.storage.delta_types import read_schema
from samewise.storage.file_bounds import FileBounds
from samewise.storage.files import is_local, local_path
from samewise.storage.log import CannotRead, LiveFile, Log, VersionGone, commit_of
from samewise.storage.spark_delta_log import SparkDeltaLog

if TYPE_CHECKING:
    from deltalake import DeltaTable

    from samewise.core.records import TargetCommit
    from samewise.core.schema import Schema
    from samewise.core.sql import Span, Spans

__all__ = ["CannotRead", "DeltaLog", "LiveFile", "Log", "SparkDeltaLog", "VersionGone"]

_DELETIONS = "deletionVectors"


class DeltaLog:
    """The log of the table at `location`, as it was when it was opened."""

    def __init__(self, location: str, table: DeltaTable) -> None:
        self._location = location
        self._table = table
        self._version = table.version()
        self._asked = 0
        self._told: list[TargetCommit] = []

    @classmethod
    def open(cls, location: str) -> DeltaLog | None:
        """The log as it is now; None if there is no table. Raises `CannotRead`."""
        place = _place(location)
        if is_local(place) and not os.path.isdir(place):
            return None
        if is_local(place) and ("%" in place or "\\" in place):
            # delta-rs takes `%20` in a path for a space, a backslash for a slash, and looks elsewhere.
            raise CannotRead(f"delta-rs does not take this path as it is written: {place}")
        with _reading(location):
            table = _load(place, None)
            return None if table is None else cls(place, table)

    @property
    def table(self) -> DeltaTable:
        """The table as delta-rs has it, at the version that was read."""
        return self._table

    @property
    def location(self) -> str:
        return self._location

    @property
    def version(self) -> int:
        return self._version

    @property
    def table_id(self) -> str:
        with _reading(self._location):
            return str(self._table.metadata().id)

    @property
    def schema(self) -> Schema:
        with _reading(self._location):
            return read_schema(self._table.schema().to_json())

    @property
    def partition_columns(self) -> list[str]:
        with _reading(self._location):
            return list(self._table.metadata().partition_columns)

    @property
    def properties(self) -> dict[str, str]:
        with _reading(self._location):
            return dict(self._table.metadata().configuration)

    @property
    def writer_features(self) -> frozenset[str] | None:
        """What a writer of the table has to know, by name; None where that is only a number."""
        with _reading(self._location):
            found = self._table.protocol().writer_features
        return None if found is None else frozenset(map(str, found))

    @property
    def writer_version(self) -> int:
        with _reading(self._location):
            return int(self._table.protocol().min_writer_version)

    def commits(self, since: int) -> list[TargetCommit] | None:
        wanted = self._version - since
        if wanted < 0:
            return None
        if wanted == 0:
            return []
        newest = self._newest(wanted)
        return newest[-wanted:] if len(newest) >= wanted else None

    def known_commits(self) -> list[TargetCommit]:
        return list(self._newest(self._version + 1))

    def _newest(self, wanted: int) -> list[TargetCommit]:
        """The last `wanted` commits or more, oldest first. Kept: a command asks once for each window."""
        if wanted > self._asked:
            with _reading(self._location):
                history = self._trusted_history(wanted)
            self._asked = wanted
            self._told = [
                commit_of(
                    entry["version"],
                    int(entry.get("timestamp", 0)) * 1000,
                    entry.get("operation"),
                    entry.get("userMetadata"),
                    entry.get("operationMetrics"),
                )
                for entry in reversed(history)
            ]
        return self._told

    def _trusted_history(self, wanted: int) -> list[dict[str, Any]]:
        """The newest commits, up to `wanted` of them, whose numbers are certain.

        delta-rs numbers commits by counting down, and passes over one that says nothing about itself:
        every older one then has a number too high. So numbers are certain only where there are as many
        commits as were asked for.
        """
        history = self._table.history(wanted)
        if len(history) == wanted:
            return history
        certain, doubtful = 0, len(history) + 1
        count = len(history)
        while certain + 1 < doubtful:
            if len(self._table.history(count)) == count:
                certain = count
            else:
                doubtful = count
            count = (certain + doubtful) // 2
        return history[:certain]

    def token(self, app_id: str) -> int:
        with _reading(self._location):
            return self._table.transaction_version(app_id) or 0

    def at(self, version: int) -> DeltaLog:
        """The log as it was at a version. Raises `VersionGone`."""
        return self if version == self._version else DeltaLog(self._location, self._at(version))

    def files(self, span: Span | Spans | None, version: int) -> list[LiveFile]:
        table = self._at(version)
        with _reading(self._location):
            actions = table.get_add_actions(flatten=True)
            bounds = FileBounds.of(span, actions.column_names)
            rows = actions.select(["path", "size_bytes", *bounds.columns]).to_struct_array().to_pylist()
            marks = _deletions(table)
        return sorted(
            LiveFile(row["path"], row["size_bytes"], marks.get(_name(row["path"]), ""))
            for row in rows
            if bounds.may_hold(row)
        )

    def files_within(self, span: Span | Spans) -> list[LiveFile] | None:
        """The files all of whose rows lie in `span`; None where another one may hold such a row, too."""
        with _reading(self._location):
            actions = self._table.get_add_actions(flatten=True)
            bounds = FileBounds.of(span, actions.column_names)
            rows = actions.select(["path", "size_bytes", *bounds.columns]).to_struct_array().to_pylist()
            marks = _deletions(self._table)
        concerned = [row for row in rows if bounds.may_hold(row)]
        if not all(bounds.lies_within(row) for row in concerned):
            return None
        return sorted(LiveFile(row["path"], row["size_bytes"], marks.get(_name(row["path"]), "")) for row in concerned)

    def count(self, *, null_in: str | None = None) -> int | None:
        """How many rows there are, or how many with a NULL in a column; None where the log does not tell."""
        with _reading(self._location):
            actions = self._table.get_add_actions(flatten=True)
            column = "num_records" if null_in is None else f"null_count.{null_in}"
            known = column in actions.column_names
            rows = actions.select([column] if known else ["path"]).to_struct_array().to_pylist()
            if _deletions(self._table) or any(row.get(column) is None for row in rows):
                return None
        return sum(int(row[column]) for row in rows)

    def counts(self) -> dict[str, int] | None:
        """How many rows each file holds, by its path; None where the log does not tell."""
        with _reading(self._location):
            actions = self._table.get_add_actions(flatten=True)
            if "num_records" not in actions.column_names or _deletions(self._table):
                return None
            rows = actions.select(["path", "num_records"]).to_struct_array().to_pylist()
        if any(row["num_records"] is None for row in rows):
            return None
        return {row["path"]: int(row["num_records"]) for row in rows}

    def schema_at(self, version: int) -> Schema:
        table = self._at(version)
        with _reading(self._location):
            return read_schema(table.schema().to_json())

    def _at(self, version: int) -> DeltaTable:
        if version == self._version:
            return self._table
        if version > self._version:
            raise VersionGone(f"{self._location} has no version {version}: it is at {self._version}")
        with _reading(self._location):
            table = _load(self._location, version)
        if table is None:
            raise VersionGone(f"the log of {self._location} does not reach back to version {version}")
        return table


def _place(location: str) -> str:
    return os.path.abspath(local_path(location)) if is_local(location) else location


def _load(place: str, version: int | None) -> DeltaTable | None:
    from deltalake import DeltaTable
    from deltalake.exceptions import TableNotFoundError

    try:
        return DeltaTable(place, version=version)
    except TableNotFoundError:
        return None


@contextmanager
def _reading(location: str) -> Iterator[None]:
    try:
        yield
    except (CannotRead, VersionGone):
        raise
    except Exception as error:
        # delta-rs has no common class for what it cannot do: a feature that it does not know, a store
        # that it cannot reach and a missing credential arrive as DeltaError, OSError or ValueError.
        raise CannotRead(f"delta-rs cannot read {location}: {error}") from error


def _deletions(table: DeltaTable) -> dict[str, str]:
    """A hash of which rows are deleted in a file, by the file's name."""
    if _DELETIONS not in (table.protocol().reader_features or ()):
        return {}
    found = table.deletion_vectors().read_all().to_struct_array().to_pylist()
    # Two folders may hold files of one name; then both change their mark when one of them does. The other
    # way about, by whole paths, a difference in how a path is escaped would hide a deletion.
    marks: dict[str, str] = {}
    for row in sorted(found, key=lambda row: str(row["filepath"])):
        name = _name(row["filepath"])
        rows = hashlib.sha256(bytes(row["selection_vector"])).hexdigest()[:16]
        marks[name] = marks.get(name, "") + rows
    return marks


def _name(path: str) -> str:
    return unquote(path.rpartition("/")[2])
