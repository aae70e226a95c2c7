from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from samewise.core.errors import Refused
from samewise.sources.manifest import (
    FilePromise,
    Manifest,
    compare_checksums,
    compare_files,
    parse_manifest,
    read_manifest,
)
from samewise.storage.files import list_files


def test_a_manifest_says_rows_sums_and_files() -> None:
    checksum = "AB" * 32
    files = {"a.csv": {"sha256": checksum, "size": 7}}
    text = json.dumps({"rows": 3, "sums": {"amount": "12.50"}, "files": files})
    assert parse_manifest("m.json", text) == Manifest(
        "m.json", 3, {"amount": "12.50"}, {"a.csv": FilePromise(7, checksum.lower())}
    )


def test_sum_is_another_word_for_sums() -> None:
    assert parse_manifest("m.json", '{"sum": {"amount": "-1"}}').sums == {"amount": "-1"}


def test_a_sum_written_as_a_number_stays_exact() -> None:
    text = '{"sums": {"amount": 12345678901234567890.10}}'
    assert parse_manifest("m.json", text).sums == {"amount": "12345678901234567890.10"}


def test_a_manifest_survives_the_state_store() -> None:
    manifest = parse_manifest("m.json", '{"rows": 3, "sums": {"a": 1}, "files": {"x": {"size": 1}}}')
    assert Manifest.from_json(manifest.to_json()) == manifest


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"rows": -1}',
        '{"rows": "3"}',
        '{"rows": true}',
        '{"rows": 1.5}',
        '{"rows": NaN}',
        '{"sums": [1]}',
        '{"sums": {"a": "abc"}}',
        '{"sums": {"a": "NaN"}}',
        '{"sums": {"a": null}}',
        '{"sums": {"a": 1}, "sum": {"a": 1}}',
        '{"files": ["a.csv"]}',
        '{"files": {"a.csv": "abc"}}',
        '{"files": {"a.csv": {"sha256": "abc"}}}',
        '{"files": {"a.csv": {"size": -1}}}',
        "[" * 100_000,
    ],
)
def test_a_manifest_that_cannot_be_understood_is_refused(text: str) -> None:
    with pytest.raises(Refused) as caught:
        parse_manifest("m.json", text)
    assert caught.value.code == "bad_manifest"


def test_a_manifest_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Refused) as caught:
        read_manifest(f"{tmp_path}/m.json")
    assert caught.value.code == "bad_manifest"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text("x\n1\n")
    return tmp_path


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"a.csv": FilePromise(), "b.csv": FilePromise()}, "b.csv, which is not there"),
        ({"a.csv": FilePromise(5)}, "has 4 bytes, the manifest promises 5"),
        ({"b.csv": FilePromise()}, "which is not there"),
    ],
)
def test_files_that_are_not_as_promised_are_refused(folder: Path, files: dict[str, FilePromise], says: str) -> None:
    with pytest.raises(Refused, match=says) as caught:
        compare_files(Manifest(f"{folder}/m.json", files=files), list_files(f"{folder}/*.csv"))
    assert caught.value.code == "manifest_mismatch"


def test_a_file_that_a_list_of_files_leaves_out_is_refused(folder: Path) -> None:
    (folder / "z.csv").write_text("x\n")
    with pytest.raises(Refused, match="does not list it"):
        compare_files(Manifest(f"{folder}/m.json", files={"a.csv": FilePromise()}), list_files(f"{folder}/*.csv"))


def test_the_promised_files_are_accepted(folder: Path) -> None:
    promise = FilePromise(4, hashlib.sha256(b"x\n1\n").hexdigest())
    manifest = Manifest(f"{folder}/m.json", files={"a.csv": promise})
    compare_files(manifest, list_files(f"{folder}/*.csv"))
    compare_checksums(manifest, list_files(f"{folder}/*.csv"))


def test_another_checksum_is_refused(folder: Path) -> None:
    manifest = Manifest(f"{folder}/m.json", files={"a.csv": FilePromise(4, "0" * 64)})
    with pytest.raises(Refused, match="SHA-256"):
        compare_checksums(manifest, list_files(f"{folder}/*.csv"))
