"""Small questions about scopes: what a default means, what a class holds, what `with` gives."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from samewise.audit.python.values import (
    ClassV,
    Const,
    Func,
    Handle,
    Instance,
    Str,
    Value,
)


@dataclass
class Call:
    """One call that is being followed."""

    env: dict[str, Value]
    scope: str
    returned: Value | None = None


def defaulted(value: Value, name: str) -> Value:
    """A default is what is meant unless a caller says otherwise."""
    if isinstance(value, Str) and not value.text:
        return Value(frozenset({"param"}), name=name)
    if isinstance(value, Str):
        return Str(value.tags | {"default"}, value.asked, name, None, value.text, value.exact, value.node)
    if isinstance(value, Const):
        return (
            Const(value.tags | {"default", "param"}, name=name, value=value.value)
            if value.value is not None
            else Value(frozenset({"param"}), name=name)
        )
    return value


def method(instance: Instance, name: str) -> Func | None:
    """A method of the instance's class, or of a class of this module that it inherits from."""
    seen: list[ClassV] = [instance.cls]
    while seen:
        cls = seen.pop(0)
        for one in cls.node.body:
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name == name:
                owner = None if any(name_of(d) == "staticmethod" for d in one.decorator_list) else instance
                return Func(name=name, node=one, env=cls.env, owner=owner, qualname=f"{cls.name}.{name}")
        for base in cls.node.bases:
            found = cls.env.get(base.id) if isinstance(base, ast.Name) else None
            if isinstance(found, ClassV) and found is not cls and len(seen) < 8:
                seen.append(found)
    return None


def enter(value: Value) -> tuple[Value, Callable[[], None] | None]:
    """What `with` gives, and what happens at its end."""
    if isinstance(value, Handle) and value.kind == "transaction":
        assert value.conn is not None
        value.conn.enter(fresh=bool(value.data.get("fresh")))
        inner = value.data.get("gives")
        return (inner if isinstance(inner, Value) else value), value.conn.leave
    if (
        isinstance(value, Handle)
        and value.kind == "connection"
        and value.conn is not None
        and value.conn.kind == "dbapi"
    ):
        return value, value.conn.commit
    if type(value) is Value and re.search(r"conn|connection|^db$|transaction", value.name) and value.conn is not None:
        return value, value.conn.commit
    return value, None


def guard_tags(test: Value) -> frozenset[str]:
    tags = set(test.asked)
    if "exists" in test.tags:
        tags.add("*asked")
    return frozenset(tags)


def restore(env: dict[str, Value], before: dict[str, Value]) -> None:
    env.clear()
    env.update(before)


def is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


_EXITS = re.compile(r"^(sys\.)?exit$|^quit$|^os\._exit$|^dbutils\.notebook\.exit$")


def is_exit(node: ast.expr) -> bool:
    """sys.exit(): what follows is not reached."""
    if not isinstance(node, ast.Call) or name_of(node.func) not in ("exit", "quit", "_exit"):
        return False
    return _EXITS.match(ast.unparse(node.func)) is not None


def has_try(body: Sequence[ast.stmt]) -> bool:
    return any(isinstance(one, ast.Try) for one in body)


def name_of(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    return ""


def asks_isin(node: ast.expr) -> bool:
    """`rows["id"].isin(known)`, whatever `rows` is."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("isin", "is_in")
