"""The end of a DataFrame's way: writers, to_sql, merges."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from samewise.audit.facts import Flow, Frame, FrameOp, StreamOp
from samewise.audit.python.spark import path_target
from samewise.audit.python.values import (
    Const,
    FrameV,
    Func,
    Str,
    Value,
    Writer,
    as_text,
    names_of,
    options_of,
    text_of,
)

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter

_ENDS = frozenset(
    [
        "save",
        "saveAsTable",
        "insertInto",
        "parquet",
        "orc",
        "csv",
        "json",
        "text",
        "avro",
        "jdbc",
        "delta",
        "save_as_table",
        "append",
        "overwritePartitions",
        "overwrite",
        "createOrReplace",
        "create",
        "replace",
        "start",
        "toTable",
        "table",
    ]
)
_MODES = {
    "append": "append",
    "overwrite": "overwrite",
    "error": "fail",
    "errorifexists": "fail",
    "ignore": "ignore",
    "default": "fail",
    "truncate": "overwrite",
}


def step(
    run: Interpreter, node: ast.Call, owner: Writer, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """One call on a writer: it is told something, or it writes."""
    first = args[0] if args else None
    match name:
        case "mode" | "outputMode" if not owner.stream:
            owner.mode = first if first is not None else kwargs.get("saveMode") or kwargs.get("mode") or Value()
        case "format" | "using":
            owner.format = (text_of(first) or "").lower()
            owner.sure = owner.sure and isinstance(first, Str)
        case "option":
            if len(args) >= 2:
                owner.options[as_text(args[0])] = as_text(args[1])
            if args and not isinstance(args[0], Str):
                owner.options["?"] = "?"
        case "options":
            for key, value in kwargs.items():
                if key == "**":
                    owner.options["?"] = "?"
                    for inner, held in getattr(value, "items", {}).items():
                        owner.options[inner] = as_text(held)
                else:
                    owner.options[key] = as_text(value)
        case "partitionBy" | "partitionedBy" | "partition_by":
            owner.partition_by = names_of(*args)
        case "foreachBatch" | "foreach":
            owner.batch = first
        case _ if name in _ENDS and not (owner.stream and name in ("parquet", "csv", "json", "save")):
            return _end(run, node, owner, name, args, kwargs)
        case _:
            pass
    return owner


def modes(value: Value | None) -> tuple[str, bool]:
    """The mode of a writer, and whether it is sure."""
    if value is None:
        return "fail", True
    found = [
        _MODES.get(text.lower(), "unknown")
        if (text := text_of(one)) is not None and isinstance(one, Str) and one.exact
        else "unknown"
        for one in options_of(value)
    ]
    sure = len(found) == 1 and "default" not in value.tags
    if "append" in found:
        return "append", sure
    if "unknown" in found:
        return "unknown", False
    return (found[0] if found else "unknown"), sure


def _end(
    run: Interpreter, node: ast.Call, owner: Writer, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    first = args[0] if args else kwargs.get("path") or kwargs.get("name") or kwargs.get("tableName")
    if name == "jdbc":
        first = args[1] if len(args) > 1 else kwargs.get("table")
    target = path_target(
        text_of(first)
        or (as_text(first) if first is not None else "")
        or owner.options.get("dbtable", "")
        or owner.target
    )
    if not target:
        target = owner.options.get("dbtable", owner.options.get("path", owner.options.get("table", ""))).lower()
    if owner.stream:
        _started(run, node, owner, target, name)
        return Value(name="query")
    given = kwargs.get("mode") or (args[2] if name == "jdbc" and len(args) > 2 else None)
    mode, sure = modes(given if given is not None else owner.mode)
    fmt = owner.format or (name if name in ("parquet", "orc", "csv", "json", "text", "avro", "delta") else "")
    fmt = "jdbc" if name == "jdbc" else fmt
    dynamic = False
    options = {key.lower(): value.lower() for key, value in owner.options.items()}
    set_dynamic = run.flow.conf.get("spark.sql.sources.partitionOverwriteMode", "") == "dynamic"
    match name:
        case "insertInto":
            overwrite = kwargs.get("overwrite") or (args[1] if len(args) > 1 else None)
            if isinstance(overwrite, Const) and overwrite.value is True:
                mode, sure = "overwrite", True
            elif overwrite is not None and not isinstance(overwrite, Const):
                mode, sure = "unknown", False
            elif mode == "fail":
                mode, sure = "append", True
            dynamic = mode == "overwrite" and (set_dynamic or options.get("partitionoverwritemode") == "dynamic")
        case "append":
            mode, sure = "append", True
        case "overwritePartitions":
            mode, sure, dynamic = "overwrite", True, True
        case "overwrite":
            mode, sure = "overwrite", True
            owner.options["replaceWhere"] = "given"
        case "createOrReplace" | "replace":
            mode, sure = "overwrite", True
        case "create":
            mode, sure = "fail", True
        case _:
            dynamic = mode == "overwrite" and (
                options.get("partitionoverwritemode") == "dynamic" or (set_dynamic and bool(owner.partition_by))
            )
    if "replacewhere" in options:
        dynamic = False
    if not owner.sure and "?" in owner.options:
        sure = False
    if run.flow.checked_empty:
        owner.frame.checked_empty = True
    keys = tuple(value for key, value in owner.options.items() if key.startswith("hoodie") and "recordkey" in key)
    run.add(
        FrameOp(
            run.place(node),
            lib="spark",
            mode=mode,
            format=fmt,
            target=target,
            frame=owner.frame,
            options=dict(owner.options),
            partition_by=owner.partition_by,
            dynamic=dynamic,
            method=_method(name, mode),
            sure=sure,
            keys=keys or owner.keys,
            clock_target=clock_target(first),
            var=owner.var,
        )
    )
    return Value()


def _method(name: str, mode: str) -> str:
    return f"{name}()" if name in ("append", "insertInto") else f'{name}() with mode "{mode}"'


def clock_target(value: Value | None) -> bool:
    """A partition folder that the clock names: .../dt=2026-04-25"""
    return isinstance(value, Str) and re.search(r"=\s*jj_clock", value.text) is not None


def _started(run: Interpreter, node: ast.Call, owner: Writer, target: str, name: str) -> None:
    options = {key.lower() for key in owner.options}
    batch = _batch_flow(run, owner) if isinstance(owner.batch, Func) else None
    run.add(
        StreamOp(
            run.place(node),
            target=target or (owner.batch.name if owner.batch is not None else ""),
            sink=owner.format,
            checkpoint="checkpointlocation" in options,
            sure="?" not in owner.options,
            batch_flow=batch,
            frame=owner.frame,
        )
    )
    if batch is not None:
        run.flows.append(batch)


def _batch_flow(run: Interpreter, owner: Writer) -> Flow:
    """Follow the function that is called for each batch, as a flow of its own."""
    func = owner.batch
    assert isinstance(func, Func)
    outer, run.flow = run.flow, Flow(run.context, name=func.name, batch=True, dialect=run.flow.dialect)
    run.flow.views.update(outer.views)
    path, guards = run.path, run.guards
    run.path, run.guards = [], []
    batch = FrameV(
        name="batch_df",
        frame=Frame(lib="spark", raw="" if owner.frame.dedup is not None else owner.frame.raw, dedup=owner.frame.dedup),
    )
    try:
        made = run.invoke(func, [batch, Value(name="batch_id")], {})
        if isinstance(func.node, ast.Lambda):
            del made
    finally:
        flow, run.flow = run.flow, outer
        run.path, run.guards = path, guards
    return flow
