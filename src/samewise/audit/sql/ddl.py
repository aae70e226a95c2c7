"""CREATE TABLE -> the keys that the database enforces."""

from __future__ import annotations

import re

from samewise.audit.finding import TableFact
from samewise.audit.sql.statement import Statement

_ENFORCES = frozenset({"", "postgres", "mysql", "sqlite", "tsql", "oracle", "duckdb"})
"""The others take PRIMARY KEY for a comment."""
_GENERATED = re.compile(
    r"\b(BIG|SMALL)?SERIAL\b|AUTO_?INCREMENT|\bIDENTITY\b|NEXTVAL|GEN_RANDOM_UUID|UUID_GENERATE|NEWID|\bUUID \( \)"
)


def table_fact(statement: Statement) -> TableFact | None:
    """The table and its unique keys; None where there are none, or where they are not enforced."""
    if statement.dialect not in _ENFORCES or not statement.target:
        return None
    flat = statement.flat
    start = flat.find("(")
    if start < 0:
        return None
    keys: list[tuple[str, ...]] = []
    generated: list[str] = []
    for part in _parts(flat[start + 1 :]):
        names = re.search(
            r"(?:PRIMARY KEY|UNIQUE)(?: KEY| INDEX)?(?: CLUSTERED| NONCLUSTERED)?(?: [\w`\"]+)? \( ([^()]*)", part
        )
        first = part.split(" ")[0].strip('"`[]').lower()
        if names and first in ("primary", "unique", "constraint"):
            keys.append(tuple(n.strip().split(" ")[0].strip('"`[]').lower() for n in names[1].split(",")))
        elif "PRIMARY KEY" in part or re.search(r"\bUNIQUE\b", part):
            keys.append((first,))
            if _GENERATED.search(part):
                generated.append(first)
        elif _GENERATED.search(part):
            generated.append(first)
    return TableFact(statement.target, tuple(keys), tuple(generated)) if keys else None


def _parts(text: str) -> list[str]:
    parts, now, depth = [], list[str](), 0
    for word in text.split(" "):
        if word == "(":
            depth += 1
        elif word == ")":
            depth -= 1
            if depth < 0:
                break
        if word == "," and depth == 0:
            parts.append(" ".join(now))
            now = []
        else:
            now.append(word)
    parts.append(" ".join(now))
    return [part.strip() for part in parts if part.strip()]
