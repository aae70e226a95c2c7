"""Entries of a Delta log that are written without Spark, and what can be read off them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from samewise.core.errors import Conflict
from samewise.core.records import Stamp
from samewise.core.schema import Schema
from samewise.core.sql import Span, Spans
from samewise.core.windows import FULL
from samewise.storage.delta_log import DeltaLog
from samewise.storage.delta_writer import NewFile, OldFile, commit, create_table
from samewise.storage.file_bounds import holds

STAMP = Stamp("s", "r", "a", "orders", "load", FULL, 1, "d", "f", "c", datetime(2026, 4, 25, tzinfo=UTC))
SCHEMA = Schema.of([("id", "bigint"), ("day", "date"), ("amount", "decimal(12,2)")])
PROPERTIES = {"samewise.store": "s"}


def file(name: str, low: int = 25, high: int = 25, nulls: int = 0) -> NewFile:
    low_text, high_text = f'{{"day":"2026-04-{low}"}}', f'{{"day":"2026-04-{high}"}}'
    told = f'{{"numRecords":2,"minValues":{low_text},"maxValues":{high_text},"nullCount":{{"day":{nulls}}}}}'
    return NewFile(name, 100, 2, 1_700_000_000_000, told)


def span(*days: int) -> Span | Spans:
    parts = tuple(Span("day", date(2026, 4, day), date(2026, 4, day + 1)) for day in days)
    return parts[0] if len(parts) == 1 else Spans(parts)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    create_table(str(tmp_path / "table"), SCHEMA, (), PROPERTIES)
    return tmp_path / "table"


def opened(place: Path) -> DeltaLog:
    log = DeltaLog.open(str(place))
    assert log is not None
    return log


def test_a_table_is_made_once_and_stays_as_it_is(place: Path) -> None:
    create_table(str(place), Schema.of([("other", "string")]), (), {"samewise.store": "another"})
    log = opened(place)
    assert (log.version, log.schema, log.properties["samewise.store"]) == (0, SCHEMA, "s")


def test_an_entry_carries_its_token_its_stamp_and_how_many_rows_it_brought(place: Path) -> None:
    commit(opened(place), STAMP, [file("a/1.parquet"), file("a/2.parquet")])
    log = opened(place)
    entries = log.commits(0)
    assert entries is not None
    (entry,) = entries
    assert (log.token(STAMP.app_id), entry.stamp, entry.rows) == (1, STAMP, 4)
    assert [live.path for live in log.files(None, log.version)] == ["a/1.parquet", "a/2.parquet"]


def test_an_entry_is_the_next_one_or_none(place: Path) -> None:
    seen = opened(place)
    commit(opened(place), STAMP, [file("a/1.parquet")])
    with pytest.raises(Conflict):
        commit(seen, replace(STAMP, generation=2), [file("b/1.parquet")])
    log = opened(place)
    assert (log.version, log.token(STAMP.app_id), len(log.files(None, log.version))) == (1, 1, 1)


def test_a_file_that_goes_is_there_no_longer(place: Path) -> None:
    commit(opened(place), STAMP, [file("a/1.parquet")])
    commit(opened(place), replace(STAMP, generation=2), [file("b/1.parquet")], [OldFile("a/1.parquet", 100)])
    log = opened(place)
    assert [live.path for live in log.files(None, log.version)] == ["b/1.parquet"]
    assert [live.path for live in log.at(1).files(None, 1)] == ["a/1.parquet"]


@pytest.mark.parametrize(
    ("files", "days", "expected"),
    [
        ([], [25], []),
        ([file("in", 25, 25)], [25], ["in"]),
        ([file("in", 25, 25), file("beside", 26, 27)], [25], ["in"]),
        ([file("across", 25, 26)], [25], None),
        ([file("across", 25, 26)], [25, 26], ["across"]),
        ([file("with a null", 25, 25, nulls=1)], [25], None),
        ([file("in", 25, 25), file("in_too")], [25], ["in", "in_too"]),
    ],
)
def test_what_a_window_replaces_is_known_where_its_files_hold_nothing_else(
    place: Path, files: list[NewFile], days: list[int], expected: list[str] | None
) -> None:
    if files:
        commit(opened(place), STAMP, files)
    found = opened(place).files_within(span(*days))
    assert (None if found is None else [live.path for live in found]) == expected


def test_a_file_without_statistics_may_hold_anything(place: Path) -> None:
    commit(opened(place), STAMP, [replace(file("x"), statistics='{"numRecords":2}'), file("in", 25, 25)])
    assert opened(place).files_within(span(25)) is None


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (datetime(2026, 4, 25, tzinfo=UTC), datetime(2026, 4, 25, 23, 59, 59, 999999, tzinfo=UTC), True),
        (datetime(2026, 4, 25, tzinfo=UTC), datetime(2026, 4, 26, tzinfo=UTC), False),
        (datetime(2026, 4, 24, 23, tzinfo=UTC), datetime(2026, 4, 25, tzinfo=UTC), False),
        (datetime(2026, 4, 25), datetime(2026, 4, 25), False),
        (date(2026, 4, 25), date(2026, 4, 25), False),
        (None, None, False),
    ],
)
def test_a_span_of_instants_holds_only_what_is_surely_in_it(low: object, high: object, expected: bool) -> None:
    day = Span("at", datetime(2026, 4, 25, tzinfo=UTC), datetime(2026, 4, 26, tzinfo=UTC))
    assert holds(day, low, high) is expected
