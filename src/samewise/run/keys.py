"""The key of a task's rows: made where the source has none, checked before anything is found by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from samewise.core.errors import ConfigError, TransformFailed
from samewise.core.keyed import content
from samewise.core.keys import has_null, hash_key_expression, is_comparable
from samewise.core.records import RunRecord
from samewise.core.schema import Schema
from samewise.core.sql import quote
from samewise.run.quarantine import null_key_folder
from samewise.storage.files import remove_tree, spark_folder
from samewise.storage.frames import schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from samewise.run.job import Job


@dataclass(frozen=True, slots=True)
class HashKey:
    """A key made of business columns, for rows that come without one."""

    column: str
    of: Sequence[str]


def with_hash_key(rows: DataFrame, hash_key: HashKey) -> DataFrame:
    """The rows with their key as one more column; the same key for the same values, in any run and any system."""
    from pyspark.sql import functions as f

    result = schema_of(rows)
    if result.get(hash_key.column) is not None:
        raise TransformFailed(
            f"the result has a column {hash_key.column}, which write.hash_key makes",
            next_step="leave it out of the SELECT, or give write.hash_key.column another name",
        )
    check_columns(result, hash_key.of, "write.hash_key.of")
    columns = [column for name in hash_key.of if (column := result.get(name)) is not None]
    try:
        expression = hash_key_expression(columns)
    except ValueError as error:
        raise ConfigError(
            f"write.hash_key.of: {error}", next_step="name other columns, or cast this one in the transform"
        ) from error
    return rows.withColumn(hash_key.column, f.expr(expression))


def check_columns(result: Schema, names: Sequence[str], setting: str) -> None:
    """Raise if the rows lack a column that `setting` names, or have it in a type that cannot be compared."""
    for name in names:
        column = result.get(name)
        if column is None:
            raise TransformFailed(
                f"there is no column {name}; there are {', '.join(result.names)}",
                next_step=f"select {name} in the transform, or mend {setting}",
            )
        if not is_comparable(column.type):
            raise ConfigError(
                f"{setting}: {name} is {column.type}, and two of these cannot be compared",
                next_step="name a column of another type, or one of its fields, selected in the transform",
            )


def set_null_keys_aside(job: Job, run: RunRecord, staged: DataFrame, key: Sequence[str]) -> tuple[DataFrame, int]:
    """The staged rows whose key is whole, and how many others went to the quarantine.

    Only the key's columns are read to know whether there are any. A second call replaces what the first one wrote.
    """
    folder = null_key_folder(job, run)
    without = staged.where(has_null(key))
    count = without.select(*[quote(name) for name in key]).count()
    if count == 0:
        remove_tree(folder)
        return staged, 0
    own = [quote(column.name) for column in content(schema_of(staged))]
    without.select(*own).write.mode("overwrite").option("ignoreNullFields", "false").json(spark_folder(folder))
    return staged.where(f"NOT {has_null(key)}"), count
