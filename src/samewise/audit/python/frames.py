"""DataFrames of Spark, pandas and their like: what is done to the rows, and how they are written."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from samewise.audit.facts import Frame
from samewise.audit.python import database, writers
from samewise.audit.python.spark import path_target
from samewise.audit.python.values import (
    Const,
    FrameV,
    Handle,
    Ref,
    Seq,
    Str,
    Value,
    Writer,
    merged,
    names_of,
    text_of,
)
from samewise.audit.sql.names import is_key
from samewise.audit.sql.numbering import judge_order

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter

_PANDAS_READS = re.compile(r"(^|\.)(pandas|polars|geopandas|modin\.pandas|dask\.dataframe)\.(read|scan)_(\w+)$")
_CHANGES = frozenset(
    [
        "withColumn",
        "withColumns",
        "select",
        "selectExpr",
        "withColumnRenamed",
        "drop",
        "fillna",
        "na",
        "cast",
        "alias",
        "toDF",
        "repartition",
        "coalesce",
        "cache",
        "persist",
        "union",
        "unionAll",
        "unionByName",
        "crossJoin",
        "hint",
        "transform",
        "rename",
        "assign",
        "astype",
        "reset_index",
        "set_index",
        "copy",
        "apply",
        "map",
        "fill",
        "dropna",
        "with_columns",
        "rename_columns",
        "checkpoint",
        "localCheckpoint",
        "unpersist",
        "pivot",
        "melt",
        "explode",
        "replace",
        "toPandas",
        "pandas_api",
        "to_pandas",
        "sample",
        "withWatermark",
        "observe",
        "dropFields",
        "add_prefix",
        "add_suffix",
        "round",
        "merge",
        "join",
        "query",
        "where",
        "filter",
        "limit",
        "orderBy",
        "sort",
        "sort_values",
        "sortWithinPartitions",
        "distinct",
        "dropDuplicates",
        "drop_duplicates",
        "dropDuplicatesWithinWatermark",
        "groupBy",
        "groupby",
        "agg",
        "subtract",
        "exceptAll",
        "unique",
        "head",
        "nlargest",
        "with_column",
        "with_column_renamed",
        "drop_duplicates",
        "order_by",
        "group_by",
        "count_distinct",
        "collect",
        "lazy",
        "write_csv",
    ]
)


def made_by(value: Value) -> str:
    """What makes a column's value another one in every run; empty for nothing."""
    if isinstance(value, Handle) and value.kind == "column" and value.data.get("made"):
        return str(value.data["made"])
    if "uuid" in value.tags:
        return "uuid4"
    return ""


def attribute(run: Interpreter, owner: Value, name: str, node: ast.AST) -> Value | None:
    """df.write, df.writeStream, df[...]"""
    if name == "write" and not isinstance(owner, Ref | Handle | Str | Const):
        return Writer(frame=_frame(owner), var=owner.name)
    if name == "writeStream" and not isinstance(owner, Ref | Str):
        return Writer(frame=_frame(owner), stream=True, var=owner.name)
    if name == "na" and isinstance(owner, FrameV):
        return owner
    if isinstance(owner, FrameV):
        if name == "[]" and isinstance(node, ast.Subscript):
            return _selected(run, owner, node)
        if name in ("columns", "schema", "rdd", "shape", "dtypes"):
            return Value(owner.tags, owner.asked, owner.name)
        if name in ("loc", "iloc"):
            return owner
        if name in ("empty", "isEmpty"):
            owner.frame.checked_empty = True
            return Value(asked=frozenset(owner.asked), name=owner.name)
        return Handle(owner.tags & {"clock"}, kind="column", data={"name": name}, name=name)
    return None


def _frame(value: Value) -> Frame:
    return value.frame if isinstance(value, FrameV) else Frame(param=True)


def _selected(run: Interpreter, owner: FrameV, node: ast.Subscript) -> Value:
    """df["a"], df[["a", "b"]], df[mask]"""
    index = run.eval(node.slice) if not isinstance(node.slice, ast.Slice) else Value()
    if isinstance(index, Str):
        return Handle(owner.tags & {"clock"}, owner.asked, kind="column", data={"name": index.text}, name=index.text)
    if isinstance(index, Seq):
        return owner
    return FrameV(owner.tags, owner.asked, owner.name, frame=_filtered(run, owner.frame, [index], node))


def _filtered(run: Interpreter, frame: Frame, tests: list[Value], node: ast.AST) -> Frame:
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


def call(
    run: Interpreter, node: ast.Call, owner: Value, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """Reading, changing and writing DataFrames."""
    if isinstance(owner, Ref):
        dotted = f"{owner.dotted}.{name}".strip(".")
        read = _PANDAS_READS.search(dotted)
        if read:
            return _read(run, node, read[4], args, kwargs)
        if dotted.endswith(
            (
                "pandas.DataFrame",
                "polars.DataFrame",
                "pandas.json_normalize",
                "pandas.DataFrame.from_records",
                "pandas.DataFrame.from_dict",
            )
        ):
            tags, asked = merged([*args, *kwargs.values()])
            return FrameV(tags, asked, frame=Frame(lib="pandas", anti="notin" in tags))
        if dotted.endswith(("pandas.concat", "pandas.merge", "polars.concat")):
            frames = [one for one in _flat(args) if isinstance(one, FrameV)]
            tags, asked = merged(args)
            base = frames[0].frame if frames else Frame(lib="pandas")
            kind = kwargs.get("how")
            return FrameV(
                tags, asked, frame=replace(base, dedup=None, anti=isinstance(kind, Str) and "anti" in kind.text)
            )
    if isinstance(owner, Writer):
        return writers.step(run, node, owner, name, args, kwargs)
    written = writers.call(run, node, owner, name, args, kwargs)
    if written is not None:
        return written
    if (
        name in ("createOrReplaceTempView", "createTempView", "registerTempTable", "createOrReplaceGlobalTempView")
        and args
    ):
        view = text_of(args[0])
        if view:
            run.flow.views[view.lower()] = _frame(owner)
        return Const(value=None)
    if name in ("isEmpty", "is_empty"):
        if isinstance(owner, FrameV):
            owner.frame.checked_empty = True
        run.flow.checked_empty = True
        return Value()
    if name in ("count", "head", "take", "first", "isEmpty") and isinstance(owner, FrameV) and name != "head":
        return Value(asked=owner.asked, name=owner.name)
    if isinstance(owner, FrameV) or (name in _CHANGES and _frame_like(owner, name)):
        return _changed(run, node, owner, name, args, kwargs)
    return None


def _flat(args: list[Value]) -> list[Value]:
    return [item for one in args for item in (one.items if isinstance(one, Seq) else [one])]


def _frame_like(owner: Value, name: str) -> bool:
    """A parameter or an unknown value that is used as a DataFrame."""
    if type(owner) is not Value:
        return False
    if name in (
        "dropDuplicates",
        "drop_duplicates",
        "withColumn",
        "selectExpr",
        "withColumnRenamed",
        "unionByName",
        "withWatermark",
    ):
        return True
    return re.search(r"(^|_)(df|frame|data|rows|batch|records|source|updates)(_|\d|$)|DF$|df$", owner.name) is not None


def _read(run: Interpreter, node: ast.Call, kind: str, args: list[Value], kwargs: dict[str, Value]) -> FrameV:
    if kind.startswith(("sql", "gbq", "database")):
        text = args[0] if args else kwargs.get("sql") or kwargs.get("query")
        if isinstance(text, Str) and database.is_select(text.text):
            frame = database.query_frame(run, text, node)
        else:
            name = text_of(text) or ""
            frame = Frame(tables=frozenset({name.lower()} if name else ()))
        frame.lib = "pandas"
        return FrameV(frozenset(), frame.tables, frame=frame)
    first = text_of(args[0]) if args else None
    tables = frozenset({path_target(first)} if first else ())
    return FrameV(frame=Frame(lib="pandas", raw="files", tables=tables))


def _changed(
    run: Interpreter, node: ast.Call, owner: Value, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """df.method(...): the same rows, less or other ones."""
    frame = _frame(owner)
    tags, asked = merged([owner, *args])
    others = [one.frame for one in args if isinstance(one, FrameV)]
    tables = frozenset().union(frame.tables, *(one.tables for one in others))
    changed = replace(frame, tables=tables)
    numbered = frame.numbered
    match name:
        case "dropDuplicates" | "drop_duplicates" | "distinct" | "unique" | "dropDuplicatesWithinWatermark":
            subset = args[0] if args else kwargs.get("subset")
            changed = replace(changed, dedup=tuple(n.lower() for n in names_of(subset)), dedup_place=run.place(node))
        case "groupBy" | "groupby" | "group_by":
            changed = replace(changed, dedup=tuple(n.lower() for n in names_of(*args)), dedup_place=None)
        case "filter" | "where" | "query":
            changed = _filtered(run, changed, args, node)
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
