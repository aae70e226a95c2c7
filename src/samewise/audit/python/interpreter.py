"""Walks through a module as it would run: every branch, every call of its own functions, no call of others."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from samewise.audit.facts import Context, Flow, Op, Retry, Task
from samewise.audit.finding import Place
from samewise.audit.python.values import (
    Alt,
    ClassV,
    Const,
    Func,
    Handle,
    Instance,
    Map,
    Ref,
    Seq,
    Str,
    Value,
    join,
    place_of,
    unknown,
)

Env = dict[str, Value]
_MAX_DEPTH = 7
_MAX_STEPS = 60_000
_UNIQUE = re.compile(r"integrity|unique|duplicate|conflict|already_?exists|alreadyexists")
_ATTEMPTS = re.compile(r"attempt|retr|tries|(^|_)try")


class TooMuch(Exception):
    """The module is larger than what is worth following."""


@dataclass
class Frame_:  # noqa: N801
    """One call that is being followed."""

    env: Env
    scope: str
    returned: Value | None = None


@dataclass
class Interpreter:
    """The state of the walk. `call` judges calls: it knows the libraries."""

    context: Context
    call: Callable[[Interpreter, ast.Call, Value, list[Value], dict[str, Value]], Value | None]
    attribute: Callable[[Interpreter, Value, str, ast.AST], Value | None]
    flow: Flow
    globals: Env = field(default_factory=dict)
    path: list[tuple[int, int]] = field(default_factory=list)
    guards: list[frozenset[str]] = field(default_factory=list)
    loop: int = 0
    task: Task | None = None
    retry: Retry | None = None
    calls: list[Frame_] = field(default_factory=list)
    visited: set[int] = field(default_factory=set)
    steps: int = 0
    statement: ast.stmt | None = None
    tasks: list[tuple[Task, Value, list[Value], dict[str, Value]]] = field(default_factory=list)
    """Tasks of an orchestrator with what they call, to be followed as flows of their own."""
    flows: list[Flow] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)
    dag_args: dict[str, Value] = field(default_factory=dict)
    emitted: list[object] = field(default_factory=list)
    executed: set[int] = field(default_factory=set)
    """Literals whose SQL was run somewhere in this file."""

    # What rules need of the place where something happens

    @property
    def scope(self) -> str:
        return self.calls[-1].scope if self.calls else ""

    @property
    def env(self) -> Env:
        return self.calls[-1].env if self.calls else self.globals

    def add(self, op: Op) -> None:
        """Something happens here."""
        op.path = tuple(self.path)
        op.scope = op.scope or self.scope
        op.loop = self.loop
        op.guards = op.guards.union(*self.guards)
        op.task = op.task or self.task
        op.retry = op.retry or self.retry
        if self.statement is not None:
            op.edit_lines = (self.statement.lineno, self.statement.end_lineno or self.statement.lineno)
        self.flow.ops.append(op)

    def place(self, node: ast.AST) -> Place:
        return place_of(node)

    # Blocks

    def block(self, body: Sequence[ast.stmt]) -> bool:
        """Follow statements in order. True where what comes after is never reached."""
        pushed = 0
        ended = False
        for one in body:
            self.steps += 1
            if self.steps > _MAX_STEPS:
                raise TooMuch
            outer, self.statement = self.statement, one
            left = self._statement(one)
            self.statement = outer
            if isinstance(left, tuple):
                # An `if` whose body leaves: the rest is its other arm.
                self.path.append((left[0], 1))
                self.guards.append(left[1])
                pushed += 1
            elif left:
                ended = True
                break
        for _ in range(pushed):
            self.path.pop()
            self.guards.pop()
        return ended

    def _statement(self, node: ast.stmt) -> bool | tuple[int, frozenset[str]]:
        match node:
            case ast.Expr():
                self.eval(node.value)
            case ast.Assign():
                value = self.eval(node.value)
                for target in node.targets:
                    self.bind(target, value)
            case ast.AnnAssign():
                if node.value is not None:
                    self.bind(node.target, self.eval(node.value))
            case ast.AugAssign():
                left = self.eval(node.target)
                right = self.eval(node.value)
                self.bind(node.target, self.combine(node.op, left, right))
            case ast.Return():
                value = self.eval(node.value) if node.value is not None else Const(value=None)
                if self.calls:
                    self.calls[-1].returned = join(self.calls[-1].returned, value) if self.calls[-1].returned else value
                return True
            case ast.Raise() | ast.Continue() | ast.Break():
                if isinstance(node, ast.Raise) and node.exc is not None:
                    self.eval(node.exc)
                return True
            case ast.If():
                return self._if(node)
            case ast.For() | ast.AsyncFor():
                self._for(node)
            case ast.While():
                self._while(node)
            case ast.With() | ast.AsyncWith():
                return self._with(node)
            case ast.Try() | ast.TryStar():
                return self._try(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._define(node)
            case ast.ClassDef():
                self.env[node.name] = ClassV(name=node.name, node=node, env=self.env)
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case ast.Match():
                subject = self.eval(node.subject)
                for number, case in enumerate(node.cases):
                    self._arm(id(node), number, frozenset(subject.asked), case.body)
            case ast.Delete() | ast.Assert():
                pass
            case _:
                pass
        return False

    def _arm(self, branch: int, arm: int, guard: frozenset[str], body: Sequence[ast.stmt]) -> bool:
        self.path.append((branch, arm))
        self.guards.append(guard)
        try:
            return self.block(body)
        finally:
            self.path.pop()
            self.guards.pop()

    def _if(self, node: ast.If) -> bool | tuple[int, frozenset[str]]:
        if _is_main(node.test):
            self.block(node.body)
            return False
        test = self.eval(node.test)
        if isinstance(test, Const) and isinstance(test.value, bool) and not isinstance(node.test, ast.Name):
            return self.block(node.body if test.value else node.orelse)
        guard = guard_tags(test)
        before = dict(self.env)
        ended = self._arm(id(node), 0, guard, node.body)
        after_body = dict(self.env)
        restore(self.env, before)
        ended_else = self._arm(id(node), 1, guard, node.orelse) if node.orelse else False
        if ended and node.orelse and ended_else:
            return True
        if ended:
            return (id(node), guard) if not node.orelse else False
        if ended_else:
            restore(self.env, after_body)
            return False
        for name in {*after_body, *self.env}:
            one, other = after_body.get(name), self.env.get(name)
            if one is not other:
                self.env[name] = join(one, other)
        return False

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        rows = self.eval(node.iter)
        outer = self.retry
        if isinstance(node.target, ast.Name) and _ATTEMPTS.search(node.target.id) and _has_try(node.body):
            self.retry = Retry(self.place(node), "this retry loop")
        if isinstance(rows, Seq) and rows.exact and 0 < len(rows.items) <= 12:
            for item in rows.items:
                self.bind(node.target, item)
                self.block(node.body)
        else:
            self.bind(node.target, unknown(rows, name=_name_of(node.target)))
            self.loop += 1
            self.block(node.body)
            self.loop -= 1
        self.block(node.orelse)
        self.retry = outer

    def _while(self, node: ast.While) -> None:
        test = self.eval(node.test)
        outer = self.retry
        if _ATTEMPTS.search(ast.unparse(node.test)) and _has_try(node.body):
            self.retry = Retry(self.place(node), "this retry loop")
        self.loop += 1
        self.guards.append(guard_tags(test) if "exists" in test.tags else frozenset())
        self.block(node.body)
        self.guards.pop()
        self.loop -= 1
        self.block(node.orelse)
        self.retry = outer

    def _with(self, node: ast.With | ast.AsyncWith) -> bool:
        leave: list[Callable[[], None]] = []
        for item in node.items:
            value = self.eval(item.context_expr)
            entered, on_exit = enter(value)
            if on_exit is not None:
                leave.append(on_exit)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, entered)
        ended = self.block(node.body)
        for one in reversed(leave):
            one()
        return ended

    def _try(self, node: ast.Try | ast.TryStar) -> bool:
        caught = " ".join(ast.unparse(handler.type) for handler in node.handlers if handler.type is not None)
        self.guards.append(frozenset({"*unique"}) if _UNIQUE.search(caught.lower()) else frozenset())
        ended = self.block(node.body)
        self.guards.pop()
        for number, handler in enumerate(node.handlers):
            before = dict(self.env)
            if handler.name:
                self.env[handler.name] = Value(name=handler.name)
            self._arm(id(node), number + 1, frozenset(), handler.body)
            restore(self.env, before)
        if not ended:
            ended = self.block(node.orelse)
        self.block(node.finalbody)
        return ended and not node.handlers

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        made: Value = Func(name=node.name, node=node, env=self.env, qualname=self._qualified(node.name))
        self.env[node.name] = made
        for decorator in node.decorator_list:
            self.eval(decorator)
        from samewise.audit.python.orchestrators import decorated

        decorated(self, node, made)

    def _qualified(self, name: str) -> str:
        return f"{self.scope}.{name}" if self.scope and self.scope != "<module>" else name

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.imports.add(alias.name)
                self.env[alias.asname or alias.name.partition(".")[0]] = Ref(
                    name=alias.name, dotted=alias.name if alias.asname else alias.name.partition(".")[0]
                )
            return
        module = ("." * node.level) + (node.module or "")
        self.imports.add(module)
        for alias in node.names:
            if alias.name == "*":
                self.imports.add(f"{module}.*")
            else:
                self.imports.add(f"{module}.{alias.name}")
                self.env[alias.asname or alias.name] = Ref(name=alias.name, dotted=f"{module}.{alias.name}")

    # Names

    def bind(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name():
                if not value.name and not isinstance(value, Const | Str):
                    value.name = target.id
                elif type(value) is Value and value.name != target.id:
                    value = Value(value.tags, value.asked, target.id, value.conn)
                self.env[target.id] = value
            case ast.Tuple() | ast.List():
                items = value.items if isinstance(value, Seq) and len(value.items) == len(target.elts) else None
                for number, one in enumerate(target.elts):
                    self.bind(one, items[number] if items is not None else unknown(value, name=_name_of(one)))
            case ast.Starred():
                self.bind(target.value, unknown(value))
            case ast.Attribute():
                owner = self.eval(target.value)
                from samewise.audit.python.attributes import assigned

                assigned(self, owner, target.attr, value, target)
            case ast.Subscript():
                owner = self.eval(target.value)
                from samewise.audit.python.attributes import item_assigned

                item_assigned(self, owner, self.eval(target.slice), value, target)
            case _:
                pass

    def lookup(self, name: str) -> Value | None:
        if name in self.env:
            return self.env[name]
        return self.globals.get(name)

    # Expressions are in expressions.py; calls of the module's own functions here

    def eval(self, node: ast.expr) -> Value:
        from samewise.audit.python.expressions import evaluate

        self.steps += 1
        if self.steps > _MAX_STEPS:
            raise TooMuch
        return evaluate(self, node)

    def combine(self, op: ast.operator, left: Value, right: Value) -> Value:
        from samewise.audit.python.expressions import combine

        return combine(op, left, right)

    def invoke(self, func: Func, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Follow a call of a function of this module."""
        node = func.node
        if len(self.calls) >= _MAX_DEPTH or any(one.scope == func.qualname for one in self.calls):
            return unknown(*args, *kwargs.values())
        self.visited.add(id(node))
        env: Env = dict(func.env) if func.env is not self.globals else {}
        self._parameters(node.args, env, ([func.owner] if func.owner is not None else []) + args, kwargs)
        if isinstance(node, ast.Lambda):
            self.calls.append(Frame_(env, func.qualname or "lambda"))
            value = self.eval(node.body)
            self.calls.pop()
            return value
        self.calls.append(Frame_(env, func.qualname or node.name))
        outer, depth, retry = self.statement, len(self.path), self.retry
        from samewise.audit.python.orchestrators import retry_of

        self.retry = retry_of(self, node) or self.retry
        try:
            self.block(node.body)
        finally:
            frame = self.calls.pop()
            self.statement = outer
            self.retry = retry
            del self.path[depth:]
        return frame.returned or unknown(name=node.name)

    def _parameters(self, spec: ast.arguments, env: Env, args: list[Value], kwargs: dict[str, Value]) -> None:
        names = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
        defaults: dict[str, ast.expr] = dict(zip(names[len(names) - len(spec.defaults) :], spec.defaults, strict=True))
        for arg, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
            names.append(arg.arg)
            if default is not None:
                defaults[arg.arg] = default
        for position, name in enumerate(names):
            if position < len(args) and position < len(spec.posonlyargs) + len(spec.args):
                env[name] = args[position]
            elif name in kwargs:
                env[name] = kwargs[name]
            elif name in defaults:
                value = self.eval(defaults[name])
                env[name] = _defaulted(value, name)
            else:
                env[name] = Value(frozenset({"param"}), name=name)
        if spec.vararg:
            env[spec.vararg.arg] = Seq(items=args[len(names) :], exact=False)
        if spec.kwarg:
            rest = {name: value for name, value in kwargs.items() if name not in names}
            env[spec.kwarg.arg] = Map(items=rest, exact=False, name=spec.kwarg.arg)

    def instantiate(self, cls: ClassV, args: list[Value], kwargs: dict[str, Value]) -> Instance:
        made = Instance(name=cls.name, cls=cls)
        self.visited.add(id(cls.node))
        for one in cls.node.body:
            if isinstance(one, ast.Assign):
                for target in one.targets:
                    if isinstance(target, ast.Name):
                        made.attrs[target.id] = self.eval(one.value)
            elif isinstance(one, ast.AnnAssign) and one.value is not None and isinstance(one.target, ast.Name):
                made.attrs[one.target.id] = self.eval(one.value)
        init = method(made, "__init__")
        if init is not None:
            self.invoke(init, args, kwargs)
        else:
            made.attrs.update(kwargs)
        return made


def _defaulted(value: Value, name: str) -> Value:
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
                owner = None if any(_name_of(d) == "staticmethod" for d in one.decorator_list) else instance
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


def restore(env: Env, before: Env) -> None:
    env.clear()
    env.update(before)


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _has_try(body: Sequence[ast.stmt]) -> bool:
    return any(isinstance(one, ast.Try) for one in body)


def _name_of(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    return ""


__all__ = ["Alt", "Interpreter", "TooMuch", "method"]
