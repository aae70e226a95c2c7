"""`prove --command --in-place`: the real folder is changed, and is as it was when all is over, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from samewise.core.errors import ConfigError
from samewise.prove.foreign import set_aside as module
from samewise.prove.foreign.folders import FolderPlace
from samewise.prove.foreign.places import named
from samewise.prove.foreign.set_aside import SetAside, recover, set_aside
from samewise.wiring.prove_command import _scratch
from tests.support.project import samewise

JOB = """
import os, sys, time
target, number = sys.argv[1:]
open(number, "w").write(str(os.getpid()))
end = time.monotonic() + 60
while time.monotonic() < end:
    # As a job does that writes into its folder file by file.
    os.makedirs(target, exist_ok=True)
    open(f"{target}/a", "a").write("2\\n")
    time.sleep(0.01)
"""


def _contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def _is_running(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _killed_in_the_middle(folder: Path, real: Path, before: str) -> int:
    """Prove a job in place, and SIGKILL prove while the job writes; the job's process, which goes on."""
    (folder / "job.py").write_text(JOB)
    number = folder / "number"
    # Of two dates the first is run before Spark is needed.
    words = ["--command", f"{sys.executable} {folder / 'job.py'} {real} {number}", "--target", f"file:{real}"]
    words += ["--in-place", "--date", "2026-04-24", "--date", "2026-04-25", "--scratch", str(folder / "scratch")]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    log = (folder / "log").open("wb")
    process = subprocess.Popen([sys.executable, "-m", "samewise", "prove", *words], stdout=log, stderr=log, env=environ)
    try:
        give_up_at = time.monotonic() + 120
        while not (real / "a").exists() or (real / "a").read_text() == before or not number.exists():
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < give_up_at
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    job = int(number.read_text())
    assert _is_running(job), "a job has a session of its own, and does not die with prove"
    return job


def _next_prove(folder: Path, target: Path, scratch: str = "scratch") -> None:
    """Of any target. It fails at once, which is enough: before it runs anything it clears up."""
    words = ("--command", "false {target}", "--target", f"file:{target}", "--date", "1", "--date", "2")
    answer = samewise("prove", *words, "--scratch", folder / scratch)
    assert answer.code == 4, answer.text


def test_when_prove_is_killed_the_next_one_ends_its_job_and_puts_the_original_back(tmp_path: Path) -> None:
    real = tmp_path / "warehouse" / "orders"
    (real / "sub").mkdir(parents=True)
    (real / "a").write_text("1\n")
    (real / "sub" / "b").write_text("x")
    before = _contents(tmp_path / "warehouse")
    job = _killed_in_the_middle(tmp_path, real, "1\n")
    assert _contents(real) != before
    _next_prove(tmp_path, tmp_path / "another")
    assert not _is_running(job)
    assert _contents(tmp_path / "warehouse") == before
    assert list((tmp_path / "scratch" / "samewise-prove").iterdir()) == []


def test_a_prove_of_the_same_target_puts_it_back_whatever_its_scratch_is(tmp_path: Path) -> None:
    real = tmp_path / "warehouse" / "orders"
    real.mkdir(parents=True)
    (real / "a").write_text("1\n")
    before = _contents(tmp_path / "warehouse")
    job = _killed_in_the_middle(tmp_path, real, "1\n")
    _next_prove(tmp_path, real, scratch="elsewhere")
    assert not _is_running(job)
    assert _contents(tmp_path / "warehouse") == before
    # The first one's scratch is still there, and says nothing that would undo what others did since.
    (real / "a").write_text("3\n")
    _next_prove(tmp_path, tmp_path / "another")
    assert (real / "a").read_text() == "3\n"


def test_what_was_not_there_before_a_killed_prove_is_not_there_after_the_next(tmp_path: Path) -> None:
    _killed_in_the_middle(tmp_path, tmp_path / "warehouse" / "orders", "")
    _next_prove(tmp_path, tmp_path / "another")
    assert list((tmp_path / "warehouse").iterdir()) == []


@pytest.fixture
def left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scratch folder whose owner is gone, with `orders` set aside and something else in its place."""
    real, scratch = tmp_path / "orders", tmp_path / "samewise-prove" / "dead"
    real.write_text("1\n")
    monkeypatch.setattr(module, "is_gone", lambda holder: True)
    set_aside(real, scratch / "target")
    real.write_text("2\n")
    return scratch


def test_an_original_that_cannot_be_put_back_is_kept_and_so_is_what_leads_to_it(
    tmp_path: Path, left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = os.rename

    def full(old: Path, new: Path) -> None:
        if new == tmp_path / "orders":
            raise OSError("no space left on device")
        rename(old, new)

    monkeypatch.setattr(os, "rename", full)
    aside = SetAside(tmp_path / "orders")
    with pytest.raises(ConfigError, match="no space left") as error, _scratch(tmp_path):
        pass
    assert error.value.kept == f"its original is whole, at {aside.original}"
    assert str(aside.folder) in str(error.value.next_step)
    assert aside.original.read_text() == "1\n"
    assert left.is_dir()
    monkeypatch.setattr(os, "rename", rename)
    with _scratch(tmp_path):
        assert (tmp_path / "orders").read_text() == "1\n"
    assert not left.exists()


@pytest.mark.parametrize("moment", ["before the original is moved", "when it is back", "when its note is gone"])
def test_whoever_dies_while_setting_aside_or_putting_back_leaves_what_the_next_one_understands(
    tmp_path: Path, left: Path, moment: str
) -> None:
    aside = SetAside(tmp_path / "orders")
    os.replace(aside.original, aside.real)
    if moment == "when it is back":
        (aside.folder / "used").write_text("2\n")
    if moment == "when its note is gone":
        (aside.folder / "owner.json").unlink()
    recover(left)
    FolderPlace(named(f"file:{aside.real}"), tmp_path / "mine").close()
    assert aside.real.read_text() == "1\n"
    assert not aside.folder.exists()


def test_what_another_prove_has_set_aside_since_is_that_ones(tmp_path: Path, left: Path) -> None:
    real = tmp_path / "orders"
    assert set_aside(real, tmp_path / "samewise-prove" / "mine" / "target").original.read_text() == "1\n"
    real.write_text("3\n")
    recover(left)
    assert real.read_text() == "3\n"


def test_what_one_prove_has_set_aside_no_other_touches(tmp_path: Path) -> None:
    real = tmp_path / "orders"
    real.write_text("1\n")
    first = FolderPlace(named(f"file:{real}"), tmp_path / "one" / "target", in_place=True)
    first.copy("clean")
    for in_place in (True, False):
        with pytest.raises(ConfigError, match="is being proven in place by process"):
            FolderPlace(named(f"file:{real}"), tmp_path / "two" / "target", in_place=in_place)
    first.close()
    first.close()
    assert real.read_text() == "1\n"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_a_target_that_cannot_be_moved_is_refused_and_left_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, rename = tmp_path / "orders", os.rename
    real.write_text("1\n")

    def mounted(old: Path, new: Path) -> None:
        if old == real:
            raise OSError("device or resource busy")
        rename(old, new)

    monkeypatch.setattr(os, "rename", mounted)
    with pytest.raises(ConfigError, match="cannot be set aside"):
        FolderPlace(named(f"file:{real}"), tmp_path / "scratch" / "target", in_place=True)
    assert real.read_text() == "1\n"
    assert not SetAside(real).folder.exists()
