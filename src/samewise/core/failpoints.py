"""Named places where a test, or anyone who wants to see it, can kill the process.

`SAMEWISE_FAILPOINT=committed` makes the process SIGKILL itself there;
`SAMEWISE_FAILPOINT=committing:stop` makes it SIGSTOP itself, which is how a zombie is made.
"""

from __future__ import annotations

import os
import signal
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


_SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}


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
    """Die or freeze here if the environment asks for it; otherwise nothing happens."""
    order = armed()
    if order is not None and order[0] is point:
        os.kill(os.getpid(), order[1])
