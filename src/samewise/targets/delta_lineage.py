"""What has become of the rows that one window wrote by key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samewise.core.keyed import Keyed, content
from samewise.core.keys import same_key
from samewise.core.measures import row_hash_expression
from samewise.core.ports import Lineage
from samewise.core.sql import literal, quote
from samewise.storage.failures import read_failure
from samewise.storage.frames import schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from samewise.core.schema import Column

_WINDOW = "_samewise_window"
_DELETED_AT = "_samewise_deleted_at"
_GONE = frozenset(
    {
        "DELTA_FILE_NOT_FOUND",
        "DELTA_FILE_NOT_FOUND_DETAILED",
        "DELTA_LOG_FILE_NOT_FOUND",
        "DELTA_NO_RECREATABLE_HISTORY_FOUND",
        "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION",
        "DELTA_VERSIONS_NOT_CONTIGUOUS",
        "DELTA_VERSION_NOT_FOUND",
        "FAILED_READ_FILE.FILE_NOT_EXIST",
    }
)
"""What Spark says of a version that VACUUM or the clean-up of the log has taken, or soon may."""


def can_show(now: DataFrame, window_key: str) -> bool:
    """Whether the rows that name a window can be read in the table of today."""
    try:
        now.where(_named(window_key)).count()
    except Exception as error:
        if is_gone(error):
            return False
        raise
    return True


def is_gone(error: Exception) -> bool:
    """Whether a read failed for want of a version's log or of its files."""
    return not _GONE.isdisjoint(read_failure(error).conditions)


def lineage(then: DataFrame, now: DataFrame, keyed: Keyed, window_key: str) -> Lineage:
    """Compare the rows of a window in two versions of a table, by key. Rows that others took over are counted.

    A tombstone that was dropped since, in its time, is not missed.
    """
    from pyspark.sql import functions as f

    own = content(schema_of(then))

    def of(alias: str) -> str:
        def value(column: Column) -> str:
            return f"{alias}.{quote(column.name)}"

        return row_hash_expression(own, value)

    has_deletes = schema_of(then).get(_DELETED_AT) is not None
    deleted = f"t.{quote(_DELETED_AT)} IS NOT NULL" if has_deletes else "false"
    before = then.where(_named(window_key)).alias("t")
    joined = before.join(now.alias("n"), f.expr(same_key(keyed.key, "t", "n")), "full")
    there, here = f"t.{quote(_WINDOW)} IS NOT NULL", f"n.{quote(_WINDOW)}"
    same = f"{of('t')} = {of('n')}"
    ours = f"{here} = {literal(window_key)}"
    counts = {
        "kept": f"{there} AND {ours} AND {same}",
        "taken_over": f"{there} AND {here} IS NOT NULL AND NOT {ours}",
        "changed": f"{there} AND {ours} AND NOT {same}",
        "missing": f"{there} AND {here} IS NULL AND NOT ({deleted})",
        "foreign": f"NOT ({there}) AND {ours}",
    }
    found = joined.selectExpr(*[f"count_if({sql}) AS {name}" for name, sql in counts.items()]).first()
    assert found is not None
    return Lineage(**{name: int(found[name]) for name in counts})


def _named(window_key: str) -> str:
    return f"{quote(_WINDOW)} = {literal(window_key)}"
