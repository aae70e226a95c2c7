"""Named places where a test, or anyone who wants to see it, can kill the process.

`SAMEWISE_FAILPOINT=committed` makes the process SIGKILL itself there;
`SAMEWISE_FAILPOINT=committing:stop` makes it SIGSTOP itself, which is how a zombie is made.
`with killing(...)` kills what runs in this thread and nothing else: `samewise prove` dies a dozen times that way.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum

from samewise.core.errors import UsageError

VARIABLE = "SAMEWISE_FAILPOINT"


class Failpoint(StrEnum):
    """The steps of the commit protocol, each just after its durable fact was written."""

    PLANNED = "planned"
    CHECKED = "checked"
    STAGED = "staged"
    VERIFIED = "verified"
    COMMITTING = "committing"
    """Just before the commit."""
    COMMITTED = "committed"
    """The commit has landed and is not yet recorded."""
    CHECKPOINTED = "checkpointed"
    DELIVERED = "delivered"


class Killed(BaseException):
    """A run was ended in the middle, as SIGKILL would. Whoever catches this must write nothing: it is dead."""


@dataclass(slots=True)
class Kill:
    """An order to die at a failpoint, and whether it was carried out."""

    point: Failpoint
    armed: bool = True
    """False lets the point pass: a pipeline of several tasks comes by with each of them."""
    on_fire: Callable[[], None] | None = None
    fired: bool = False


_SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}
_kill: ContextVar[Kill | None] = ContextVar("samewise_kill", default=None)


@contextmanager
def killing(kill: Kill) -> Iterator[Kill]:
    """What this thread runs inside dies with `Killed` at the ordered point, once. Other threads go on."""
    before = _kill.set(kill)
    try:
        yield kill
    finally:
        _kill.reset(before)


def armed() -> tuple[Failpoint, signal.Signals] | None:
    """The failpoint that the environment asks for. Raises `UsageError` for one that does not exist."""
    wanted = os.environ.get(VARIABLE)
    if not wanted:
        return None
    name, _, action = wanted.partition(":")
    if name not in list(Failpoint) or (action or "kill") not in _SIGNALS:
        raise UsageError(
            f"{VARIABLE}={wanted} is not a failpoint", next_step=f"use one of {', '.join(Failpoint)}, or NAME:stop"
        )
    return Failpoint(name), _SIGNALS[action or "kill"]


def reach(point: Failpoint) -> None:
    """Die or freeze here if the environment or this thread's order asks for it; otherwise nothing happens."""
    order = armed()
    if order is not None and order[0] is point:
        os.kill(os.getpid(), order[1])
    kill = _kill.get()
    if kill is None or kill.fired or not kill.armed or kill.point is not point:
        return
    kill.fired = True
    if kill.on_fire is not None:
        kill.on_fire()
    raise Killed(f"killed at {point}")
