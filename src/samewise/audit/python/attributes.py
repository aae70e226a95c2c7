"""Attributes and items: read from, and assigned to."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from samewise.audit.facts import Frame
from samewise.audit.python import changes, cloud, database, frames, spark, statements
from samewise.audit.python.values import Const, FrameV, Handle, Instance, Map, Ref, Seq, Str, Value
from samewise.audit.sql.names import is_key

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter


def attribute(run: Interpreter, owner: Value, name: str, node: ast.AST) -> Value | None:
    """What `owner.name` is, where that is known; `[]` stands for a subscript."""
    return (
        spark.attribute(run, owner, name, node)
        or frames.attribute(run, owner, name, node)
        or database.attribute(run, owner, name, node)
    )


def assigned(run: Interpreter, owner: Value, name: str, value: Value, node: ast.AST) -> None:
    """owner.name = value"""
    if isinstance(owner, Instance):
        if type(value) is Value and not value.name:
            value.name = name
        owner.attrs[name] = value
        return
    if name in ("autocommit", "isolation_level"):
        conn = statements.conn_of(run, owner)
        if name == "autocommit":
            conn.autocommit = isinstance(value, Const) and value.value is True
        else:
            conn.autocommit = (isinstance(value, Const) and value.value in (None, 0)) or (
                isinstance(value, Str) and value.text.upper() == "AUTOCOMMIT"
            )
            if isinstance(value, Ref):
                conn.autocommit = value.last.endswith("AUTOCOMMIT")
        return
    if isinstance(owner, Handle) and owner.kind == "jobconfig":
        cloud.configure(owner, name, value)
    elif isinstance(owner, FrameV):
        item_assigned(run, owner, Str(text=name), value, node)
    elif isinstance(owner, Map) or owner.name == "config":
        pass


def item_assigned(run: Interpreter, owner: Value, index: Value, value: Value, node: ast.AST) -> None:
    """owner[index] = value"""
    if isinstance(owner, Map):
        if isinstance(index, Str):
            owner.items[index.text] = value
            owner.tags |= value.tags
        else:
            owner.exact = False
        return
    if isinstance(owner, Seq):
        owner.exact = False
        return
    if not isinstance(index, Str):
        return
    made = changes.made_by(value)
    if made and is_key(index.text) and isinstance(node, ast.Subscript | ast.Attribute):
        name = node.value.id if isinstance(node.value, ast.Name) else ""
        frame = owner.frame if isinstance(owner, FrameV) else Frame(param=True)
        generated = {**frame.generated, index.text.lower(): (made, run.place(run.statement or node))}
        changed = FrameV(owner.tags, owner.asked, owner.name, frame=replace(frame, generated=generated))
        if name:
            run.env[name] = changed
        elif isinstance(owner, FrameV):
            owner.frame = changed.frame
