"""Columns that are written in the folders of a path: `order_date=2026-04-25/part-0.csv`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from samewise.core.errors import Refused


@dataclass(frozen=True, slots=True)
class PathColumns:
    """Declared columns that the folders hold and the files do not, and where those folders begin."""

    names: tuple[str, ...] = ()
    base: str | None = None

    def without(self, declared: Sequence[str]) -> list[str]:
        """The declared columns that the files themselves must have."""
        taken = {name.lower() for name in self.names}
        return [name for name in declared if name.lower() not in taken]


def find_path_columns(paths: Sequence[str], declared: Sequence[str], in_files: Sequence[str] | None) -> PathColumns:
    """Declared columns to be read from the path.

    A column that is not declared is not read from a path, and one that the files have themselves
    (`in_files`; None where that cannot be known) is read from them. Raises `Refused` where the
    files do not all lie in folders of the same kind.
    """
    own = {name.lower() for name in in_files or ()}
    wanted = {name.lower(): name for name in declared if name.lower() not in own}
    layouts = {_layout(path, wanted): path for path in paths}
    if len(layouts) > 1:
        (_, one), (_, other), *_ = layouts.items()
        raise Refused(
            f"{one} and {other} do not have the same columns in their folders",
            code="schema",
            next_step="put all files of the batch into folders that name the same columns",
        )
    ((base, names),) = layouts
    return PathColumns(names, base if names else None)


def _layout(path: str, wanted: dict[str, str]) -> tuple[str | None, tuple[str, ...]]:
    folders = path.split("/")[:-1]
    named = [(at, folder.partition("=")[0].lower()) for at, folder in enumerate(folders) if "=" in folder]
    names = tuple(wanted[name] for _, name in named if name in wanted)
    # Where no folder holds a wanted column it does not matter how the folders are called.
    return ("/".join(folders[: named[0][0]]), names) if names else (None, ())
