"""What several rules ask of a flow: was the target emptied before, is something above that guards it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from samewise.audit.facts import ANY, ClearOp, Flow, FrameOp, Op, SqlOp, exclude, happens_before
from samewise.audit.sql.guards import own_guard
from samewise.audit.sql.inside import CLOCK
from samewise.audit.sql.statement import is_ledger, is_scratch, same_table

_STAGING = frozenset(
    [
        "stg",
        "staging",
        "stage",
        "landing",
        "work",
        "wrk",
        "load",
        "interim",
        "intermediate",
        "buffer",
        "swap",
        "new",
        "delta",
        "incoming",
    ]
)
_COMMITS_AT_TRUNCATE = frozenset({"mysql", "oracle", "redshift"})


@dataclass(frozen=True, slots=True)
class Cleared:
    """How the target was emptied before a write."""

    op: Op
    together: bool
    """In one transaction with the write."""
    fresh: bool
    """The table was made here: a second run makes it again, or stops."""
    sure: bool
    """It always happens before the write."""
    whole: bool = False


def target_of(op: Op) -> str:
    if isinstance(op, SqlOp):
        return op.statement.target
    if isinstance(op, FrameOp | ClearOp):
        return op.target
    return ""


def is_staging(name: str) -> bool:
    """Named as a place where rows only wait."""
    parts = name.lower().split(".")
    if any(part in ("staging", "stage", "stg", "landing", "work", "tmp", "temp") for part in parts[:-1]):
        return True
    return bool(set(re.split(r"[_\W]+", parts[-1])) & _STAGING) or is_scratch(name)


def cleared_before(flow: Flow, op: Op) -> Cleared | None:
    """The last thing before `op` that emptied its target, or the part of it that is written."""
    target = target_of(op)
    if not target:
        return None
    best: Cleared | None = None
    for other in flow.ops:
        if other is op:
            break
        if exclude(other, op) or not (same_table(target_of(other), target) or target_of(other) == ANY):
            continue
        one = _clears(other, op, flow)
        if one is not None and (best is None or one.sure or not best.sure):
            # A table that was made here stays fresh, whatever is deleted from it afterwards.
            best = one if best is None or not best.fresh or not best.sure else best
    return best


def _clears(other: Op, op: Op, flow: Flow) -> Cleared | None:
    sure = happens_before(other, op) and not _apart(other, op)
    if isinstance(other, ClearOp):
        return Cleared(other, False, False, sure and other.sure, True)
    if isinstance(other, FrameOp):
        fresh = other.mode == "overwrite" and other.frame is not getattr(op, "frame", None)
        return Cleared(other, False, fresh, sure) if fresh else None
    if not isinstance(other, SqlOp):
        return None
    statement = other.statement
    together = other.tx is not None and other.tx == op.tx
    match statement.kind:
        case "create" | "ctas" if "if_not_exists" not in statement.modifiers or "temp" in statement.modifiers:
            return Cleared(other, together, True, sure, True)
        case "create" | "ctas":
            return None
        case "truncate":
            dialect = statement.dialect or flow.dialect
            if dialect in _COMMITS_AT_TRUNCATE:
                together = False
            return Cleared(other, together, False, sure, True)
        case "delete":
            if _is_retention(other):
                return None
            return Cleared(other, together, False, sure, " WHERE " not in statement.flat)
        case "drop" | "rename":
            return Cleared(other, together, True, sure, True)
        case "overwrite":
            return Cleared(other, together, True, sure)
        case _:
            return None


def _apart(one: Op, other: Op) -> bool:
    """In two procedures of one file: which of them is called, and when, is not seen here."""
    return isinstance(one, SqlOp) and isinstance(other, SqlOp) and one.via == "file" and one.scope != other.scope


def _is_retention(op: SqlOp) -> bool:
    """DELETE ... WHERE created_at < now() - interval '90 days': that is housekeeping."""
    statement = op.statement
    return (
        CLOCK.search(statement.text) is not None
        and re.search(r" <=? ", statement.flat) is not None
        and " > " not in statement.flat
    )


def variables(flow: Flow) -> list[tuple[str, str]]:
    """Variables of a script with the text that sets them: `@last = (SELECT MAX(id) FROM t)`."""
    found: list[tuple[str, str]] = []
    for op in flow.ops:
        if isinstance(op, SqlOp) and (op.statement.kind in ("set", "select")):
            statement = op.statement
            if "MAX" not in statement.uppers and "COUNT" not in statement.uppers:
                continue
            for word in statement.words:
                if word.kind == "word" and (
                    word.text.startswith("@") or statement.kind == "set" or "INTO" in statement.uppers
                ):
                    found.append((word.text.lower(), statement.text))
    return found


def guard_of(flow: Flow, op: SqlOp) -> str:
    """What keeps a second run of an INSERT harmless: `key`, `check`, `maybe` or nothing."""
    own = own_guard(op.statement, variables(flow))
    if own and own != "maybe":
        return own
    return above(op, op.statement.target) or own


def above(op: Op, target: str) -> str:
    """What the conditions around it have asked."""
    if "*unique" in op.guards:
        return "key"
    for table in op.guards:
        if same_table(table, target) or is_ledger(table):
            return "check"
    return "maybe" if "*asked" in op.guards else ""


def by_key(op: FrameOp) -> bool:
    """Stores in which a row replaces the one with its key, whatever the mode is called."""
    names = {name.lower() for name in op.options}
    if re.search(r"elastic|opensearch", op.format):
        return bool(names & {"es.mapping.id", "opensearch.mapping.id"})
    if "mongo" in op.format:
        return bool(names & {"idfieldlist", "operationtype", "replacedocument", "upsertdocument"})
    return re.search(r"cassandra|dynamodb|hbase|kudu|redis|aerospike|scylla|bigtable|cosmos", op.format) is not None


def passes_on(flow: Flow, op: Op, target: str) -> bool:
    """Whether what is written here is read again later in the flow: a step on the way, not the end."""
    later = False
    for other in flow.ops:
        if other is op:
            later = True
        elif later and isinstance(other, SqlOp) and other.statement.writes:
            reads = any(same_table(target, source) for source in other.statement.sources)
            if reads and not same_table(other.statement.target, target):
                return True
    return False


def moves(flow: Flow, op: SqlOp) -> bool:
    """Whether what an INSERT ... SELECT read is taken away in the same transaction: a second run finds it no more."""
    if op.tx is None or op.statement.kind != "insert":
        return False
    for other in flow.ops[flow.ops.index(op) + 1 :]:
        if not isinstance(other, SqlOp) or other.tx != op.tx or exclude(op, other):
            continue
        gone = other.statement.kind == "delete" or (other.statement.kind == "update" and _flags(op, other))
        read = any(same_table(other.statement.target, source) for source in op.statement.sources)
        if gone and read and not same_table(other.statement.target, op.statement.target):
            return True
    return False


def _flags(op: SqlOp, update: SqlOp) -> bool:
    """The update sets a column by which the INSERT chose its rows."""
    column = re.search(r" SET (?:\w+ \. )?(\w+) =", update.statement.flat, re.IGNORECASE)
    _, _, chosen = op.statement.flat.upper().partition(" WHERE ")
    return column is not None and column[1].upper() in chosen.split()


def quiet(flow: Flow) -> bool:
    """Code that is not meant to run twice on the same data: tests, migrations."""
    return flow.context.test or flow.context.migration
