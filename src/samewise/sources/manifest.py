"""A manifest: what the sender of a batch promises about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from samewise.core.errors import Refused
from samewise.core.ids import Json
from samewise.storage import files
from samewise.storage.files import FileStat


@dataclass(frozen=True, slots=True)
class FilePromise:
    """What is promised about one file."""

    size_bytes: int | None = None
    sha256: str | None = None

    def to_json(self) -> dict[str, Json]:
        return {"size": self.size_bytes, "sha256": self.sha256}


@dataclass(frozen=True, slots=True)
class Manifest:
    """Rows before any transform, exact sums of columns, and the files: each may be left out."""

    path: str
    rows: int | None = None
    sums: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, FilePromise] = field(default_factory=dict)
    """By name, relative to the manifest's own folder."""

    def to_json(self) -> dict[str, Json]:
        return {
            "path": self.path,
            "rows": self.rows,
            "sums": dict(self.sums),
            "files": {name: promise.to_json() for name, promise in self.files.items()},
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Manifest:
        """The inverse of `to_json`."""
        promises = {n: FilePromise(f["size"], f["sha256"]) for n, f in value["files"].items()}
        return cls(value["path"], value["rows"], dict(value["sums"]), promises)


def read_manifest(path: str) -> Manifest:
    """The manifest at `path`. Raises `Refused` where there is none, or one that cannot be understood."""
    try:
        text = files.read_text(path)
    except FileNotFoundError as error:
        raise Refused(
            f"there is no manifest at {path}",
            code="no_manifest",
            next_step=f"put the manifest at {path}, then run the same command again",
        ) from error
    except UnicodeDecodeError as error:
        raise _bad(path, "it is not UTF-8 text") from error
    return parse_manifest(path, text)


def parse_manifest(path: str, text: str) -> Manifest:
    """The manifest in `text`. Raises `Refused` for one that cannot be understood."""
    try:
        body = json.loads(text, parse_float=Decimal, parse_constant=_no_constant)
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise _bad(path, f"it is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise _bad(path, "it is not a JSON object")
    if "sum" in body and "sums" in body:
        raise _bad(path, "it has both 'sum' and 'sums'")
    manifest = Manifest(
        path,
        None if body.get("rows") is None else _count(path, "rows", body["rows"]),
        _sums(path, body.get("sums", body.get("sum"))),
        _promises(path, body.get("files")),
    )
    if manifest.rows is None and not manifest.sums and not manifest.files:
        raise _bad(path, "it promises nothing: neither 'rows' nor 'sums' nor 'files'")
    return manifest


def compare_files(manifest: Manifest, found: Sequence[FileStat]) -> None:
    """Raise `Refused` unless the files are the promised ones, of the promised sizes. Reads no contents."""
    if not manifest.files:
        return
    matched = _match(manifest, found)
    missing = sorted(set(manifest.files) - set(matched))
    if missing:
        raise _mismatch(manifest, f"the manifest lists {_some(missing)}, which is not there")
    promised = {file.path for file in matched.values()}
    extra = [file.path for file in found if file.path not in promised]
    if extra:
        raise _mismatch(manifest, f"{_some(extra)} is there, and the manifest does not list it")
    for name, file in matched.items():
        size = manifest.files[name].size_bytes
        if size is not None and size != file.size_bytes:
            raise _mismatch(manifest, f"{file.path} has {file.size_bytes} bytes, the manifest promises {size}")


def compare_checksums(manifest: Manifest, found: Sequence[FileStat]) -> None:
    """Raise `Refused` unless the files have the promised checksums. Reads every file that has one."""
    for name, file in _match(manifest, found).items():
        promised = manifest.files[name].sha256
        if promised is None:
            continue
        actual = files.sha256(file.path)
        if actual != promised:
            raise _mismatch(
                manifest,
                f"{file.path} has the SHA-256 {actual[:12]}…, the manifest promises {promised[:12]}…",
            )


def _match(manifest: Manifest, found: Sequence[FileStat]) -> dict[str, FileStat]:
    folder = manifest.path.rpartition("/")[0] + "/"
    by_name = {file.path.removeprefix(folder): file for file in found}
    return {name: by_name[name] for name in manifest.files if name in by_name}


def _count(path: str, what: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _bad(path, f"{what} is {value!r}, not a whole number")
    if value < 0:
        raise _bad(path, f"{what} is {value}, below zero")
    return value


def _sums(path: str, value: object) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _bad(path, "'sums' is not an object of column: sum")
    return {column: _exact(path, f"the sum of {column}", total) for column, total in value.items()}


def _exact(path: str, what: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        raise _bad(path, f"{what} is {value!r}, not a number")
    try:
        number = Decimal(value)
    except ArithmeticError as error:
        raise _bad(path, f"{what} is {value!r}, not a number") from error
    if not number.is_finite():
        raise _bad(path, f"{what} is {value}, not a number")
    return format(number, "f")


def _promises(path: str, value: object) -> dict[str, FilePromise]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _bad(path, "'files' is not an object of name: promise")
    return {name: _promise(path, name, promise) for name, promise in value.items()}


def _promise(path: str, name: str, value: object) -> FilePromise:
    if not isinstance(value, dict):
        raise _bad(path, f"the promise about {name} is not an object with 'sha256' or 'size'")
    size, checksum = value.get("size"), value.get("sha256")
    if checksum is not None:
        if not isinstance(checksum, str) or len(checksum) != 64 or not _is_hex(checksum):
            raise _bad(path, f"the sha256 of {name} is not 64 hexadecimal digits")
        checksum = checksum.lower()
    return FilePromise(None if size is None else _count(path, f"the size of {name}", size), checksum)


def _is_hex(text: str) -> bool:
    return all(character in "0123456789abcdefABCDEF" for character in text)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def _some(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} (and {len(names) - 1} more)"


def _bad(path: str, why: str) -> Refused:
    return Refused(
        f"the manifest {path} cannot be used: {why}",
        code="bad_manifest",
        next_step="ask the sender for a manifest like "
        '{"rows": 250000, "sums": {"amount": "12.50"}}, then run the same command again',
    )


def _mismatch(manifest: Manifest, why: str) -> Refused:
    return Refused(
        why,
        code="manifest_mismatch",
        next_step=f"complete the delivery beside {manifest.path}, then run the same command again",
    )
