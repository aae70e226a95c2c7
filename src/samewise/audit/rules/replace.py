"""Replacing in two steps: SW201, SW202."""

from __future__ import annotations

from collections.abc import Iterator

from samewise.audit.facts import Flow, FrameOp, Op, SqlOp
from samewise.audit.finding import Edit, Finding, Fix, Level, Related
from samewise.audit.rules.base import found, named, swap, wrap
from samewise.audit.rules.shared import cleared_before, is_staging, passes_on, quiet, target_of
from samewise.audit.sql.dialect import AUTOCOMMIT
from samewise.audit.sql.statement import is_scratch, same_table

_ATOMIC_SWAP = frozenset({"snowflake", "bigquery", "databricks", "spark", "duckdb"})


def delete_insert(flow: Flow) -> Iterator[Finding]:
    """SW201: DELETE or TRUNCATE, then INSERT, not in one transaction."""
    if quiet(flow):
        return
    told: set[int] = set()
    for op in flow.ops:
        if not _fills(op):
            continue
        cleared = cleared_before(flow, op)
        if cleared is None or cleared.together or cleared.fresh or not cleared.sure:
            continue
        target = target_of(op)
        if id(cleared.op) in told or is_staging(target) or passes_on(flow, op, target):
            continue
        told.add(id(cleared.op))
        verb = cleared.op.statement.uppers[0] if isinstance(cleared.op, SqlOp) else "the delete"
        level, unsure = _how_sure(cleared.op, op)
        unsure = unsure or _in_a_template(cleared.op)
        yield found(
            "SW201",
            cleared.op,
            level,
            f"{verb} and the rows that replace it are separate commits: a failure in between leaves"
            f" {named(target)} without them",
            _fix(flow, cleared.op, op),
            unsure=unsure,
            target=target,
            related=(Related(op.place, "the rows come back here"),),
        )


def _in_a_template(op: Op) -> bool:
    """Whoever fills it in runs it, in a transaction or not."""
    return isinstance(op, SqlOp) and op.via == "file" and op.told


def _fills(op: Op) -> bool:
    if isinstance(op, SqlOp):
        return op.statement.kind in ("insert", "values", "copy")
    return isinstance(op, FrameOp) and op.mode == "append"


def _how_sure(clear: Op, fill: Op) -> tuple[Level, bool]:
    if isinstance(clear, SqlOp) and isinstance(fill, SqlOp):
        if clear.via == fill.via == "file":
            return Level.WARNING, False
        if not (clear.tx_sure and fill.tx_sure):
            return Level.WARNING, True
        return Level.ERROR, False
    return Level.WARNING, False


def _fix(flow: Flow, clear: Op, fill: Op) -> Fix:
    target = named(target_of(fill))
    if isinstance(fill, FrameOp) and fill.lib == "spark":
        return Fix(
            f'write once: .mode("overwrite").option("replaceWhere", "<the rows that are deleted here>") into {target}'
        )
    dialect = (clear.statement.dialect if isinstance(clear, SqlOp) else "") or flow.dialect
    if dialect in AUTOCOMMIT or (isinstance(clear, SqlOp) and clear.via == "spark"):
        return Fix(f"replace in one statement: INSERT INTO {target} REPLACE WHERE <the window> SELECT ..., or MERGE")
    if isinstance(clear, SqlOp) and clear.via == "file":
        begin = "BEGIN TRANSACTION;" if dialect in ("tsql", "bigquery", "snowflake") else "BEGIN;"
        if dialect == "mysql":
            begin = "START TRANSACTION;"
        truncates = clear.statement.kind == "truncate" and dialect in ("mysql", "redshift", "oracle")
        text = f"put both into one transaction ({begin} ... COMMIT;)"
        if truncates:
            return Fix(text + f", and DELETE FROM {target}: TRUNCATE commits by itself here")
        return Fix(text, wrap(flow.context, clear.place, fill.place, begin, "COMMIT;"))
    between = [op for op in flow.ops if op.place > clear.place and op.place < fill.place]
    return Fix(
        "commit once, after both: `with engine.begin() as connection:` around them, or one"
        " connection.commit() at the end",
        _one_commit(flow, clear, fill, between),
    )


def _one_commit(flow: Flow, clear: Op, fill: Op, between: list[Op]) -> tuple[Edit, ...]:
    """Take out a lone `x.commit()` line between the two."""
    lines = flow.context.lines
    if flow.context.language == "notebook" or fill.place.line - clear.place.last_line > 30:
        return ()
    for number in range(clear.place.last_line + 1, fill.place.line):
        if lines[number - 1].strip().endswith(".commit()"):
            return (Edit(number, number, ()),)
    return ()


def dropping_swap(flow: Flow) -> Iterator[Finding]:
    """SW202: the old table is dropped before the new one has its name."""
    if quiet(flow):
        return
    for index, op in enumerate(flow.ops):
        if not isinstance(op, SqlOp) or op.statement.kind != "drop" or not op.statement.target:
            continue
        target = op.statement.target
        comes = _comes_back(flow.ops[index + 1 :], target)
        if comes is None or (op.tx is not None and op.tx == comes.tx) or is_scratch(target):
            continue
        renamed = comes.statement.kind == "rename"
        if not renamed and (is_staging(target) or passes_on(flow, comes, target)):
            continue
        if _kept_aside(flow.ops[:index], target):
            continue
        dialect = op.statement.dialect or flow.dialect or ("snowflake" if _replaces(flow) else "")
        unsure = (not op.tx_sure and op.via not in ("file", "spark")) or _in_a_template(op)
        yield found(
            "SW202",
            op,
            Level.ERROR if renamed else Level.WARNING,
            f"{target} is dropped before the new one is there: a failure in between leaves no table at all",
            _swap_fix(flow, op, comes, dialect, renamed=renamed),
            unsure=unsure,
            target=target,
            related=(Related(comes.place, "the new one comes here"),),
        )


def _replaces(flow: Flow) -> bool:
    """CREATE OR REPLACE TABLE is known here: where it is, DDL takes no part in transactions."""
    return any(isinstance(op, SqlOp) and "or_replace" in op.statement.modifiers for op in flow.ops)


def _comes_back(ops: list[Op], target: str) -> SqlOp | None:
    for op in ops:
        if not isinstance(op, SqlOp):
            continue
        statement = op.statement
        if statement.kind == "rename" and same_table(statement.target, target):
            return op
        if statement.kind in ("ctas", "create") and same_table(statement.target, target):
            return op if statement.kind == "ctas" and "temp" not in statement.modifiers else None
    return None


def _kept_aside(before: list[Op], target: str) -> bool:
    """The old one was renamed away just before: what is dropped is not what readers read."""
    return any(
        isinstance(op, SqlOp)
        and op.statement.kind == "rename"
        and any(same_table(target, s) for s in op.statement.sources)
        for op in before
    )


def _swap_fix(flow: Flow, op: SqlOp, comes: SqlOp, dialect: str, *, renamed: bool) -> Fix:
    target = op.statement.target
    if dialect in _ATOMIC_SWAP or op.via == "spark":
        if not renamed:
            edits = swap(flow.context, comes.place, r"CREATE\s+TABLE(\s+IF\s+NOT\s+EXISTS)?", "CREATE OR REPLACE TABLE")
            gone = Edit(op.place.line, op.place.last_line, ()) if op.via == "file" else None
            return Fix(
                f"CREATE OR REPLACE TABLE {target} AS ...: readers see the old or the new",
                (gone, *edits) if gone and edits else (),
            )
        return Fix(
            f"ALTER TABLE {target} SWAP WITH the new one, or CREATE OR REPLACE TABLE {target}, then drop the old one"
        )
    if dialect == "mysql":
        return Fix(
            f"RENAME TABLE {target} TO {target}_old, {target}_new TO {target} (one atomic statement),"
            f" then drop {target}_old"
        )
    edits = wrap(flow.context, op.place, comes.place, "BEGIN;", "COMMIT;") if op.via == "file" else ()
    return Fix(f"put DROP and what follows into one transaction, or rename {target} away first and drop it last", edits)
