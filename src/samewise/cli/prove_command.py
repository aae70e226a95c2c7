"""`samewise prove --command`: any job that can be told where to write, run again and again on copies of its target."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from samewise.cli.output import tell
from samewise.core.errors import UsageError

if TYPE_CHECKING:
    from samewise.cli.prove import Output


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for on the command line."""

    command: str | None
    target: str | None
    dates: Sequence[str] | None
    key: Sequence[str] | None
    input: str | None
    log: str | None
    state: str | None
    url: str | None
    in_place: bool
    unqualified: bool
    scratch: Path | None
    timeout: float | None
    only: str | None
    clashing: Sequence[str] = ()


def prove_foreign(asked: Asked, output: Output) -> int:
    """Prove a command, with progress on stderr and the verdicts on stdout."""
    from samewise.cli.prove import show_proof
    from samewise.wiring.prove_command import ForeignRequest, prove_command

    gc.enable()
    if asked.command is None or asked.target is None:
        raise UsageError(
            "prove wants a PIPELINE, or --command and --target",
            kept="nothing was run",
            next_step="samewise prove orders_daily, or samewise prove --command '… {target}' --target delta:PATH",
        )
    if asked.clashing:
        raise UsageError(
            f"{asked.clashing[0]} is for pipelines, and --command is given",
            kept="nothing was run",
            next_step="leave one of them out; a command's dates are given by --date",
        )
    output.check()
    request = ForeignRequest(
        command=asked.command,
        target=asked.target,
        dates=tuple(asked.dates or ()),
        key=tuple(name.strip() for one in asked.key or () for name in one.split(",")),
        input=asked.input,
        log=asked.log,
        state=asked.state,
        url=asked.url,
        in_place=asked.in_place,
        unqualified=asked.unqualified,
        scratch=asked.scratch,
        only=tuple(name.strip() for name in (asked.only or "").split(",") if name.strip()),
        timeout=asked.timeout,
    )
    return show_proof(prove_command(request, (lambda _: None) if output.as_json else tell), output)
