"""Who holds a lease, and whether that process is known to be gone."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_PROC = Path("/proc")
_DEAD_STATES = ("Z", "X", "x")


@dataclass(frozen=True, slots=True)
class Holder:
    """A process, told apart from every other one on any machine."""

    host: str
    machine: str
    """Linux's boot id, or the network address of the machine where there is none."""
    pid_namespace: str
    """A container has process numbers of its own; empty where there is no such thing."""
    pid: int
    started: int | None
    """Clock ticks from boot to the process's start: a reused process number has another one."""

    @classmethod
    def current(cls) -> Holder:
        """This process."""
        pid = os.getpid()
        found = _process(pid)
        return cls(
            host=socket.gethostname(),
            machine=_machine(),
            pid_namespace=_pid_namespace(),
            pid=pid,
            started=found.started if found else None,
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Holder:
        """The inverse of `to_json`."""
        return cls(**value)

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def is_gone(holder: Holder) -> bool:
    """True only if it is certain that the process has ended; False for one that cannot be seen from here."""
    seen_from_here = (holder.host, holder.machine, holder.pid_namespace) == (
        socket.gethostname(),
        _machine(),
        _pid_namespace(),
    )
    if not seen_from_here:
        return False
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        # Another user's process: it is there, and /proc may or may not tell more.
        pass
    found = _process(holder.pid)
    if found is None:
        return False
    if found.ended:
        return True
    return holder.started is not None and found.started != holder.started


@dataclass(frozen=True, slots=True)
class _Process:
    started: int
    ended: bool


def _process(pid: int) -> _Process | None:
    """What /proc says; None where it says nothing."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
        threads = len(os.listdir(_PROC / str(pid) / "task"))
    except (OSError, ValueError):
        return None
    # The name in parentheses may itself hold spaces and parentheses. After it come fields 3, 4, …
    fields = text[text.rindex(")") + 1 :].split()
    # Killed, but its parent has not asked yet. With threads left it is only the first one that ended.
    ended = fields[0] in _DEAD_STATES and threads <= 1
    return _Process(started=int(fields[22 - 3]), ended=ended)


def _machine() -> str:
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        # Without a network card this is random, so that a holder is never taken for one of this machine.
        return f"{uuid.getnode():012x}"


def _pid_namespace() -> str:
    try:
        return os.readlink(_PROC / "self/ns/pid")
    except OSError:
        return ""
