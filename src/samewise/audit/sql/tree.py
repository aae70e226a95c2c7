"""sqlglot's tree of one statement. Asked for only where a rule needs more than words."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

_OTHERS = ("", "postgres", "databricks", "snowflake", "bigquery", "tsql")
_MAX_CHARS = 60_000
_TRIES = 3


def parse(text: str, dialect: str) -> exp.Expr | None:
    """The tree, by the dialect that was guessed or by one of its neighbours; None where none takes it."""
    if len(text) > _MAX_CHARS or _depth(text) > 60:
        # The parser goes down one call a parenthesis.
        return None
    import sqlglot

    # It warns on stderr about what it takes as a plain command; that is no news to whoever audits.
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    text = re.sub(r"\?", "j", text)
    for name in list(dict.fromkeys((dialect, *_OTHERS)))[:_TRIES]:
        try:
            tree = sqlglot.parse_one(text, read=name or None)
        except (
            sqlglot.errors.SqlglotError,
            RecursionError,
            ValueError,
            TypeError,
            AttributeError,
            KeyError,
            IndexError,
        ):
            continue
        except AssertionError:
            continue
        if not isinstance(tree, sqlglot.exp.Command):
            return tree
    return None


def _depth(text: str) -> int:
    deepest = now = 0
    for sign in re.findall(r"[()]", text):
        now += 1 if sign == "(" else -1
        deepest = max(deepest, now)
    return deepest
