"""Methods that write at once: to_sql, to_gbq, write_database, writeTo."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samewise.audit.facts import Frame, FrameOp
from samewise.audit.python.spark import path_target
from samewise.audit.python.values import (
    Const,
    FrameV,
    Ref,
    Str,
    Value,
    Writer,
    as_text,
    options_of,
    text_of,
)
from samewise.audit.python.writers import clock_target

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter


def call(
    run: Interpreter, node: ast.Call, owner: Value, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """Methods that write at once: to_sql, writeTo, to_gbq, write_database, ..."""
    if isinstance(owner, Ref | Str | Const):
        return None
    frame = owner.frame if isinstance(owner, FrameV) else Frame(param=True)
    first = args[0] if args else None
    match name:
        case "writeTo":
            return Writer(
                frame=frame,
                target=path_target(text_of(first) or as_text(first) if first is not None else ""),
                var=owner.name,
            )
        case "to_sql" if args or "name" in kwargs:
            given = kwargs.get("if_exists") or (args[3] if len(args) > 3 else None)
            mode, sure = modes_of(
                given, {"append": "append", "replace": "overwrite", "fail": "fail", "delete_rows": "overwrite"}, "fail"
            )
            custom = kwargs.get("method")
            table = first or kwargs.get("name")
            schema = text_of(kwargs.get("schema"))
            target = text_of(table) or (as_text(table) if table is not None else "")
            target = f"{schema}.{target}" if schema else target
            con = kwargs.get("con") or (args[1] if len(args) > 1 else None)
            keys = ("method",) if custom is not None and not isinstance(custom, Str | Const) else ()
            op = FrameOp(
                run.place(node),
                lib="pandas",
                mode=mode,
                target=target.lower(),
                frame=frame,
                method='to_sql(if_exists="append")',
                sure=sure,
                keys=keys,
                con=con.name if con is not None else "",
                var=owner.name,
            )
            if con is not None and con.conn is not None:
                op.tx = con.conn.tx()
            if con is None or con.conn is None or not con.conn.memory:
                run.add(op)
            return Const(value=None)
        case "to_gbq" | "write_database" | "write_delta" | "to_iceberg":
            given = kwargs.get("if_exists") or kwargs.get("if_table_exists") or kwargs.get("mode")
            mode, sure = modes_of(
                given,
                {
                    "append": "append",
                    "replace": "overwrite",
                    "overwrite": "overwrite",
                    "fail": "fail",
                    "error": "fail",
                    "merge": "merge",
                },
                "fail",
            )
            target = text_of(first or kwargs.get("destination_table") or kwargs.get("table_name")) or ""
            if mode != "merge":
                run.add(
                    FrameOp(
                        run.place(node),
                        lib="bigquery" if name == "to_gbq" else "polars",
                        mode=mode,
                        target=target.lower(),
                        frame=frame,
                        method=f"{name}()",
                        sure=sure,
                    )
                )
            return Const(value=None)
        case "to_csv" | "to_json" if kwargs.get("mode") is not None:
            mode, sure = modes_of(kwargs["mode"], {"a": "append", "w": "overwrite", "x": "fail"}, "overwrite")
            if mode == "append":
                run.add(
                    FrameOp(
                        run.place(node),
                        lib="files",
                        mode=mode,
                        format="csv",
                        target=path_target(text_of(first) or ""),
                        frame=frame,
                        method=f'{name}(mode="a")',
                        sure=sure and run.loop == 0,
                    )
                )
            return Const(value=None)
        case "to_csv" | "to_parquet" | "write_parquet" | "write_csv" | "to_feather" | "to_excel" | "to_pickle":
            run.add(
                FrameOp(
                    run.place(node),
                    lib="pandas",
                    mode="overwrite",
                    format="files",
                    target=path_target(text_of(first) or ""),
                    frame=Frame(),
                    method=f"{name}()",
                    clock_target=clock_target(first)
                    or (run.task is not None and isinstance(first, Str) and "jj_clock" in first.text),
                )
            )
            return Const(value=None)
        case _:
            return None


def modes_of(value: Value | None, known: dict[str, str], otherwise: str) -> tuple[str, bool]:
    """The mode that a keyword names."""
    if value is None:
        return otherwise, True
    found = []
    for one in options_of(value):
        text = text_of(one) if isinstance(one, Str) and one.exact else None
        found.append(known.get(text.lower(), "unknown") if text is not None else "unknown")
    sure = len(found) == 1 and "default" not in value.tags
    if "append" in found:
        return "append", sure
    return ("unknown", False) if "unknown" in found else (found[0], sure)
