"""An archive of the classes that Spark and Delta load, so that a JVM need not read and check each of them again.

A driver on this machine starts and writes its first window in little more than half the time with it. Java compares
the archive with the jars by itself, and goes on without one that does not fit: it can make nothing wrong, only slow.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from samewise.core.errors import ConfigError
from samewise.run.installed import Java, find_java, require_pyspark
from samewise.run.jars import ensure_jars, jar_folder, jar_paths

VARIABLE = "SAMEWISE_ARCHIVE_CLASSES"
"""Names the file into which the JVM of this process writes the classes that it has loaded, when it ends."""


def archive_file(java: Java, jars: Sequence[Path]) -> Path:
    """Where the archive lies that fits this Java, this pyspark and these jars."""
    spec = importlib.util.find_spec("pyspark")
    parts = [str(java.path.resolve()), java.version, require_pyspark(), str(spec and spec.origin), *map(str, jars)]
    name = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    # It fits the paths of one environment only, and goes with it.
    in_environment = sys.prefix != sys.base_prefix
    folder = Path(sys.prefix, "share", "samewise") if in_environment else jar_folder().parent / "classes"
    return folder / f"classes-{name}.jsa"


def java_options(java: Java, jars: Sequence[Path]) -> list[str]:
    """What a new JVM is told: to use the archive where there is one, or to write one."""
    if wanted := os.environ.get(VARIABLE):
        return [f"-XX:ArchiveClassesAtExit={wanted}"]
    found = archive_file(java, jars)
    return [f"-XX:SharedArchiveFile={found}"] if found.is_file() else []


def known_archive(environ: Mapping[str, str]) -> Path | None:
    """The archive that the next driver would use; None if there is none. Starts nothing."""
    found = archive_file(find_java(environ), jar_paths(environ=environ))
    return found if found.is_file() else None


def make_archive(load: Callable[[], None], on_progress: Callable[[str], None]) -> Path:
    """Make the archive from what `load` makes Spark do, which must start it; one that is there is kept.

    It appears complete or not at all. Raises ConfigError where Java does not write one.
    """
    place = archive_file(find_java(), ensure_jars(on_progress))
    if place.is_file():
        return place
    from samewise.run.session import end_jvm

    on_progress("archiving Spark's classes, so that it starts faster (once, about a minute)")
    place.parent.mkdir(parents=True, exist_ok=True)
    written = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        with _archiving(written):
            load()
            end_jvm()
        if not written.is_file():
            raise ConfigError(
                f"{find_java().path} wrote no archive of its classes",
                kept="Spark starts as before",
                next_step="use a JDK of version 17 or newer with class data sharing; everything works without",
            )
        os.replace(written, place)
    finally:
        written.unlink(missing_ok=True)
    return place


@contextmanager
def _archiving(file: Path) -> Iterator[None]:
    os.environ[VARIABLE] = str(file)
    try:
        yield
    finally:
        del os.environ[VARIABLE]
