"""SQL that the code executes: into operations of the flow, each in its transaction."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from samewise.audit.facts import Frame, SqlOp
from samewise.audit.finding import Place
from samewise.audit.python.values import (
    NONE,
    Conn,
    Handle,
    Str,
    Value,
    place_of,
)
from samewise.audit.sql.dialect import AUTOCOMMIT, guess
from samewise.audit.sql.script import operations, statements_of
from samewise.audit.sql.statement import Statement
from samewise.audit.sql.template import fill
from samewise.audit.sql.words import Text

if TYPE_CHECKING:
    from samewise.audit.python.interpreter import Interpreter


_WRITE = re.compile(
    r"^(\s|--[^\n]*\n|/\*.*?\*/|\(|\{%.*?%\}|\{\{.*?\}\})*(INSERT|MERGE|DELETE|TRUNCATE|DROP|COPY|REPLACE|CREATE|UPSERT|ALTER|RENAME"
    r"|UPDATE|WITH|BEGIN|START|SET|DECLARE|COMMIT|IF|DO|EXEC)\b",
    re.IGNORECASE | re.DOTALL,
)
_GOES_ON = {
    "INSERT": r".*?\b(INTO|OVERWRITE|SELECT|VALUES?|EXEC|EXECUTE|SET)\b",
    "MERGE": r".*?\b(INTO|USING)\b",
    "UPDATE": r".*?\bSET\b",
    "COPY": r".*?\b(INTO|FROM|TO)\b",
    "REPLACE": r"\s+\S+\s",
}
"""What follows a verb in a statement, and not in a command line or a mode: `merge`, `copy a b`, `update all`."""


_SELECT = re.compile(r"^\s*(--[^\n]*\n\s*)*(\(\s*)?(SELECT|WITH)\b", re.IGNORECASE)


BOUND = "bound:"
"""Tag of rows that were chosen by what a table was asked first; the table follows."""
MANY = frozenset({"executemany", "execute_many", "execute_values", "execute_batch", "executemany_prepared"})


def conn_of(run: Interpreter, value: Value) -> Conn:
    """The connection behind a value. What came from elsewhere, a cursor and its connection, share one."""
    if value.conn is None:
        if not isinstance(run.flow.conn, Conn):
            run.flow.conn = Conn()
        value.conn = run.flow.conn
        assert isinstance(value.conn, Conn)
    return value.conn


def is_write(text: str) -> bool:
    """Whether a text is a statement that may change something; a word that could begin one is not."""
    found = _WRITE.match(text[:4000])
    if found is None:
        return False
    verb, more = found[2].upper(), text[found.end() : found.end() + 4000]
    if verb in ("BEGIN", "START", "COMMIT"):
        return True
    return bool(more.strip()) and re.match(_GOES_ON.get(verb, ""), more, re.IGNORECASE | re.DOTALL) is not None


def is_select(text: str) -> bool:
    return _SELECT.match(text) is not None


def run_made_up(run: Interpreter, node: ast.Call, text: str, conn: Conn | None, *, many: bool) -> None:
    """A statement that the library will write itself."""
    execute(run, node, Str(text=text, exact=False), conn, via="execute", many=many)


def run_sql(
    run: Interpreter,
    node: ast.Call,
    text: Str,
    conn: Conn | None,
    *,
    via: str,
    many: bool,
    given: frozenset[str] = NONE,
) -> Value:
    """Run SQL; what comes back remembers which tables were asked."""
    asked = execute(run, node, text, conn, via=via, many=many, given=given)
    bounds = {f"{BOUND}{one}" for one in given}
    return Handle((text.tags - {"default"}) | bounds, frozenset(asked), "result", conn, kind="result")


def bounds_of(values: Iterable[Value]) -> frozenset[str]:
    """The tables that were asked which rows these have to be: how far they go, or which of them are new."""
    found: set[str] = set()
    for one in values:
        found.update(tag[len(BOUND) :] for tag in one.tags if tag.startswith(BOUND))
        if "notin" in one.tags:
            found |= one.asked  # Rows that are there already were left out.
    return frozenset(found)


def execute(
    run: Interpreter,
    node: ast.AST,
    text: Str,
    conn: Conn | None,
    *,
    via: str,
    many: bool = False,
    given: frozenset[str] = NONE,
) -> set[str]:
    """Add what a text does to the flow. Gives the tables that it reads; `given` were asked for its parameters."""
    if not is_write(text.text) and not _SELECT.match(text.text):
        return set()
    if text.node is not None:
        run.executed.add(id(text.node))
    dialect = (conn.dialect if conn is not None else "") or run.flow.dialect or guess(text.text)
    filled = fill(text.text)
    statements = statements_of(filled, dialect)
    asked: set[str] = set()
    for statement in statements:
        if statement.kind == "select":
            asked.update(s for s in statement.sources if s not in statement.ctes)
        elif statement.kind in ("values", "upsert", "insert") and statement.claims:
            # Whoever asks whether a row went in knows whether it was there before.
            asked.add("*unique")
        elif statement.kind == "update" and statement.target:
            asked.add(statement.target)  # How many rows it met says whether they are there.
    if not any(s.kind not in ("select", "other", "set", "view") for s in statements):
        if any(s.kind == "view" for s in statements):
            _add(
                run,
                node,
                text,
                filled,
                [s for s in statements if s.kind == "view"],
                conn,
                via=via,
                many=many,
                asked=given,
            )
        return asked
    _add(run, node, text, filled, statements, conn, via=via, many=many, asked=given)
    return asked


def _add(
    run: Interpreter,
    node: ast.AST,
    text: Str,
    filled: str,
    statements: list[Statement],
    conn: Conn | None,
    *,
    via: str,
    many: bool,
    asked: frozenset[str],
) -> None:
    at = Text(filled)
    place_all = run.place(node)

    def placed(statement: Statement) -> Place:
        return literal_place(text, at, statement, place_all)

    ops = operations(statements, filled, placed, via=via, implicit=False, sure=True)
    outer = conn.tx() if conn is not None else None
    for op in ops:
        assert isinstance(op, SqlOp)
        if op.statement.kind in ("commit", "rollback") and conn is not None:
            conn.commit()
            outer = conn.tx()
        elif op.statement.kind in ("begin", "begin_or_block") and conn is not None:
            conn.turn += 1
            conn.explicit = True
            outer = conn.tx()
        op.tx = outer if outer is not None else (None if op.tx is None else (id(ops), op.tx))
        op.tx_sure = (
            conn is not None and (conn.kind not in ("alchemy", "unknown") or conn.block > 0) and via != "helper"
        )
        if op.statement.dialect in AUTOCOMMIT:
            op.tx, op.tx_sure = None, True
        op.many = many
        op.conn = conn
        op.guards = text.asked | asked
        op.raw = text.text[op.statement.start : op.statement.start + len(op.statement.text)]
        if conn is None or not conn.memory or "." in op.statement.target:
            run.add(op)  # In memory everything is made anew; a dotted name may be of a database that is attached.


def literal_place(text: Str, at: Text, statement: Statement, otherwise: Place) -> Place:
    """The lines of the literal that hold a statement; the call where the text was put together."""
    node = text.node
    if node is None:
        return otherwise
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    lines = at.text.count("\n")
    if last - first != lines:
        return otherwise if last == first else Place(first, 1, last, 0)
    if first == last:
        return otherwise if otherwise.line == first == otherwise.last_line else place_of(node)
    line, column = at.place(statement.start)
    end, _ = at.place(statement.start + len(statement.text))
    return Place(first + line - 1, column if line > 1 else 1, first + end - 1, 0)


def query_frame(run: Interpreter, text: Value | None, node: ast.AST) -> Frame:
    """The rows of a SELECT."""
    if not isinstance(text, Str):
        return Frame(param=True)
    filled = fill(text.text)
    statements = statements_of(filled, run.flow.dialect or guess(filled))
    if not statements:
        return Frame()
    from samewise.audit.python.queries import frame_of

    frame = frame_of(statements[0], literal_place(text, Text(filled), statements[0], run.place(node)))
    frame.asked = text.asked
    return frame
