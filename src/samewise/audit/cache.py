"""What was found in a file, remembered by its contents and the version of the rules."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from samewise.audit.finding import FileReport, from_json, to_json
from samewise.audit.rules import VERSION


def default_folder() -> Path:
    """The user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "samewise" / "audit"


class Cache:
    """One small file for each file that was read. A cache that cannot be used is an empty one."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def key(self, data: bytes, file: str, dialect: str) -> str:
        """The name counts too: it says what kind of file this is."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(f"{VERSION}\0{_code_stamp()}\0{dialect}\0{file}\0".encode("utf-8", errors="replace"))
        digest.update(data)
        return digest.hexdigest()

    def get(self, key: str) -> FileReport | None:
        if self._folder is None:
            return None
        try:
            return from_json(json.loads((self._folder / key[:2] / key).read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, report: FileReport) -> None:
        """A second call with the same report changes nothing."""
        if self._folder is None:
            return
        file = self._folder / key[:2] / key
        half = file.with_suffix(f".{os.getpid()}")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            half.write_text(json.dumps(to_json(report)), encoding="utf-8")
            half.replace(file)
        except OSError:
            return


_stamp: str | None = None


def _code_stamp() -> str:
    """Changes with any file of the audit itself, so that an upgrade never shows old findings."""
    global _stamp
    if _stamp is None:
        here = Path(__file__).parent
        times = sorted(f"{file.name}{file.stat().st_mtime_ns}{file.stat().st_size}" for file in here.rglob("*.py"))
        _stamp = hashlib.blake2b("".join(times).encode(), digest_size=8).hexdigest()
    return _stamp
