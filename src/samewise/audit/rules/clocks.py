"""The clock decides what is loaded: SW401, SW402; and a partition that is coarser than the schedule: SW205."""

from __future__ import annotations

import re
from collections.abc import Iterator

from samewise.audit.facts import Flow, FrameOp, ModelOp, Op, SqlOp
from samewise.audit.finding import Edit, Finding, Fix, Level, Place
from samewise.audit.rules.base import found, named, swap
from samewise.audit.rules.shared import cleared_before, guard_of, quiet
from samewise.audit.sql.inside import CLOCK, clock_filter

_DAILY = re.compile(
    r"\{\{\s*(ds|ds_nodash|yesterday_ds|prev_ds|execution_date\s*\|\s*ds|data_interval_start\s*\|\s*ds)\b[^}]*\}\}"
)
_EXACT = re.compile(
    r"\{\{\s*(data_interval_start|data_interval_end|ts|ts_nodash|execution_date|next_execution_date|logical_date)(?![^}]*\|\s*ds)[^}]*\}\}"
)


def clock_in_filter(flow: Flow) -> Iterator[Finding]:
    """SW401 outside a task of an orchestrator that knows the interval, SW402 inside one."""
    if quiet(flow):
        return
    told: set[Place] = set()
    for op, clock, place, what in _clocks(flow):
        if place in told:
            continue
        told.add(place)
        in_task = op.task is not None and op.task.kind == "airflow"
        if in_task:
            message = f"{what} by {clock}, not by the data interval: a retry tomorrow, or a backfill, loads other rows"
            fix = Fix(
                "use the run's own interval: {{ ds }}, {{ data_interval_start }}, or context['data_interval_start']",
                _clock_edit(flow, op, place),
            )
        else:
            message = (
                f"{what} by {clock}: a run that is late, or repeated, loads other rows, and those in between are lost"
            )
            fix = Fix(
                "pass the window in as a parameter (:window_start, :window_end) and filter by that",
                _clock_edit(flow, op, place),
            )
        yield found("SW402" if in_task else "SW401", op, Level.WARNING, message, fix, place=place, target=_target(op))
    for place, clock in flow.clocks:
        op = Op(place, scope=flow.name)
        yield found(
            "SW402",
            op,
            Level.WARNING,
            f"{clock} is asked when the file is read: the intervals of the runs move with it",
            Fix(
                "give a fixed date: start_date=datetime(2026, 1, 1)",
                swap(flow.context, place, r"start_date\s*=\s*[\w.]+\([^)]*\)", "start_date=datetime(2026, 1, 1)"),
            ),
        )


def _target(op: Op) -> str:
    return op.statement.target if isinstance(op, SqlOp) else getattr(op, "target", "")


def _clocks(flow: Flow) -> Iterator[tuple[Op, str, Place, str]]:
    for op in flow.ops:
        if isinstance(op, SqlOp):
            yield from _sql_clock(flow, op)
        elif isinstance(op, FrameOp):
            if op.frame.clock is not None and not _whole(op):
                clock, place = op.frame.clock
                yield op, clock, place, f"what goes into {named(op.target, 'the target')} is chosen"
            if op.clock_target:
                yield op, "the clock", op.place, f"where it is written ({named(op.target, 'a path')}) is decided"


def _whole(op: FrameOp) -> bool:
    """The whole table is replaced: it shows how things are now, and may."""
    if op.mode in ("fail", "ignore"):
        return True
    return op.mode == "overwrite" and not op.dynamic and not any(o.lower() == "replacewhere" for o in op.options)


def _sql_clock(flow: Flow, op: SqlOp) -> Iterator[tuple[Op, str, Place, str]]:
    statement = op.statement
    kind = statement.kind
    if isinstance(op, ModelOp):
        if op.config.get("materialized") == "incremental" and op.filter:
            clock = CLOCK.search(op.filter)
            if clock is not None and clock_filter(statement):
                yield (
                    op,
                    clock[0].strip(" ("),
                    _clock_place(op),
                    f"what an incremental run of {op.name} loads is chosen",
                )
        return
    if kind not in ("insert", "merge", "upsert", "overwrite"):
        return
    if kind == "overwrite" and "partition" not in statement.modifiers:
        return
    clock_name = clock_filter(statement)
    if not clock_name:
        return
    if kind == "insert":
        cleared = cleared_before(flow, op)
        if (cleared is not None and cleared.whole) or guard_of(flow, op) == "check":
            return
    yield op, _shown(clock_name), _clock_place(op), f"what goes into {named(statement.target)} is chosen"


def _shown(name: str) -> str:
    return "the clock" if "clock" in name else name


def _clock_place(op: SqlOp) -> Place:
    match = CLOCK.search(op.statement.text)
    if match is None or op.place.line == op.place.last_line:
        return op.place
    where = op.statement.text.upper().find("WHERE")
    match = CLOCK.search(op.statement.text, max(where, 0)) or match
    line = min(op.place.line + op.statement.text[: match.start()].count("\n"), op.place.last_line)
    return Place(line, 1, line, 0, op.place.cell)


_EXPRESSION = (
    r"(?:DATEADD|DATE_SUB|DATE_ADD|TIMESTAMP_SUB|DATE)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)"
    r"|(?:current_date|current_timestamp|now|getdate|sysdate)\s*(?:\(\s*\))?(?:\s*-\s*(?:interval\s*'[^']*'|interval\s+\d+\s+\w+|\d+))?"
)


def _clock_edit(flow: Flow, op: Op, place: Place) -> tuple[Edit, ...]:
    if not isinstance(op, SqlOp):
        return ()
    value = "DATE '{{ ds }}'" if op.task is not None else ":window_start"
    if isinstance(op, ModelOp):
        value = "(select max({{ var('updated_column') }}) from {{ this }})"
    return swap(flow.context, place, _EXPRESSION, lambda _: value)


def grain_of(schedule: str) -> str:
    """hour, day, week or month; empty where it is not known."""
    text = schedule.strip().lower()
    named_grains = {
        "@hourly": "hour",
        "@daily": "day",
        "@midnight": "day",
        "@weekly": "week",
        "@monthly": "month",
        "hourly": "hour",
        "daily": "day",
    }
    if text in named_grains:
        return named_grains[text]
    delta = re.match(r"timedelta\((\w+)=(\d+)", text)
    if delta:
        return {
            "minutes": "hour",
            "hours": "hour" if int(delta[2]) < 24 else "day",
            "days": "day",
            "weeks": "week",
        }.get(delta[1], "")
    parts = text.split()
    if len(parts) != 5:
        return ""
    minute, hour, day, month, weekday = parts
    if hour == "*" or "/" in hour or "," in hour or "/" in minute or minute == "*":
        return "hour"
    if day == month == weekday == "*":
        return "day"
    return ""


def coarse_partition(flow: Flow) -> Iterator[Finding]:
    """SW205: every run replaces more than it loads."""
    if quiet(flow):
        return
    for index, op in enumerate(flow.ops):
        if isinstance(op, ModelOp):
            yield from _coarse_model(flow, op)
        elif isinstance(op, SqlOp) and op.task is not None and grain_of(op.task.schedule) == "hour":
            replaced = _replaced(flow, index, op)
            if replaced and _DAILY.search(replaced) and not _EXACT.search(replaced):
                rest = op.raw.replace(replaced, "")
                if _EXACT.search(rest) and not _DAILY.search(rest):
                    yield found(
                        "SW205",
                        op,
                        Level.ERROR,
                        f"the run of each hour replaces a whole day of {named(op.statement.target)}"
                        f" with its own hour: the other 23 are lost",
                        Fix(
                            "replace what the run loads: partition by hour, or run daily, or load"
                            " the whole day each time",
                            _schedule_edit(flow),
                        ),
                        target=op.statement.target,
                    )


def _replaced(flow: Flow, index: int, op: SqlOp) -> str:
    """The part of the SQL that says what is taken away."""
    if op.statement.kind == "overwrite":
        found_partition = re.search(r"PARTITION\s*\(.*?\)", op.raw, re.IGNORECASE | re.DOTALL)
        return found_partition[0] if found_partition else ""
    if op.statement.kind == "insert" and index:
        cleared = cleared_before(flow, op)
        if cleared is not None and isinstance(cleared.op, SqlOp) and cleared.op.statement.kind == "delete":
            return cleared.op.raw
    return ""


def _schedule_edit(flow: Flow) -> tuple[Edit, ...]:
    for number, line in enumerate(flow.context.lines, start=1):
        if re.search(r"schedule(_interval)?\s*=", line):
            return swap(
                flow.context,
                Place(number),
                r"(schedule(?:_interval)?\s*=\s*)([\"'][^\"']*[\"']|timedelta\([^)]*\))",
                r'\1"@daily"',
            )
    return ()


_SPAN = re.compile(
    r"interval\s*'?(\d+)\s*'?\s*(hour|minute|day)|(?:dateadd|timestamp_sub|date_sub)\s*\(\s*'?(hour|minute|day)",
    re.IGNORECASE,
)


def _coarse_model(flow: Flow, op: ModelOp) -> Iterator[Finding]:
    config = op.config
    if config.get("materialized") != "incremental" or config.get("incremental_strategy") != "insert_overwrite":
        return
    partition = config.get("partition_by")
    if not isinstance(partition, dict) or not op.filter:
        return
    grain = str(partition.get("granularity", "day")).lower()
    span = _SPAN.search(op.filter)
    if span is None:
        return
    count, unit = int(span[1] or 1), (span[2] or span[3]).lower()
    short = (unit in ("hour", "minute") and grain in ("day", "month", "year") and count < 24) or (
        unit == "day" and grain in ("month", "year") and count < 28
    )
    if short:
        yield found(
            "SW205",
            op,
            Level.ERROR,
            f"{op.name} replaces whole partitions (by {grain}) with the rows of the last {count}"
            f" {unit}{'s' if count > 1 else ''}: the rest of the {grain} is lost",
            Fix(f"filter by whole partitions (date_trunc('{grain}', ...)), or partition by {unit}"),
            target=op.name,
        )


def none(flow: Flow) -> Iterator[Finding]:
    """SW402 is told by `clock_in_filter`, which knows whether it is in a task."""
    yield from ()
