"""Which rows: SW304, SW305."""

from __future__ import annotations

from collections.abc import Iterator

from samewise.audit.facts import Flow, FrameOp, ModelOp, Op, SqlOp, StreamOp
from samewise.audit.finding import Edit, Finding, Fix, Level, Place
from samewise.audit.rules.base import found, named, swap
from samewise.audit.rules.places import at_word
from samewise.audit.rules.shared import quiet
from samewise.audit.sql.numbering import loose_limit, loose_numbers
from samewise.audit.sql.statement import is_scratch


def row_number(flow: Flow) -> Iterator[Finding]:
    """SW304: one row of each key is kept, but not always the same."""
    if quiet(flow):
        return
    told: set[Place] = set()
    for op in flow.ops:
        if isinstance(op, SqlOp) and (op.statement.writes or op.statement.kind in ("view", "model")):
            for word, why, unsure in loose_numbers(op.statement):
                yield _loose(flow, op, why, unsure, op.statement.target, at_word(op, word))
        elif isinstance(op, FrameOp | StreamOp) and op.frame.loose is not None and op.frame.loose[1] not in told:
            why, place, unsure = op.frame.loose
            told.add(place)
            yield _loose(flow, op, why, unsure, op.target, place)


def _loose(flow: Flow, op: Op, why: str, unsure: bool, target: str, place: Place) -> Finding:
    lines = Place(place.line, 1, max(place.last_line, min(place.line + 6, op.place.last_line)), 1)
    if isinstance(op, SqlOp):
        if "no ORDER BY" in why:
            edits = swap(
                flow.context,
                lines,
                r"(PARTITION\s+BY\s+[^()]*?)\s*\)",
                r"\1 ORDER BY version_column DESC, tie_breaker)",
            )
        else:
            edits = swap(flow.context, lines, r"(ORDER\s+BY\s+[^()]*?)\s*\)", r"\1, version_column DESC, tie_breaker)")
    else:
        edits = swap(flow.context, place, r"(\.orderBy\([^()]*(?:\([^()]*\)[^()]*)*)\)", r'\1, F.col("tie_breaker"))')
        if not edits:
            edits = swap(
                flow.context,
                place,
                r"(partitionBy\([^()]*\))",
                r'\1.orderBy(F.col("version_column").desc(), F.col("tie_breaker"))',
            )
    return found(
        "SW304",
        op,
        Level.WARNING,
        f"ROW_NUMBER picks one row of several, and {why}: which one it is can change from run to run",
        Fix("order by the version and then by something unique, so that no two rows tie", edits),
        unsure=unsure,
        target=target,
        place=place,
    )


def limit(flow: Flow) -> Iterator[Finding]:
    """SW305: some rows are written, and nothing says which."""
    if quiet(flow):
        return
    for op in flow.ops:
        if isinstance(op, SqlOp) and op.statement.kind in ("insert", "overwrite", "merge", "ctas", "model"):
            if "temp" in op.statement.modifiers or is_scratch(op.statement.target):
                continue
            if isinstance(op, ModelOp) and op.config.get("materialized") in ("view", "ephemeral"):
                continue  # Nothing is written: each query asks anew.
            word = loose_limit(op.statement)
            if word is None:
                continue
            place = at_word(op, word)
            edits = (
                swap(flow.context, place, r"\bLIMIT\b", "ORDER BY key_column LIMIT")
                if op.via in ("file", "dbt")
                else ()
            )
            yield _limited(flow, op, word.upper, op.statement.target, place, edits)
        elif isinstance(op, FrameOp) and op.frame.limited is not None and op.mode in ("append", "overwrite", "merge"):
            if is_scratch(op.target):
                continue
            edits = swap(flow.context, op.frame.limited, r"\.limit\(", '.orderBy("key_column").limit(')
            yield _limited(flow, op, "limit", op.target, op.frame.limited, edits)


def _limited(flow: Flow, op: Op, word: str, target: str, place: Place, edits: tuple[Edit, ...]) -> Finding:
    return found(
        "SW305",
        op,
        Level.WARNING,
        f"{word} without ORDER BY feeds {named(target)}: every run may write other rows",
        Fix("order by a unique key before the limit, or select by a predicate", edits),
        target=target,
        place=place,
    )
