from __future__ import annotations

import hashlib
import os
import uuid
from pathlib import Path

import fsspec
import pytest

from samewise.core.errors import ConfigError
from samewise.storage import files


def _touch(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture(params=["local", "remote"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A folder with a few files, on this machine and in a store that has a URL."""
    names = ["b.csv", "a.csv", "c.txt", "_SUCCESS.csv", ".hidden.csv", "deep/er/d.csv", "_temporary/e.csv"]
    if request.param == "local":
        for name in names:
            _touch(tmp_path / name)
        return str(tmp_path)
    root = f"memory://{uuid.uuid4().hex}"
    store = fsspec.filesystem("memory")
    for name in names:
        store.pipe_file(f"{root}/{name}", b"x")
    return root


def _names(folder: str, glob: str) -> list[str]:
    return [found.path.removeprefix(folder + "/") for found in files.list_files(f"{folder}/{glob}")]


def test_files_come_sorted_by_path(folder: str) -> None:
    assert _names(folder, "*.csv") == ["a.csv", "b.csv"]


def test_two_stars_reach_any_depth_and_pass_over_hidden_folders(folder: str) -> None:
    assert _names(folder, "**/*.csv") == ["a.csv", "b.csv", "deep/er/d.csv"]


def test_a_hidden_file_that_is_spelled_out_is_listed(folder: str) -> None:
    assert _names(folder, "_SUCCESS.csv") == ["_SUCCESS.csv"]


def test_a_folder_stands_for_every_file_below_it(folder: str) -> None:
    assert _names(folder, "deep") == ["deep/er/d.csv"]


def test_a_glob_that_matches_nothing_gives_nothing(folder: str) -> None:
    assert _names(folder, "*.parquet") == []


def test_a_listed_file_is_the_same_as_the_file_looked_at_alone(folder: str) -> None:
    [found] = files.list_files(f"{folder}/a*.csv")
    assert files.stat(found.path) == found


def test_a_file_that_is_not_there_has_no_stat(folder: str) -> None:
    assert files.stat(f"{folder}/nothing.csv") is None


def test_a_tree_can_be_removed_twice(folder: str) -> None:
    files.remove_tree(f"{folder}/deep")
    files.remove_tree(f"{folder}/deep")
    assert _names(folder, "**/*.csv") == ["a.csv", "b.csv"]


def test_a_checksum_is_that_of_the_contents(folder: str) -> None:
    assert files.sha256(f"{folder}/a.csv") == hashlib.sha256(b"x").hexdigest()


def test_a_folder_that_can_be_written_is_left_as_it_was(folder: str) -> None:
    files.check_writable(folder)
    assert not [f for f in files.list_files(f"{folder}/*") if "probe" in f.path]


def test_head_and_tail_of_a_short_file_are_the_file(folder: str) -> None:
    assert (files.read_head(f"{folder}/a.csv", 9), files.read_tail(f"{folder}/a.csv", 9)) == (b"x", b"x")


def test_a_partition_folder_with_an_underscore_is_not_hidden(tmp_path: Path) -> None:
    _touch(tmp_path / "_year=2026" / "a.csv")
    assert _names(str(tmp_path), "**/*.csv") == ["_year=2026/a.csv"]


def test_a_changed_file_has_another_version(tmp_path: Path) -> None:
    path = _touch(tmp_path / "a.csv")
    before = files.stat(str(path))
    os.utime(path, ns=(1, 1))
    assert files.stat(str(path)) != before


def test_a_byte_order_mark_is_not_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"\xef\xbb\xbf{}")
    assert files.read_text(str(path)) == "{}"


@pytest.mark.parametrize("folder", ["/proc/samewise", "/dev/null/warehouse"])
def test_a_folder_that_cannot_be_written_is_an_error_even_for_root(folder: str) -> None:
    with pytest.raises(ConfigError, match="cannot write to"):
        files.check_writable(folder)


def test_a_file_where_the_folder_should_be_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        files.check_writable(str(_touch(tmp_path / "warehouse")))
    assert caught.value.code == "unwritable"


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "s3fs", None)
    with pytest.raises(ConfigError) as caught:
        files.list_files("s3a://bucket/*.csv")
    assert caught.value.next_step == "pip install fsspec s3fs"


def test_an_unknown_store_is_an_error() -> None:
    with pytest.raises(ConfigError) as caught:
        files.stat("nonsense://bucket/a.csv")
    assert caught.value.code == "unknown_store"


@pytest.mark.parametrize(("path", "local"), [("a/b", True), ("/a", True), ("file:///a", True), ("s3a://b/c", False)])
def test_a_path_without_a_store_is_local(path: str, local: bool) -> None:
    assert files.is_local(path) is local


def test_a_path_for_spark_has_its_wildcards_escaped() -> None:
    assert files.spark_path("/a/[b]*{c}?\\d.csv") == "file:/a/\\[b\\]\\*\\{c\\}\\?\\\\d.csv"


@pytest.mark.parametrize(
    ("folder", "joined"), [("/a", "/a/b/c"), ("/a/", "/a/b/c"), ("s3a://x", "s3a://x/b/c"), ("/", "/b/c")]
)
def test_parts_are_joined_with_one_slash(folder: str, joined: str) -> None:
    assert files.join(folder, "b/", "/c") == joined
