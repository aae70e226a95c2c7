"""Two tables, compared in a test: equal as multisets of rows, or an error that shows the rows that differ."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from samewise.prove.verdict import Proof

    Table = DataFrame | str | PathLike[str]

_WIDTH = 100


class NotTheSame(AssertionError):
    """A table is not as one clean run leaves it. `proof` has all of it as data."""

    def __init__(self, text: str, proof: Proof | None = None) -> None:
        super().__init__(text)
        self.proof = proof


def assert_same_table(
    before: Table,
    after: Table,
    key: str | Sequence[str] | None = None,
    *,
    spark: SparkSession | None = None,
) -> None:
    """Raise `NotTheSame` unless both tables hold the same rows in the same columns, in whatever order and files.

    A table is a DataFrame, the path of a Delta table, or the name of a table. `key` says by what rows belong
    together; without it columns that are unique are taken.
    """
    __tracebackhide__ = True
    from samewise.prove.compare import compare

    columns = (key,) if isinstance(key, str) else tuple(key or ())
    _, difference = compare(_rows(before, spark), _rows(after, spark), columns)
    if difference is not None:
        from samewise.prove.report.lines import difference_lines

        raise NotTheSame("\n".join(["the tables are not the same", *difference_lines(difference, width=_WIDTH)]))


def _rows(table: Any, spark: SparkSession | None) -> DataFrame:
    if not isinstance(table, str | PathLike):
        frame: DataFrame = table
        return frame
    from pathlib import Path

    from samewise.testing.session import shared_session

    session = spark or shared_session()
    text = str(table)
    is_path = "/" in text or (Path(text) / "_delta_log").is_dir()
    return session.read.format("delta").load(text) if is_path else session.table(text)
