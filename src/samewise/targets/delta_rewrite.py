"""Rows that find their place by key in nearly every file of a Delta table: cheaper than a MERGE is to write it anew.

A MERGE looks for the files to write, then joins all their rows with the batch in both directions, which moves every
row once through a shuffle. Where all files are to be written anyway, each row can stay where it is read: the batch is
brought to it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from samewise.core.keyed import content
from samewise.core.sql import quote
from samewise.storage.delta_log import CannotRead, DeltaLog, Log
from samewise.storage.frames import schema_of
from samewise.targets.delta_keyed import key_condition, replaces

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from samewise.core.keyed import Keyed
    from samewise.core.ports import Write
    from samewise.core.schema import Schema

_NEW = "_samewise_new"
_FROM_BYTES = 16 << 20
"""A smaller table costs next to nothing either way."""
_FROM_SHARE = 0.8
_PART_BYTES = 16 << 20
"""At least so much goes into one file: many cores would otherwise cut a table into crumbs."""
_FEATURES = frozenset({"appendOnly", "invariants", "checkConstraints", "timestampNtz"})
"""Those of which a table that is written anew loses nothing. A change feed would show every row as changed, row ids
would begin again, deletion vectors are there so that nothing is written anew."""
_LAST_PLAIN_WRITER = 3
"""Writers were numbered before features had names; the next number stands for a change feed and computed columns."""


class Rewrite(StrEnum):
    """When a table is written anew."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


def parts_if_worth_it(log: Log | None, columns: Schema, write: Write, rewrite: Rewrite) -> int | None:
    """Into how many parts at most to write the table anew; None where a MERGE is better, or loses less."""
    if rewrite is Rewrite.NEVER or not write.touched or not isinstance(log, DeltaLog):
        return None
    try:
        files = log.files(None, log.version) if _is_plain(log, columns) else []
    except CannotRead:
        return None
    size = sum(file.size_bytes for file in files)
    copied = sum(file.size_bytes for file in files if file.path.rpartition("/")[2] in write.touched)
    worth_it = rewrite is Rewrite.ALWAYS or (size >= _FROM_BYTES and copied >= _FROM_SHARE * size)
    return max(1, size // _PART_BYTES) if files and worth_it else None


def _is_plain(log: DeltaLog, columns: Schema) -> bool:
    features = log.writer_features
    known = log.writer_version <= _LAST_PLAIN_WRITER if features is None else features <= _FEATURES
    there = log.schema
    # A MERGE brings a value to the type that its column has, as far as that is allowed.
    same = all((found := there.get(column.name)) is not None and found.type == column.type for column in columns)
    return known and same and not log.partition_columns


def rewritten(table: DataFrame, rows: DataFrame, keyed: Keyed, parts: int) -> DataFrame:
    """All rows that `table` is to hold: its own, replaced where those of `rows` are newer, and those that are new.

    Every comparison is made again, against what is in the table when this is read.
    """
    from pyspark.sql import functions as f

    own, there = schema_of(rows), schema_of(table)
    same = f.expr(key_condition(keyed, "t", "b"))
    pairs = table.alias("t").join(rows.alias("b"), same, "left")
    values = ", ".join(f"b.{quote(column.name)}" for column in own)
    new = f"IF({replaces(keyed, content(own))}, struct({values}), NULL) AS {_NEW}"
    taken = [
        f"IF({_NEW} IS NULL, {name}, {_NEW}.{name}) AS {name}" if own.get(column.name) is not None else name
        for column in there
        for name in [quote(column.name)]
    ]
    standing = pairs.selectExpr("t.*", new).selectExpr(*taken)
    found = table.alias("t").join(rows.alias("b"), same, "left_semi").select(*[quote(name) for name in keyed.key])
    absent = rows.alias("b").join(found.alias("t"), same, "left_anti")
    added = [
        quote(column.name)
        if own.get(column.name) is not None
        else f"CAST(NULL AS {column.type}) AS {quote(column.name)}"
        for column in there
    ]
    return standing.coalesce(parts).unionAll(absent.selectExpr(*added).coalesce(1))
