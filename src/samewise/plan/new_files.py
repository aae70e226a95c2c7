"""Which files no run has loaded yet: by a ledger of what was loaded, not by a high-water mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from samewise.core.ports import FoundFile


class Loaded(NamedTuple):
    """A file as it was when it was loaded."""

    size_bytes: int
    version: str


class Chosen(NamedTuple):
    """What a look at the folder found, beside what the ledger says."""

    new: list[FoundFile]
    changed: list[FoundFile]
    """Loaded once, and overwritten since."""


def choose_files(found: Sequence[FoundFile], ledger: Mapping[str, Loaded], root: str) -> Chosen:
    """Files that the ledger does not have, and those that it has otherwise. How old one is does not matter."""
    chosen = Chosen([], [])
    for file in found:
        known = ledger.get(ledger_path(file.path, root))
        if known is None:
            chosen.new.append(file)
        elif known != (file.size_bytes, file.version):
            chosen.changed.append(file)
    return chosen


def ledger_path(path: str, root: str) -> str:
    """The file's name in the ledger: relative to the project where it lies in it, so that a project can be moved."""
    # A name that is no UTF-8 cannot be stored as it is.
    return path.removeprefix(root.rstrip("/") + "/").encode("utf-8", "backslashreplace").decode()
