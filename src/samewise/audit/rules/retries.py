"""Retries of what is not safe to retry: SW501. Both places are named."""

from __future__ import annotations

from collections.abc import Iterator

from samewise.audit.facts import Flow, Op, Retry
from samewise.audit.finding import Finding, Fix, Level, Place, Related
from samewise.audit.rules.base import found
from samewise.audit.rules.shared import quiet

UNSAFE = frozenset({"SW101", "SW102", "SW103", "SW105", "SW201", "SW202", "SW702"})
"""What a retry turns into doubled or lost rows."""


def retried(flow: Flow) -> Iterator[Finding]:
    """SW501: asked after the other rules, about what they found."""
    if quiet(flow):
        return
    told: set[Place] = set()
    for op in flow.ops:
        retry = op.retry or (op.task.retry if op.task is not None else None)
        if retry is None or retry.count <= 0 or retry.place in told:
            continue
        unsafe = next(
            (f for f in flow.findings if f.rule in UNSAFE and _about(f, op) and f.level is not Level.NOTE), None
        )
        if unsafe is None:
            continue
        told.add(retry.place)
        yield _finding(op, retry, unsafe)


def _about(finding: Finding, op: Op) -> bool:
    places = [finding.place, *(related.place for related in finding.related)]
    return op.place in places


def _finding(op: Op, retry: Retry, unsafe: Finding) -> Finding:
    task = f"task {op.task.name}" if op.task is not None and op.task.name else "this code"
    return found(
        "SW501",
        op,
        unsafe.level,
        f"{retry.what} repeats {task}, whose write is not safe to repeat ({unsafe.rule}, line {unsafe.place.line})",
        Fix(f"mend line {unsafe.place.line} ({unsafe.fix.text}); until then, retries=0", unsafe.fix.edits),
        place=retry.place,
        target=unsafe.target,
        related=(Related(unsafe.place, unsafe.message),),
    )
