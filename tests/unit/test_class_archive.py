"""The archive of classes: made once, used by who it fits, and nobody is worse off without it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from samewise.core.errors import ConfigError
from samewise.run import class_archive, session
from samewise.run.class_archive import VARIABLE, archive_file, java_options, known_archive, make_archive
from samewise.run.doctor import check_archive
from samewise.run.installed import Java, find_java
from samewise.run.jars import jar_paths

JAVA = Java(Path("/usr/bin/java"), "17.0.15", 17)
JARS = [Path("/jars/delta.jar")]


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment of its own, without an archive."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)
    return tmp_path


def test_another_java_or_another_jar_wants_an_archive_of_its_own() -> None:
    newer = Java(JAVA.path, "17.0.16", 17)
    files = {archive_file(JAVA, JARS), archive_file(newer, JARS), archive_file(JAVA, [Path("/jars/other.jar")])}
    assert len(files) == 3


def test_a_jvm_is_told_of_an_archive_only_where_there_is_one() -> None:
    assert java_options(JAVA, JARS) == []
    place = archive_file(JAVA, JARS)
    place.parent.mkdir(parents=True)
    place.touch()
    assert java_options(JAVA, JARS) == [f"-XX:SharedArchiveFile={place}"]


def test_it_lies_in_the_environment_and_goes_with_it(environment: Path) -> None:
    assert archive_file(JAVA, JARS).is_relative_to(environment)


def test_it_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    asked = _jvm_that_writes(monkeypatch, b"classes")
    place = make_archive(lambda: told.append(os.environ[VARIABLE]), lambda _: None)
    assert (place.read_bytes(), VARIABLE in os.environ) == (b"classes", False)
    assert make_archive(lambda: told.append("again"), lambda _: None) == place
    assert told == asked
    assert known_archive(os.environ) == place


def test_a_java_that_writes_none_is_said_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch, environment: Path) -> None:
    _jvm_that_writes(monkeypatch, None)
    with pytest.raises(ConfigError, match="wrote no archive"):
        make_archive(lambda: None, lambda _: None)
    assert not [file for file in environment.rglob("*") if file.is_file()]


def test_a_load_that_fails_leaves_nothing(environment: Path) -> None:
    def fail() -> None:
        Path(os.environ[VARIABLE]).write_bytes(b"half of it")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        make_archive(fail, lambda _: None)
    assert not [file for file in environment.rglob("*") if file.is_file()]


def test_the_doctor_names_the_command_that_makes_one() -> None:
    found = check_archive(os.environ)
    assert (found.ok, "samewise doctor --archive-classes" in found.detail) == (True, True)


def test_java_goes_on_without_an_archive_that_does_not_fit(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsa"
    broken.write_bytes(b"this is no archive")
    java = shutil.which("java")
    assert java is not None
    done = subprocess.run([java, f"-XX:SharedArchiveFile={broken}", "-version"], capture_output=True, check=False)
    assert done.returncode == 0


def _jvm_that_writes(monkeypatch: pytest.MonkeyPatch, contents: bytes | None) -> list[str]:
    """A JVM that ends at once, and the files that it was told to write."""
    asked: list[str] = []

    def end() -> None:
        asked.append(os.environ[VARIABLE])
        if contents is not None:
            Path(asked[-1]).write_bytes(contents)

    monkeypatch.setattr(session, "end_jvm", end)
    assert not class_archive.archive_file(find_java(), jar_paths()).exists()
    return asked
