"""The jars that Spark itself does not ship, fetched once and kept.

They lie flat in one folder, and a file's name carries its version, so that a folder serves
every version of Samewise and can be filled by hand on a machine without a network.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from samewise.core.errors import ConfigError
from samewise.run.installed import find_java

VARIABLE = "SAMEWISE_JARS"
_WORK_PREFIX = ".fetch-"
_PATIENCE_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Jar:
    """One jar of the public Java repositories, and what it must contain."""

    organisation: str
    module: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        return f"{self.module}-{self.version}.jar"


@dataclass(frozen=True, slots=True)
class JarSet:
    """Jars that are only useful together."""

    name: str
    jars: tuple[Jar, ...]


DELTA = JarSet(
    "Delta Lake 4.4.0 for Spark 4.1",
    # Only these two: whatever else Delta names as a dependency, Spark ships already,
    # or serves the Unity Catalog client alone.
    (
        Jar(
            "io.delta",
            "delta-spark_4.1_2.13",
            "4.4.0",
            "75a9400986853c061f5109f012547de2545a5759e5e752e5ef633dabe16a4f10",
        ),
        Jar(
            "io.delta",
            "delta-storage",
            "4.4.0",
            "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc",
        ),
    ),
)


def jar_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Where jars are kept: `$SAMEWISE_JARS`, else the user's cache folder."""
    environ = os.environ if environ is None else environ
    if named := environ.get(VARIABLE):
        return Path(named).expanduser().absolute()
    cache = environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path("~/.cache").expanduser()) / "samewise" / "jars"


def jar_paths(jar_set: JarSet = DELTA, environ: Mapping[str, str] | None = None) -> list[Path]:
    """Where the jars of `jar_set` are, or will be."""
    folder = jar_folder(environ)
    return [folder / jar.file_name for jar in jar_set.jars]


def jars_present(jar_set: JarSet = DELTA, environ: Mapping[str, str] | None = None) -> bool:
    """Whether every jar is there. Starts nothing and fetches nothing."""
    return all(path.is_file() for path in jar_paths(jar_set, environ))


def ensure_jars(
    on_progress: Callable[[str], None],
    *,
    jar_set: JarSet = DELTA,
    environ: Mapping[str, str] | None = None,
) -> list[Path]:
    """The jars of `jar_set`, fetched on first use; a second call finds them and fetches nothing.

    A jar appears in the folder complete and checked, or not at all, however many processes ask
    and wherever one is killed. Raises ConfigError where a jar cannot be had.
    """
    if not jars_present(jar_set, environ):
        folder = jar_folder(environ)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with _sole_fetcher(folder, on_progress):
                if not jars_present(jar_set, environ):
                    on_progress(f"fetching {jar_set.name} (once, into {folder})")
                    _fetch(jar_set, folder)
        except OSError as error:
            raise ConfigError(
                f"the jars of {jar_set.name} cannot be kept in {folder}: {error}",
                next_step=f"set {VARIABLE} to a folder that can be written",
            ) from error
    return jar_paths(jar_set, environ)


def find_ivy() -> Path:
    """The Ivy that pyspark ships. Raises ConfigError where there is no pyspark."""
    # find_spec looks pyspark up without importing it, which would take the better part of a second.
    spec = importlib.util.find_spec("pyspark")
    places = spec.submodule_search_locations if spec is not None else None
    for place in places or []:
        for ivy in sorted(Path(place, "jars").glob("ivy-*.jar")):
            return ivy
    raise ConfigError(
        "pyspark is not installed, and jars are fetched with the Ivy that it ships",
        next_step="pip install 'samewise[spark]'",
    )


@contextmanager
def _sole_fetcher(folder: Path, on_progress: Callable[[str], None]) -> Iterator[None]:
    # The kernel drops the lock when its holder dies, so a killed fetch never blocks the next one.
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_progress("waiting for another process that is fetching jars")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(jar_set: JarSet, folder: Path) -> None:
    for leftover in folder.glob(_WORK_PREFIX + "*"):
        shutil.rmtree(leftover)
    work = Path(tempfile.mkdtemp(prefix=_WORK_PREFIX, dir=folder))
    try:
        _run_ivy(jar_set, work, log=folder / "ivy.log", folder=folder)
        for jar in jar_set.jars:
            _keep(work / "jars" / jar.file_name, folder / jar.file_name)
    finally:
        shutil.rmtree(work)


def _keep(fetched: Path, place: Path) -> None:
    # On the disk before it has its name: a power cut must not leave an empty file that looks present.
    with fetched.open("rb") as file:
        os.fsync(file.fileno())
    os.replace(fetched, place)


def _run_ivy(jar_set: JarSet, work: Path, *, log: Path, folder: Path) -> None:
    command = [
        str(find_java().path),
        # Ivy's own cache and settings stay out of it: a broken download there must not decide ours.
        f"-Divy.default.ivy.user.dir={work / 'home'}",
        "-jar",
        str(find_ivy()),
        *("-ivy", str(work / "ivy.xml")),
        *("-cache", str(work / "cache")),
        *("-confs", "default"),
        *("-retrieve", str(work / "jars" / "[artifact]-[revision].[ext]")),
    ]
    (work / "ivy.xml").write_text(_ivy_module(jar_set), encoding="utf-8")
    with log.open("w", encoding="utf-8") as output:
        try:
            subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=_PATIENCE_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            output.write(f"\ngiven up after {_PATIENCE_SECONDS} seconds\n")
    # What counts is what arrived: Ivy's exit code does not tell a missing jar from a warning.
    for jar in jar_set.jars:
        fetched = work / "jars" / jar.file_name
        names = " and ".join(jar.file_name for jar in jar_set.jars)
        by_hand = f"check the network and try again, or put {names} into {folder} ({VARIABLE} names another folder)"
        if not fetched.is_file():
            raise ConfigError(
                f"{jar.organisation}:{jar.module}:{jar.version} could not be fetched; Ivy's log: {log}",
                kept="no jar was kept",
                next_step=by_hand,
            )
        if _sha256(fetched) != jar.sha256:
            raise ConfigError(
                f"{jar.file_name} arrived with other contents than it should have; Ivy's log: {log}",
                kept="no jar was kept",
                next_step=by_hand,
            )


def _ivy_module(jar_set: JarSet) -> str:
    dependencies = "\n".join(
        f'<dependency org="{jar.organisation}" name="{jar.module}" rev="{jar.version}"'
        ' transitive="false" conf="default->default"/>'
        for jar in jar_set.jars
    )
    return (
        '<ivy-module version="2.0">\n<info organisation="samewise" module="jars"/>\n'
        '<configurations><conf name="default"/></configurations>\n'
        f"<dependencies>\n{dependencies}\n</dependencies>\n</ivy-module>\n"
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> int:
    """`python -m samewise.run.jars`: fetch the jars ahead of the first run, say while an image is built."""
    try:
        ensure_jars(lambda line: print(line, file=sys.stderr))
    except ConfigError as error:
        print(f"{error.message}\n  next: {error.next_step}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
