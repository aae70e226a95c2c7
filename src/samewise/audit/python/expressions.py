"""Expressions into values: texts with their holes, and who had a part in what."""

from __future__ import annotations

import ast
import builtins
import re
from typing import TYPE_CHECKING

from samewise.audit.python.scopes import asks_isin, name_of
from samewise.audit.python.texts import combine, joined
from samewise.audit.python.values import (
    Alt,
    Const,
    FrameV,
    Func,
    Handle,
    Instance,
    Map,
    Ref,
    Seq,
    Str,
    Value,
    as_text,
    given_or_clock,
    join,
    merged,
    unknown,
)

_LEDGER = re.compile(r"processed|loaded|done|seen|existing|already|imported|ingested|known|ledger|completed")
_BUILTINS = frozenset(dir(builtins)) | {
    "dbutils",
    "display",
    "task",
    "dag",
    "requests",
    "col",
    "lit",
    "expr",
    "row_number",
}

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter


def evaluate(run: Interpreter, node: ast.expr) -> Value:
    """The value of an expression, as far as it can be known."""
    match node:
        case ast.Constant():
            if isinstance(node.value, str):
                return Str(text=node.value, node=node)
            return Const(value=node.value)
        case ast.JoinedStr():
            return joined(run, node)
        case ast.Name():
            found = run.lookup(node.id)
            return found if found is not None else _free(run, node.id)
        case ast.Attribute():
            return _attribute(run, node, run.eval(node.value))
        case ast.Call():
            return _call(run, node)
        case ast.BinOp():
            return combine(node.op, run.eval(node.left), run.eval(node.right))
        case ast.List() | ast.Tuple() | ast.Set():
            items = [run.eval(one) for one in node.elts]
            tags, asked = merged(items)
            return Seq(tags, asked, items=items, exact=not any(isinstance(one, ast.Starred) for one in node.elts))
        case ast.Dict():
            return _dict(run, node)
        case ast.Subscript():
            return _subscript(run, node)
        case ast.Compare():
            return _compare(run, node)
        case ast.BoolOp():
            values = [run.eval(one) for one in node.values]
            if isinstance(node.op, ast.Or) and len(values) == 2:
                told = given_or_clock(values[0], values[1])
                if told is not None:
                    return told
                if isinstance(values[1], Str):
                    return join(values[0], values[1])
            return unknown(*values)
        case ast.UnaryOp():
            value = run.eval(node.operand)
            if isinstance(node.op, ast.Invert) and ("isin" in value.tags or asks_isin(node.operand)):
                return Value(value.tags | {"notin"}, value.asked)
            return Value(value.tags, value.asked, value.name) if not isinstance(value, Const) else _negated(node, value)
        case ast.IfExp():
            test = run.eval(node.test)
            made = join(run.eval(node.body), run.eval(node.orelse))
            made.asked = made.asked | test.asked
            return made
        case ast.Await() | ast.Starred() | ast.YieldFrom():
            return run.eval(node.value)
        case ast.Yield():
            return run.eval(node.value) if node.value is not None else Value()
        case ast.Lambda():
            return Func(name="lambda", node=node, env=run.env, qualname="lambda")
        case ast.NamedExpr():
            value = run.eval(node.value)
            run.bind(node.target, value)
            return value
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            return _comprehension(run, node)
        case ast.DictComp():
            for generator in node.generators:
                run.bind(generator.target, unknown(run.eval(generator.iter)))
            value = run.eval(node.value)
            return unknown(value)
        case ast.FormattedValue():
            return run.eval(node.value)
        case _:
            return Value()


def _negated(node: ast.UnaryOp, value: Const) -> Value:
    if isinstance(node.op, ast.Not):
        return unknown(value)
    if isinstance(node.op, ast.USub) and isinstance(value.value, int | float):
        return Const(value=-value.value)
    return value


def _free(run: Interpreter, name: str) -> Value:
    """A name that nothing has bound: a built-in, a notebook's `spark`, or from a star import."""
    if name == "spark":
        return Handle(name="spark", kind="spark")
    if "pyspark.sql.functions.*" in run.imports and name not in ("print", "len", "open", "str", "int", "range", "list"):
        return Ref(name=name, dotted=f"pyspark.sql.functions.{name}")
    starred = any(one.endswith(".*") for one in run.imports)
    if name in _BUILTINS or name[:1].isupper() or starred:
        return Ref(name=name, dotted=name)
    made = Value(frozenset({"free"}), name=name)
    run.globals[name] = made
    return made


def _attribute(run: Interpreter, node: ast.Attribute, owner: Value) -> Value:
    """owner.attr; the owner is evaluated once, or a long chain would take for ever."""
    if isinstance(owner, Instance):
        if node.attr in owner.attrs:
            return owner.attrs[node.attr]
        from samewise.audit.python.scopes import method

        found = method(owner, node.attr)
        if found is not None:
            decorators = getattr(found.node, "decorator_list", [])
            if any(isinstance(d, ast.Name) and d.id in ("property", "cached_property") for d in decorators):
                return run.invoke(found, [], {})
            return found
        made = Value(name=node.attr)
        owner.attrs[node.attr] = made
        return made
    if isinstance(owner, Ref):
        special = run.attribute(run, owner, node.attr, node)
        return (
            special
            if special is not None
            else Ref(owner.tags, owner.asked, node.attr, dotted=f"{owner.dotted}.{node.attr}")
        )
    found_value = run.attribute(run, owner, node.attr, node)
    if found_value is not None:
        return found_value
    return Value(owner.tags - {"param"}, owner.asked, node.attr)


def _call(run: Interpreter, node: ast.Call) -> Value:
    args: list[Value] = []
    for one in node.args:
        value = run.eval(one)
        if isinstance(one, ast.Starred) and isinstance(value, Seq):
            args.extend(value.items)
        else:
            args.append(value)
    kwargs: dict[str, Value] = {}
    for keyword in node.keywords:
        value = run.eval(keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
        elif isinstance(value, Map):
            kwargs.update(value.items)
            if not value.exact:
                kwargs["**"] = value
        else:
            kwargs["**"] = value
    owner: Value | None
    if isinstance(node.func, ast.Attribute):
        owner = run.eval(node.func.value)
        if isinstance(owner, Alt):
            owner = next((one for one in owner.options if type(one) is not Value and not isinstance(one, Const)), owner)
        if isinstance(owner, Instance):
            target = _attribute(run, node.func, owner)
        else:
            made = run.call(run, node, owner, args, kwargs)
            if made is not None:
                return made
            target = _attribute(run, node.func, owner) if not isinstance(owner, FrameV) else Value()
    else:
        owner = None
        target = run.eval(node.func)
    if isinstance(target, Alt):
        target = next((one for one in target.options if isinstance(one, Func)), target)
    made = run.call(run, node, target, args, kwargs) if not isinstance(node.func, ast.Attribute) else None
    if made is not None:
        return made
    from samewise.audit.python.calls import own

    return own(run, node, target, owner, args, kwargs)


def _dict(run: Interpreter, node: ast.Dict) -> Map:
    items: dict[str, Value] = {}
    exact = True
    for key, value in zip(node.keys, node.values, strict=True):
        held = run.eval(value)
        if key is None:
            if isinstance(held, Map):
                items.update(held.items)
                exact = exact and held.exact
            else:
                exact = False
            continue
        name = run.eval(key)
        if isinstance(name, Str):
            items[name.text] = held
        else:
            items[ast.unparse(key)[:60]] = held
    tags, asked = merged(items.values())
    return Map(tags, asked, items=items, exact=exact, node=node)


def _position(index: Value, size: int) -> int | None:
    value = index.value if isinstance(index, Const) else None
    return value if isinstance(value, int) and -size <= value < size else None


def _subscript(run: Interpreter, node: ast.Subscript) -> Value:
    owner = run.eval(node.value)
    index = run.eval(node.slice) if not isinstance(node.slice, ast.Slice) else Value()
    if isinstance(owner, Map) and isinstance(index, Str) and index.text in owner.items:
        return owner.items[index.text]
    if isinstance(owner, Seq) and owner.exact and (at := _position(index, len(owner.items))) is not None:
        return owner.items[at]
    special = run.attribute(run, owner, "[]", node) if not isinstance(owner, Ref) else None
    if special is not None:
        return special
    if isinstance(owner, Ref) and owner.dotted.endswith("environ"):
        return Value(name=as_text(index))
    name = index.text if isinstance(index, Str) else owner.name
    return unknown(owner, index, name=name)


def _compare(run: Interpreter, node: ast.Compare) -> Value:
    left = run.eval(node.left)
    rights = [run.eval(one) for one in node.comparators]
    made = unknown(left, *rights)
    lower = {"clock"} if _bounds(node, left, rights) else set()
    tags = (made.tags - {"clock"}) | ({"clock_filter"} if lower else set())
    if len(rights) == 1 and isinstance(node.ops[0], ast.Eq) and isinstance(rights[0], Const) and rights[0].value == 1:
        tags |= {"first_of_each"}
    if any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
        names = " ".join([*(one.name for one in (left, *rights)), *(name_of(one) for one in node.comparators)])
        tags |= {"exists"} if made.asked or _LEDGER.search(names) else set()
    if any(isinstance(one, Str) and one.text == "left_only" for one in rights):
        tags |= {"left_only"}
    value = Handle(frozenset(tags), made.asked, left.name, kind="test")
    value.data["column"] = left.data.get("name", "") if isinstance(left, Handle) else left.name
    return value


def _bounds(node: ast.Compare, left: Value, rights: list[Value]) -> bool:
    """col >= clock, col == clock, clock <= col: a lower bound or an equality."""
    from samewise.audit.sql.names import is_end

    if len(rights) != 1:
        return False
    op, right = node.ops[0], rights[0]
    if "clock" in right.tags and "clock" not in left.tags:
        return isinstance(op, ast.Gt | ast.GtE | ast.Eq) and not is_end(_column(left))
    if "clock" in left.tags and "clock" not in right.tags:
        return isinstance(op, ast.Lt | ast.LtE | ast.Eq) and not is_end(_column(right))
    return False


def _column(value: Value) -> str:
    return str(value.data.get("name", "")) if isinstance(value, Handle) else value.name


def _comprehension(run: Interpreter, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
    sources: list[Value] = []
    outer = dict(run.env)
    for generator in node.generators:
        rows = run.eval(generator.iter)
        sources.append(rows)
        run.bind(generator.target, unknown(rows))
        for test in generator.ifs:
            value = run.eval(test)
            if value.asked:
                sources.append(Value(value.tags | {"notin"}, value.asked))
    run.loop += 1
    element = run.eval(node.elt)
    run.loop -= 1
    run.env.clear()
    run.env.update(outer)
    tags, asked = merged([*sources, element])
    return Seq(tags, asked, items=[element], exact=False)
