"""Processes that can be killed: a Spark server that survives them, and the commands themselves."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Protocol

REPOSITORY = Path(__file__).parents[2]
PATIENCE_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> dict[str, Any]:
        """What `--json` printed."""
        assert self.stdout.strip(), self.told
        found: dict[str, Any] = json.loads(self.stdout)
        return found

    @property
    def status(self) -> str:
        return str(self.json["status"])

    @property
    def told(self) -> str:
        """Everything that it said, for a failing test."""
        return f"exit {self.code}\n{self.stdout}\n{self.stderr}"

    def well(self) -> Ended:
        """The same, once it is sure that the command succeeded."""
        assert self.code == 0, self.told
        return self


class Command(Protocol):
    """A `samewise` process that is under way."""

    @property
    def pid(self) -> int: ...

    def wait(self, seconds: float = PATIENCE_SECONDS) -> Ended: ...


class Starter(Protocol):
    """Something that starts `samewise` with these arguments in a folder."""

    def start(self, arguments: Sequence[str], folder: Path, env: Mapping[str, str]) -> Command: ...


class SparkServer:
    """The Spark Connect server, and a session in it for what a person does to a table by hand."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.port = _free_port()
        self._log = folder / "server.log"
        self._process = _helper("tests.support.crash_server", [str(self.port), str(folder / "warehouse")], self._log)

    def wait_until_ready(self) -> None:
        """Wait until it serves."""
        self._answer()

    @property
    def remote(self) -> str:
        return f"sc://127.0.0.1:{self.port}"

    def sql(self, text: str) -> list[list[Any]]:
        """Run one statement and give its rows."""
        rows: list[list[Any]] = self._ask({"do": "sql", "text": text})["rows"]
        return rows

    def forget(self) -> None:
        """Drop what the server remembers about tables: they are about to be replaced behind its back."""
        self._ask({"do": "forget"})

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=PATIENCE_SECONDS)

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE_SECONDS)
        line = self._process.stdout.readline() if ready else b""
        assert line, f"the Spark server does not answer:\n{self._log.read_text()[-4000:]}"
        answer: dict[str, Any] = json.loads(line)
        assert "error" not in answer, answer["error"]
        return answer


@dataclass(slots=True)
class _Child:
    """A command that the zygote forked."""

    stdout: Path
    stderr: Path
    pid: int = 0
    code: int | None = None
    born: threading.Event = field(default_factory=threading.Event)
    dead: threading.Event = field(default_factory=threading.Event)

    def wait(self, seconds: float = PATIENCE_SECONDS) -> Ended:
        self.dead.wait(seconds)
        said = self.stdout.read_text(), self.stderr.read_text()
        if self.code is None:
            # So that it does not go on in a place that the next test sets back.
            os.kill(self.pid, signal.SIGKILL)
        assert self.code is not None, f"it still runs after {seconds} s\n{said[0]}\n{said[1]}"
        return Ended(self.code, *said)


class Zygote:
    """Starts commands without paying for their imports; see `crash_zygote`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._numbers = count(1)
        self._children: dict[int, _Child] = {}
        self._by_pid: dict[int, _Child] = {}
        self._ready = threading.Event()
        self._log = folder / "zygote.log"
        self._process = _helper("tests.support.crash_zygote", [], self._log)
        self._reader = threading.Thread(target=self._listen, name="zygote", daemon=True)
        self._reader.start()

    def wait_until_ready(self) -> None:
        """Wait until it can fork."""
        assert self._ready.wait(PATIENCE_SECONDS), self._log.read_text()

    def start(self, arguments: Sequence[str], folder: Path, env: Mapping[str, str]) -> Command:
        number = next(self._numbers)
        child = _Child(self._folder / f"{number}.out", self._folder / f"{number}.err")
        self._children[number] = child
        request = {
            "id": number,
            "arguments": list(arguments),
            "cwd": str(folder),
            "env": dict(env),
            "stdout": str(child.stdout),
            "stderr": str(child.stderr),
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        assert child.born.wait(PATIENCE_SECONDS), self._log.read_text()
        return child

    def stop(self) -> None:
        # A test that failed may have left one of its processes frozen.
        for child in self._children.values():
            if child.code is None and child.pid:
                os.kill(child.pid, signal.SIGKILL)
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=PATIENCE_SECONDS)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if "ready" in message:
                self._ready.set()
            elif "id" in message:
                child = self._children[message["id"]]
                child.pid = message["pid"]
                self._by_pid[child.pid] = child
                child.born.set()
            else:
                # The number of a dead process is given out again: forget whose it was.
                child = self._by_pid.pop(message["pid"])
                child.code = message["code"]
                child.dead.set()


class _Process:
    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self._process = process
        self._folder = folder
        self.pid = process.pid

    def wait(self, seconds: float = PATIENCE_SECONDS) -> Ended:
        code = self._process.wait(seconds)
        return Ended(code, (self._folder / "out").read_text(), (self._folder / "err").read_text())


class OwnProcess:
    """Starts commands as a shell would: a new interpreter, in a process group of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = count(1)

    def start(self, arguments: Sequence[str], folder: Path, env: Mapping[str, str]) -> Command:
        said = self._folder / str(next(self._numbers))
        said.mkdir(parents=True)
        with (said / "out").open("wb") as out, (said / "err").open("wb") as err:
            process = subprocess.Popen(
                [sys.executable, "-c", "from samewise.cli.main import main; main()", *arguments],
                cwd=folder,
                env=_environment() | {"SAMEWISE_FAST_JVM": "1"} | dict(env),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        return _Process(process, said)


def wait_until_frozen(command: Command) -> None:
    """Wait until the process has stopped itself. Fails if it ended instead."""
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while _state(command.pid) != "T":
        if time.monotonic() > give_up_at or _state(command.pid) in ("", "Z", "X"):
            raise AssertionError(f"it never stopped: {command.wait(1).told}")
        time.sleep(0.01)


def thaw(command: Command) -> None:
    os.kill(command.pid, signal.SIGCONT)


def thaw_until_they_end(commands: Sequence[Command]) -> int:
    """Thaw processes that stop themselves again and again, until all have ended; how often it took."""
    thawed = 0
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while (states := {command.pid: _state(command.pid) for command in commands}) and time.monotonic() < give_up_at:
        if all(state in ("", "Z", "X") for state in states.values()):
            break
        for command in commands:
            if states[command.pid] == "T":
                thaw(command)
                thawed += 1
        time.sleep(0.02)
    return thawed


def processes_of_group(group: int) -> dict[int, str]:
    """The live processes of a process group, with their names."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        fields = _stat(int(entry))
        if len(fields) > 2 and fields[2] == str(group) and fields[0] not in ("Z", "X"):
            found[int(entry)] = Path(f"/proc/{entry}/comm").read_text().strip()
    return found


def _stat(pid: int) -> list[str]:
    """State, parent, group and so on, as /proc tells them; empty if there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return []
    return text[text.rindex(")") + 1 :].split()


def _state(pid: int) -> str:
    return (_stat(pid) or [""])[0]


def _helper(module: str, arguments: list[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=REPOSITORY,
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            start_new_session=True,
        )


def _environment() -> dict[str, str]:
    unwanted = ("SAMEWISE_FAILPOINT",)
    found = {name: value for name, value in os.environ.items() if name not in unwanted}
    # One thread for numpy: whoever forks must have no other threads, and these tests compute nothing.
    alone = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return found | alone | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
