"""Jobs that outlived the prove that started them: they would go on writing where nobody looks any more."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from samewise.prove.foreign.call import variable

MARK = variable("scratch")
"""Every process of a job has its prove's scratch folder in this variable."""
_PROC = Path("/proc")
_PATIENCE_SECONDS = 10.0


def end_orphans(scratch: Path) -> bool:
    """SIGKILL for whatever still runs for a prove that had this scratch folder; False where something will not end.

    They are known by what they inherited: a number that was noted may be another process's by now, and a job is
    running before its number can be noted. Where there is no /proc none is found.
    """
    give_up_at = time.monotonic() + _PATIENCE_SECONDS
    while found := _orphans(scratch):
        if time.monotonic() > give_up_at:
            return False
        for number in found:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        time.sleep(0.01)
    return True


def _orphans(scratch: Path) -> list[int]:
    wanted = f"{MARK}={scratch}".encode()
    numbers = [int(entry) for entry in _entries() if entry.isdigit() and int(entry) != os.getpid()]
    return [number for number in numbers if wanted in _environment(number)]


def _entries() -> list[str]:
    try:
        return os.listdir(_PROC)
    except FileNotFoundError:
        return []


def _environment(number: int) -> list[bytes]:
    """Empty for a process that has ended, and for one of another user."""
    try:
        return (_PROC / str(number) / "environ").read_bytes().split(b"\0")
    except OSError:
        return []
