"""Helpers for others: functions that are told where to write, by callers who are not in this file."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from samewise.audit.facts import FrameOp, Op, SqlOp
from samewise.audit.python.scopes import name_of
from samewise.audit.python.values import ClassV, Const, Func, Ref, Value
from samewise.audit.sql.template import HOLE, clean, is_hole

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter

_STARTS = re.compile(r"([a-z0-9]+_)*(main|handler|run|job|etl|pipeline|entry_?point)(_[a-z0-9]+)*$")
"""Functions that a scheduler calls by name, which methods are not: what they do is the job itself."""
_MODE = re.compile(r"(^|_)(mode|disposition|if_exists|if_table_exists|overwrite|truncate|replace|behaviou?r)$")
_NO_TABLES = frozenset({"STDIN", "SELECT", "UNNEST", "VALUES", "LATERAL", "DF"})
_INTO = re.compile(
    rf"\b(?:INTO|COPY|OVERWRITE|TABLE|TRUNCATE|FROM|REPLACE)\s+(?:TABLE\s+)?((?:[\"`\[]?{HOLE}_\w*[\"`\]]?\.?)+)(?![.\w])",
    re.IGNORECASE,
)


def chosen(value: Value, test: ast.expr) -> frozenset[str]:
    """`if mode == "overwrite":` where a caller says the mode: which arm is taken is not decided here."""
    if value.asked or (isinstance(value, Const) and "param" not in value.tags):
        return frozenset()
    asks = any(_MODE.search(name_of(node)) for node in ast.walk(test))
    return frozenset({"*chosen"}) if asks else frozenset()


def is_told(run: Interpreter, op: Op) -> bool:
    """Whether the code knows nothing of the data: neither the target, nor a column, nor where the rows come from."""
    root = run.calls[1].scope if len(run.calls) > 1 else ""
    if run.flow.name == "<module>" or op.task is not None or run.flow.batch or _STARTS.match(root):
        return False
    holes = _holes(op)
    if not holes or _knows(op):
        return False
    known = {
        name.lower()
        for name, value in run.globals.items()
        if "free" not in value.tags and not isinstance(value, Ref | Func | ClassV)
    }
    return not any(clean(hole).lower() in known for hole in holes)


def _knows(op: Op) -> bool:
    """A column or a source is named: this is about one table, whatever it is called."""
    if isinstance(op, FrameOp):
        sources = [table for table in op.frame.tables if not re.fullmatch(rf"({HOLE}_\w*_\.?)+|\?", table)]
        return bool(op.partition_by or sources or op.frame.raw)
    assert isinstance(op, SqlOp)
    from_ = re.findall(r"\b(?:FROM|JOIN)\s+[\"`\[]?(\w+)", op.statement.text, re.IGNORECASE)
    named = [one for one in from_ if not is_hole(one) and one.upper() not in _NO_TABLES]
    return bool(named) or any(not is_hole(column) for column in op.statement.columns)


def _holes(op: Op) -> list[str]:
    """The parts of the target's name, if each of them is a hole."""
    if isinstance(op, FrameOp):
        parts = op.target.split(".")
    elif isinstance(op, SqlOp) and op.statement.target:
        found = _INTO.search(op.statement.text)
        parts = re.sub(r"[\"`\[\]]", "", found[1]).split(".") if found else []
    else:
        return []
    return parts if parts and all(re.fullmatch(rf"{HOLE}_\w*_", part) for part in parts) else []
