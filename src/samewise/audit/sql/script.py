"""A script into statements, and those into operations with their transactions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from samewise.audit.facts import Context, Flow, Op, SqlOp
from samewise.audit.finding import Place
from samewise.audit.sql.classify import classify
from samewise.audit.sql.dialect import AUTOCOMMIT, guess
from samewise.audit.sql.split import split
from samewise.audit.sql.statement import Statement
from samewise.audit.sql.template import fill
from samewise.audit.sql.words import Text, words_of

WRITE_WORDS = re.compile(
    r"\b(INSERT|MERGE|DELETE|TRUNCATE|DROP|COPY|REPLACE|CREATE|UPSERT|RENAME|UPDATE|OVERWRITE|LOAD)\b", re.IGNORECASE
)
_IMPLICIT = re.compile(
    r"SET\s+AUTOCOMMIT\s*(=|TO)?\s*(0|OFF|FALSE)|IMPLICIT_TRANSACTIONS\s+ON|\\set\s+AUTOCOMMIT\s+off", re.I
)
_TOLD = re.compile(
    r"(?:[^{};]|\{\{[^}]*\}\})*?\b(?:INTO|OVERWRITE|COPY|TABLE|TRUNCATE|DELETE\s+(?:\w+\s+)?FROM|EXISTS|UPDATE)"
    r"\s+\{\{-?\s*\w+\s*-?\}\}(?![.\w])",
    re.IGNORECASE,
)
"""`INSERT INTO {{ target }}`: a template of a library, which says where to. `{{ params.table }}` is a task's own."""
_MAX_STATEMENTS = 4000


def statements_of(text: str, dialect: str = "") -> list[Statement]:
    """Every statement of a filled text, those in the bodies of procedures included."""
    found: list[Statement] = []
    for one in split(words_of(text), text)[:_MAX_STATEMENTS]:
        made = classify(one, text, dialect)
        found.append(made)
        if made.kind == "routine" or made.uppers[0] in ("DO", "EXECUTE"):
            found.extend(_body(made, text, dialect))
    return found


def _body(routine: Statement, text: str, dialect: str) -> Iterator[Statement]:
    for word in routine.words:
        if word.kind != "string" or len(word.text) < 20:
            continue
        opening = re.match(r"\$\w*\$|'", word.text)
        if opening is None or (opening[0] == "'" and not WRITE_WORDS.search(word.text)):
            continue
        start, end = word.start + opening.end(), word.end - opening.end()
        inner = words_of(text, start=start, end=end)
        # A function of PostgreSQL runs in the transaction of its caller, whatever else the file looks like.
        postgres = "PLPGSQL" in routine.flat or routine.has("RETURNS TRIGGER")
        atomic = (dialect != "snowflake" or postgres) and routine.uppers[0] != "EXECUTE"
        for one in split(inner, text):
            made = classify(one, text, dialect)
            made.modifiers = made.modifiers | ({"atomic"} if atomic else {"inside"})
            if routine.has("RETURNS TRIGGER"):
                made.modifiers = made.modifiers | {"trigger"}
            yield made


def read_script(text: str, context: Context, dialect: str = "") -> Flow:
    """The flow of a .sql file."""
    filled = fill(text)
    dialect = dialect or guess(filled)
    flow = Flow(context, dialect=dialect)
    if not WRITE_WORDS.search(filled):
        return flow
    at = Text(text)
    implicit = dialect == "oracle" or _IMPLICIT.search(filled) is not None

    def placed(statement: Statement) -> Place:
        line, column = at.place(statement.start)
        end_line, end_column = at.place(statement.start + len(statement.text))
        return Place(line, column, end_line, end_column)

    flow.ops.extend(
        operations(
            statements_of(filled, dialect), filled, placed, via="file", implicit=implicit, sure=dialect in AUTOCOMMIT
        )
    )
    if context.file.lower().endswith(".bteq"):
        _join_requests(flow.ops, filled)
    for op in flow.ops:
        if isinstance(op, SqlOp):
            begin = op.statement.start
            op.raw = text[begin : begin + len(op.statement.text)]
            op.told = _TOLD.match(op.raw) is not None
    return flow


def _join_requests(ops: list[Op], text: str) -> None:
    """BTEQ: statements that a `;` at the beginning of a line holds together are one request: one transaction."""
    for number, (one, other) in enumerate(pairwise(ops)):
        assert isinstance(one, SqlOp) and isinstance(other, SqlOp)
        between = text[one.statement.start + len(one.statement.text) : other.statement.start]
        if other.tx is None and re.fullmatch(r"\s*\n\s*;[ \t]*", between):
            one.tx = other.tx = one.tx or ("request", number)


def operations(
    statements: list[Statement],
    text: str,
    place: Callable[[Statement], Place],
    *,
    via: str,
    implicit: bool,
    sure: bool,
) -> list[Op]:
    """Statements in order, each with the transaction that it is part of."""
    ops: list[Op] = []
    number = 0
    current: object = ("implicit", 0) if implicit else None
    conditions: list[tuple[str, int]] = []
    """IFs that are open: their words, and the depth of BEGIN at which they began."""
    depth = 0
    routine: object = None
    routines, quoted = 0, False
    trigger = False
    for statement in statements:
        kind = statement.kind
        if kind == "begin_or_block":
            after = text[statement.start + len(statement.text) :].lstrip()
            kind = "begin" if after.startswith(";") or not after else "block"
        if kind == "begin":
            number += 1
            current = ("tx", number)
        elif kind in ("commit", "rollback"):
            number += 1
            current = ("implicit", number) if implicit else None
            routine = None
        elif kind == "block":
            depth += 1
        elif kind == "end":
            depth = max(0, depth - 1)
            trigger = trigger and depth > 0
            if conditions and conditions[-1][1] >= depth:
                conditions.pop()
            if current and current[0] == "tx" and depth == 0 and len(statement.words) == 1 and not conditions:  # type: ignore[index]
                current = None
        elif kind == "control":
            if statement.uppers[0] == "IF":
                conditions.append((statement.flat, depth))
                statement.conditional = statement.flat
        elif kind == "routine":
            number += 1
            routine = ("routine", number)
            routines += 1
            trigger = "trigger" in statement.modifiers
        if conditions and kind != "control":
            statement.conditional = " ".join(words for words, _ in conditions)
        if trigger:
            statement.modifiers = statement.modifiers | {"trigger"}
        if kind == "routine":
            quoted = any(word.kind == "string" and word.text.startswith("$") for word in statement.words)
        body = bool({"atomic", "inside"} & statement.modifiers)
        scope = f"routine {routines}" if routines and (body or not quoted) else ""
        inside = "atomic" in statement.modifiers
        if implicit and kind in ("truncate", "drop", "create", "ctas"):
            # DDL commits what came before it, and itself.
            number += 1
            tx: object = None
            current = ("implicit", number)
        else:
            tx = current or (routine if inside else None)
        ops.append(SqlOp(place(statement), tx=tx, scope=scope, statement=statement, via=via, tx_sure=sure))
    return ops
