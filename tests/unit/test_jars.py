"""Jars: fetched once, complete or not at all, and a machine without a network is told what to do."""

from __future__ import annotations

import fcntl
import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from samewise.core.errors import ConfigError
from samewise.run import jars
from samewise.run.jars import DELTA, Jar, JarSet, ensure_jars, find_ivy, jar_folder, jar_paths, jars_present

CONTENTS = b"a jar"
ONE = JarSet("One", (Jar("org.example", "one", "1.0", hashlib.sha256(CONTENTS).hexdigest()),))


def say_nothing(_: str) -> None: ...


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {jars.VARIABLE: str(tmp_path / "jars")}


@pytest.fixture
def ivy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for `java` that copies the file `answer` to where Ivy was asked to put its jars.

    The real Ivy needs a network, which a test must not depend on.
    """
    script = tmp_path / "home" / "bin" / "java"
    script.parent.mkdir(parents=True)
    script.write_text(
        f"""#!{sys.executable}
import pathlib, shutil, sys, time
if sys.argv[1] == "-version":
    print('openjdk version "17.0.1"'); sys.exit()
here = pathlib.Path({str(tmp_path)!r})
with (here / "calls").open("a") as calls:
    calls.write("fetch\\n")
place = pathlib.Path(sys.argv[sys.argv.index("-retrieve") + 1]).parent
place.mkdir()
while (here / "slow").exists():
    time.sleep(0.02)
if (here / "answer").exists():
    shutil.copy(here / "answer", place / "one-1.0.jar")
"""
    )
    script.chmod(0o755)
    (tmp_path / "answer").write_bytes(CONTENTS)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    return tmp_path


def calls(ivy: Path) -> int:
    record = ivy / "calls"
    return len(record.read_text().splitlines()) if record.exists() else 0


def test_a_fetched_jar_is_in_the_folder(ivy: Path, environ: dict[str, str]) -> None:
    (path,) = ensure_jars(say_nothing, jar_set=ONE, environ=environ)
    assert path.read_bytes() == CONTENTS


def test_a_second_call_fetches_nothing(ivy: Path, environ: dict[str, str]) -> None:
    for _ in range(2):
        ensure_jars(say_nothing, jar_set=ONE, environ=environ)
    assert calls(ivy) == 1


def test_fetching_says_so_once(ivy: Path, environ: dict[str, str]) -> None:
    said: list[str] = []
    for _ in range(2):
        ensure_jars(said.append, jar_set=ONE, environ=environ)
    assert said == [f"fetching One (once, into {environ[jars.VARIABLE]})"]


def test_nothing_but_the_jars_the_lock_and_the_log_stays(ivy: Path, environ: dict[str, str]) -> None:
    ensure_jars(say_nothing, jar_set=ONE, environ=environ)
    assert sorted(os.listdir(environ[jars.VARIABLE])) == [".lock", "ivy.log", "one-1.0.jar"]


def test_a_machine_without_a_network_is_told_how_to_bring_the_jar_by_hand(ivy: Path, environ: dict[str, str]) -> None:
    (ivy / "answer").unlink()
    with pytest.raises(ConfigError, match="could not be fetched") as caught:
        ensure_jars(say_nothing, jar_set=ONE, environ=environ)
    assert f"put one-1.0.jar into {environ[jars.VARIABLE]}" in str(caught.value.next_step)


def test_the_error_names_a_log_that_is_there(ivy: Path, environ: dict[str, str]) -> None:
    (ivy / "answer").unlink()
    with pytest.raises(ConfigError) as caught:
        ensure_jars(say_nothing, jar_set=ONE, environ=environ)
    assert Path(caught.value.message.rpartition(": ")[2]).is_file()


def test_a_jar_with_other_contents_is_not_kept(ivy: Path, environ: dict[str, str]) -> None:
    (ivy / "answer").write_bytes(b"half of a j")
    with pytest.raises(ConfigError, match="other contents"):
        ensure_jars(say_nothing, jar_set=ONE, environ=environ)
    assert not jars_present(ONE, environ)


def test_a_jar_brought_by_hand_is_used_as_it_is(environ: dict[str, str]) -> None:
    (path,) = jar_paths(ONE, environ)
    path.parent.mkdir()
    path.write_bytes(b"a build of our own")
    assert ensure_jars(say_nothing, jar_set=ONE, environ=environ) == [path]


def fetch_in_another_process(environ: dict[str, str]) -> subprocess.Popen[bytes]:
    code = "from tests.unit.test_jars import *; ensure_jars(say_nothing, jar_set=ONE)"
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, **environ, "PYTHONPATH": path},
        start_new_session=True,
    )


def wait_for_calls(ivy: Path, number: int) -> None:
    deadline = time.monotonic() + 20
    while calls(ivy) < number:
        assert time.monotonic() < deadline, "the fetch never began"
        time.sleep(0.02)


def test_a_fetch_that_was_killed_leaves_nothing_half(ivy: Path, environ: dict[str, str]) -> None:
    (ivy / "slow").touch()
    fetcher = fetch_in_another_process(environ)
    wait_for_calls(ivy, 1)
    os.killpg(fetcher.pid, signal.SIGKILL)
    fetcher.wait()
    (ivy / "slow").unlink()
    ensure_jars(say_nothing, jar_set=ONE, environ=environ)
    assert sorted(os.listdir(environ[jars.VARIABLE])) == [".lock", "ivy.log", "one-1.0.jar"]


def test_two_processes_at_once_fetch_once(ivy: Path, environ: dict[str, str]) -> None:
    (ivy / "slow").touch()
    fetchers = [fetch_in_another_process(environ) for _ in range(2)]
    wait_for_calls(ivy, 1)
    (ivy / "slow").unlink()
    assert [fetcher.wait(timeout=20) for fetcher in fetchers] == [0, 0]
    assert calls(ivy) == 1


def test_who_waits_for_another_fetch_says_so(ivy: Path, environ: dict[str, str]) -> None:
    folder = Path(environ[jars.VARIABLE])
    folder.mkdir()
    said: list[str] = []

    def release(line: str) -> None:
        said.append(line)
        fcntl.flock(lock, fcntl.LOCK_UN)

    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ensure_jars(release, jar_set=ONE, environ=environ)
    assert said[0] == "waiting for another process that is fetching jars"


def test_a_folder_that_cannot_be_written_is_a_config_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot be kept"):
        ensure_jars(say_nothing, jar_set=ONE, environ={jars.VARIABLE: str(tmp_path / "file" / "jars")})


def test_the_folder_is_the_users_cache_by_default() -> None:
    assert jar_folder({"XDG_CACHE_HOME": "/c"}) == Path("/c/samewise/jars")


def test_ivy_is_found_without_importing_pyspark() -> None:
    code = "import sys; from samewise.run.jars import find_ivy; find_ivy(); print('pyspark' in sys.modules)"
    path = os.pathsep.join(entry for entry in sys.path if entry)
    answer = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert answer.stdout.strip() == "False", answer.stderr


def test_ivy_lies_beside_pyspark() -> None:
    assert find_ivy().is_file()


def test_a_file_name_carries_its_version() -> None:
    assert [jar.file_name for jar in DELTA.jars] == [
        "delta-spark_4.1_2.13-4.4.0.jar",
        "delta-storage-4.4.0.jar",
    ]
