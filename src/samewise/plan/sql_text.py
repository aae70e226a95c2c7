"""SQL text into a tree, by sqlglot, or into a sentence that says why not.

sqlglot is imported only when it is needed. Where it knows Spark's newer syntax only as Databricks', that
dialect is tried too, so that valid SQL is not refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.tokenizer_core import Token

_DIALECTS = ("spark", "databricks")
_STARTS = ("SELECT", "WITH", "FROM", "(")
_CHANGES = ("INSERT", "MERGE", "UPDATE", "DELETE")


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing that is wrong with a piece of SQL, and where."""

    line: int
    message: str
    code: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """A tree, and the text and tokens that it was made of."""

    tree: exp.Expr
    text: str
    tokens: list[Token]

    def lines_of(self, word: str) -> set[int]:
        """Where a bare word or a literal stands in the text; sqlglot keeps no place for these."""
        return {
            token.line
            for before, token in zip([None, *self.tokens], self.tokens, strict=False)
            if token.text.lower() == word
            and token.token_type.name != "IDENTIFIER"
            and (before is None or before.token_type.name != "DOT")
        }


class NotParsed(Exception):
    """The text is not what it should be; the finding says why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def tokens_of(text: str) -> list[Token]:
    """The words of `text`, without its comments. Raises NotParsed."""
    import sqlglot
    from sqlglot.errors import TokenError

    try:
        return list(sqlglot.tokenize(text, read=_DIALECTS[0]))
    except TokenError:
        last_line = text.rstrip().count("\n") + 1
        raise NotParsed(Finding(last_line, "a quote or a comment is still open at the end", "syntax")) from None


def parse_query(sql: str) -> Parsed:
    """One SELECT, with or without CTEs and set operations. Raises NotParsed for anything else."""
    from sqlglot import exp

    tokens = tokens_of(sql)
    statements: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type.name == "SEMICOLON":
            statements.append([])
        else:
            statements[-1].append(token)
    statements = [statement for statement in statements if statement]
    if not statements:
        raise NotParsed(Finding(1, "the file holds no SQL: a transform is one SELECT", "empty"))
    if len(statements) > 1:
        line = statements[1][0].line
        raise NotParsed(Finding(line, "a second statement: a transform is one SELECT", "several_statements"))
    first = statements[0][0]
    # Before parsing: what sqlglot does not know, it logs and lets pass as an opaque command.
    if first.text.upper() in _STARTS:
        tree = _parse(sql)
        if isinstance(tree, exp.Select | exp.SetOperation | exp.Subquery):
            return Parsed(tree, sql, tokens)
    words = [token.text.upper() for token in statements[0]]
    verb = next((word for word in words if word in _CHANGES), words[0])
    message = f"{verb} is not for a transform, which is one SELECT and changes nothing"
    raise NotParsed(Finding(first.line, message, "not_a_select"))


def parse_condition(sql: str) -> Parsed:
    """One expression; its lines are counted one too high. Raises NotParsed for anything else."""
    from sqlglot import exp

    tokens = tokens_of(sql)
    if not tokens:
        raise NotParsed(Finding(1, "the condition is empty", "empty"))
    not_one = Finding(1, "not one condition on a row, such as `amount >= 0`", "not_a_condition")
    if any(token.token_type.name == "SEMICOLON" for token in tokens):
        raise NotParsed(not_one)
    # On lines of its own, so that a comment at its end does not take the parenthesis with it.
    text = f"SELECT (\n{sql}\n)"
    try:
        tree = _parse(text)
    except NotParsed as error:
        found = error.finding
        raise NotParsed(Finding(max(1, found.line - 1), found.message, found.code)) from None
    held = tree.expressions[0] if isinstance(tree, exp.Select) and len(tree.expressions) == 1 else None
    # Anything else means that the text closed our parenthesis, or is not a condition at all.
    is_one = held is not None and not any(value for key, value in tree.args.items() if key != "expressions")
    if not is_one or not isinstance(held, exp.Paren | exp.Subquery) or isinstance(held.this, exp.Alias | exp.Star):
        raise NotParsed(not_one)
    return Parsed(held, text, tokens_of(text))


def _parse(text: str) -> exp.Expr:
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import ParseError

    first_error: ParseError | None = None
    for dialect in _DIALECTS:
        try:
            trees = [tree for tree in sqlglot.parse(text, read=dialect) if tree and not isinstance(tree, exp.Semicolon)]
        except ParseError as error:
            first_error = first_error or error
        else:
            return trees[0]
    assert first_error is not None
    raise NotParsed(_syntax(first_error.errors[0])) from None


def _syntax(error: Mapping[str, Any]) -> Finding:
    wording = re.sub(r"<class '.*?(\w+)'>", r"\1", error["description"])
    wording = re.sub(r" but got <Token.*", "", wording, flags=re.DOTALL)
    near = " ".join(str(error["highlight"]).split())[:30]
    column = max(1, error["col"] - len(str(error["highlight"])) + 1)
    return Finding(error["line"], f"column {column}, near {near!r}: {wording}", "syntax")


def typed_name(node: exp.Expr, parsed: Parsed) -> str:
    """A function's name as it was typed: sqlglot calls many of them by another."""
    from sqlglot import exp

    if "start" in node.meta:
        return parsed.text[node.meta["start"] : node.meta["end"] + 1].strip("`").lower()
    if isinstance(node, exp.Anonymous) or not isinstance(node, exp.Func):
        return node.name.lower()
    return node.sql_name().lower()


def line_of(node: exp.Expr, parsed: Parsed) -> int:
    """The line of the first thing below `node` whose place is known, or of the nearest above it."""
    at: exp.Expr | None = node
    while at is not None:
        lines = [below.meta["line"] for below in at.walk() if "line" in below.meta]
        if lines:
            return int(min(lines))
        at = at.parent
    return parsed.tokens[0].line
