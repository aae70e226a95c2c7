"""Walks through a module as it would run: every branch, every call of its own functions, no call of others."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from samewise.audit.facts import Context, Flow, Op, Retry, Task
from samewise.audit.finding import Place
from samewise.audit.python import binding, calling
from samewise.audit.python.helpers import chosen, is_told
from samewise.audit.python.scopes import Call, enter, guard_tags, has_try, is_exit, is_main, name_of, restore
from samewise.audit.python.values import (
    ClassV,
    Const,
    Func,
    Instance,
    Seq,
    Value,
    join,
    place_of,
    unknown,
)

Env = dict[str, Value]
_MAX_STEPS = 60_000
_UNIQUE = re.compile(r"integrity|unique|duplicate|conflict|already_?exists|alreadyexists")
_ATTEMPTS = re.compile(r"attempt|retr|tries|(^|_)try")


class TooMuch(Exception):
    """The module is larger than what is worth following."""


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
    calls: list[Call] = field(default_factory=list)
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
        op.told = op.told or is_told(self, op)
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
                return is_exit(node.value)
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
                binding.import_names(self, node)
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
        if is_main(node.test):
            self.block(node.body)
            return False
        test = self.eval(node.test)
        if isinstance(test, Const) and isinstance(test.value, bool) and not isinstance(node.test, ast.Name):
            return self.block(node.body if test.value else node.orelse)
        guard = guard_tags(test) | chosen(test, node.test)
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
        if isinstance(node.target, ast.Name) and _ATTEMPTS.search(node.target.id) and has_try(node.body):
            self.retry = Retry(self.place(node), "this retry loop")
        if isinstance(rows, Seq) and rows.exact and 0 < len(rows.items) <= 12:
            for item in rows.items:
                self.bind(node.target, item)
                self.block(node.body)
        else:
            self.bind(node.target, unknown(rows, name=name_of(node.target)))
            self.loop += 1
            self.block(node.body)
            self.loop -= 1
        self.block(node.orelse)
        self.retry = outer

    def _while(self, node: ast.While) -> None:
        test = self.eval(node.test)
        outer = self.retry
        if _ATTEMPTS.search(ast.unparse(node.test)) and has_try(node.body):
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

    # Names

    def bind(self, target: ast.expr, value: Value) -> None:
        binding.bind(self, target, value)

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
        from samewise.audit.python.texts import combine

        return combine(op, left, right)

    def invoke(self, func: Func, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Follow a call of a function of this module."""
        return calling.invoke(self, func, args, kwargs)

    def instantiate(self, cls: ClassV, args: list[Value], kwargs: dict[str, Value]) -> Instance:
        return calling.instantiate(self, cls, args, kwargs)
