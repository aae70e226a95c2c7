"""Which files are read."""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from samewise.audit.facts import ONCE, TESTS
from samewise.audit.readers import SUFFIXES

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
            yield from _once(Found(path, str(path), _inside(path)), seen)
            continue
        for found in _below(path, patterns):
            yield from _once(found, seen)


def _inside(path: Path) -> str:
    """A file that is named outright: as it was typed from here (pre-commit does so), else below its own folder."""
    if not path.is_absolute() and ".." not in path.parts:
        return path.as_posix()
    return f"{_told(path.parent)}{path.name}"


def _told(folder: Path) -> str:
    """The name of the folder that was given, where that alone says what is in it: migrations, benchmarks."""
    name = f"{folder.resolve().name}/"
    return name if ONCE.match(name) or TESTS.match(name) else ""


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
    told = _told(root)
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
                    yield Found(file, inside if str(root) == "." else f"{root}/{inside}", told + inside)


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Patterns are those of fnmatch, against the path below the folder that was given, or a folder on the way."""
    return any(
        fnmatch.fnmatch(path, pattern)
        or fnmatch.fnmatch(path.rstrip("/"), pattern.rstrip("/"))
        or path.startswith(pattern.rstrip("/") + "/")
        for pattern in patterns
    )
