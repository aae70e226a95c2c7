"""What a method of a DataFrame does to its rows."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from samewise.audit.facts import Frame
from samewise.audit.python.values import (
    Const,
    FrameV,
    Handle,
    Str,
    Value,
    merged,
    names_of,
    text_of,
)
from samewise.audit.sql.names import is_key
from samewise.audit.sql.numbering import judge_order

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter


def made_by(value: Value) -> str:
    """What makes a column's value another one in every run; empty for nothing."""
    if isinstance(value, Handle) and value.kind == "column" and value.data.get("made"):
        return str(value.data["made"])
    if "uuid" in value.tags:
        return "uuid4"
    return ""


def frame_of(value: Value) -> Frame:
    if isinstance(value, FrameV):
        return value.frame
    return Frame(param=True, asked=value.asked, anti="notin" in value.tags)


def filtered(run: Interpreter, frame: Frame, tests: list[Value], node: ast.AST) -> Frame:
    changed = frame
    for test in tests:
        if test.asked:
            changed = replace(changed, asked=changed.asked | test.asked)
        if "clock_filter" in test.tags or (isinstance(test, Str) and _text_clock(test)):
            changed = replace(changed, clock=("the clock", run.place(node)))
        if "notin" in test.tags or "isnull" in test.tags:
            changed = replace(changed, anti=True)
        if "first_of_each" in test.tags or (isinstance(test, Str) and re.search(r"\b\w+\s*={1,2}\s*1\b", test.text)):
            pending = frame.numbered
            if isinstance(pending, Handle):
                changed = _first_of_each(changed, pending)
        if isinstance(test, Str) and re.search(
            r"not\s+in|not\s+exists|_merge\s*==\s*.left_only", test.text, re.IGNORECASE
        ):
            changed = replace(changed, anti=True)
        if "left_only" in test.tags:
            changed = replace(changed, anti=True)
    return changed


def _text_clock(test: Str) -> bool:
    return (
        re.search(
            r"\w+\s*(>|>=|=|==)\s*['(]*\s*(date_sub\()?(date\()?\s*(current_date|current_timestamp|now\(|jj_clock)",
            test.text,
            re.IGNORECASE,
        )
        is not None
    )


def _first_of_each(frame: Frame, numbered: Handle) -> Frame:
    partition = [str(p).lower() for p in numbered.data.get("partition", [])]
    order = [str(o).lower() for o in numbered.data.get("order", [])]
    changed = replace(frame, dedup=tuple(partition))
    if "?" in order:
        return changed
    why, unsure = judge_order(partition, order)
    place = numbered.data.get("place")
    if why and place is not None:
        why = why.replace("ORDER BY", "orderBy")
        changed = replace(changed, loose=(why, place, unsure))
    return changed


def changed_by(
    run: Interpreter, node: ast.Call, owner: Value, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """df.method(...): the same rows, less or other ones."""
    frame = frame_of(owner)
    tags, asked = merged([owner, *args])
    others = [one.frame for one in args if isinstance(one, FrameV)]
    # Rows of which nothing is known come from somewhere else.
    tables = frozenset().union(frame.tables, *(one.tables or {"?"} for one in others))
    changed = replace(frame, tables=tables)
    numbered = frame.numbered
    match name:
        case "dropDuplicates" | "drop_duplicates" | "distinct" | "unique" | "dropDuplicatesWithinWatermark":
            subset = args[0] if args else kwargs.get("subset")
            changed = replace(changed, dedup=tuple(n.lower() for n in names_of(subset)), dedup_place=run.place(node))
        case "groupBy" | "groupby" | "group_by":
            changed = replace(changed, dedup=tuple(n.lower() for n in names_of(*args)), dedup_place=None)
        case "filter" | "where" | "query":
            changed = filtered(run, changed, args, node)
        case "withColumn" | "with_column" if len(args) >= 2 and isinstance(args[0], Str):
            column, value = args[0].text.lower(), args[1]
            if isinstance(value, Handle) and value.kind == "rownum" and value.data.get("partition"):
                numbered = value
            made = made_by(value)
            if made and is_key(column):
                changed = replace(
                    changed, generated={**frame.generated, column: (made, run.place(run.statement or node))}
                )
        case "select" | "assign":
            generated = dict(frame.generated)
            for column, value in kwargs.items():
                if made_by(value) and is_key(column):
                    generated[column] = (made_by(value), run.place(run.statement or node))
            changed = replace(changed, generated=generated)
        case "limit":
            first = args[0] if args else None
            if not frame.ordered and not (isinstance(first, Const) and first.value in (0, 1)):
                changed = replace(changed, limited=run.place(node))
        case "orderBy" | "sort" | "sort_values" | "order_by":
            changed = replace(changed, ordered=True)
        case "join" | "merge":
            how = text_of(kwargs.get("how")) or (text_of(args[2]) if len(args) > 2 else "") or ""
            indicator = kwargs.get("indicator")
            changed = replace(changed, dedup=None if others and not others[0].dedup else changed.dedup)
            if "anti" in how:
                changed = replace(changed, anti=True)
            if (isinstance(indicator, Const) and indicator.value) or isinstance(indicator, Str):
                tags = tags | {"left_only"}
        case "subtract" | "exceptAll" | "except_all":
            changed = replace(changed, anti=True)
        case "union" | "unionAll" | "unionByName" | "explode" | "concat":
            changed = replace(changed, dedup=None)
        case "collect" | "toLocalIterator" | "to_dict" | "itertuples" | "iterrows" | "values" | "tolist" | "to_records":
            return Value(tags, asked | tables, owner.name)
        case "count" | "nunique" | "max" | "min" | "sum" | "printSchema" | "show" | "display" | "info":
            return Value(tags, asked | tables, owner.name)
        case _:
            pass
    if numbered is not None:
        changed = replace(changed, numbered=numbered)
    return FrameV(tags, asked, owner.name, frame=changed)
