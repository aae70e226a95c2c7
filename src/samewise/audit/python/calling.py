"""Calls of the module's own functions and classes, followed with what they are given."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samewise.audit.python.scopes import Call, defaulted, method, name_of
from samewise.audit.python.values import (
    ClassV,
    Conn,
    Func,
    Handle,
    Instance,
    Map,
    Seq,
    Value,
    unknown,
)

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter

Env = dict[str, Value]
_MAX_DEPTH = 7
_RESOURCES = {"DuckDBResource": "duckdb", "SnowflakeResource": "snowflake"}


def invoke(run: Interpreter, func: Func, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Follow a call of a function of this module."""
    node = func.node
    if len(run.calls) >= _MAX_DEPTH or any(one.scope == func.qualname for one in run.calls):
        return unknown(*args, *kwargs.values())
    run.visited.add(id(node))
    env: Env = dict(func.env) if func.env is not run.globals else {}
    _parameters(run, node.args, env, ([func.owner] if func.owner is not None else []) + args, kwargs)
    if isinstance(node, ast.Lambda):
        run.calls.append(Call(env, func.qualname or "lambda"))
        value = run.eval(node.body)
        run.calls.pop()
        return value
    run.calls.append(Call(env, func.qualname or node.name))
    outer, depth, retry = run.statement, len(run.path), run.retry
    from samewise.audit.python.orchestrators import retry_of

    run.retry = retry_of(run, node) or run.retry
    try:
        run.block(node.body)
    finally:
        frame = run.calls.pop()
        run.statement = outer
        run.retry = retry
        del run.path[depth:]
    return frame.returned or unknown(name=node.name)


def _parameters(run: Interpreter, spec: ast.arguments, env: Env, args: list[Value], kwargs: dict[str, Value]) -> None:
    names = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
    defaults: dict[str, ast.expr] = dict(zip(names[len(names) - len(spec.defaults) :], spec.defaults, strict=True))
    for arg, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
        names.append(arg.arg)
        if default is not None:
            defaults[arg.arg] = default
    types = {arg.arg: arg.annotation for arg in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
    for position, name in enumerate(names):
        if position < len(args) and position < len(spec.posonlyargs) + len(spec.args):
            env[name] = args[position]
        elif name in kwargs:
            env[name] = kwargs[name]
        elif name in defaults:
            value = run.eval(defaults[name])
            env[name] = defaulted(value, name)
        else:
            env[name] = _typed(types[name]) or Value(frozenset({"param"}), name=name)
    if spec.vararg:
        env[spec.vararg.arg] = Seq(items=args[len(names) :], exact=False)
    if spec.kwarg:
        rest = {name: value for name, value in kwargs.items() if name not in names}
        env[spec.kwarg.arg] = Map(items=rest, exact=False, name=spec.kwarg.arg)


def _typed(annotation: ast.expr | None) -> Value | None:
    """A resource of Dagster: what it opens is its own, and commits each statement."""
    dialect = _RESOURCES.get(name_of(annotation)) if annotation is not None else None
    return Handle(kind="hook", name=name_of(annotation), conn=Conn("auto", dialect)) if annotation and dialect else None


def instantiate(run: Interpreter, cls: ClassV, args: list[Value], kwargs: dict[str, Value]) -> Instance:
    made = Instance(name=cls.name, cls=cls)
    run.visited.add(id(cls.node))
    for one in cls.node.body:
        if isinstance(one, ast.Assign):
            for target in one.targets:
                if isinstance(target, ast.Name):
                    made.attrs[target.id] = run.eval(one.value)
        elif isinstance(one, ast.AnnAssign) and one.value is not None and isinstance(one.target, ast.Name):
            made.attrs[one.target.id] = run.eval(one.value)
    init = method(made, "__init__")
    if init is not None:
        run.invoke(init, args, kwargs)
    else:
        made.attrs.update(kwargs)
    return made
