"""Targets that are folders or files of this machine: Delta tables, Parquet folders, files of lines."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from samewise.core.errors import ConfigError, UsageError
from samewise.prove.foreign.places import Copy, Named
from samewise.prove.foreign.set_aside import SetAside, put_back_if_left, set_aside

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LOG = "_delta_log"
_COPIES = 3
"""What may be there at once: the state before, the clean run's, an experiment's."""


def local_path(named: Named) -> Path:
    """Raises UsageError for a place that is not on this machine."""
    text = named.name.removeprefix("file://") if named.name.startswith("file:///") else named.name
    if "://" in text:
        raise UsageError(
            f"{named}: prove copies folders of this machine only",
            kept="nothing was run",
            next_step="clone the table to a local folder (or mount it), then prove the command on that",
        )
    return Path(os.path.expanduser(text)).absolute()


def _require_table(named: Named, path: Path) -> None:
    if named.kind == "delta" and path.exists() and not (path / _LOG).is_dir():
        raise UsageError(
            f"{named}: there is no Delta table at {path}",
            kept="nothing was run",
            next_step="name the folder that holds _delta_log, or parquet:PATH for plain Parquet files",
        )


class FolderPlace:
    """A folder or a file. `in_place`: it is itself a copy, and the command cannot be pointed elsewhere."""

    def __init__(self, named: Named, scratch: Path, *, in_place: bool = False) -> None:
        self._named = named
        self._path = local_path(named)
        self._scratch = scratch
        self._in_place = in_place
        self._numbers = count(1)
        self._aside: SetAside | None = None
        # Before anything is copied: what a killed prove left here is not what the user has.
        put_back_if_left(self._path)
        _require_table(named, self._path)
        _require_room(self._path, scratch)
        # A job runs for minutes: every copy is one of what was there when prove began.
        if in_place:
            self._aside = set_aside(self._path, scratch)
            self._original = self._aside.original
        else:
            self._original = scratch / "before" / self._path.name
            duplicate(self._path, self._original)

    @property
    def name(self) -> str:
        return str(self._named)

    def copy(self, label: str, of: Copy | None = None) -> FolderCopy:
        path = self._path if self._in_place else self._new(label)
        duplicate(self._original if of is None else Path(of.words["target"]), path)
        return FolderCopy(self._named.kind, path, kept=self._in_place)

    def snapshot(self, copy: Copy) -> FolderCopy:
        path = self._new("snapshot")
        duplicate(Path(copy.words["target"]), path)
        return FolderCopy(self._named.kind, path)

    def _new(self, label: str) -> Path:
        return self._scratch / f"{next(self._numbers)}-{label}" / self._path.name

    def fingerprint(self) -> str:
        """Names, sizes and times of every file. One that is proven in place is not watched: it is meant to change."""
        if self._in_place:
            return ""
        body = hashlib.sha256()
        for path, stat in _files(self._path):
            body.update(f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}\0{stat.st_ino}\n".encode())
        return body.hexdigest()

    def close(self) -> None:
        if self._aside is not None:
            self._aside.put_back()
            self._aside = None
        shutil.rmtree(self._scratch, ignore_errors=True)


class FolderCopy:
    """A copy in a scratch folder."""

    def __init__(self, kind: str, path: Path, *, kept: bool = False) -> None:
        self._kind = kind
        self._path = path
        self._kept = kept

    @property
    def words(self) -> Mapping[str, str]:
        return {"target": str(self._path)}

    @property
    def environment(self) -> Mapping[str, str]:
        return {}

    def mark(self) -> object:
        if self._kind == "delta":
            # A commit is a file in the log; everything else no reader sees.
            return frozenset(_names(self._path / _LOG))
        return tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in _files(self._path) if _is_visible(path))

    def rows(self, spark: SparkSession) -> DataFrame | None:
        if self._kind == "delta":
            commits = [name for name in _names(self._path / _LOG) if name.endswith((".json", ".parquet"))]
            return spark.read.format("delta").load(_uri(self._path)) if commits else None
        visible = [path for path, _ in _files(self._path) if _is_visible(path)]
        if not visible:
            return None
        if self._kind == "parquet":
            return spark.read.parquet(_uri(self._path))
        # Names beginning with _ or . are files like any other here, and Spark would pass over them.
        return spark.read.option("recursiveFileLookup", "true").text(_uri(self._path)).toDF("line")

    def settle(self) -> None:
        """Nothing to wait for: a process that was killed writes no file."""

    def drop(self) -> None:
        if not self._kept:
            shutil.rmtree(self._path.parent, ignore_errors=True)


def duplicate(source: Path, target: Path) -> None:
    """Make `target` the same as `source`, which may not be there. Real copies: a link would be written through."""
    if target.is_dir():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target)
    elif source.exists():
        shutil.copy2(source, target)


def _uri(path: Path) -> str:
    # Spark takes [ and * in a path for a pattern unless they are escaped; the scratch folder has none,
    # but the table's own name may.
    return "".join(f"\\{one}" if one in "*?[]{}\\" else one for one in str(path)) if _is_odd(path) else str(path)


def _is_odd(path: Path) -> bool:
    return any(one in str(path) for one in "*?[]{}\\")


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _files(path: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Every file by its path from here, in order. What vanishes meanwhile is left out."""
    if path.is_file():
        yield path.name, path.stat()
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            file = Path(folder, name)
            try:
                yield str(file.relative_to(path)), file.stat()
            except FileNotFoundError:
                continue


def _is_visible(path: str) -> bool:
    return not any(part.startswith(("_", ".")) for part in Path(path).parts)


def _require_room(path: Path, scratch: Path) -> None:
    needed = _COPIES * sum(stat.st_size for _, stat in _files(path))
    scratch.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(scratch).free
    if needed > free:
        raise ConfigError(
            f"copies of {path} need {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free at {scratch}",
            kept="nothing was run",
            next_step="name a place with more room by --scratch DIR, or prove the command on a smaller table",
        )
