"""Which files a commit has added, and when only Delta itself can tell what they hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from samewise.storage.commit_files import added_files

PLAIN = {"path": "part-0%2520.parquet", "partitionValues": {}, "size": 1}


def _commit(table: Path, *adds: dict[str, Any], version: int = 3) -> None:
    (table / "_delta_log").mkdir(parents=True, exist_ok=True)
    actions = [{"commitInfo": {}}, {"remove": {"path": "old.parquet"}}, *({"add": add} for add in adds)]
    lines = "\n".join(json.dumps(action) for action in actions)
    (table / "_delta_log" / f"{version:020}.json").write_text(lines)


def test_the_files_of_a_commit_are_found_under_their_names_on_disk(tmp_path: Path) -> None:
    _commit(tmp_path, PLAIN)
    (tmp_path / "part-0%20.parquet").touch()
    assert added_files(str(tmp_path), 3) == [str(tmp_path / "part-0%20.parquet")]
    assert added_files(f"file:{tmp_path}", 3) == [str(tmp_path / "part-0%20.parquet")]


@pytest.mark.parametrize(
    "add",
    [
        {**PLAIN, "deletionVector": {"storageType": "u"}},
        {**PLAIN, "partitionValues": {"day": "2026-04-01"}},
        {**PLAIN, "path": "s3://other/part-0%2520.parquet"},
        {**PLAIN, "path": "vacuumed.parquet"},
        {"size": 1},
    ],
    ids=["rows of it are deleted", "a column is in its path", "it lies elsewhere", "it is gone", "it has no path"],
)
def test_delta_is_asked_where_a_file_alone_does_not_tell(tmp_path: Path, add: dict[str, Any]) -> None:
    (tmp_path / "part-0%20.parquet").touch()
    _commit(tmp_path, PLAIN, add)
    assert added_files(str(tmp_path), 3) is None


def test_delta_is_asked_for_a_commit_whose_entry_is_gone_and_for_a_table_elsewhere(tmp_path: Path) -> None:
    assert added_files(str(tmp_path), 3) is None
    assert added_files("s3://bucket/table", 3) is None
