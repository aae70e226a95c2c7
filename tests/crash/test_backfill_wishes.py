"""What a person asks of a backfill that another process is running, and what they see of it on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.support.crash import PATIENCE_SECONDS, Command, SparkServer, Zygote, thaw, wait_until_frozen
from tests.support.crash_project import DAYS, ORDERS, Project, Stage, assert_nothing_is_left, order_rows

SPAN = ["--from", DAYS[0], "--to", "2026-04-05"]
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def _small_groups(stage: Stage) -> Project:
    project = stage.set_back("new")
    with (project.folder / "samewise.yaml").open("a") as settings:
        settings.write("backfill: {windows: 2}\n")
    return project


def _in_its_first_group(project: Project) -> Command:
    """A backfill that stands still between its first group's commit and the receipts."""
    running = project.start("backfill", "plain", *SPAN, failpoint="committed:stop")
    wait_until_frozen(running)
    return running


@pytest.mark.parametrize(("wish", "status"), [("pause", "paused"), ("cancel", "cancelled")])
def test_a_running_backfill_that_is_asked_to_stop_does_so_after_its_current_commit(
    stage: Stage, wish: str, status: str
) -> None:
    project = _small_groups(stage)
    running = _in_its_first_group(project)

    asked = project.call("backfill", wish).well()
    assert (asked.json["status"], asked.json["asked"]) == ("running", wish), "it is the running process that answers"
    thaw(running)
    ended = running.wait().well()

    assert (ended.json["status"], ended.json["stopped_by"]) == (status, wish)
    assert ended.json["done_windows"] == 2, "the group that was under way is loaded and written down"
    assert len(project.state("SELECT run_id FROM samewise_receipts WHERE pipeline = 'plain'")) == 2
    assert len(project.rows("plain")) == 5
    assert_nothing_is_left(project)
    resumed = project.call("backfill", "resume", ended.json["id"])
    if wish == "cancel":
        assert resumed.code == 2, resumed.told
        assert len(project.rows("plain")) == 5, "what was loaded stays"
    else:
        assert resumed.well().json["done_windows"] == 4
        assert project.rows("plain") == order_rows(ORDERS, upper=False)


def test_a_terminal_of_eighty_columns_shows_the_bar_and_the_lines_fit(
    tmp_path: Path, server: SparkServer, zygote: Zygote
) -> None:
    project = Project(tmp_path / "shop", zygote, f"remote: '{server.remote}'").write()
    with (project.folder / "samewise.yaml").open("a") as settings:
        settings.write("backfill: {windows: 2}\n")

    code, said = _on_a_terminal(project.folder, "backfill", "plain", *SPAN)

    assert code == 0, said
    drawn = _ESCAPE.sub("", said)
    assert "━" in drawn, "a bar"
    assert "2/4" in drawn, "windows done, of how many"
    assert re.search(r"\d rows/s", drawn)
    assert f"{DAYS[2]} to {DAYS[3]} (2)" in drawn, "the group that is under way"
    frames = re.split(r"[\r\n]+", drawn)
    told = [frame.split() for frame in frames if frame.startswith("ok ")]
    assert [words[1:4] for words in told] == [[DAYS[0], "to", DAYS[1]], [DAYS[2], "to", DAYS[3]]], frames
    assert told[0][-1] == "left", "how long it will take is told on the same line"
    assert "4 of 4 windows done" in drawn
    assert max(len(frame) for frame in frames[:-3]) <= 80, max(frames, key=len)


def _on_a_terminal(folder: Path, *words: str) -> tuple[int, str]:
    """Run a command whose input and output are a real terminal; how it ended, and all that it wrote there."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    left_out = ("COLUMNS", "LINES", "NO_COLOR", "SAMEWISE_FAILPOINT")
    env = {name: value for name, value in os.environ.items() if name not in left_out}
    env["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    command = subprocess.Popen(
        [sys.executable, "-c", "from samewise.cli.main import main; main()", *words],
        cwd=folder,
        env=env | {"TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    said = b""
    try:
        # Linux answers with an error once nobody has the other end open.
        while chunk := _read(ours):
            said += chunk
        return command.wait(PATIENCE_SECONDS), said.decode(errors="replace")
    finally:
        os.close(ours)
        if command.poll() is None:
            command.kill()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
