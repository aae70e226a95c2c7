"""Calls: each library's file is asked in turn; what none of them knows keeps only its parts' tags."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from samewise.audit.facts import ClearOp, MarkOp
from samewise.audit.python import clocks, cloud, database, effects, frames, orchestrators, spark, statements
from samewise.audit.python.texts import formatted, less
from samewise.audit.python.values import (
    ClassV,
    Const,
    Func,
    Map,
    Ref,
    Seq,
    Str,
    Value,
    as_text,
    is_exact,
    merged,
    text_of,
    unknown,
)

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter

_LIBRARIES = (orchestrators, clocks, spark, frames, database, cloud, effects)
_MARK_CALL = re.compile(
    r"^_?(save|set|update|write|store|put|persist|advance|bump|record|move)_?\w*"
    r"(watermark|bookmark|high_water|hwm|last_(run|load|loaded|sync|id|ts|date|processed|updated|timestamp|extract)|sync_state"
    r"|etl_state|checkpoint)"
)
_STATE_CALL = re.compile(r"^_?(save|set|update|write|store|put|persist)_(state|cursor|progress|position|offsets?)$")
_PROGRESS = re.compile(
    r"last_(run|load|sync|id|ts|date|processed|updated|timestamp|extract|seen|value|offset)|(high_)?watermark|cursor$"
)
_EXISTS = re.compile(
    r"exists|has_table|already|is_(loaded|processed|done|imported|duplicate)|has_been|was_(loaded|processed)|contains"
)
_CLEARS = re.compile(
    r"delete|truncate|clear|purge|wipe|remove|clean_?(up|partition|table)?$|drop|overwrite|replace|reset"
)

_RUNS_SQL = re.compile(r"exec|sql|query|queries|statement|stmt|^_?(run|submit)$")
_ONLY_LOOKS = re.compile(
    r"pars|format|pretty|valid|check|lint|render|compil|build|make|log|print|show|split|transpil|token|highlight|explain"
    r"|normali|clean|strip|is_|has_|get_|read_|hash|escape|quote|assert|expect|mock|estimate|describe|save|write|dump"
)
"""What a helper does that is given a statement and does not run it."""


def call(run: Interpreter, node: ast.Call, owner: Value, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """What a call gives, where a library is known to be called. `owner` is the receiver, or the function itself."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if isinstance(owner, Str) and name:
        made = _text_method(run, owner, name, args, kwargs)
        if made is not None:
            return made
    if isinstance(owner, Seq | Map) and name:
        made = _container(owner, name, args, kwargs)
        if made is not None:
            return made
    if name in ("get", "getenv") and args:
        defaults = [*args[1:], *(kwargs[key] for key in ("default", "default_var") if key in kwargs)]
        if any("clock" in one.tags for one in defaults):
            return Value(owner.tags - {"clock"}, owner.asked, as_text(args[0]) if isinstance(args[0], Str) else "given")
    if name == "difference" and args and args[0].asked:
        return less(owner, args[0])
    for library in _LIBRARIES:
        found: Value | None = library.call(run, node, owner, name, args, kwargs)
        if found is not None:
            return found
    return None


def _text_method(run: Interpreter, owner: Str, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    match name:
        case "format":
            return formatted(owner, args, kwargs)
        case "format_map" if args and isinstance(args[0], Map):
            return formatted(owner, [], args[0].items)
        case "strip" | "lstrip" | "rstrip" | "lower" | "upper" | "removesuffix" | "removeprefix" | "encode" | "decode":
            return owner
        case "replace" if len(args) >= 2 and is_exact(args[0]):
            text = owner.text.replace(as_text(args[0]), as_text(args[1])) if as_text(args[0]) else owner.text
            return Str(*merged((owner, *args)), text=text, exact=owner.exact and is_exact(args[1]), node=owner.node)
        case "join" if args:
            if isinstance(args[0], Seq) and args[0].exact:
                text = owner.text.join(as_text(one) for one in args[0].items)
                return Str(*merged((owner, *args)), text=text, exact=all(is_exact(one) for one in args[0].items))
            return Str(*merged((owner, *args)), text="jj_columns_", exact=False)
        case "split" | "splitlines":
            return unknown(owner, name=owner.name)
        case "substitute" | "safe_substitute":
            return owner
        case _:
            return None


def _container(owner: Seq | Map, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    if isinstance(owner, Seq):
        if name == "append" and args:
            owner.items.append(args[0])
            tags, asked = merged(args)
            owner.tags |= tags
            owner.asked |= asked
            owner.exact = False
            return Const(value=None)
        if name == "extend":
            owner.exact = False
            return Const(value=None)
        return None
    match name:
        case "get" if args and isinstance(args[0], Str):
            found = owner.items.get(args[0].text)
            return found if found is not None else (args[1] if len(args) > 1 else Value(name=args[0].text))
        case "update":
            for one in args:
                if isinstance(one, Map):
                    owner.items.update(one.items)
                    owner.exact = owner.exact and one.exact
                else:
                    owner.exact = False
            owner.items.update(kwargs)
            return Const(value=None)
        case "copy":
            return Map(owner.tags, owner.asked, owner.name, items=dict(owner.items), exact=owner.exact, node=owner.node)
        case "items" if owner.exact:
            return Seq(items=[Seq(items=[Str(text=key), value]) for key, value in owner.items.items()])
        case "values" if owner.exact:
            return Seq(items=list(owner.items.values()))
        case "keys" if owner.exact:
            return Seq(items=[Str(text=key) for key in owner.items])
        case _:
            return None


def own(
    run: Interpreter,
    node: ast.Call,
    target: Value,
    owner: Value | None,
    args: list[Value],
    kwargs: dict[str, Value],
) -> Value:
    """A call of the module's own function or class; or of something that nobody here knows."""
    name = target.name or (target.last if isinstance(target, Ref) else "")
    if isinstance(target, Func):
        if _is_mark(target.name, [*args, *kwargs.values()]):
            run.visited.add(id(target.node))
            run.add(MarkOp(run.place(node), what=target.name))
            return Value()
        from samewise.audit.python.orchestrators import is_task

        if not isinstance(target.node, ast.Lambda) and is_task(run, target.node):
            # A task is run by its orchestrator, not here.
            return unknown(*args, *kwargs.values(), name=name)
        made = run.invoke(target, args, kwargs)
        if _EXISTS.search(target.name):
            return Value(made.tags | {"exists"}, made.asked, made.name)
        return made
    if isinstance(target, ClassV):
        return run.instantiate(target, args, kwargs)
    if isinstance(node.func, ast.Attribute):
        name = node.func.attr
    if _is_mark(name, [*args, *kwargs.values()]):
        run.add(MarkOp(run.place(node), what=name))
    elif (
        _CLEARS.search(name)
        and not name.startswith(("on_", "is_", "get_"))
        and name not in ("replace", "remove", "clear")
    ):
        for one in args[:3]:
            text = text_of(one)
            if text and re.fullmatch(r"[\w.${}/:-]+", text):
                run.add(ClearOp(run.place(node), target=text.lower(), sure=False))
    run_unknown_sql(run, node, name, args, kwargs)
    receiver = owner if owner is not None else target
    made = unknown(receiver if not isinstance(receiver, Ref) else None, *args, *kwargs.values(), name=name)
    if _EXISTS.search(name):
        return Value(made.tags | {"exists"}, made.asked, name)
    if owner is not None and receiver.conn is not None:
        made.conn = receiver.conn
    return made


def _is_mark(name: str, given: list[Value]) -> bool:
    """`save_watermark(...)`; and `save_state({"last_id": ...})`, where what is saved says that it is progress."""
    if _MARK_CALL.match(name):
        return True
    return bool(_STATE_CALL.match(name)) and any(
        isinstance(one, Map) and any(_PROGRESS.match(key.lower()) for key in one.items) for one in given
    )


def run_unknown_sql(run: Interpreter, node: ast.Call, name: str, args: list[Value], kwargs: dict[str, Value]) -> None:
    """`run_query("INSERT ...")`: a helper from elsewhere that is given SQL to execute."""
    if not _RUNS_SQL.search(name.lower()) or _ONLY_LOOKS.search(name.lower()):
        return
    if re.fullmatch(r"_?(run|submit)", name) and args:
        args = args[:1]  # What follows is handed on: submit(print, "INSERT ...").
    for one in [*args, *kwargs.values()]:
        if isinstance(one, Str) and statements.is_write(one.text):
            statements.execute(run, node, one, None, via="helper")
            return
