"""Progress that runs ahead of the data, or that two runs share: SW403, SW404."""

from __future__ import annotations

import re
from collections.abc import Iterator

from samewise.audit.facts import Flow, FrameOp, MarkOp, Op, SqlOp, exclude
from samewise.audit.finding import Edit, Finding, Fix, Level, Place, Related
from samewise.audit.rules.base import found, named, swap
from samewise.audit.rules.shared import is_staging, quiet
from samewise.audit.sql.statement import is_log, same_table

MARK = re.compile(
    r"watermark|water_mark|bookmark|high_water|hwm|last_(run|load|loaded|sync|synced|id|ts|date|processed|updated|value"
    r"|success|extract|ingested|seen|timestamp|execution|pull|offset)|sync_state|etl_state|ingest_state|load_state|cursor_state"
    r"|incremental_state|checkpoints?$|_offsets?$|^offsets?$|etl_control|load_control"
)


def is_mark(op: Op) -> str:
    """What progress an operation writes down; empty for none."""
    if isinstance(op, MarkOp):
        return op.what
    if isinstance(op, SqlOp) and op.statement.kind in ("update", "values", "insert", "merge", "upsert"):
        statement = op.statement
        if op.statement.has("DO NOTHING") or "ignore" in statement.modifiers:
            return ""
        last = statement.target.rpartition(".")[2]
        if MARK.search(last) and not last.endswith("_log"):
            return statement.target
        if statement.kind == "update" and statement.target:
            sets = re.search(
                r" SET (.*?)( WHERE |$)", statement.flat.lower().replace(" set ", " SET ").replace(" where ", " WHERE ")
            )
            column = re.match(r"[\w. ]*?(\w+) =", sets[1]) if sets else None
            if (
                column
                and MARK.search(column[1])
                and re.search(r"config|control|state|meta|job|etl|sync|pipeline|source|status", last)
            ):
                return statement.target
    return ""


def _is_data(op: Op) -> bool:
    if isinstance(op, FrameOp):
        return op.mode in ("append", "overwrite", "merge", "unknown", "fail")
    if isinstance(op, SqlOp):
        statement = op.statement
        if statement.kind not in ("insert", "values", "overwrite", "merge", "copy", "upsert"):
            return False
        return (
            not is_mark(op) and not is_log(statement.target) and not is_staging(statement.target) and not _is_status(op)
        )
    return False


def _is_status(op: SqlOp) -> bool:
    return re.search(r"(^|_)(job|run|task|batch|status)s?$", op.statement.target.rpartition(".")[2]) is not None


def mark_before_write(flow: Flow) -> Iterator[Finding]:
    """SW403: the watermark moves, and then the rows are written."""
    if quiet(flow):
        return
    written = False
    for index, op in enumerate(flow.ops):
        if _is_data(op):
            written = True
            continue
        what = is_mark(op)
        if not what:
            continue
        later = next(
            (one for one in flow.ops[index + 1 :] if _is_data(one) and not exclude(op, one)),
            None,
        )
        again = later is not None and any(is_mark(one) for one in flow.ops[flow.ops.index(later) :])
        if later is not None and not written and not again and not (op.tx is not None and op.tx == later.tx):
            yield found(
                "SW403",
                op,
                Level.ERROR if later.path == op.path else Level.WARNING,
                f"{what} moves before the rows are written: a failure in between, and they are never loaded",
                Fix(
                    "write the rows first and move the watermark last, best in the same transaction",
                    _moved(flow, op, later),
                ),
                target=what,
                related=(Related(later.place, "the rows are written here"),),
            )
        written = False


def overlapping(flow: Flow) -> Iterator[Finding]:
    """SW404: a load that goes on from the newest row of its target, in runs that may overlap."""
    if quiet(flow):
        return
    for op in flow.ops:
        task = op.task
        if task is None or not _goes_on(flow, op) or not task.schedule or task.schedule == "None":
            continue
        if task.kind != "airflow" or task.depends_on_past or task.one_at_a_time or not task.catchup:
            continue
        target = op.statement.target if isinstance(op, SqlOp) else getattr(op, "target", "")
        yield found(
            "SW404",
            op,
            Level.WARNING,
            f"it goes on from the newest row of {named(target)}, and runs of this DAG may overlap: two that read the"
            " same newest row both load what follows",
            Fix("one run at a time: DAG(..., max_active_runs=1), or depends_on_past=True", _one_at_a_time(flow)),
            unsure=True,
            target=target,
        )


def _goes_on(flow: Flow, op: Op) -> bool:
    if isinstance(op, SqlOp):
        statement = op.statement
        reads = any(same_table(statement.target, source) for source in (*statement.sources, *op.guards))
        if statement.kind != "insert" or " ON CONFLICT " in statement.flat or "ignore" in statement.modifiers:
            return False
        return reads and ("MAX" in statement.uppers or any(same_table(statement.target, g) for g in op.guards))
    return isinstance(op, FrameOp) and op.mode == "append" and any(same_table(op.target, t) for t in op.frame.asked)


def _one_at_a_time(flow: Flow) -> tuple[Edit, ...]:
    for number, line in enumerate(flow.context.lines, start=1):
        if re.search(r"schedule(_interval)?\s*=", line):
            return swap(flow.context, Place(number), r"(schedule(?:_interval)?\s*=)", r"max_active_runs=1, \1")
    return ()


def _moved(flow: Flow, mark: Op, later: Op) -> tuple[Edit, ...]:
    lines = flow.context.lines
    first, last = mark.edit_lines if mark.edit_lines[0] else (mark.place.line, mark.place.last_line)
    end = later.edit_lines[1] or later.place.last_line
    if flow.context.language == "notebook" or mark.scope != later.scope or end > len(lines) or end <= last:
        return ()
    return (Edit(first, last, ()), Edit(end, end, (lines[end - 1], *lines[first - 1 : last])))
