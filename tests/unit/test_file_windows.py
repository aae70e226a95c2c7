"""Each row of files that are read together says whose it is; and each row of a table, by its own time."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from samewise.core.schema import Schema
from samewise.core.sql import AT, Span, Spans
from samewise.core.windows import Window
from samewise.sources.files import FilesSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIRST = datetime(2026, 3, 30, tzinfo=UTC)
LAYOUTS = {
    "a folder a day": "%Y-%m-%d",
    "folders within folders": "%Y/%m/%d",
    "the last folder tells nothing": "%Y-%m-%d/orders",
    "names that begin alike": "day%j",
}


def _days(count: int) -> list[Window]:
    starts = [FIRST + timedelta(days=at) for at in range(count)]
    return [Window(start, start + timedelta(days=1)) for start in starts]


def _numbers(spark: SparkSession, folders: list[Path]) -> list[tuple[int, int]]:
    """What each row says, and the place of the window whose file it is in."""
    windows = _days(len(folders))
    for at, folder in enumerate(folders):
        folder.mkdir(parents=True)
        for part in range(2):
            (folder / f"part-{part}.csv").write_text(f"id\n{at}\n{at}\n")
    globs = {window: f"{folder}/*.csv" for window, folder in zip(windows, folders, strict=True)}
    source = FilesSource(globs.__getitem__, "csv", lambda: spark, declared=Schema.of([("id", "bigint")]))  # type: ignore[arg-type]
    pins = [source.pin(window) for window in windows]
    fits = [[group.fit(Schema.of([("id", "bigint")])) for group in source._grouped(each)] for each in pins]
    rows = source.read_many(pins, windows, fits)
    assert rows is not None
    return sorted((row["id"], row[AT]) for row in rows.select("id", AT).collect())


@pytest.mark.parametrize("layout", list(LAYOUTS))
def test_a_row_belongs_to_the_window_of_its_files_folder(spark: SparkSession, tmp_path: Path, layout: str) -> None:
    folders = [tmp_path / window.start.strftime(LAYOUTS[layout]) for window in _days(5)]
    assert _numbers(spark, folders) == sorted((at, at) for at in range(5) for _ in range(4))


def test_folders_at_different_depths_are_told_apart_by_their_whole_paths(spark: SparkSession, tmp_path: Path) -> None:
    folders = [tmp_path, tmp_path / tmp_path.name, tmp_path / "b" / tmp_path.name]
    # The first one's files must not be found again below it.
    (first, *others) = folders
    folders = [first / "own" / "a", *(other / "own" / "a" for other in others)]
    assert _numbers(spark, folders) == sorted((at, at) for at in range(3) for _ in range(4))


def test_a_row_of_a_table_belongs_to_the_window_that_its_time_lies_in(spark: SparkSession) -> None:
    days = [date(2026, 4, 1) + timedelta(days=at) for at in range(7)]
    spans = Spans(tuple(Span("day", day, day + timedelta(days=1)) for day in days))
    rows = spark.sql("SELECT date_add(DATE'2026-03-31', CAST(id AS INT)) AS day FROM range(10) UNION ALL SELECT NULL")
    found = [row["at"] for row in rows.selectExpr("day", f"{spans.number} AS at").orderBy("day").collect()]
    assert found == [None, None, *range(7), None, None]
    keys = ["2026-04-02", "2026-04-01", "10000-01-01"]
    marked = Spans(tuple(Span("key", key) for key in keys))
    rows = spark.sql("SELECT explode(array('2026-04-01', '2026-04-02', '10000-01-01', 'other', NULL)) AS key")
    told = {row["key"]: row["at"] for row in rows.selectExpr("key", f"{marked.number} AS at").collect()}
    assert told == {"2026-04-01": 1, "2026-04-02": 0, "10000-01-01": 2, "other": None, None: None}
