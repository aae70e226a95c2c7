"""Values that are added to themselves: SW105."""

from __future__ import annotations

import re
from collections.abc import Iterator

from samewise.audit.facts import Flow, FrameOp, Op, SqlOp, exclude
from samewise.audit.finding import Edit, Finding, Fix, Level
from samewise.audit.rules.base import found, named, swap
from samewise.audit.rules.shared import above, cleared_before, quiet
from samewise.audit.sql.accumulates import Accumulated, accumulates
from samewise.audit.sql.guards import own_guard
from samewise.audit.sql.statement import is_ledger, is_log, is_scratch, same_table

_QUERIES = re.compile(r"^\s*(-- name: \w+ :\w+|/\* @name \w+)")
"""Files of queries that an application calls by name: sqlc, pgtyped."""
_PARAMETER = re.compile(r"\bjj_?\w*|\?|\$\d|@\w")


def adds_again(flow: Flow) -> Iterator[Finding]:
    """SW105: a second run adds the same amount a second time, however well the row is found by its key."""
    if quiet(flow) or flow.context.web:
        return
    for op in flow.ops:
        if isinstance(op, FrameOp) and op.accumulates:
            yield _finding(flow, op, op.target, op.accumulates, (), unsure=op.told)
        elif isinstance(op, SqlOp):
            made = accumulates(op.statement)
            if made is None or not _is_a_load(flow, op, made) or _is_once(flow, op):
                continue
            yield _finding(flow, op, op.statement.target, made.column, _edit(flow, op, made), unsure=op.told)


def _finding(flow: Flow, op: Op, target: str, column: str, edits: tuple[Edit, ...], *, unsure: bool) -> Finding:
    return found(
        "SW105",
        op,
        Level.ERROR,
        f"{column} of {named(target)} is added to what it was: a second run adds the same amount again",
        Fix(
            f"set {column} to what the whole window comes to, instead of adding to it; or write down in the same"
            " transaction which rows were applied, and leave those out",
            edits,
        ),
        unsure=unsure or (isinstance(op, SqlOp) and op.via == "constant"),
        target=target,
    )


def _is_a_load(flow: Flow, op: SqlOp, made: Accumulated) -> bool:
    """Not the counter of an application, which adds to one row because someone has asked it to."""
    statement = op.statement
    if is_scratch(statement.target) or is_log(statement.target) or is_ledger(statement.target):
        return False
    if "trigger" in statement.modifiers or statement.conditional:
        return False
    if op.via == "file" and any(_QUERIES.match(line) for line in flow.context.lines):
        return False
    if op.via == "file":
        one_row = statement.kind == "update" and _PARAMETER.search(statement.flat.lower().partition(" set ")[2])
        routine = {"atomic", "inside"} & statement.modifiers
        return made.by_set and statement.kind != "values" if routine or one_row else statement.kind != "values"
    in_bulk = op.task is not None or op.via in ("operator", "spark") or flow.batch
    if statement.kind == "values":
        return in_bulk or (flow.context.pipeline and (op.many or op.loop > 0))
    if statement.kind == "update" and not made.by_set:
        bulk = flow.context.pipeline and (op.many or op.loop > 0) and "." not in op.scope
        return op.task is not None or bulk
    return True


def _is_once(flow: Flow, op: SqlOp) -> bool:
    """Its target was made anew before, or what it applies is taken away or marked together with it."""
    cleared = cleared_before(flow, op)
    if cleared is not None and (cleared.whole or cleared.fresh or not cleared.sure):
        return True
    if above(op, op.statement.target) or own_guard(op.statement) == "check":
        return True
    return any(_marks(op, other) for other in flow.ops if other is not op)


def _marks(op: SqlOp, other: Op) -> bool:
    if not isinstance(other, SqlOp) or exclude(op, other) or other.tx is None or other.tx != op.tx:
        return False
    kind, target = other.statement.kind, other.statement.target
    if kind in ("values", "insert", "upsert"):
        return is_ledger(target) or other.statement.claims
    if kind in ("delete", "truncate", "update"):
        return any(same_table(target, source) for source in op.statement.sources) or is_ledger(target)
    return False


def _edit(flow: Flow, op: SqlOp, made: Accumulated) -> tuple[Edit, ...]:
    """`total = t.total + excluded.total` becomes `total = excluded.total`."""
    if not made.other or op.statement.kind == "update" or op.via != "file":
        return ()
    before = op.statement.text[made.start : made.end]
    return swap(flow.context, op.place, re.escape(before), lambda _: made.other)
