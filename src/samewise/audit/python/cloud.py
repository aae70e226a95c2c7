"""Loaders of warehouses and clouds: BigQuery, Snowflake, awswrangler, Glue, deltalake, MongoDB."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from samewise.audit.facts import ClearOp, Frame, FrameOp
from samewise.audit.python import statements
from samewise.audit.python.loads import modes_of
from samewise.audit.python.spark import path_target
from samewise.audit.python.values import (
    Conn,
    Const,
    FrameV,
    Handle,
    Map,
    Ref,
    Seq,
    Str,
    Value,
    as_text,
    options_of,
    text_of,
)

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter

_DISPOSITIONS = {"write_append": "append", "write_truncate": "overwrite", "write_empty": "fail"}
_MODES = {
    "append": "append",
    "overwrite": "overwrite",
    "overwrite_partitions": "replace",
    "upsert": "merge",
    "error": "fail",
    "ignore": "ignore",
    "fail": "fail",
    "truncate": "overwrite",
    "upsert_merge": "merge",
}


def call(
    run: Interpreter, node: ast.Call, owner: Value, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """Calls that load tables in one go."""
    dotted = f"{owner.dotted}.{name}".strip(".") if isinstance(owner, Ref) else ""
    last = dotted.rpartition(".")[2]
    if dotted:
        if last in ("LoadJobConfig", "QueryJobConfig", "CopyJobConfig"):
            made = Handle(kind="jobconfig", data={"kind": last, "disposition": "", "destination": None})
            for key, value in kwargs.items():
                configure(made, key, value)
            return made
        if dotted.endswith("bigquery.Client"):
            return Handle(kind="bigquery", name="bigquery", conn=Conn("auto", "bigquery"))
        if last == "write_pandas" and len(args) >= 2:
            return _write_pandas(run, node, args, kwargs)
        if last == "write_deltalake" and args:
            mode, sure = modes_of(kwargs.get("mode"), _MODES, "fail")
            return _add(
                run,
                node,
                "deltalake",
                mode,
                _target(args, kwargs, 0, "table_or_uri"),
                args[1] if len(args) > 1 else Value(),
                "write_deltalake()",
                sure=sure,
            )
        if re.search(r"(awswrangler|(^|\.)wr)\.\w+\.(to_parquet|to_csv|to_json|to_sql|copy|to_iceberg)$", dotted):
            return _wrangler(run, node, dotted, args, kwargs)
        if last == "WriteToBigQuery" and "beam" in dotted and not _is_stream(run):
            given = kwargs.get("write_disposition")
            mode = _disposition(given) if given is not None else "append"
            target = _target(args, kwargs, 0, "table")
            return _add(run, node, "bigquery", mode, target, Value(), f"{last}()", sure=mode != "unknown")
        if last in ("MongoClient",):
            return Handle(kind="mongo")
    if isinstance(owner, Handle) and owner.kind == "mongo" and name == "get_database":
        return owner
    if name in ("load_table_from_dataframe", "load_table_from_uri", "load_table_from_file", "load_table_from_json"):
        config = kwargs.get("job_config")
        mode, sure = "append", config is None
        if isinstance(config, Handle) and config.kind == "jobconfig":
            mode = config.data["disposition"] or "append"
            sure = mode != "unknown"
        elif config is not None:
            mode = "unknown"
        target = _target(args, kwargs, 1, "destination")
        named = kwargs.get("job_id")
        if isinstance(named, Str) and not {"uuid", "clock"} & named.tags:
            return Value()  # A second job of the same name is refused.
        if "$" in target:
            sure = sure and mode != "append"
        return _add(run, node, "bigquery", mode, target, args[0] if args else Value(), f"{name}()", sure=sure)
    if name in ("insert_rows_json", "insert_rows") and (
        (isinstance(owner, Handle) and owner.kind == "bigquery") or name == "insert_rows_json"
    ):
        if kwargs.get("row_ids") is not None:
            return Value()
        return _add(run, node, "bigquery", "append", _target(args, kwargs, 0, "table"), Value(), f"{name}()")
    config = kwargs.get("job_config")
    if name == "query" and (
        (isinstance(owner, Handle) and owner.kind == "bigquery")
        or (isinstance(config, Handle) and config.kind == "jobconfig")
    ):
        text = args[0] if args else kwargs.get("query")
        if isinstance(config, Handle) and config.kind == "jobconfig" and config.data.get("destination"):
            frame = statements.query_frame(run, text, node)
            mode = config.data["disposition"] or "fail"
            run.add(
                FrameOp(
                    run.place(node),
                    lib="bigquery",
                    mode=mode,
                    target=config.data["destination"].lower(),
                    frame=frame,
                    method="query()",
                )
            )
            return Value()
    if name in ("start_query_execution", "execute_statement", "batch_execute_statement"):
        return _data_api(run, node, name, kwargs)
    if name == "load_table" and any(one.startswith("pyiceberg") for one in run.imports):
        return Handle(kind="iceberg", name=_target(args, kwargs, 0, "identifier"))
    if isinstance(owner, Handle) and owner.kind == "iceberg":
        return _iceberg(run, node, owner, name, args, kwargs)
    if name in (
        "from_options",
        "from_jdbc_conf",
        "from_catalog",
        "write_dynamic_frame_from_options",
    ) and _is_glue_write(node):
        return _glue(run, node, name, args, kwargs)
    if name == "insert_many" and _in_bulk(run):
        return _add(run, node, "mongo", "append", owner.name, Value(), "insert_many()", sure=False)
    return None


def configure(config: Handle, name: str, value: Value) -> None:
    """One setting of a job's config, by keyword or by assignment."""
    if name in ("write_disposition", "**"):
        config.data["disposition"] = _disposition(value)
    elif name == "destination":
        config.data["destination"] = text_of(value)


def _is_stream(run: Interpreter) -> bool:
    """Beam: what comes from a queue is not read again by a second run."""
    return any(re.search(r"PubSub|Kafka|streaming", line) for line in run.context.lines)


def _is_glue_write(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and "write_dynamic_frame" in ast.unparse(node.func)


def _in_bulk(run: Interpreter) -> bool:
    return run.task is not None or run.context.pipeline


def _is_true(value: Value | None) -> bool:
    return isinstance(value, Const) and value.value is True


def _disposition(value: Value) -> str:
    """append, overwrite, fail; `unknown` where it is said elsewhere."""
    found = {
        _DISPOSITIONS.get((one.last if isinstance(one, Ref) else text_of(one) or "").lower(), "unknown")
        for one in options_of(value)
    }
    return found.pop() if len(found) == 1 else "unknown"


def _target(args: list[Value], kwargs: dict[str, Value], position: int, name: str) -> str:
    value = args[position] if len(args) > position else kwargs.get(name)
    if value is None:
        return ""
    return path_target(text_of(value) or as_text(value))


def _add(
    run: Interpreter,
    node: ast.Call,
    lib: str,
    mode: str,
    target: str,
    rows: Value,
    method: str,
    *,
    sure: bool = True,
    partition: tuple[str, ...] = (),
) -> Value:
    frame = rows.frame if isinstance(rows, FrameV) else Frame(param=True)
    run.add(
        FrameOp(
            run.place(node),
            lib=lib,
            mode=mode,
            target=target,
            frame=frame,
            method=method,
            sure=sure,
            partition_by=partition,
        )
    )
    return Value()


def _write_pandas(run: Interpreter, node: ast.Call, args: list[Value], kwargs: dict[str, Value]) -> Value:
    given = kwargs.get("overwrite")
    if _is_true(kwargs.get("create_temp_table")) or (text_of(kwargs.get("table_type")) or "").startswith("temp"):
        return Value()  # Gone with the session.
    mode = "overwrite" if _is_true(given) else "append" if given is None or isinstance(given, Const) else "unknown"
    target = _target(args, kwargs, 2, "table_name")
    sure = "**" not in kwargs and mode != "unknown"
    return _add(run, node, "snowflake", mode, target, args[1], "write_pandas()", sure=sure)


def _wrangler(run: Interpreter, node: ast.Call, dotted: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    given = kwargs.get("mode")
    dataset = _is_true(kwargs.get("dataset"))
    table = (
        text_of(kwargs.get("table"))
        or text_of(kwargs.get("path"))
        or (text_of(args[1]) if len(args) > 1 else None)
        or ""
    )
    mode, sure = modes_of(given, _MODES, "append")
    if ".s3." in dotted and not dataset:
        mode, sure = "overwrite", True  # One file, under its own name.
    if kwargs.get("upsert_conflict_columns") is not None or kwargs.get("merge_cols") is not None:
        return Value()
    rows = args[0] if args else kwargs.get("df") or Value()
    if mode in ("replace", "merge"):
        return Value()
    return _add(run, node, "awswrangler", mode, path_target(table), rows, dotted.rpartition(".")[2] + "()", sure=sure)


def _glue(run: Interpreter, node: ast.Call, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    options = kwargs.get("connection_options") or kwargs.get("additional_options")
    items = options.items if isinstance(options, Map) else {}
    target = (
        next((text_of(items[key]) for key in ("path", "dbtable", "collection") if key in items), None)
        or text_of(kwargs.get("table_name"))
        or ""
    )
    before = " ".join(as_text(value) for key, value in items.items() if key in ("preactions", "postactions"))
    if re.search(r"merge|delete|truncate|insert|drop", before, re.IGNORECASE):
        # The rows go through a staging table: Redshift does the rest.
        return Value()
    fmt = text_of(kwargs.get("format")) or ""
    if isinstance(kwargs.get("frame"), Str):
        return Value()
    if fmt == "hudi" or text_of(kwargs.get("connection_type")) in ("marketplace.spark", "custom.spark", "iceberg"):
        return Value()
    return _add(
        run,
        node,
        "glue",
        "append",
        path_target(target),
        Value(),
        f"write_dynamic_frame.{name}()",
        sure=isinstance(options, Map) or bool(target),
    )


def _data_api(run: Interpreter, node: ast.Call, name: str, kwargs: dict[str, Value]) -> Value | None:
    """boto3: Athena, and the data APIs of Redshift and RDS. The statements of a batch are one transaction."""
    athena = kwargs.get("QueryString")
    given = athena or kwargs.get("Sql") or kwargs.get("sql") or kwargs.get("Sqls")
    texts = given.items if isinstance(given, Seq) else [given]
    open_elsewhere = "transactionId" in kwargs
    if name == "batch_execute_statement" or open_elsewhere:
        conn = Conn("unknown" if open_elsewhere else "dbapi", "redshift" if "Sqls" in kwargs else "")
    else:
        conn = Conn("auto", "athena" if athena is not None else "")
    for one in texts:
        if isinstance(one, Str):
            statements.execute(run, node, one, conn, via="execute")
    return Value(name="response") if any(isinstance(one, Str) for one in texts) else None


def _iceberg(
    run: Interpreter, node: ast.Call, owner: Handle, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """A table of pyiceberg. What a transaction() does lands together."""
    rows = args[0] if args else kwargs.get("df") or Value()
    if name == "append":
        return _add(run, node, "iceberg", "append", owner.name, rows, "append()")
    if name == "delete":
        run.add(ClearOp(run.place(node), target=owner.name))
        return Value()
    if name in ("overwrite", "dynamic_partition_overwrite", "upsert"):
        return _add(run, node, "iceberg", "replace", owner.name, rows, f"{name}()")
    return Value() if name in ("transaction", "refresh") else None
