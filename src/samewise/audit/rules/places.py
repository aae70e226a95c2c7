"""Where a word of a statement stands in the file."""

from __future__ import annotations

from samewise.audit.facts import SqlOp
from samewise.audit.finding import Place
from samewise.audit.sql.inside import MADE
from samewise.audit.sql.words import Word


def at_word(op: SqlOp, word: Word) -> Place:
    """Where a word of the statement stands in the file."""
    before = op.statement.text[: word.start - op.statement.start]
    lines = before.count("\n")
    if op.place.line == op.place.last_line:
        return op.place
    line = min(op.place.line + lines, op.place.last_line)
    column = len(before) - before.rfind("\n") if lines else op.place.column + len(before)
    if op.via not in ("file", "dbt"):
        return Place(line, 1, line, 0, op.place.cell)
    return Place(line, column, line, column + len(word.text), op.place.cell)


def word_place(op: SqlOp, name: str) -> Place:
    for word in op.statement.words:
        if word.text.lower() == name:
            return at_word(op, word)
    made = MADE.search(op.statement.text)
    if made is not None:
        at = op.statement.start + made.start()
        return at_word(op, Word("word", made[0], "", at, at))
    return op.place
