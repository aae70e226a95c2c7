"""Spark: sessions, readers, columns, windows, Delta tables."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from samewise.audit.facts import ANY, ClearOp, Frame, FrameOp
from samewise.audit.finding import Place
from samewise.audit.python import statements
from samewise.audit.python.columns import applied, column_function, column_method, window_method
from samewise.audit.python.values import (
    Conn,
    FrameV,
    Handle,
    Map,
    Ref,
    Str,
    Value,
    as_text,
    merged,
    text_of,
)

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter

_SESSIONS = re.compile(
    r"^(spark|sqlcontext|sqlctx|hivecontext|hc|spark_session|sparksession|_spark|ss|session|spark_context_sql)$",
    re.IGNORECASE,
)
_FILES = frozenset(
    {
        "csv",
        "json",
        "parquet",
        "orc",
        "text",
        "avro",
        "xml",
        "cloudfiles",
        "kafka",
        "kinesis",
        "eventhubs",
        "binaryfile",
    }
)
_F = re.compile(
    r"(^|\.)(pyspark\.sql\.)?functions\.(\w+)$|^pyspark\.sql\.functions\.(\w+)$|snowpark\.functions\.(\w+)$"
)


def is_session(value: Value) -> bool:
    if isinstance(value, Handle):
        return value.kind == "spark"
    return (type(value) is Value or isinstance(value, Ref)) and _SESSIONS.match(value.name) is not None


def attribute(run: Interpreter, owner: Value, name: str, node: ast.AST) -> Value | None:
    """spark.read, spark.readStream, spark.conf."""
    if name in ("read", "readStream") and (is_session(owner) or not isinstance(owner, FrameV | Str)):
        if isinstance(owner, Ref) and not is_session(owner):
            return None
        return Handle(kind="reader", data={"stream": name == "readStream", "format": "", "options": {}})
    if name == "conf" and is_session(owner):
        return Handle(kind="conf")
    if name in ("sparkSession", "spark_session", "sql_ctx") and not isinstance(owner, Ref):
        return Handle(kind="spark", name="spark")
    if isinstance(owner, Handle) and owner.kind == "column" and name not in ("write", "writeStream"):
        return None
    return None


def call(
    run: Interpreter, node: ast.Call, owner: Value, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """Calls on Spark that are not about one DataFrame."""
    if isinstance(owner, Ref):
        made = _library(run, node, owner, name, args, kwargs)
        if made is not None:
            return made
    if isinstance(owner, Handle):
        match owner.kind:
            case "reader":
                return _reader(run, owner, name, args, kwargs)
            case "conf":
                if name == "set" and len(args) == 2 and isinstance(args[0], Str):
                    run.flow.conf[args[0].text] = as_text(args[1]).lower()
                return Value()
            case "window":
                return window_method(run, node, owner, name, args)
            case "rownum" if name == "over":
                window = args[0] if args and isinstance(args[0], Handle) else Handle(kind="window")
                return Handle(kind="rownum", data={**window.data, "place": window.data.get("place") or run.place(node)})
            case "delta":
                return _delta(run, node, owner, name, args, kwargs)
            case "mergebuilder":
                return _merge(run, node, owner, name, args, kwargs)
            case "column":
                return column_method(owner, name, args)
            case "udf" if not name:
                return applied(run, owner, args)
            case _:
                pass
    if name == "sql" and args and isinstance(args[0], Str) and (is_session(owner) or statements.is_write(args[0].text)):
        return _sql(run, node, args[0], args, kwargs)
    if name == "getOrCreate" or (isinstance(owner, Ref) and name in ("getActiveSession", "newSession")):
        return Handle(kind="spark", name="spark")
    if name == "table" and is_session(owner) and args:
        table = text_of(args[0])
        return FrameV(frame=Frame(lib="spark", tables=frozenset({table.lower()} if table else ())))
    if name == "config" and len(args) == 2 and isinstance(args[0], Str) and args[0].text.startswith("spark."):
        run.flow.conf[args[0].text] = as_text(args[1]).lower()
        return owner
    if name in ("createDataFrame", "createDataset") and not isinstance(owner, Ref):
        tags, asked = merged(args)
        frame = Frame(lib="spark")
        return FrameV(tags, asked, frame=frame)
    if name in ("rm", "rmtree", "delete_objects", "remove_objects", "purge_s3_path", "delete_objects_recursive"):
        first = text_of(args[0]) if args else None
        if first and (name != "rm" or owner.name in ("fs", "s3", "dbutils") or isinstance(owner, Ref)):
            run.add(ClearOp(run.place(node), target=path_target(first)))
            _partition_gone(run, node, first)
            return Value()
    if name == "delete" and isinstance(node.func, ast.Attribute) and "objects.filter" in ast.unparse(node.func):
        run.add(ClearOp(run.place(node), target=ANY, sure=False))
        return Value()
    return None


def _partition_gone(run: Interpreter, node: ast.Call, path: str) -> None:
    """.../dt=2026-04-25 is the folder of a table's partition: which table's, the catalog knows."""
    if re.search(r"/\w+=", path):
        run.add(ClearOp(run.place(node), target=ANY, sure=False))


def _sql(run: Interpreter, node: ast.Call, text: Str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    asked = statements.execute(
        run, node, text, Conn("spark", "databricks" if run.context.databricks else "spark"), via="spark"
    )
    if statements.is_select(text.text):
        frame = statements.query_frame(run, text, node)
        frame.lib = "spark"
        for table in frame.tables:
            known = run.flow.views.get(table)
            if known is not None and frame.dedup is None and len(frame.tables) == 1:
                frame = replace(frame, raw=known.raw, dedup=known.dedup, tables=frame.tables | known.tables)
        return FrameV(text.tags - {"default"}, frozenset(asked), frame=frame)
    return Value(asked=frozenset(asked))


def _library(
    run: Interpreter, node: ast.Call, owner: Ref, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    dotted = f"{owner.dotted}.{name}".strip(".")
    last = dotted.rpartition(".")[2]
    if last in ("getOrCreate",) or dotted.endswith(("SparkSession", "HiveContext", "SQLContext", "GlueContext")):
        return Handle(kind="spark", name="spark")
    if "DeltaTable" in dotted and last in ("forPath", "forName", "create", "createIfNotExists", "createOrReplace"):
        texts = [text_of(one) for one in args]
        target = next((t for t in reversed(texts) if t), "")
        return Handle(kind="delta", data={"target": path_target(target)})
    if dotted.endswith("DeltaTable") and args:
        return Handle(kind="delta", data={"target": path_target(text_of(args[0]) or "")})
    if dotted.endswith(("Window.partitionBy", "Window.orderBy")):
        return window_method(
            run, node, Handle(kind="window", data={"partition": [], "order": [], "place": run.place(node)}), last, args
        )
    if "functions" in dotted or dotted in ("col", "lit", "expr", "row_number", "when"):
        return column_function(run, node, last, args, kwargs)
    return None


def _reader(run: Interpreter, owner: Handle, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    data = owner.data
    match name:
        case "format" if args:
            data["format"] = (text_of(args[0]) or "").lower()
            return owner
        case "option" | "options" | "schema":
            for key, value in [*kwargs.items(), *([(as_text(args[0]), args[1])] if len(args) == 2 else [])]:
                data["options"][key.lower()] = as_text(value)
            return owner
        case "table" | "load" | "csv" | "json" | "parquet" | "orc" | "text" | "jdbc" | "delta" | "avro" | "xml":
            fmt = data["format"] or ("" if name in ("load", "table") else name)
            target = text_of(args[0]) if args else kwargs.get("path")
            target = target if isinstance(target, str) else text_of(target) if isinstance(target, Value) else None
            stream = bool(data["stream"])
            raw = "stream" if stream else ("files" if fmt in _FILES else "")
            tables: set[str] = set()
            if name == "table" or fmt in ("delta", "iceberg", ""):
                tables.add(path_target(target or ""))
            elif target:
                tables.add(path_target(target))
            if "dbtable" in data["options"]:
                tables.add(data["options"]["dbtable"].lower())
            read = Frame(lib="spark", tables=frozenset(t for t in tables if t), raw=raw, streaming=stream)
            read.clock = clock_of_path(run, target, run.statement)
            return FrameV(frame=read)
        case _:
            return owner


def _delta(
    run: Interpreter, node: ast.Call, owner: Handle, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    match name:
        case "alias" | "as_":
            owner.data["alias"] = text_of(args[0]) or "" if args else ""
            return owner
        case "merge":
            source = args[0] if args else kwargs.get("source")
            condition = args[1] if len(args) > 1 else kwargs.get("condition")
            frame = source.frame if isinstance(source, FrameV) else Frame(param=True)
            text = text_of(condition) or ""
            keys = tuple(dict.fromkeys(m.lower() for m in re.findall(r"[\w`]+\.(\w+)\s*(?:<=>|==?)", text)))
            return Handle(
                kind="mergebuilder",
                data={
                    "target": owner.data["target"],
                    "frame": frame,
                    "keys": keys,
                    "var": source.name if source else "",
                    "alias": owner.data.get("alias", ""),
                },
            )
        case "delete":
            run.add(ClearOp(run.place(node), target=owner.data["target"]))
            return Value()
        case "toDF":
            return FrameV(frame=Frame(lib="spark", tables=frozenset({owner.data["target"]})))
        case _:
            return owner if name in ("tableName", "location", "addColumn", "addColumns", "execute") else Value()


def _merge(
    run: Interpreter, node: ast.Call, owner: Handle, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    if name != "execute":
        if name.startswith("whenMatchedUpdate"):
            owner.data["accumulates"] = _added(owner.data.get("alias", ""), [*args, *kwargs.values()])
        return owner
    data = owner.data
    run.add(
        FrameOp(
            run.place(node), lib="spark", mode="merge", format="delta", target=data["target"], frame=data["frame"],
            keys=data["keys"], method="merge", var=data["var"], accumulates=data.get("accumulates", ""),
        )
    )  # fmt: skip
    return Value()


def _added(alias: str, given: list[Value]) -> str:
    """set={"total": "t.total + s.total"}: the column that is added to, unless a condition asks for what is set."""
    held = next((one for one in given if isinstance(one, Map)), None)
    condition = " ".join(text_of(one) or "" for one in given)
    if held is None or any(re.search(rf"\b{re.escape(key.rpartition('.')[2])}\b", condition) for key in held.items):
        return ""
    for key, value in held.items.items():
        column, text = re.escape(key.rpartition(".")[2]), text_of(value) or ""
        own = rf"\b{re.escape(alias)}\.{column}\b" if alias else rf"\b\w+\.{column}\b"
        if re.search(rf"{own}(?:\s*,\s*0\s*\))?\s*[+*-](?!\s*1\b)|[+*-]\s*(?:coalesce\()?{own}", text, re.IGNORECASE):
            return key.rpartition(".")[2].lower()
    return ""


def clock_of_path(run: Interpreter, path: str | None, node: ast.AST | None) -> tuple[str, Place] | None:
    """A task that asks the clock which folder or file it has to read. Elsewhere nobody told it the interval."""
    asks = run.task is not None and node is not None and "jj_clock" in (path or "")
    return ("the clock", run.place(node)) if asks and node is not None else None


def path_target(text: str) -> str:
    """A path or table name for comparing: lower case, no trailing slash."""
    return text.strip().rstrip("/").lower()
