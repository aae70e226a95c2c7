"""The clock, and what is made by chance."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from samewise.audit.python.values import Handle, Map, Ref, Value, merged, unknown

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter

_NOW = re.compile(
    r"(^|\.)(datetime|date|pendulum|arrow|Timestamp|timezone)\.(now|utcnow|today)$|^pendulum\.(now|today|yesterday)$"
    r"|^time\.(time|localtime|gmtime|strftime)$|pandas\.to_datetime\.now|^datetime\.(now|utcnow|today)$|(^|\.)timezone\.now$"
    r"|(^|\.)days_ago$"
)
_UUID = re.compile(
    r"(^|\.)uuid\.uuid[14]$|(^|\.)uuid[14]$|(^|\.)secrets\.token_\w+$|(^|\.)ulid\.(new|ULID)$|(^|\.)shortuuid\.uuid$"
)
_RANDOM = re.compile(r"^random\.\w+$|numpy\.random")
_SPARK_CLOCK = frozenset({"current_timestamp", "current_date", "now", "localtimestamp", "unix_timestamp"})


def call(
    run: Interpreter, node: ast.Call, owner: Value, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """Calls that ask the clock or throw dice, and those that pass on what they are given."""
    dotted = f"{owner.dotted}.{name}".strip(".") if isinstance(owner, Ref) else ""
    if dotted:
        if "functions." in dotted and (dotted.rpartition(".")[2] in _SPARK_CLOCK):
            if dotted.endswith("unix_timestamp") and args:
                return None
            return Handle(frozenset({"clock"}), kind="column", data={"made": dotted.rpartition(".")[2]})
        if _NOW.search(dotted):
            if dotted.endswith("strftime") and len(args) > 1:
                return unknown(*args)
            return Value(frozenset({"clock"}), name=dotted.rpartition(".")[2])
        if _UUID.search(dotted):
            return Value(frozenset({"uuid"}), name="uuid4")
        if _RANDOM.search(dotted):
            return Value(frozenset({"random"}), name="random")
        if dotted in ("str", "int", "float", "repr", "bytes", "bool") and args:
            one = args[0]
            return (
                Value(one.tags, one.asked, one.name)
                if type(one) is Value
                else (one if dotted == "str" else unknown(one))
            )
        if dotted in ("datetime.timedelta", "timedelta", "datetime.datetime", "datetime.date"):
            tags, asked = merged([*args, *kwargs.values()])
            return Value(tags, asked, "timedelta")
        if dotted == "dict" and kwargs and not args:
            tags, asked = merged(kwargs.values())
            known = {key: value for key, value in kwargs.items() if key != "**"}
            return Map(tags, asked, items=known, exact="**" not in kwargs, node=node)
        if dotted in ("len", "any", "all", "list", "set", "tuple", "sorted", "dict", "bool", "max", "min", "sum"):
            return _builtin(dotted, args)
    if (
        name
        in (
            "strftime",
            "isoformat",
            "date",
            "timestamp",
            "format",
            "replace",
            "astimezone",
            "subtract",
            "add",
            "to_date_string",
            "hex",
        )
        and owner.tags & {"clock", "uuid"}
        and type(owner) is Value
    ):
        return Value(owner.tags, owner.asked, owner.name)
    return None


def _builtin(name: str, args: list[Value]) -> Value | None:
    if not args:
        return None
    if name in ("list", "tuple", "sorted", "set"):
        return args[0]
    return unknown(*args)
