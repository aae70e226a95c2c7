"""How a command talks: tables and colour to a terminal, plain lines to a pipe, one JSON object to a machine."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from samewise.core.errors import SamewiseError, SpecError, TransformFailed
from samewise.core.windows import instant_text


def print_json(value: dict[str, Any]) -> None:
    """One object, and nothing else, on stdout."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, default=str) + "\n")


def say(text: str = "") -> None:
    """A line of the answer."""
    print(text)


def tell(text: str) -> None:
    """A line about what is going on: to stderr, so that the answer can be piped."""
    print(text, file=sys.stderr, flush=True)


def styled(text: str, style: str, *, stream: Any = None) -> str:
    """Colour for a terminal, nothing for a pipe."""
    codes = {"good": "32", "bad": "31", "warn": "33", "dim": "2", "bold": "1"}
    target = stream if stream is not None else sys.stdout
    return f"\x1b[{codes[style]}m{text}\x1b[0m" if _is_terminal(target) else text


def print_table(header: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[int] = ()) -> None:
    """Columns as wide as what they hold, two blanks apart; those in `right` are aligned to the right."""
    cells = [list(header), *[["" if v is None else str(v) for v in row] for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for number, row in enumerate(cells):
        parts = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        line = "  ".join(parts).rstrip()
        say(styled(line, "dim") if number == 0 else line)


def print_error(error: SamewiseError) -> None:
    """What happened, what was kept, what to do next."""
    tell(styled(error.message, "bad", stream=sys.stderr))
    if isinstance(error, TransformFailed) and error.details:
        tell(error.details.rstrip())
    if error.kept and not isinstance(error, SpecError):
        tell(f"  kept: {error.kept}")
    if error.next_step:
        tell(f"  next: {error.next_step}")


def number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def moment(value: Any) -> str:
    """An instant for a person: UTC, to the second."""
    return "-" if value is None else instant_text(value.replace(microsecond=0))


def _is_terminal(stream: Any) -> bool:
    return bool(getattr(stream, "isatty", lambda: False)())
