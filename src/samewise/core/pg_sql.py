"""The little that must be known about PostgreSQL's SQL without asking a server: where its names stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_TOKEN = r"""
      (?P<skip> --[^\n]* | /\* | '(?:[^']|'')*' | [eE]'(?:[^'\\]|\\.|'')*' | "(?:[^"]|"")*"
              | \$(?P<tag>[A-Za-z_\x80-\uffff][\w\x80-\uffff]*)?\$ | :: | := )
    | :(?P<name>[A-Za-z_]\w*)
    | (?P<word>[A-Za-z_\x80-\uffff][\w$\x80-\uffff]*)
    """

# What a second reader, or a retry, may answer differently. Those with () only where they are called.
_CLOCKS = {"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"}
_CALLS = {
    *("now", "clock_timestamp", "statement_timestamp", "transaction_timestamp", "timeofday", "age"),
    *("random", "random_normal", "setseed", "gen_random_uuid", "uuidv4", "uuidv7", "uuid_generate_v1"),
    *("uuid_generate_v1mc", "uuid_generate_v4", "nextval", "txid_current", "pg_current_xact_id", "pg_backend_pid"),
}


def parameters(sql: str) -> set[str]:
    """The names of the `:name` parameters."""
    return {match["name"] for match in _tokens(sql) if match["name"] is not None}


def filled_in(sql: str, literals: Mapping[str, str]) -> str:
    """The statement with each `:name` replaced by its literal, which the caller has quoted. KeyError for another."""
    done = 0
    parts: list[str] = []
    for match in _tokens(sql):
        if match["name"] is not None:
            parts += [sql[done : match.start()], literals[match["name"]]]
            done = match.end()
    return "".join([*parts, sql[done:]])


def impure_names(sql: str) -> list[str]:
    """Clocks, random values and sequences in a statement, each once, in the order of their first use."""
    found: dict[str, None] = {}
    for match in _tokens(sql):
        word = (match["word"] or "").lower()
        called = sql[match.end() :].lstrip().startswith("(")
        # `age(a, b)` is plain arithmetic: only with one argument does it look at the clock.
        if word in _CLOCKS or (word in _CALLS and called and not (word == "age" and _has_comma(sql, match.end()))):
            found[f"{word}()" if word in _CALLS else word] = None
    return list(found)


def without_end(sql: str) -> str:
    """The statement without its closing semicolon, on lines of its own so that a comment at its end ends there."""
    end = len(sql)
    for match in re.finditer(r"[;\s]+\Z", sql):
        end = match.start()
    return f"\n{sql[:end]}\n"


def _tokens(sql: str) -> Iterator[re.Match[str]]:
    at = 0
    # Compiled here, and kept by `re`: that takes longer than importing this module.
    token = re.compile(_TOKEN, re.VERBOSE | re.DOTALL)
    while (match := token.search(sql, at)) is not None:
        at = match.end()
        if match["skip"] is None:
            yield match
        elif match["skip"] == "/*":
            at = _comment_end(sql, at)
        elif match["skip"].startswith("$"):
            end = sql.find(match["skip"], at)
            at = len(sql) if end < 0 else end + len(match["skip"])


def _comment_end(sql: str, at: int) -> int:
    """Comments nest in PostgreSQL."""
    depth = 1
    for mark in re.finditer(r"/\*|\*/", sql[at:]):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return at + mark.end()
    return len(sql)


def _has_comma(sql: str, at: int) -> bool:
    depth = 0
    for char in sql[at:]:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 1:
            return True
        if depth == 0 and char == ")":
            return False
    return False
