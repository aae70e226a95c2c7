"""How rows find their place by key, and what becomes of each. SQL text only, like `core.keys`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from zlib import crc32

from samewise.core.keys import version_expression
from samewise.core.measures import row_hash_expression
from samewise.core.schema import Column, Schema
from samewise.core.sql import quote

EPOCH = "_samewise_epoch"
"""The load epoch that wrote the row."""
DELETED_AT = "_samewise_deleted_at"
"""When the key was deleted; NULL for a row that is there."""
CHANGE = "_samewise_change"
"""What a row of a batch would do to the target; never written."""
FILE = "_samewise_file"
"""The target's file that holds the row of the same key, where a target has files; never written."""
BOOKKEEPING_PREFIX = "_samewise_"
_MARKS = 8 * 4096
"""Spark's bitmaps have so many bits."""


@dataclass(frozen=True, slots=True)
class FileMarks:
    """A set of files by name, as one aggregate can gather it: a bit for each, so that now and then two share one."""

    bits: bytes = b""

    @staticmethod
    def expression(name: str) -> str:
        """The aggregate that gathers the files of the rows; a row whose `name` is NULL has none."""
        return f"bitmap_construct_agg(crc32(CAST({name} AS BINARY)) % {_MARKS})"

    def __bool__(self) -> bool:
        return any(self.bits)

    def __contains__(self, name: str) -> bool:
        at = crc32(name.encode()) % _MARKS
        return at < 8 * len(self.bits) and bool(self.bits[at // 8] & 1 << at % 8)


class Change(StrEnum):
    """What a row of a batch does to the target."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"
    TOMBSTONE = "tombstone"
    """A delete of a key that is not there: remembered, so that an older row cannot bring it back."""
    STAMP = "stamp"
    """The row is there, from a load under an older definition or contract: it is confirmed, not changed."""
    SAME = "same"
    OLDER = "older"
    AMBIGUOUS = "ambiguous"
    """The target holds the key more than once."""
    EXPIRED = "expired"
    """New to the target, and older than deletes that it has forgotten: it may have been one of those."""


WRITTEN = (Change.INSERT, Change.UPDATE, Change.DELETE, Change.TOMBSTONE, Change.STAMP)


@dataclass(frozen=True, slots=True)
class Keyed:
    """A strategy that writes by key: `merge`, or, where nothing is updated, `insert_new`.

    Rows of `merge` carry `EPOCH` and `DELETED_AT`, also where nothing is ever deleted: that may change.
    """

    key: Sequence[str]
    version_by: Sequence[str] = ()
    updates: bool = True
    """False for `insert_new`: a key that is there stays as it is."""
    null_safe: bool = False
    """True where a NULL in a key equals a NULL. Otherwise no row of a batch has one."""
    horizon: tuple[str, timedelta] | None = None
    """A time column, and how far around the batch's own times a key is looked for."""
    tombstones: timedelta = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Batch:
    """What is known of the staged rows before they are compared with a target."""

    ranges: Mapping[str, tuple[str, str]]
    """Between which values of a column all of them lie, as SQL literals: where in the target to look."""
    with_nulls: frozenset[str] = frozenset()
    """Columns of `ranges` in which some row of the batch has a NULL."""
    era: int = 0


def content(schema: Schema) -> Schema:
    """The user's own columns."""
    return Schema(tuple(c for c in schema if not c.name.lower().startswith(BOOKKEEPING_PREFIX)))


def order_expression(keyed: Keyed, columns: Schema, *, of: str) -> str:
    """Which of two rows of one key stands: the greater. By version, load epoch, deleted or not, hash of the row.

    `columns` are the user's own; `of` is the alias of a table that has them, and those of the bookkeeping.
    """
    prefix = f"{quote(of)}."

    def value(column: Column) -> str:
        return prefix + quote(column.name)

    return (
        f"named_struct('version', {version_expression(keyed.version_by, of=of)}, "
        f"'epoch', coalesce({prefix}{quote(EPOCH)}, 0L), 'deleted', ({prefix}{quote(DELETED_AT)} IS NOT NULL), "
        f"'hash', {row_hash_expression(columns, value)})"
    )
