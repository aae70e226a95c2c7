"""A Python file into its flows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from samewise.audit.facts import Flow, SqlOp, Task
from samewise.audit.finding import TaskFact
from samewise.audit.python import statements
from samewise.audit.python.attributes import attribute
from samewise.audit.python.calls import call
from samewise.audit.python.interpreter import Interpreter, TooMuch
from samewise.audit.python.module import describe, look_over
from samewise.audit.python.scopes import Call, method
from samewise.audit.python.values import ClassV, Conn, Func, Instance, Str, Value, place_of

INTERESTING = re.compile(
    rb"execute|\.write|to_sql|insert|INSERT|MERGE|TRUNCATE|DELETE|COPY|\.sql\(|\.post\(|produce|\.send\(|write_|load_table|to_gbq|"
    rb"Operator\(|foreachBatch|copy_|\.merge\(|to_csv|to_parquet|to_iceberg|\.run\(|bulk_|Disposition|start_date|add_all|WriteToBigQuery"
)
"""A file without any of these writes nothing that the audit knows."""


def read_python(
    tree: ast.Module, file: str, lines: list[str], *, language: str = "python", databricks: bool = False
) -> tuple[list[Flow], list[object]]:
    """Every flow of a module, and what other files should know (tasks, SQL files)."""
    seen = look_over(tree)
    context = describe(tree, seen, file, lines, language=language, databricks=databricks)
    if context.test or context.migration:
        return [], []
    run = Interpreter(context, call, attribute, Flow(context, name="<module>"))
    run.calls = [Call(run.globals, "<module>")]
    main = run.flow
    try:
        _predefine(run, tree)
        run.block(tree.body)
        flows = [main, *_tasks(run), *_roots(run, tree, seen.called), *_constants(run, tree)]
    except TooMuch:
        flows = [main]
    flows += run.flows
    for flow in flows:
        _settle(flow)
    return flows, run.emitted


def _settle(flow: Flow) -> None:
    """A SQLAlchemy connection that nobody commits is one of version 1, which commits each statement."""
    for op in flow.ops:
        conn = op.conn if isinstance(op, SqlOp) else None
        if isinstance(conn, Conn) and conn.kind == "alchemy" and not conn.commits and isinstance(op, SqlOp):
            op.tx, op.tx_sure = None, False


def _constants(run: Interpreter, tree: ast.Module) -> Iterator[Flow]:
    """SQL in constants of the module that is run by another one; the cases of a list are no constants."""
    assigned = {
        id(part)
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and node.value is not None
        and not isinstance(node.value, ast.List | ast.Tuple | ast.Dict | ast.Set)
        for part in ast.walk(node.value)
    }
    for value in list(run.globals.values()):
        if not isinstance(value, Str) or value.node is None or id(value.node) in run.executed:
            continue
        if id(value.node) not in assigned:
            continue
        if statements.is_write(value.text):
            flow = Flow(run.context, name="<constant>")
            outer, run.flow = run.flow, flow
            statements.execute(run, value.node, value, None, via="constant")
            run.flow = outer
            yield flow


def _predefine(run: Interpreter, tree: ast.Module) -> None:
    """Functions and classes may be used before the line that defines them."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            run.globals[node.name] = Func(name=node.name, node=node, env=run.globals, qualname=node.name)
        elif isinstance(node, ast.ClassDef):
            run.globals[node.name] = ClassV(name=node.name, node=node, env=run.globals)


def _tasks(run: Interpreter) -> Iterator[Flow]:
    """Each task is a run of its own."""
    done = 0
    while done < len(run.tasks) and done < 200:
        task, function, args, kwargs = run.tasks[done]
        done += 1
        yield _follow(run, function, task, args, kwargs)


def _follow(run: Interpreter, function: Value, task: Task | None, args: list[Value], kwargs: dict[str, Value]) -> Flow:
    # What is set on the Spark session holds for everyone who uses it.
    schedule = task.schedule if task is not None else ""
    flow = Flow(run.context, name=function.name, task=task, schedule=schedule, conf=dict(run.flow.conf))
    outer, run.flow, run.task = run.flow, flow, task
    run.path, run.guards, run.loop, run.retry = [], [], 0, None
    try:
        if isinstance(function, Func):
            run.invoke(function, args, kwargs)
    finally:
        run.flow, run.task = outer, None
    return flow


def _roots(run: Interpreter, tree: ast.Module, called: frozenset[str]) -> Iterator[Flow]:
    """Functions and classes that nothing in this file has called: someone else does."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and id(node) not in run.visited:
            cls = run.globals.get(node.name)
            if isinstance(cls, ClassV):
                yield from _class_roots(run, cls)
    waiting = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and id(node) not in run.visited
    ]
    # Those that others call come last: they are mostly followed from there.
    for node in sorted(waiting, key=lambda one: one.name in called):
        function = run.globals.get(node.name)
        if id(node) not in run.visited and isinstance(function, Func):
            yield _follow(run, function, None, [], {})


def _class_roots(run: Interpreter, cls: ClassV) -> Iterator[Flow]:
    flow = Flow(run.context, name=cls.name)
    outer, run.flow = run.flow, flow
    run.path, run.guards, run.loop = [], [], 0
    instance: Instance = run.instantiate(cls, [], {})
    run.flow = outer
    yield flow
    methods = [one for one in cls.node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    used = {node.attr for node in ast.walk(cls.node) if isinstance(node, ast.Attribute)}
    for one in sorted(methods, key=lambda node: node.name in used):
        if one.name.startswith("__") or id(one) in run.visited:
            continue
        bound = method(instance, one.name)
        if bound is not None:
            yield _follow(run, bound, _operator_task(cls, one), [], {})


def _operator_task(cls: ClassV, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Task | None:
    """`execute` of an operator that someone wrote themselves is a task."""
    bases = [ast.unparse(base).rpartition(".")[2] for base in cls.node.bases]
    if node.name == "execute" and any(base.endswith("Operator") for base in bases):
        return Task(cls.name, place_of(cls.node))
    return None


__all__ = ["INTERESTING", "TaskFact", "read_python"]
