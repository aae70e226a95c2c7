"""Texts that are put together: f-strings, +, %, format. What is not known leaves a hole with a name."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from samewise.audit.python.values import (
    Alt,
    Map,
    Seq,
    Str,
    Value,
    as_text,
    hole,
    is_exact,
    merged,
    unknown,
)

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter


def joined(run: Interpreter, node: ast.JoinedStr) -> Str:
    parts: list[str] = []
    values: list[Value] = []
    exact = True
    for one in node.values:
        value = run.eval(one)
        values.append(value)
        exact = exact and is_exact(value)
        parts.append(as_text(value))
    tags, asked = merged(values)
    text = "".join(parts)
    return Str(tags, asked, text=text, exact=exact, node=node)


def less(left: Value, known: Value) -> Value:
    """What is left of a set without those that were asked for: the new ones."""
    return Value(left.tags | known.tags | {"notin"}, left.asked | known.asked, left.name)


def combine(op: ast.operator, left: Value, right: Value) -> Value:
    """left + right, left % right, and the rest."""
    if isinstance(left, Alt) and isinstance(op, ast.Add | ast.Mod):
        left = next((one for one in left.options if isinstance(one, Str)), left)
    if isinstance(op, ast.Add) and (isinstance(left, Str) or isinstance(right, Str)):
        tags, asked = merged((left, right))
        node = left.node if isinstance(left, Str) and not right.tags and is_exact(right) else None
        return Str(
            tags, asked, text=as_text(left) + as_text(right), exact=is_exact(left) and is_exact(right), node=node
        )
    if isinstance(op, ast.Mod) and isinstance(left, Str):
        return _percent(left, right)
    if isinstance(op, ast.Add) and isinstance(left, Seq) and isinstance(right, Seq):
        return Seq(*merged((left, right)), items=[*left.items, *right.items], exact=left.exact and right.exact)
    if isinstance(op, ast.BitOr) and isinstance(left, Map) and isinstance(right, Map):
        return Map(*merged((left, right)), items={**left.items, **right.items}, exact=left.exact and right.exact)
    if isinstance(op, ast.Div) and (isinstance(right, Str) or isinstance(left, Str)):
        return Str(*merged((left, right)), text=f"{as_text(left)}/{as_text(right)}", exact=False)
    if isinstance(op, ast.RShift | ast.LShift):
        return right
    if isinstance(op, ast.Sub) and isinstance(right, Seq) and right.asked:
        return less(left, right)
    if isinstance(op, ast.BitAnd | ast.BitOr):
        return unknown(left, right)
    if isinstance(op, ast.Sub) and "clock" in left.tags and "clock" in right.tags:
        return Value()  # A duration: how long something took.
    return unknown(left, right, name=left.name)


def _percent(left: Str, right: Value) -> Str:
    given = right.items if isinstance(right, Seq) else [right]
    tags, asked = merged((left, right))
    used = iter(given)

    def fill(match: re.Match[str]) -> str:
        if match[1] and isinstance(right, Map):
            value = right.items.get(match[1])
            return as_text(value) if value is not None else match[0]
        value = next(used, None)
        return as_text(value) if value is not None else match[0]

    text = re.sub(r"%(?:\((\w+)\))?[sdrif]", fill, left.text)
    return Str(tags, asked, text=text, exact=left.exact and all(is_exact(one) for one in given), node=left.node)


def formatted(left: Str, args: list[Value], kwargs: dict[str, Value]) -> Str:
    """str.format"""
    tags, asked = merged([left, *args, *kwargs.values()])
    used = iter(args)

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        if not name:
            value = next(used, None)
        elif name.isdigit():
            value = args[int(name)] if int(name) < len(args) else None
        else:
            value = kwargs.get(name)
            if value is None:
                value = Value(name=name)
        return as_text(value) if value is not None else hole(Value(name=name))

    text = re.sub(r"(?<!\{)\{(\w*)[^{}]*\}(?!\})", fill, left.text).replace("{{", "{").replace("}}", "}")
    return Str(tags, asked, text=text, exact=False, node=left.node)
