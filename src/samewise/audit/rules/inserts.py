"""INSERTs that add the same rows again: SW102, SW103, SW104."""

from __future__ import annotations

import re
from collections.abc import Iterator

from samewise.audit.facts import Context, Flow, FrameOp, Op, SqlOp, exclude
from samewise.audit.finding import Edit, Finding, Fix, Level, Related
from samewise.audit.rules.base import found, last_part, named, swap
from samewise.audit.rules.shared import cleared_before, guard_of, moves, quiet
from samewise.audit.sql.names import pick_key
from samewise.audit.sql.statement import is_ledger, is_log, is_scratch, same_table
from samewise.audit.sql.template import HOLE

_NO_CONFLICT = frozenset({"tsql", "snowflake", "bigquery", "redshift", "oracle", "hive"})
_NO_KEYS = frozenset(
    {"spark", "databricks", "hive", "snowflake", "bigquery", "redshift", "athena", "trino", "presto", "clickhouse"}
)
_NAMELESS = re.compile(rf"\bINTO\s+[\"`\[]?{HOLE}_\w*[\"`\]]?\s*(?![.\w])", re.IGNORECASE)
_PARAMETER = re.compile(rf"\b{HOLE}_?\w*|\?|%s|:\w|\$\d", re.IGNORECASE)
_LOADS = re.compile(
    r"(?<!up)(?<!down)load|etl|ingest|import|sync|pipeline|job|insert|extract|store|populate|upsert|dump|scrap|crawl|fetch"
)


def _judged(flow: Flow, op: SqlOp) -> tuple[str, bool] | None:
    """None where a second run does no harm; else (what is known, unsure)."""
    statement = op.statement
    if quiet(flow) or is_scratch(statement.target) or is_log(statement.target) or "temp" in statement.modifiers:
        return None
    if "trigger" in statement.modifiers or {"inserted", "deleted"} & set(statement.sources):
        return None  # A trigger adds once for each change.
    guard = guard_of(flow, op)
    if guard in ("key", "check") or moves(flow, op):
        return None
    cleared = cleared_before(flow, op)
    if cleared is not None and cleared.sure:
        return None
    if cleared is not None:
        return "its target is emptied on some paths only", True
    if op.told:
        return "its callers say where to, and are not seen here", True
    return "", guard == "maybe"


def insert_select(flow: Flow) -> Iterator[Finding]:
    """SW102: INSERT ... SELECT without a guard."""
    for op in flow.ops:
        if not isinstance(op, SqlOp) or op.statement.kind != "insert" or flow.batch:
            continue
        judged = _judged(flow, op)
        if judged is None:
            continue
        why, unsure = judged
        if op.via == "constant" or op.via == "helper":
            why, unsure = "where it is run is not seen here", True
        statement = op.statement
        target = statement.target
        message = f"INSERT INTO {named(target)} ... SELECT adds the same rows again when it runs twice"
        if unsure:
            message = (
                f"INSERT INTO {named(target)} ... SELECT may add rows again: {why or 'what it asks first is not clear'}"
            )
        level = Level.WARNING if flow.context.web or not target else Level.ERROR
        yield found(
            "SW102",
            op,
            level,
            message,
            _insert_fix(flow, op),
            unsure=unsure,
            target=target,
            columns=statement.columns,
            enforced=_enforces(flow, op),
        )


def insert_values(flow: Flow) -> Iterator[Finding]:
    """SW103: INSERT ... VALUES of loaded rows without ON CONFLICT."""
    for op in flow.ops:
        if not isinstance(op, SqlOp) or op.statement.kind != "values" or flow.context.web or flow.batch:
            continue
        judged = _judged(flow, op)
        if judged is None:
            continue
        why, unsure = judged
        bulk = op.many or op.loop > 0
        if not bulk and op.via != "file" and is_ledger(op.statement.target):
            continue  # One row that says how far a run came.
        level = Level.WARNING
        if op.via == "file" or (op.task is None and _NAMELESS.search(op.statement.text)):
            # A seed, or a helper that is told the table by others.
            unsure = True
        elif not bulk and op.task is None and not _PARAMETER.search(op.statement.text):
            unsure = True  # Rows that are written out: a seed, or someone trying things in a notebook.
        elif not bulk and op.task is None and not flow.context.pipeline:
            if not _LOADS.search(f"{op.scope} {flow.context.file}".lower()):
                continue
            unsure = True
        elif not bulk and op.task is None and flow.name != "<module>":
            unsure = True  # One row, by a function that others call: an application's.
        elif op.task is None and not flow.context.pipeline and getattr(op.conn, "kind", "") == "unknown":
            # On a connection that was handed in: a loader, or the repository of an application?
            unsure = unsure or not _LOADS.search(f"{op.scope} {flow.context.file}".lower())
        statement = op.statement
        target = statement.target
        if bulk or op.task is not None or not unsure:
            message = f"rows go into {named(target)} without a key: a second run adds them again, or stops half-way"
        else:
            message = (
                f"INSERT INTO {named(target)} without ON CONFLICT: safe to repeat only if a unique key"
                f" stands in the way"
            )
        if why:
            message += f"; {why}"
        fix = _insert_fix(flow, op)
        yield found(
            "SW103",
            op,
            level,
            message,
            fix,
            unsure=unsure,
            target=target,
            columns=statement.columns,
            enforced=_enforces(flow, op),
        )


def _enforces(flow: Flow, op: SqlOp) -> bool:
    """Whether the database takes PRIMARY KEY for more than a comment."""
    return op.via != "spark" and (op.statement.dialect or flow.dialect) not in _NO_KEYS


def _insert_fix(flow: Flow, op: SqlOp) -> Fix:
    """ON CONFLICT where the database has it; else MERGE, or REPLACE WHERE on Delta."""
    statement = op.statement
    target = named(statement.target, "the_table")
    key = pick_key(statement.columns)
    dialect = statement.dialect or flow.dialect
    if op.via == "spark" or dialect in ("spark", "databricks"):
        text = (
            f"replace what this run is about instead of adding to it: INSERT INTO {target} REPLACE"
            f" WHERE <the window> SELECT ..."
            f" (Delta), or MERGE INTO {target} by {key}"
        )
        edits = _sql_swap(
            flow.context, op, r"(INSERT\s+INTO\s+(?:TABLE\s+)?\S+)\s+", r"\1 REPLACE WHERE window_day = :window_day\n"
        )
        return Fix(text, edits)
    if dialect in _NO_CONFLICT:
        text = (
            f"MERGE INTO {target} USING (SELECT ...) ON the key ({key}) WHEN NOT MATCHED THEN INSERT, or"
            f" DELETE the window in the same transaction"
        )
        return Fix(text, _merge_edit(flow.context, op, target, key))
    if dialect == "mysql":
        assigned = f"{key} = VALUES({key})"
        return Fix(
            f"add ON DUPLICATE KEY UPDATE, with a unique key on {target} ({key})",
            _at_end(flow.context, op, f"ON DUPLICATE KEY UPDATE {assigned}"),
        )
    return Fix(
        f"add ON CONFLICT ({key}) DO NOTHING (or DO UPDATE), with a unique key on {target} ({key})",
        _at_end(flow.context, op, f"ON CONFLICT ({key}) DO NOTHING"),
    )


def _sql_swap(context: Context, op: SqlOp, pattern: str, replacement: str) -> tuple[Edit, ...]:
    return swap(context, op.place, pattern, replacement) if op.via == "file" else ()


def _merge_edit(context: Context, op: SqlOp, target: str, key: str) -> tuple[Edit, ...]:
    columns = op.statement.columns
    if op.via != "file" or not columns or op.statement.kind != "insert":
        return ()
    match = re.search(r"\b(SELECT|WITH)\b.*", op.raw, re.IGNORECASE | re.DOTALL)
    if match is None:
        return ()
    listed = ", ".join(columns)
    values = ", ".join(f"s.{name}" for name in columns)
    indented = "\n".join(f"    {line}" for line in match[0].strip().split("\n"))
    new = (
        f"MERGE INTO {target} AS t\nUSING (\n  SELECT DISTINCT * FROM (\n{indented}\n  ) AS q\n) AS"
        f" s\nON t.{key} = s.{key}\n"
        f"WHEN NOT MATCHED THEN INSERT ({listed}) VALUES ({values})"
    )
    return swap(context, op.place, re.escape(op.raw), lambda _: new)


def _at_end(context: Context, op: SqlOp, clause: str) -> tuple[Edit, ...]:
    """The clause after the last word of the statement."""
    if context.language == "notebook":
        return ()
    if op.via == "file":
        at = max(op.place.last_line, 1)
        if at > len(context.lines):
            return ()
        line = context.lines[at - 1]
        column = op.place.end_column - 1
        return (Edit(at, at, (line[:column].rstrip(), clause + line[column:])),)
    # In a string: before the quote that ends it.
    return swap(context, op.place, r"(VALUES\s*\(?[^\"']*?\)?)\s*(;?\s*)([\"']{1,3})", rf"\1 {clause}\3")


_DEDUP = re.compile(
    r"ROW_NUMBER|NOT IN \( SELECT (MIN|MAX)|CTID|ROWID|HAVING COUNT \( [\w*. ]+ \) > 1|A \. ID [<>] B \. ID|\bRN > 1"
)


def _dedups(op: Op) -> str:
    """The table that an operation rids of duplicates, if that is what it does."""
    if isinstance(op, SqlOp):
        statement = op.statement
        if statement.kind == "delete" and _DEDUP.search(statement.flat):
            if statement.target in statement.ctes:
                return next((s for s in statement.sources if s not in statement.ctes), "")
            return statement.target
        rewrites = statement.kind == "overwrite" and any(same_table(statement.target, s) for s in statement.sources)
        if rewrites and (statement.has("SELECT DISTINCT") or "ROW_NUMBER" in statement.uppers):
            return statement.target
    if isinstance(op, FrameOp) and op.mode == "overwrite" and op.frame.dedup is not None:
        only = bool(op.frame.tables) and all(same_table(op.target, table) for table in op.frame.tables)
        return op.target if only else ""
    return ""


def dedup_later(flow: Flow) -> Iterator[Finding]:
    """SW104: duplicates are let in, and taken out by a later step."""
    if quiet(flow):
        return
    for index, op in enumerate(flow.ops):
        target = _dedups(op)
        if not target or is_scratch(target):
            continue
        adds = [one for one in flow.ops[:index] if _adds(one, target) and not _together(one, op)]
        if adds:
            related = (Related(adds[0].place, "the rows come in here"),)
            yield found(
                "SW104",
                op,
                Level.WARNING,
                f"duplicates in {target} are taken out after they came in: until then, and when this"
                f" step fails, readers see them",
                _dedup_fix(flow.context, op, adds[0], target),
                target=target,
                related=related,
            )
        else:
            yield found(
                "SW104",
                op,
                Level.WARNING,
                f"this takes duplicates out of {target}; what lets them in is not seen here",
                Fix(f"write to {target} by key (MERGE, ON CONFLICT), so that there is nothing to take out"),
                unsure=True,
                target=target,
            )


def _together(one: Op, other: Op) -> bool:
    """In one transaction, or never both."""
    return exclude(one, other) or (one.tx is not None and one.tx == other.tx)


def _adds(op: Op, target: str) -> bool:
    if isinstance(op, SqlOp):
        return op.statement.kind in ("insert", "values", "copy") and same_table(op.statement.target, target)
    return isinstance(op, FrameOp) and op.mode == "append" and same_table(op.target, target)


def _dedup_fix(context: Context, op: Op, add: Op, target: str) -> Fix:
    text = f"write to {last_part(target)} by key (MERGE, ON CONFLICT) and drop this step"
    if not isinstance(op, SqlOp) or not isinstance(add, SqlOp) or op.via != "file" or not context.lines:
        return Fix(text)
    key = pick_key(add.statement.columns)
    edits = _at_end(context, add, f"ON CONFLICT ({key}) DO NOTHING")
    gone = Edit(op.place.line, op.place.last_line, ())
    return Fix(text, (*edits, gone)) if edits else Fix(text)
