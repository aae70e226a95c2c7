"""Runs what a page shows, in order, in one folder, and compares what comes out with what is shown.

A shown line matches with `…` for anything; a line that is only `…` stands for any number of lines.
Durations are not compared, and neither are lines about Spark's start: the tests' session is up already.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from typer.testing import CliRunner

from samewise.cli.app import app
from tests.docs.pages import Block, blocks

_PROGRAMS = ("mv", "rm", "cat", "psql")
_ABOUT_SPARK = re.compile(r"^(starting Spark|fetching |waiting for another process).*\n", re.MULTILINE)
_ENTRY = "from samewise.cli.main import main; main()"


@dataclass(slots=True)
class Session:
    """One reader's terminal and one reader's Python."""

    folder: Path
    names: dict[str, Any] = field(default_factory=dict)

    def follow(self, block: Block) -> None:
        """Do what a block shows. Fails where it goes otherwise than shown."""
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            if block.language == "console":
                for command, shown in _commands(block):
                    self._type(command, shown, block)
            elif block.file is not None and block.file.startswith("pipelines/"):
                (self.folder / block.file).write_text(block.text, encoding="utf-8")
            elif block.file is not None:
                _run_script(self.folder / block.file, block)
            else:
                code = compile(block.text, str(block), "exec")
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(code, self.names)
        finally:
            os.chdir(before)

    def _type(self, command: str, shown: str, block: Block) -> None:
        words = shlex.split(command)
        if words[0] == "cd":
            self.folder = self.folder / words[1]
            os.chdir(self.folder)
            return
        if re.match(r"[A-Z_]+=", words[0]):
            printed = _killed(words[0], words[2:])
        elif words[0] == "samewise":
            # A reader's virtual environment is active: `python` is the one that has Samewise.
            path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
            with mock.patch.dict(os.environ, {"PATH": path}):
                result = CliRunner().invoke(app, words[1:])
            printed = result.output
            failed = any(line.startswith("!!") for line in shown.splitlines())
            assert (result.exit_code != 0) == failed, f"{block}: {command}: {result.exit_code}\n{printed}"
        else:
            assert words[0] in _PROGRAMS, f"{block}: this test does not know how to run {command}"
            printed = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        if shown:
            assert matches(shown, printed), f"{block}: {command}\nshown:\n{shown}\nprinted:\n{printed}"


def matches(shown: str, printed: str) -> bool:
    """True where what was printed is what is shown, as far as it can be the same twice."""
    pattern = "".join(_line_pattern(line) for line in _ABOUT_SPARK.sub("", shown).splitlines())
    lines = _ABOUT_SPARK.sub("", printed).splitlines()
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in lines)) is not None


def _line_pattern(line: str) -> str:
    if line.strip() == "…":
        return r"(?:.*\n)*?"
    pattern = re.escape(line.rstrip()).replace("…", ".*")
    return re.sub(r"\d+\\\.\d\\ s$", r"[\\d.]+\\ s", pattern) + r"\n"


def _commands(block: Block) -> list[tuple[str, str]]:
    """Each command of a console block, with the output that is shown for it."""
    found: list[tuple[str, str]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        else:
            command, shown = found.pop()
            found.append((command, f"{shown}{line}\n"))
    return found


def _killed(setting: str, arguments: list[str]) -> str:
    """Run a command in a process of its own that a variable lets die; what a shell would show."""
    name, _, value = setting.partition("=")
    environ = {
        **os.environ,
        name: value,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "SAMEWISE_FAST_JVM": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", _ENTRY, *arguments],
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == -9, f"it was not killed but ended with {done.returncode}:\n{done.stdout}"
    return done.stdout + "Killed\n"


def _run_script(path: Path, block: Block) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text, encoding="utf-8")
    with (
        mock.patch.object(sys, "argv", [str(path), *_arguments(block)]),
        contextlib.redirect_stdout(io.StringIO()),
        pytest.raises(SystemExit) as end,
    ):
        runpy.run_path(str(path), run_name="__main__")
    assert end.value.code == 0, f"{block}: it ended with {end.value.code}"


def _arguments(block: Block) -> list[str]:
    """What the page passes to a script where it shows how the script is started."""
    shells = [other.text for other in blocks(block.page) if other.language == "sh"]
    found = re.search(rf"{re.escape(str(block.file))} (.+)", "".join(shells))
    assert found is not None, f"{block}: the page does not show how {block.file} is started"
    return shlex.split(found[1])
