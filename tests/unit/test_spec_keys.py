"""What a strategy needs, and what it has no use for: found by `validate`, each with its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from samewise.core.errors import SpecError
from samewise.wiring.checks import check_pipelines
from tests.support.project import changed
from tests.support.spec import load

FILE = "pipelines/orders.yaml"
MERGE: dict[str, Any] = {
    "pipeline": "orders",
    "schedule": {"every": "day", "start": "2026-04-01"},
    "source": {
        "type": "files",
        "path": "landing/{{ window.start | date }}/*.csv",
        "format": "json",
        "schema": {
            "id": "bigint",
            "amount": "decimal(12,2)",
            "ratio": "double",
            "tags": "map<string,string>",
            "op": "string",
            "at": "timestamp",
        },
    },
    "target": {"type": "delta", "table": "orders"},
    "write": {"strategy": "merge", "key": ["id"], "version_by": ["at"]},
}
INSERT: dict[str, Any] = changed(MERGE, {"write": {"strategy": "insert_new", "key": ["id"]}})
REPLACE: dict[str, Any] = changed(MERGE, {"write": {"strategy": "replace_window", "window_column": "at"}})
REFRESH: dict[str, Any] = changed(
    MERGE, {"write": {"strategy": "refresh"}, "schedule": None, "source.path": "landing/*.csv"}
)
INCREMENTAL: dict[str, Any] = changed(
    MERGE, {"schedule": None, "source": {"type": "delta", "table": "raw", "incremental": {"column": "at", "lag": "0s"}}}
)
NEW_FILES: dict[str, Any] = changed(
    MERGE, {"schedule": None, "source.path": "landing/*.csv", "source.incremental": "new_files"}
)
BASES = {"merge": MERGE, "insert_new": INSERT, "replace_window": REPLACE, "refresh": REFRESH}


def found(root: Path, base: dict[str, Any], changes: dict[str, Any], sql: str | None = None) -> list[str]:
    """Every problem that `validate` has with the pipeline."""
    body = changed(base, changes if sql is None else {**changes, "transform": "orders.sql"})
    files = {FILE: yaml.safe_dump(body, sort_keys=False), "pipelines/orders.sql": sql or "SELECT * FROM source"}
    try:
        check_pipelines(load(root, files))
    except SpecError as error:
        return [str(problem).partition(": ")[2] for problem in error.problems]
    return []


@pytest.mark.parametrize("base", [MERGE, INSERT, REPLACE, REFRESH, INCREMENTAL, NEW_FILES])
def test_what_is_complete_is_fine(tmp_path: Path, base: dict[str, Any]) -> None:
    assert found(tmp_path, base, {}) == []


HASHED = {"column": "order_key", "of": ["id", "at"]}
ALL = {
    "key": ["id"],
    "version_by": ["at"],
    "delete_when": "op = 'D'",
    "tombstones": "30d",
    "null_keys": "refuse",
    "hash_key": HASHED,
    "dedup_horizon": {"column": "at", "within": "2d"},
    "window_column": "at",
    "on_empty": "clear",
}
UNUSED = {
    "merge": ["window_column", "on_empty", "dedup_horizon"],
    "insert_new": ["version_by", "delete_when", "tombstones", "window_column", "on_empty"],
    "replace_window": ["key", "version_by", "delete_when", "tombstones", "null_keys", "hash_key", "dedup_horizon"],
    "refresh": ["key", "version_by", "delete_when", "tombstones", "null_keys", "hash_key", "dedup_horizon"],
}


@pytest.mark.parametrize(("strategy", "key"), [(s, key) for s, keys in UNUSED.items() for key in keys])
def test_a_key_that_the_strategy_has_no_use_for_is_refused_with_a_sentence(
    tmp_path: Path, strategy: str, key: str
) -> None:
    (problem,) = found(tmp_path, BASES[strategy], {f"write.{key}": ALL[key]})
    assert problem.startswith(f"write.{key}: ")
    assert len(problem.split()) > 6


@pytest.mark.parametrize(
    ("base", "changes", "sentence"),
    [
        (MERGE, {"write.key": None}, "write.strategy: merge needs 'key: [columns]' from the source, or a hash_key"),
        (INSERT, {"write.key": None}, "write.strategy: insert_new needs 'key: [columns]' from the source"),
        (MERGE, {"write.version_by": None}, "write.strategy: merge needs 'version_by: [columns]'"),
        (MERGE, {"write.hash_key": HASHED}, "write.hash_key: makes a key where there is none"),
        (MERGE, {"write.tombstones": "9d"}, "write.tombstones: nothing is deleted without delete_when"),
        (MERGE, {"write.version_by": ["ID"]}, "write.version_by: rows of one key are all alike"),
        (MERGE, {"schedule": None, "source.path": "landing/*.csv"}, "write.strategy: merge needs a schedule"),
        (MERGE, {"target.partition_by": ["_samewise_window"]}, "target.partition_by: _samewise_window says which"),
        (MERGE, {"write.key": ["_samewise_window"]}, "write.key: _samewise_window says which run loaded a row"),
        (MERGE, {"write.version_by": ["_metadata"]}, "write.version_by: _metadata tells about the file"),
        (MERGE, {"write.key": ["idd"]}, "write.key: the schema has no column 'idd', did you mean 'id'?"),
        (MERGE, {"write.version_by": ["when"]}, "write.version_by: the schema has no column 'when'"),
        (MERGE, {"write.key": ["tags"]}, "write.key: 'tags' is map<string,string>, and two of these cannot be"),
        (MERGE, {"dedup": {"key": ["tags"]}}, "dedup.key: 'tags' is map<string,string>"),
        (REPLACE, {"dedup": {"key": ["no"]}}, "dedup.key: the schema has no column 'no'"),
        (MERGE, {"write.delete_when": "op = 'D' AND at < now()"}, "write.delete_when: op = 'D' AND at < now(): now() "),
        (MERGE, {"write.delete_when": "op ="}, "write.delete_when: op =: "),
        (MERGE, {"write.delete_when": "opp = 'D'"}, "write.delete_when: the schema has no column 'opp'"),
        (MERGE, {"write.delete_when": "at < :run_ts"}, "write.delete_when: :run_ts is not bound here"),
        (INSERT, {"write.dedup_horizon": {"column": "op", "within": "2d"}}, "write.dedup_horizon.column: must be a "),
        (REPLACE, {"expect": [{"change": {"column": "ratio", "within": "5%"}}]}, "expect[0]: change needs a column"),
        (REPLACE, {"expect": [{"change": {"column": "amont", "within": "5%"}}]}, "expect[0]: the schema has no "),
        (INCREMENTAL, {"write": {"strategy": "refresh"}}, "write.strategy: an incremental source gives only what is"),
        (NEW_FILES, {"write": {"strategy": "replace_window"}}, "write.strategy: an incremental source gives only what"),
        (INCREMENTAL, {"source.window_column": "at"}, "source.window_column: an incremental source reads from its"),
        (
            INCREMENTAL,
            {"schedule": {"every": "day", "start": "2026-04-01"}},
            "schedule: an incremental source goes on from where the last run ended",
        ),
        (
            NEW_FILES,
            {"source.path": "landing/{{ window.start | date }}/*.csv"},
            "source.path: 'window' cannot be used here: an incremental source has no window of its own",
        ),
    ],
)
def test_what_does_not_fit_is_told(
    tmp_path: Path, base: dict[str, Any], changes: dict[str, Any], sentence: str
) -> None:
    (problem,) = found(tmp_path, base, changes)
    assert problem.startswith(sentence)


@pytest.mark.parametrize(
    ("hash_key", "sentence"),
    [
        ({"column": "k", "of": ["id", "no"]}, "write.hash_key.of: the schema has no column 'no'"),
        ({"column": "k", "of": ["ratio"]}, "write.hash_key.of: 'ratio' is double, which has no one way"),
        ({"column": "k", "of": ["tags"]}, "write.hash_key.of: 'tags' is map<string,string>"),
        ({"column": "op", "of": ["id"]}, "write.hash_key.column: the schema has a column 'op' already"),
        ({"column": "_samewise_window", "of": ["id"]}, "write.hash_key.column: must be a new name"),
    ],
)
def test_a_hash_key_is_a_new_column_of_columns_that_can_be_written_down(
    tmp_path: Path, hash_key: dict[str, Any], sentence: str
) -> None:
    (problem,) = found(tmp_path, MERGE, {"write.key": None, "write.hash_key": hash_key})
    assert problem.startswith(sentence)


def test_a_hash_key_can_be_expected_to_be_unique(tmp_path: Path) -> None:
    changes = {"write.key": None, "write.hash_key": HASHED, "expect": [{"unique": ["order_key"]}]}
    assert found(tmp_path, INSERT, changes) == []


@pytest.mark.parametrize(
    ("changes", "sql", "sentence"),
    [
        ({}, "SELECT uuid() AS id, at FROM source", "the key id is made of uuid()"),
        ({}, "SELECT id, :run_ts AS at FROM source", "the version at is made of :run_ts"),
        ({}, "SELECT op, at FROM source", "the SELECT gives no column id, which is the key"),
        (
            {"write.key": None, "write.hash_key": {"column": "k", "of": ["n"]}},
            "SELECT row_number() OVER (ORDER BY 1) AS n, at FROM source",
            "the key n is made of row_number() over no order",
        ),
    ],
)
def test_a_key_made_at_processing_time_is_told_once(
    tmp_path: Path, changes: dict[str, Any], sql: str, sentence: str
) -> None:
    (problem,) = found(tmp_path, MERGE, changes, sql)
    assert problem.startswith(sentence)


def test_a_clock_beside_the_key_is_still_told(tmp_path: Path) -> None:
    (problem,) = found(tmp_path, MERGE, {}, "SELECT id, at, now() AS loaded_at FROM source")
    assert problem.startswith("now() reads the clock")


def test_an_incremental_transform_has_no_window_to_ask_for(tmp_path: Path) -> None:
    (problem,) = found(tmp_path, INCREMENTAL, {}, "SELECT id, at FROM source WHERE at >= :window_start")
    assert problem.startswith(":window_start is not a parameter here")


def test_tasks_with_windows_may_stand_beside_an_incremental_one(tmp_path: Path) -> None:
    tasks = [
        {"task": "raw", **{k: v for k, v in INCREMENTAL.items() if k in ("source", "target", "write")}},
        {"task": "daily", "source": {"type": "delta", "table": "orders", "window_column": "at"}},
    ]
    tasks[1].update(target={"type": "delta", "table": "daily"}, write={"strategy": "replace_window"})
    body = {"pipeline": "both", "schedule": MERGE["schedule"], "tasks": tasks}
    check_pipelines(load(tmp_path, {FILE: yaml.safe_dump(body, sort_keys=False)}))
