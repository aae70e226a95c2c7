"""Names get their values: by assignment, and by import."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samewise.audit.python.scopes import name_of
from samewise.audit.python.values import (
    Const,
    Ref,
    Seq,
    Str,
    Value,
    unknown,
)

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter


def bind(run: Interpreter, target: ast.expr, value: Value) -> None:
    match target:
        case ast.Name():
            if not value.name and not isinstance(value, Const | Str):
                value.name = target.id
            elif type(value) is Value and value.name != target.id:
                value = Value(value.tags, value.asked, target.id, value.conn)
            run.env[target.id] = value
        case ast.Tuple() | ast.List():
            items = value.items if isinstance(value, Seq) and len(value.items) == len(target.elts) else None
            for number, one in enumerate(target.elts):
                run.bind(one, items[number] if items is not None else unknown(value, name=name_of(one)))
        case ast.Starred():
            run.bind(target.value, unknown(value))
        case ast.Attribute():
            owner = run.eval(target.value)
            from samewise.audit.python.attributes import assigned

            assigned(run, owner, target.attr, value, target)
        case ast.Subscript():
            owner = run.eval(target.value)
            from samewise.audit.python.attributes import item_assigned

            item_assigned(run, owner, run.eval(target.slice), value, target)
        case _:
            pass


def import_names(run: Interpreter, node: ast.Import | ast.ImportFrom) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            run.imports.add(alias.name)
            run.env[alias.asname or alias.name.partition(".")[0]] = Ref(
                name=alias.name, dotted=alias.name if alias.asname else alias.name.partition(".")[0]
            )
        return
    module = ("." * node.level) + (node.module or "")
    run.imports.add(module)
    for alias in node.names:
        if alias.name == "*":
            run.imports.add(f"{module}.*")
        else:
            run.imports.add(f"{module}.{alias.name}")
            run.env[alias.asname or alias.name] = Ref(name=alias.name, dotted=f"{module}.{alias.name}")
