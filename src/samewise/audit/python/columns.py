"""Spark's columns and windows: what they are named, what makes them, how they are ordered."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from samewise.audit.python.values import (
    Func,
    Handle,
    Str,
    Value,
    merged,
    names_of,
    text_of,
    unknown,
)

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter


def column_function(
    run: Interpreter, node: ast.Call, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    tags, asked = merged(args)
    match name:
        case "col" | "column":
            return Handle(
                tags,
                asked,
                kind="column",
                name=text_of(args[0]) or "" if args else "",
                data={"name": text_of(args[0]) if args else ""},
            )
        case "row_number":
            return Handle(kind="rownum")
        case "monotonically_increasing_id" | "uuid" | "rand" | "randn":
            return Handle(tags | {"made"}, asked, kind="column", data={"made": name})
        case "expr" if args and isinstance(args[0], Str):
            return _expression(args[0])
        case "sha1" | "sha2" | "md5" | "xxhash64" | "hash":
            return Handle(tags - {"clock"} if "clock" not in tags else tags, asked, kind="column", data={})
        case "desc" | "asc" | "desc_nulls_last" | "asc_nulls_last" if args:
            first = args[0]
            return Handle(
                tags,
                asked,
                kind="column",
                data={"name": text_of(first) or (first.data.get("name") if isinstance(first, Handle) else "")},
            )
        case (
            "to_date"
            | "date_trunc"
            | "trunc"
            | "lit"
            | "coalesce"
            | "upper"
            | "lower"
            | "trim"
            | "date_sub"
            | "date_add"
            | "to_timestamp"
        ):
            inner = next((one for one in reversed(args) if isinstance(one, Handle) and one.kind == "column"), None)
            data = dict(inner.data) if inner is not None else {}
            if name in ("to_date", "date_trunc", "trunc") and data.get("name"):
                data["name"] = f"{data['name']}_date"
            if name == "lit" and inner is None:
                data["constant"] = True
            return Handle(tags, asked, kind="column", data=data)
        case "broadcast" if args:
            return args[0]
        case "udf" | "pandas_udf":
            return Handle(kind="udf", data={"function": args[0] if args else None})
        case _:
            return Handle(tags, asked, kind="column", data={})


def applied(run: Interpreter, owner: Handle, args: list[Value]) -> Handle:
    """A column that a function of the user makes: followed, to see whether it makes another one in every run."""
    function = owner.data.get("function")
    made = run.invoke(function, args, {}) if isinstance(function, Func) else unknown(*args)
    return Handle(made.tags, made.asked, kind="column", data={"made": "uuid4"} if "uuid" in made.tags else {})


def _expression(text: Str) -> Handle:
    made = re.match(r"\s*(uuid|monotonically_increasing_id|rand)\s*\(", text.text, re.IGNORECASE)
    clock = re.search(r"current_(date|timestamp)|now\(\)", text.text, re.IGNORECASE)
    if re.search(r"row_number\s*\(", text.text, re.IGNORECASE):
        over = re.search(r"partition\s+by\s+(.*?)(order\s+by\s+(.*?))?\)", text.text, re.IGNORECASE | re.DOTALL)
        if over:
            order = [
                re.sub(r"\s+(asc|desc).*", "", p.strip(), flags=re.IGNORECASE)
                for p in (over[3] or "").split(",")
                if p.strip()
            ]
            return Handle(kind="rownum", data={"partition": [p.strip() for p in over[1].split(",")], "order": order})
    tags = text.tags | ({"clock"} if clock else set()) | ({"made"} if made else set())
    return Handle(frozenset(tags), text.asked, kind="column", data={"made": made[1].lower()} if made else {})


def column_method(owner: Handle, name: str, args: list[Value]) -> Value:
    tags, asked = merged([owner, *args])
    if name in ("isin",):
        return Handle(tags | {"isin"}, asked, kind="column", data=dict(owner.data))
    if name == "between" and args and "clock" in args[0].tags:
        return Handle((tags - {"clock"}) | {"clock_filter"}, asked, kind="test")
    if name in ("isNull", "isNotNull") and name == "isNull":
        return Handle(tags | {"isnull"}, asked, kind="column", data=dict(owner.data))
    return Handle(tags, asked, owner.name, kind="column", data=dict(owner.data))


def window_method(run: Interpreter, node: ast.Call, owner: Handle, name: str, args: list[Value]) -> Handle:
    data = dict(owner.data)
    if name == "partitionBy":
        data["partition"] = [*data.get("partition", []), *names_of(*args)]
        data["partitioned"] = True
    elif name == "orderBy":
        # An order by a constant, orderBy(F.lit(1)), is none.
        args = [one for one in args if not (isinstance(one, Handle) and one.data.get("constant"))]
        if not args:
            return owner
        data["order"] = [*data.get("order", []), *(names_of(*args) or ("?",) * max(1, len(args)))]
    data["place"] = run.place(node)
    return Handle(kind="window", data=data)
