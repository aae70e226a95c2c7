"""Which files are read."""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from samewise.audit.readers import ONCE, SUFFIXES

_NEVER = frozenset(
    [
        ".git",
        ".hg",
        ".svn",
        ".venv",
        "venv",
        "env",
        ".env",
        "node_modules",
        "__pycache__",
        "site-packages",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".ipynb_checkpoints",
        "dbt_packages",
        "dbt_modules",
        ".eggs",
        ".samewise",
        ".terraform",
        ".idea",
        ".vscode",
    ]
)


class Found(NamedTuple):
    """A file to read."""

    path: Path
    shown: str
    inside: str
    """Its path below the folder that was given: what its folders are called may say what it is."""


def find_files(paths: Sequence[Path], exclude: Iterable[str] = ()) -> Iterator[Found]:
    """Every file to read. One that is named outright is always read."""
    seen: set[tuple[int, int]] = set()
    patterns = tuple(exclude)
    for path in paths:
        if path.is_file():
            parent = path.resolve().parent.name
            inside = f"{parent}/{path.name}" if ONCE.match(f"{parent}/") else path.name
            yield from _once(Found(path, str(path), inside), seen)
            continue
        for found in _below(path, patterns):
            yield from _once(found, seen)


def _once(found: Found, seen: set[tuple[int, int]]) -> Iterator[Found]:
    try:
        status = found.path.stat()
    except OSError:
        return
    key = (status.st_dev, status.st_ino)
    if key not in seen and stat.S_ISREG(status.st_mode):
        seen.add(key)
        yield found._replace(shown=found.shown.replace(os.sep, "/"))


def _below(root: Path, patterns: tuple[str, ...]) -> Iterator[Found]:
    """Folders that are links are not followed: they may lead in circles."""
    for folder, names, files in os.walk(root, followlinks=False):
        here = Path(folder)
        compiled = "dbt_project.yml" in files
        names[:] = sorted(
            name
            for name in names
            if name not in _NEVER
            and not (compiled and name == "target")
            and not _matches((here / name).relative_to(root).as_posix() + "/", patterns)
        )
        for name in sorted(files):
            if name.lower().endswith(SUFFIXES):
                file = here / name
                inside = file.relative_to(root).as_posix()
                if not _matches(inside, patterns):
                    yield Found(file, inside if str(root) == "." else f"{root}/{inside}", inside)


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Patterns are those of fnmatch, against the path below the folder that was given, or a folder on the way."""
    return any(
        fnmatch.fnmatch(path, pattern)
        or fnmatch.fnmatch(path.rstrip("/"), pattern.rstrip("/"))
        or path.startswith(pattern.rstrip("/") + "/")
        for pattern in patterns
    )
