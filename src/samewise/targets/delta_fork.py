"""A Delta table's fork: a shallow clone, which shares the data files and has a log of its own."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samewise.core.ids import stable_hash
from samewise.core.ports import Spark
from samewise.core.records import Owner
from samewise.core.sql import Span
from samewise.storage.delta_log import CannotRead, DeltaLog, VersionGone
from samewise.storage.delta_writer import add_files, create_table
from samewise.storage.files import is_local, local_path, spark_folder
from samewise.targets.delta import DeltaTarget
from samewise.targets.delta_direct import is_plain_table, known_files
from samewise.targets.delta_fresh import plain_rows, rows_of
from samewise.targets.delta_make import owned_by, owner_properties

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PLAIN = {"commitInfo", "metaData", "protocol", "add"}
_FEW_FILES = 50
"""More are not listed in a checksum by Delta either."""
_FEW_LINKS = 1000


def clone(
    real: DeltaTarget, fork: DeltaTarget, owner: Owner, spark: Spark, *, before: int | None, or_none: bool = False
) -> bool:
    """Make `fork` a clone of `real`, owned by `owner`: as it was just before version `before`, else as it is now.

    Where the older version cannot be had any more (its log or its files are gone), the newest is taken, or with
    `or_none` none at all: False. A target that does not exist yet has an empty fork: none.
    """
    if not real.exists():
        return True
    if (whole := _link(real, fork, owner, before)) is not None:
        return whole
    found = bool(before) and _clone_whole(real, fork, owner, spark, f" VERSION AS OF {(before or 0) - 1}")
    if not found:
        if before and or_none:
            return False
        _clone(real, fork, owner, spark, "")
    if fork.folder is not None and is_local(fork.folder):
        _sum_up(Path(local_path(fork.folder)) / "_delta_log")
    return found or not before


def _link(real: DeltaTarget, fork: DeltaTarget, owner: Owner, before: int | None) -> bool | None:
    """The same without Spark, for a plain table on this machine whose files can be linked: True where it was done,
    and None where Delta's clone has to.

    Nobody changes a file of a Delta table: a second name for it is as good as a copy.
    """
    if real.folder is None or fork.folder is None or not is_local(real.folder) or not is_local(fork.folder):
        return None
    try:
        log = DeltaLog.open(real.folder)
        then = None if log is None else log.at(log.version if not before else before - 1)
        files = [] if then is None else then.files(None, then.version)
    except (CannotRead, VersionGone):
        return None
    if then is None or not is_plain_table(then) or len(files) > _FEW_LINKS:
        return None
    properties = then.properties | owned_by(owner)
    old, new = local_path(real.folder), local_path(fork.folder)
    try:
        for file in files:
            os.makedirs(os.path.dirname(os.path.join(new, file.path)), exist_ok=True)
            os.link(os.path.join(old, file.path), os.path.join(new, file.path))
        made = create_table(fork.folder, then.schema, then.partition_columns, properties)
        if files:
            add_files(made, known_files(then, files))
    except Exception:  # Another disk, a file that VACUUM has taken: a clone needs no links, or says what is wrong.
        _drop(fork)
        return None
    return True


def _clone_whole(real: DeltaTarget, fork: DeltaTarget, owner: Owner, spark: Spark, version: str) -> bool:
    """Clone an older version; False, and nothing there, where it cannot be had any more."""
    try:
        _clone(real, fork, owner, spark, version)
        if _is_whole(fork):
            return True
    except Exception:  # Spark's own, of several kinds: the newest version then says what is wrong, if anything
        pass
    _drop(fork)
    return False


def _clone(real: DeltaTarget, fork: DeltaTarget, owner: Owner, spark: Spark, version: str) -> None:
    spark().sql(
        f"CREATE TABLE {fork.reference} SHALLOW CLONE {real.reference}{version}"
        f" TBLPROPERTIES ({owner_properties(owner)})"
    )


def _sum_up(log: Path) -> None:
    """Write the version checksum, which a clone comes without, where the table is small and has no special features.

    Delta looks there for what it would else find out by queries over the log, anew in each copy of the fork.
    """
    first = log / f"{0:020}"
    found: dict[str, list[Any]] = {}
    for entry in _entries(first.with_suffix(".json")):
        for kind, action in entry.items():
            found.setdefault(kind, []).append(action)
    (metadata,), (protocol,), files = found["metaData"], found["protocol"], found.get("add", [])
    if found.keys() - _PLAIN or "writerFeatures" in protocol or len(files) > _FEW_FILES:
        return
    checksum = {
        "tableSizeBytes": sum(file["size"] for file in files),
        "numFiles": len(files),
        "numMetadata": 1,
        "numProtocol": 1,
        "setTransactions": [],
        "domainMetadata": [],
        "metadata": metadata,
        "protocol": protocol,
        "allFiles": files,
    }
    first.with_suffix(".crc").write_text(json.dumps(checksum), encoding="utf-8")


def copy(old: str, new: str, spark: Spark) -> None:
    """The fork at `old` once more at `new`, each from then on its own. Nothing where there is none.

    On this machine files are linked: Delta never changes one that it has written.
    """
    if is_local(old):
        if os.path.isdir(local_path(old)):
            shutil.copytree(local_path(old), local_path(new), copy_function=_linked)
        return
    from samewise.storage.files import list_files

    if list_files(f"{old}/_delta_log/*.json"):
        spark().sql(f"CREATE TABLE delta.`{spark_folder(new)}` SHALLOW CLONE delta.`{spark_folder(old)}`")


def rows(fork: DeltaTarget, spark: Spark) -> DataFrame | None:
    """The rows of a fork, read from the files that its log names; None where Delta itself has to be asked."""
    log = _log(fork)
    return None if log is None else plain_rows(spark(), log, None, log.version)


@dataclass(frozen=True, slots=True)
class Apart:
    """What two forks of a table do not share. Both have the rows of some spans; the question is what else differs."""

    sides: tuple[_Side, _Side]
    is_cut: bool
    """True where a file that they do share may hold rows of the spans."""

    def holds_only(self, rows: int) -> bool:
        """Whether the files hold so many rows each as the spans do, so that they hold those and no others."""
        return not self.is_cut and all(side.count == rows for side in self.sides)

    def rows(self, spark: Spark) -> tuple[DataFrame, DataFrame] | None:
        """The rows of these files; None where Delta itself has to be asked, for all rows then."""
        first, second = (_rows_in(side.log, side.folder, side.files, spark) for side in self.sides)
        return None if first is None or second is None else (first, second)


@dataclass(frozen=True, slots=True)
class _Side:
    log: DeltaLog
    folder: str
    files: Collection[str]
    count: int


def apart(one: DeltaTarget, other: DeltaTarget, spans: Sequence[Span]) -> Apart | None:
    """In which files two forks differ; None where their logs do not tell."""
    logs, folders = [_log(fork) for fork in (one, other)], [fork.folder for fork in (one, other)]
    found: list[tuple[DeltaLog, str, dict[str, tuple[str, int]]]] = []
    try:
        for log, folder in zip(logs, folders, strict=True):
            counts = None if log is None else log.counts()
            if log is None or folder is None or counts is None:
                return None
            # By name: that is random, and a fork's fork may have the same file in another folder.
            found.append((log, folder, {path.rpartition("/")[2]: (path, rows) for path, rows in counts.items()}))
        (mine, _, these), (_, _, those) = found
        inside = {file.path.rpartition("/")[2] for span in spans for file in mine.files(span, mine.version)}
    except CannotRead:
        return None
    shared = these.keys() & those.keys()
    sides = []
    for log, folder, files in found:
        own = [entry for name, entry in files.items() if name not in shared]
        sides.append(_Side(log, folder, [path for path, _ in own], sum(rows for _, rows in own)))
    return Apart((sides[0], sides[1]), is_cut=bool(shared & inside))


def _rows_in(log: DeltaLog, folder: str, files: Collection[str], spark: Spark) -> DataFrame | None:
    """The rows of some files of a table, none of which has deleted ones."""
    if not files or not is_local(folder) or log.partition_columns:
        return None
    paths = [_plain(os.path.join(local_path(folder), file)) for file in files]
    return rows_of(spark(), log, paths) if all(os.path.isfile(path) for path in paths) else None


def count_rows(fork: DeltaTarget, *, null_in: str | None = None) -> int | None:
    """How many rows a table holds, or how many with a NULL in a column, as its log says; None where it does not."""
    log = _log(fork)
    try:
        return None if log is None else log.count(null_in=null_in)
    except CannotRead:
        return None


def identity(fork: DeltaTarget) -> str | None:
    """The same for two forks that hold the very same files; None where that cannot be known.

    A file's name is random and never used again, so the same files are the same rows.
    """
    log = _log(fork)
    try:
        if log is None:
            return None
        files = [(file.path.rpartition("/")[2], file.mark) for file in log.files(None, log.version)]
        return stable_hash([sorted(files), log.schema.to_json()])
    except CannotRead:
        return None


def _log(fork: DeltaTarget) -> DeltaLog | None:
    try:
        return None if fork.folder is None else DeltaLog.open(fork.folder)
    except CannotRead:
        return None


def _linked(source: str, target: str) -> str:
    if os.sep + "_delta_log" + os.sep in source:
        return shutil.copy2(source, target)
    try:
        os.link(source, target)
    except OSError:
        return shutil.copy2(source, target)
    return target


def _is_whole(fork: DeltaTarget) -> bool:
    """False where a file that the clone names is known to be gone: VACUUM has been there."""
    folder = fork.folder
    if folder is None or not is_local(folder):
        return False
    for log in (Path(local_path(folder)) / "_delta_log").glob("*.json"):
        for entry in _entries(log):
            path = entry.get("add", {}).get("path", "")
            if path.startswith("file:") and not os.path.exists(_plain(path)):
                return False
    return True


def _entries(commit: Path) -> Iterator[dict[str, Any]]:
    # Not `splitlines`: a value in the statistics may hold what that takes for the end of a line.
    with commit.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _plain(path: str) -> str:
    from urllib.parse import unquote

    return unquote(local_path(path))


def _drop(fork: DeltaTarget) -> None:
    if fork.folder is not None and is_local(fork.folder):
        shutil.rmtree(local_path(fork.folder), ignore_errors=True)
