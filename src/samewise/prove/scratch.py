"""A place for forks, with its owner's name on it. What dead ones left is removed by the next; a live one's is not."""

from __future__ import annotations

import json
import os
import shutil
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samewise.state.holders import Holder, is_gone
from samewise.storage.files import join, remove_tree

_OWNER = "owner.json"


@dataclass(frozen=True, slots=True)
class Scratch:
    """A folder of this process's own."""

    folder: Path
    data: str
    """Where tables go: the folder itself, or a place that a cluster can see."""

    def remove(self) -> None:
        """Remove everything. A second call does nothing."""
        _remove(self.folder)


def make_scratch(root: Path, data_root: str | None = None) -> Scratch:
    """A new folder under `root`, which has had its owner's name from the moment that it can be seen.

    `data_root`: where another machine is to see the tables, else they lie in the folder itself.
    """
    root.mkdir(parents=True, exist_ok=True)
    name = uuid.uuid4().hex[:12]
    unseen = root / f".{name}"
    unseen.mkdir()
    folder = root / name
    data = str(folder) if data_root is None else join(data_root, name)
    body = {"holder": Holder.current().to_json(), "data": data}
    (unseen / _OWNER).write_text(json.dumps(body), encoding="utf-8")
    os.rename(unseen, folder)
    return Scratch(folder, data)


def sweep(root: Path, first: Callable[[Path], None] = lambda _: None) -> list[str]:
    """Remove what processes that are gone have left under `root`; the names of the folders.

    `first`: what is done with each before it goes. If that raises, the folder stays.
    """
    removed = []
    for folder in sorted(root.iterdir()) if root.is_dir() else []:
        if folder.is_dir() and not _is_owned(folder):
            first(folder)
            _remove(folder)
            removed.append(folder.name)
    return removed


def _is_owned(folder: Path) -> bool:
    """True unless the owner is known to be gone. A folder without a name on it was being made, or removed."""
    try:
        holder = Holder.from_json(_owner(folder)["holder"])
    except (OSError, ValueError, TypeError, KeyError):
        # Nobody shows a folder before its name is written; a hidden one is made within a moment.
        return folder.name.startswith(".") and _is_young(folder)
    return not is_gone(holder)


def _owner(folder: Path) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((folder / _OWNER).read_text(encoding="utf-8"))
    return body


def _is_young(folder: Path) -> bool:
    try:
        return time.time() - folder.stat().st_mtime < 60
    except OSError:
        return False


def _remove(folder: Path) -> None:
    with suppress(OSError, ValueError, KeyError):
        data = str(_owner(folder)["data"])
        if data != str(folder):
            remove_tree(data)
    # The name goes last: whoever is killed in between leaves a folder that is known to be nobody's.
    for entry in list(folder.iterdir()) if folder.is_dir() else []:
        if entry.name != _OWNER:
            shutil.rmtree(entry, ignore_errors=True) if entry.is_dir() else entry.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
