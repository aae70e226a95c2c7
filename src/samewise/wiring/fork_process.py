"""A run on a fork in a process of its own, which can really be killed (`samewise prove --sigkill`)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samewise.core.errors import Busy, Refused, SamewiseError, Transient
from samewise.core.failpoints import VARIABLE, Failpoint
from samewise.core.windows import Window, instant_text
from samewise.prove.laboratory import KillAt, Ran
from samewise.run.events import Event, Listener, WindowBegan
from samewise.run.results import Status, WindowResult
from samewise.spec.load import Loaded
from samewise.spec.owners import Location
from samewise.wiring.fork_place import forked
from samewise.wiring.forks import ForkedPipeline

_KNOWN = {"busy": Busy, "refused": Refused}


@dataclass(frozen=True, slots=True)
class ForkProcess:
    """Starts `samewise run … --fork FILE`, an option that no one but us writes."""

    env: str | None

    def __call__(
        self, fork: ForkedPipeline, windows: Sequence[Window], force: bool, kill: KillAt | None, lane: int = 0
    ) -> Ran:
        began = time.monotonic()
        file = fork.folder / f"fork-{lane}.json"
        file.write_text(json.dumps(_written(fork, kill)), encoding="utf-8")
        words = [sys.executable, "-m", "samewise", "run", fork.spec.name, "--fork", str(file), "--json"]
        words += ["--project", str(fork.loaded.root), *(["--force"] if force else [])]
        words += [] if self.env is None else ["--env", self.env]
        if not windows[0].is_full:
            words += ["--window", f"{instant_text(windows[0].start)}/{instant_text(windows[-1].end)}"]
        environ = {name: value for name, value in {**os.environ, **fork.loaded.environ}.items() if name != VARIABLE}
        done = subprocess.run(words, capture_output=True, text=True, env=environ)
        seconds = time.monotonic() - began
        if kill is not None:
            return Ran([], seconds, fired=done.returncode == -signal.SIGKILL)
        return Ran(_results(done, windows), seconds)


def _written(fork: ForkedPipeline, kill: KillAt | None) -> dict[str, Any]:
    moved = {key: {"path": place.path, "database": place.database} for key, place in fork.loaded.moved.items()}
    order = None if kill is None else {"task": kill.task, "point": kill.point.value}
    data = fork.loaded.staging.rpartition("/")[0]
    return {"folder": str(fork.folder), "data": data, "moved": moved, "kill": order}


def _results(done: subprocess.CompletedProcess[str], windows: Sequence[Window]) -> list[WindowResult]:
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        told = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        answer = {"windows": [], "error": {"code": "process", "message": f"the process ended: {told}"}}
    found = [_result(one, windows[0], one["error"]) for one in answer["windows"]]
    if not found:
        found = [_result({"task": "", "window": "", "status": "failed"}, windows[0], answer["error"])]
    return found


def _result(one: dict[str, Any], window: Window, error: dict[str, Any] | None) -> WindowResult:
    known: SamewiseError | None = None
    if error is not None:
        kind = _KNOWN.get(error["code"], Transient if error.get("retryable") else SamewiseError)
        known = kind(error["message"], kept=error.get("kept"), next_step=error.get("next"), code=error["code"])
    return WindowResult(
        one["task"], window, one["window"], Status(one["status"]), rows_written=one.get("rows_written"), error=known
    )


@dataclass(frozen=True, slots=True)
class ForkFile:
    """What such a process is told: where its targets are, and where it is to die."""

    folder: Path
    data: str
    moved: dict[str, Location]
    kill: KillAt | None

    @classmethod
    def read(cls, file: Path) -> ForkFile:
        body = json.loads(file.read_text(encoding="utf-8"))
        moved = {}
        for key, place in body["moved"].items():
            database = place["database"]
            moved[key] = Location(path=place["path"], database=None if database is None else tuple(database))
        kill = body["kill"]
        order = None if kill is None else KillAt(kill["task"], Failpoint(kill["point"]))
        return cls(Path(body["folder"]), body["data"], moved, order)

    def applied(self, loaded: Loaded) -> Loaded:
        """The project as the fork sees it."""
        return forked(loaded, self.folder, self.data, self.moved)

    def deadly(self, emit: Listener) -> Listener:
        """A listener that arms the failpoint of the environment while the task is at work that is to die."""
        if self.kill is None:
            return emit
        kill = self.kill

        def listen(event: Event) -> None:
            if isinstance(event, WindowBegan):
                os.environ[VARIABLE] = kill.point.value if event.task == kill.task else ""
            emit(event)

        return listen
