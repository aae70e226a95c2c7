"""Where a fork keeps what it writes."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from samewise.spec.load import Loaded
from samewise.spec.owners import Location
from samewise.storage.files import join

PLACE = "samewise prove"
"""Where a fork's state store is said to lie: the same for each, so that a copy owns what the original owned."""

STATE_FILE = "state.db"


def forked(loaded: Loaded, folder: Path, data: str, moved: Mapping[str, Location]) -> Loaded:
    """The project as a fork sees it: the same sources, other targets, another place for everything that is written."""
    settings = {
        "staging": join(data, "staging"),
        "quarantine": join(data, "quarantine"),
        "state": f"sqlite:///{folder / STATE_FILE}",
    }
    return replace(loaded, project=loaded.project.model_copy(update=settings), moved=moved)


def copy_state(old: Path, new: Path) -> None:
    """The state file alone: nothing is staged between two runs."""
    with closing(sqlite3.connect(old / STATE_FILE)) as source, closing(sqlite3.connect(new / STATE_FILE)) as target:
        source.backup(target)


def trace(folder: Path) -> str:
    """Changes with everything that a run writes in a fork's folder, outside its targets."""
    found = hashlib.sha256()
    # Its rows, not its bytes: those of a write-ahead log move when the last connection closes.
    with closing(sqlite3.connect(folder / STATE_FILE)) as connection:
        for line in connection.iterdump():
            found.update(line.encode())
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        if not file.name.startswith(STATE_FILE):
            found.update(f"{file.relative_to(folder)} {file.stat().st_size}\n".encode())
    return found.hexdigest()
