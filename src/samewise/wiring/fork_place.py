"""Where a fork keeps what it writes."""

from __future__ import annotations

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


def forked(loaded: Loaded, folder: Path, data: str, moved: Mapping[str, Location]) -> Loaded:
    """The project as a fork sees it: the same sources, other targets, another place for everything that is written."""
    settings = {
        "staging": join(data, "staging"),
        "quarantine": join(data, "quarantine"),
        "state": f"sqlite:///{folder / 'state.db'}",
    }
    return replace(loaded, project=loaded.project.model_copy(update=settings), moved=moved)


def copy_state(old: Path, new: Path) -> None:
    """The state file alone: nothing is staged between two runs."""
    with closing(sqlite3.connect(old / "state.db")) as source, closing(sqlite3.connect(new / "state.db")) as target:
        source.backup(target)
