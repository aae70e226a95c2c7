"""A rule: a pure function from one flow to findings. Adding one is a function, a line in the list, and a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from samewise.audit.facts import Context, Flow, Op
from samewise.audit.finding import Edit, Finding, Fix, Level, Place, Related
from samewise.audit.sql.template import HOLE


@dataclass(frozen=True, slots=True)
class Rule:
    """What is looked for, and how the summary speaks of it."""

    id: str
    name: str
    title: str
    reason: str
    """One sentence: what a second run does."""
    scenario: str
    """When it hurts; with `pattern` the summary's checklist."""
    pattern: str
    """What to do instead, in a few words."""
    check: Callable[[Flow], Iterator[Finding]]


def found(
    rule: str,
    op: Op,
    level: Level,
    message: str,
    fix: Fix,
    *,
    unsure: bool = False,
    target: str = "",
    place: Place | None = None,
    related: tuple[Related, ...] = (),
    columns: tuple[str, ...] = (),
    enforced: bool = False,
) -> Finding:
    """A finding about an operation. An unsure one is never more than a note."""
    return Finding(
        rule=rule,
        level=Level.NOTE if unsure else level,
        place=place or op.place,
        message=message,
        fix=fix,
        unsure=unsure,
        target=shown(target),
        scope=op.scope,
        related=related,
        columns=columns,
        enforced=enforced,
    )


def swap(
    context: Context, place: Place, pattern: str, replacement: str | Callable[[re.Match[str]], str]
) -> tuple[Edit, ...]:
    """An edit that replaces the first match of `pattern` in the lines of `place`; none where nothing matches."""
    if context.language == "notebook" or not context.lines:
        return ()
    first, last = place.line, min(place.last_line, len(context.lines))
    old = "\n".join(context.lines[first - 1 : last])
    new, count = re.subn(pattern, replacement, old, count=1, flags=re.IGNORECASE | re.DOTALL)
    return (Edit(first, last, tuple(new.split("\n"))),) if count else ()


def wrap(context: Context, first: Place, last: Place, before: str, after: str) -> tuple[Edit, ...]:
    """Lines before the first place and after the last, indented as they are."""
    if context.language == "notebook" or not context.lines:
        return ()
    head = context.lines[first.line - 1]
    tail = context.lines[min(last.last_line, len(context.lines)) - 1]
    indent = head[: len(head) - len(head.lstrip())]
    end = min(last.last_line, len(context.lines))
    if first.line == end:
        return (Edit(first.line, end, (f"{indent}{before}", head, f"{indent}{after}")),)
    return (Edit(first.line, first.line, (f"{indent}{before}", head)), Edit(end, end, (tail, f"{indent}{after}")))


def named(name: str, otherwise: str = "the table") -> str:
    """A table's name for a sentence."""
    return shown(name) or otherwise


def shown(name: str) -> str:
    """A name with its holes as a person would write them."""
    return re.sub(rf"{HOLE}_(\w+?)_(?=\W|$)", r"{\1}", name).replace(f"{HOLE}_clock", "{now}")


def last_part(name: str) -> str:
    return name.rpartition(".")[2] or "target"
