"""A job as a command line: run by the shell, in a process group of its own, so that a kill takes all of it."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import time
from contextlib import suppress
from itertools import count
from pathlib import Path

from samewise.core.errors import UsageError
from samewise.prove.foreign.call import Call, Kill, Ran, variable
from samewise.prove.foreign.orphans import MARK

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_LOOK_SECONDS = 0.005
_LEAST_SECONDS = 120.0
_TIMES = 10.0
_LINES, _BYTES = 15, 20_000
_LARGEST_SCRIPT = 1_000_000


class ProcessRunner:
    """Runs `command` with its placeholders filled in; what it prints goes to a file in `folder`, the scratch folder."""

    def __init__(
        self,
        command: str,
        folder: Path,
        known: tuple[str, ...],
        timeout: float | None = None,
        secrets: tuple[str, ...] = (),
    ) -> None:
        for word in _PLACEHOLDER.findall(command):
            if word not in known:
                raise UsageError(
                    f"--command has {{{word}}}, which is not known here",
                    kept="nothing was run",
                    next_step="use some of " + ", ".join(f"{{{name}}}" for name in known),
                )
        self._command = command
        self._folder = folder
        self._timeout = timeout
        self._secrets = secrets
        self._numbers = count(1)
        self._running: set[subprocess.Popen[bytes]] = set()

    def __call__(self, call: Call, kill: Kill | None = None, *, expected_seconds: float | None = None) -> Ran:
        log = self._folder / f"run-{next(self._numbers)}.log"
        words = _PLACEHOLDER.sub(lambda found: shlex.quote(call.words[found[1]]), self._command)
        patience = self._timeout or (None if expected_seconds is None else _LEAST_SECONDS + _TIMES * expected_seconds)
        began = time.monotonic()
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["/bin/sh", "-c", words],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, MARK: str(self._folder), **call.variables},
                start_new_session=True,
            )
            self._running.add(process)
            try:
                killed = _watch(process, kill, began, expected_seconds, patience)
            finally:
                # Also when this process is told to stop: nothing of the job may go on writing.
                _end(process)
                self._running.discard(process)
        seconds = time.monotonic() - began
        text = _tail(log)
        for secret in self._secrets:
            text = text.replace(secret, "***")
        if killed is None:
            return Ran(124, seconds, output=f"{text}\nit was still running after {seconds:.0f} s".strip())
        return Ran(process.returncode, seconds, killed=killed, output=text)

    def close(self) -> None:
        """End what still runs: of two at once, those that nobody waits for any more. A second call does nothing."""
        for process in list(self._running):
            _end(process)


def _watch(
    process: subprocess.Popen[bytes], kill: Kill | None, began: float, expected: float | None, patience: float | None
) -> bool | None:
    """Wait for the end. True where it was killed as asked, None where patience came to its end."""
    while True:
        past = time.monotonic() - began
        if kill is not None and kill.is_due(past / expected if expected else 0.0):
            # It may have ended by itself a moment ago: then nothing was killed.
            if process.poll() is not None:
                return False
            _end(process)
            return True
        try:
            process.wait(timeout=_LOOK_SECONDS if kill is not None else 0.1)
        except subprocess.TimeoutExpired:
            if patience is not None and past > patience:
                return None
            continue
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL for the whole group. A second call does nothing."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _tail(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _BYTES))
        text = file.read().decode("utf-8", "replace")
    return "\n".join(text.splitlines()[-_LINES:])


def mentions(command: str, word: str) -> bool:
    """Whether the command is told about a word: by its placeholder or variable, also inside a script that it names."""
    if f"{{{word}}}" in command or variable(word) in command:
        return True
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return any(variable(word) in _script(Path(os.path.expanduser(one))) for one in words)


def _script(path: Path) -> str:
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST_SCRIPT:
            return ""
        return path.read_text(encoding="utf-8", errors="ignore")
    except (OSError, ValueError):
        return ""
