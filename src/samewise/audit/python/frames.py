"""DataFrames of Spark, pandas and their like: what is done to the rows, and how they are written."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from samewise.audit.facts import Frame
from samewise.audit.python import loads, statements, writers
from samewise.audit.python.changes import changed_by, filtered, frame_of
from samewise.audit.python.spark import clock_of_path, path_target
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
    text_of,
)

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


def attribute(run: Interpreter, owner: Value, name: str, node: ast.AST) -> Value | None:
    """df.write, df.writeStream, df[...]"""
    if name == "write" and not isinstance(owner, Ref | Handle | Str | Const):
        return Writer(frame=frame_of(owner), var=owner.name)
    if name == "writeStream" and not isinstance(owner, Ref | Str):
        return Writer(frame=frame_of(owner), stream=True, var=owner.name)
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


def _selected(run: Interpreter, owner: FrameV, node: ast.Subscript) -> Value:
    """df["a"], df[["a", "b"]], df[mask]"""
    index = run.eval(node.slice) if not isinstance(node.slice, ast.Slice) else Value()
    if isinstance(index, Str):
        return Handle(owner.tags & {"clock"}, owner.asked, kind="column", data={"name": index.text}, name=index.text)
    if isinstance(index, Seq):
        return owner
    return FrameV(owner.tags, owner.asked, owner.name, frame=filtered(run, owner.frame, [index], node))


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
            # Rows of which nothing is known come from somewhere else.
            base = replace(base, tables=base.tables | {"?"})
            kind = kwargs.get("how")
            return FrameV(
                tags, asked, frame=replace(base, dedup=None, anti=isinstance(kind, Str) and "anti" in kind.text)
            )
    if isinstance(owner, Writer):
        return writers.step(run, node, owner, name, args, kwargs)
    written = loads.call(run, node, owner, name, args, kwargs)
    if written is not None:
        return written
    if (
        name in ("createOrReplaceTempView", "createTempView", "registerTempTable", "createOrReplaceGlobalTempView")
        and args
    ):
        view = text_of(args[0])
        if view:
            run.flow.views[view.lower()] = frame_of(owner)
        return Const(value=None)
    if name in ("isEmpty", "is_empty"):
        if isinstance(owner, FrameV):
            owner.frame.checked_empty = True
        run.flow.checked_empty = True
        return Value()
    if name in ("count", "head", "take", "first", "isEmpty") and isinstance(owner, FrameV) and name != "head":
        return Value(asked=owner.asked, name=owner.name)
    if isinstance(owner, FrameV) or (name in _CHANGES and _frame_like(owner, name)):
        return changed_by(run, node, owner, name, args, kwargs)
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
        if isinstance(text, Str) and statements.is_select(text.text):
            frame = statements.query_frame(run, text, node)
            given = kwargs.get("params") or (args[4] if len(args) > 4 else None)
            if given is not None:
                frame.asked |= given.asked
        else:
            name = text_of(text) or ""
            frame = Frame(tables=frozenset({name.lower()} if name else ()))
        frame.lib = "pandas"
        return FrameV(frozenset(), frame.tables, frame=frame)
    first = text_of(args[0]) if args else None
    tables = frozenset({path_target(first)} if first else ())
    frame = Frame(lib="pandas", raw="files", tables=tables, clock=clock_of_path(run, first, node))
    return FrameV(frame=frame)
