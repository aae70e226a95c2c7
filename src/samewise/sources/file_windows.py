"""Files of several windows, read in one go: each row says by the folder of its file which window it is of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from samewise.core.sql import by_halves, literal
from samewise.sources.file_groups import Group
from samewise.storage.files import spark_path

_FOLDER = "left(_metadata.file_path, length(_metadata.file_path) - length(_metadata.file_name) - 1)"
# Spark spells a path with anything else in its own way.
_PLAIN = re.compile(r"[A-Za-z0-9_./:=-]+")
_UNKNOWN = "samewise: a file of no window was read"


def together(windows: Sequence[Sequence[Group]]) -> tuple[Group, str] | None:
    """The files of all windows as one group, and SQL for the place of a row's window, from 0 on.

    None where they do not all have the same columns, or two windows share a folder.
    """
    if any(len(groups) != 1 for groups in windows):
        return None
    first, *others = (groups[0] for groups in windows)
    if first.path_columns.base is not None or any(not _alike(first, other) for other in others):
        return None
    folders: dict[str, int] = {}
    for at, group in enumerate((first, *others)):
        for path in group.paths:
            folder = _folder(path)
            if folder is None or folders.setdefault(folder, at) != at:
                return None
    paths = tuple(path for group in (first, *others) for path in group.paths)
    return replace(first, shape=replace(first.shape, places=paths)), _number(folders)


def _alike(one: Group, other: Group) -> bool:
    return (one.shape.schema, one.shape.in_path, one.path_columns, one.struct) == (
        other.shape.schema,
        other.shape.in_path,
        other.path_columns,
        other.struct,
    )


def _folder(path: str) -> str | None:
    folder = spark_path(path).rpartition("/")[0]
    if not _PLAIN.fullmatch(folder):
        return None
    return f"file://{folder}" if folder.startswith("/") else folder


def _number(folders: dict[str, int]) -> str:
    # A row without a window would be published under none of them: rather no row at all.
    unknown = f"CAST(raise_error({literal(_UNKNOWN)}) AS INT)"
    depth = _telling_depth(list(folders))
    if depth is None:
        names = sorted(folders.items())
        return by_halves(_FOLDER, [(literal(n), f"IF({_FOLDER} = {literal(n)}, {at}, {unknown})") for n, at in names])
    # This is worked out for every row: of a path, only the end is looked at that tells one folder from the others.
    place = f"substring_index(_metadata.file_path, '/', {-depth - 1})"
    # None of these is the beginning of another one: all have as many slashes, and end with one.
    names = sorted((_end(folder, depth) + "/", at) for folder, at in folders.items())
    leaves = [(literal(name), f"IF(startswith({place}, {literal(name)}), {at}, {unknown})") for name, at in names]
    return by_halves(place, leaves)


def _telling_depth(folders: Sequence[str]) -> int | None:
    """How many folders from the end on tell all of these paths apart; None if that takes a whole path."""
    for depth in range(1, min(folder.count("/") for folder in folders) - 2):
        if len({_end(folder, depth) for folder in folders}) == len(folders):
            return depth
    return None


def _end(folder: str, depth: int) -> str:
    return "/".join(folder.split("/")[-depth:])
