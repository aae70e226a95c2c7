from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pytest

from samewise.core.errors import ConfigError, Refused
from samewise.sources.csv_header import read_header


def _file(folder: Path, data: bytes, name: str = "a.csv") -> str:
    (folder / name).write_bytes(data)
    return str(folder / name)


@pytest.mark.parametrize(
    ("data", "options", "names"),
    [
        (b"a,b\n1,2\n", {}, ["a", "b"]),
        (b"\xef\xbb\xbfa,b\n", {}, ["a", "b"]),
        (b'"a","b,c"\r\n', {}, ["a", "b,c"]),
        (b"\n\n a,b\n", {}, [" a", "b"]),
        (b"# note\na,b\n", {"comment": "#"}, ["a", "b"]),
        ("größe,b\n".encode("latin-1"), {"encoding": "ISO-8859-1"}, ["größe", "b"]),
        ("a,b\n".encode("utf-16"), {"encoding": "UTF-16"}, ["a", "b"]),
        (b"'a,x',b\n", {"quote": "'"}, ["a,x", "b"]),
        (b'"a,b\n', {"quote": ""}, ['"a', "b"]),
        (b"", {}, None),
        (b"\n \n", {}, None),
    ],
)
def test_the_header_is_the_first_record(
    tmp_path: Path, data: bytes, options: dict[str, str], names: list[str] | None
) -> None:
    assert read_header(_file(tmp_path, data), ",", options) == names


def test_a_delimiter_may_be_any_character(tmp_path: Path) -> None:
    assert read_header(_file(tmp_path, b"a\tb\n"), "\t", {}) == ["a", "b"]


@pytest.mark.parametrize(("name", "packed"), [("a.csv.gz", gzip.compress), ("a.csv.bz2", bz2.compress)])
def test_a_packed_file_has_a_header_too(tmp_path: Path, name: str, packed) -> None:  # type: ignore[no-untyped-def]
    assert read_header(_file(tmp_path, packed(b"a,b\n"), name), ",", {}) == ["a", "b"]


@pytest.mark.parametrize("data", [b"no gzip at all", gzip.compress(b"a,b\n")[:-12]], ids=["no gzip", "cut off"])
def test_a_damaged_packed_file_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(Refused) as caught:
        read_header(_file(tmp_path, data, "a.csv.gz"), ",", {})
    assert caught.value.code == "unreadable"


def test_bytes_of_another_encoding_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        read_header(_file(tmp_path, "größe\n".encode("latin-1")), ",", {})
    assert caught.value.code == "unreadable"


def test_a_compression_that_is_not_known_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        read_header(_file(tmp_path, b"x", "a.csv.zst"), ",", {})


def test_an_encoding_that_is_not_known_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        read_header(_file(tmp_path, b"x"), ",", {"encoding": "nonsense"})
