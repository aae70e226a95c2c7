"""What is asked of a table's log, whoever reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple, Protocol

from samewise.core.records import Stamp, TargetCommit

if TYPE_CHECKING:
    from samewise.core.schema import Schema
    from samewise.core.sql import Span

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_KEEPS_ROWS = frozenset(
    {
        "OPTIMIZE",
        "VACUUM START",
        "VACUUM END",
        "SET TBLPROPERTIES",
        "UNSET TBLPROPERTIES",
        "ADD CONSTRAINT",
        "DROP CONSTRAINT",
        # An empty table; one that is made with rows is called CREATE TABLE AS SELECT.
        "CREATE TABLE",
        # NULL in every row that is there. Samewise itself does so before a MERGE that brings a column.
        "ADD COLUMNS",
    }
)
"""Operations that are known to leave every row as it is. One that is not known may change rows."""


class CannotRead(Exception):
    """This reader does not understand the table, or may not read it; another reader might."""


class VersionGone(Exception):
    """The table has no such version, or its log does not reach back to it."""


class LiveFile(NamedTuple):
    """One data file of a version of a table."""

    path: str
    """Below the table's own place."""
    size_bytes: int
    mark: str
    """Another text when rows of the file are deleted without writing the file again."""


class Log(Protocol):
    """A table's log, as it was when it was opened."""

    @property
    def version(self) -> int: ...

    @property
    def table_id(self) -> str:
        """Another one after the table was dropped and made again in the same place."""

    @property
    def schema(self) -> Schema: ...

    @property
    def partition_columns(self) -> Sequence[str]: ...

    @property
    def properties(self) -> dict[str, str]: ...

    def commits(self, since: int) -> list[TargetCommit] | None:
        """Commits after version `since`, oldest first; None if the log does not tell about all of them."""

    def known_commits(self) -> list[TargetCommit]:
        """Every commit that the log still tells about, oldest first."""

    def token(self, app_id: str) -> int:
        """The highest version that was recorded for this application; 0 for none."""

    def files(self, span: Span | None, version: int) -> list[LiveFile]:
        """Files of `version` that may hold rows of `span`, sorted. Raises `VersionGone`."""

    def schema_at(self, version: int) -> Schema:
        """The schema of `version`. Raises `VersionGone`."""


def commit_of(
    version: int,
    timestamp_us: int,
    operation: str | None,
    user_metadata: str | None,
    metrics: Mapping[str, object] | None,
) -> TargetCommit:
    """One commit, from what every log says about it."""
    stamp = Stamp.parse(user_metadata)
    burned = stamp is not None and stamp.kind in ("burn", "watermark")
    rows = (metrics or {}).get("numOutputRows")
    return TargetCommit(
        version=version,
        timestamp=_EPOCH + timedelta(microseconds=timestamp_us),
        operation=operation or "unknown",
        changes_data=not burned and operation not in _KEEPS_ROWS,
        stamp=stamp,
        rows=None if rows is None else int(str(rows)),
    )
