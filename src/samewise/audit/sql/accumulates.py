"""Statements that add to what is there: SET total = total + x. What they did once they do again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from samewise.audit.sql.statement import Statement
from samewise.audit.sql.words import Word, bare

_ENDS = frozenset({"WHERE", "FROM", "WHEN", "RETURNING", "OUTPUT", "ORDER", "LIMIT", "OPTION", ";"})
_ARITHMETIC = frozenset({"+", "-", "*", "/"})
_WRAPS = frozenset({"COALESCE", "IFNULL", "NVL", "ISNULL", "ZEROIFNULL", "NULLIF", "CAST"})


@dataclass(frozen=True, slots=True)
class Accumulated:
    """A column that becomes itself and something more."""

    column: str
    start: int
    """Where its new value begins in the statement's text."""
    end: int
    other: str
    """What is added, where the value is just the column and that."""
    by_set: bool
    """For as many rows as other tables say, not for one that the caller names."""


@dataclass(frozen=True, slots=True)
class _Assignment:
    column: str
    qualifier: str
    value: list[Word]


def accumulates(statement: Statement) -> Accumulated | None:
    """The first column that is added to, unless a condition sees to it that this happens once."""
    if statement.kind not in ("update", "insert", "values", "upsert", "merge"):
        return None
    if not {"SET", "DUPLICATE"} & set(statement.uppers):
        return None
    words = statement.words
    zones = list(_zones(statement))
    assigned = [one for start, end in zones for one in _assignments(words[start:end])]
    if _is_guarded(statement, zones, {one.column for one in assigned}):
        return None
    names = _names_of_target(statement)
    for one in assigned:
        found = _adds(statement, one, names | ({one.qualifier} if one.qualifier else set()))
        if found is not None:
            return found
    return None


def _zones(statement: Statement) -> Iterator[tuple[int, int]]:
    """Where the assignments stand: after SET, or after ON DUPLICATE KEY UPDATE."""
    uppers = statement.uppers
    depth = 0
    for index, word in enumerate(uppers):
        depth += (word == "(") - (word == ")")
        before = uppers[index - 1] if index else ""
        starts = word == "SET" and (statement.kind == "update" or before == "UPDATE")
        if depth == 0 and (starts or (word == "UPDATE" and before == "KEY")):
            yield index + 1, _end(uppers, index + 1)


def _end(uppers: list[str], at: int) -> int:
    depth = 0
    for index in range(at, len(uppers)):
        depth += (uppers[index] == "(") - (uppers[index] == ")")
        if depth < 0 or (depth == 0 and uppers[index] in _ENDS):
            return index
    return len(uppers)


def _assignments(words: list[Word]) -> Iterator[_Assignment]:
    depth, now = 0, list[Word]()
    for word in [*words, Word("mark", ",", ",", 0, 0)]:
        depth += (word.text == "(") - (word.text == ")")
        if word.text != "," or depth > 0:
            now.append(word)
            continue
        at = next((number for number, one in enumerate(now) if one.text == "="), 0)
        if at:
            qualifier = bare(now[at - 3]) if at >= 3 and now[at - 2].text == "." else ""
            yield _Assignment(bare(now[at - 1]), qualifier, now[at + 1 :])
        now = []


def _names_of_target(statement: Statement) -> set[str]:
    """How a column of the target may be qualified."""
    last = statement.target.rpartition(".")[2]
    found = {last}
    words = statement.words
    for index, word in enumerate(words[:-2]):
        if bare(word) == last and word.kind in ("word", "quoted"):
            after = words[index + 2] if words[index + 1].upper == "AS" else words[index + 1]
            if after.kind == "word" and after.upper not in ("SET", "USING", "WHERE", "ON", "VALUES", "SELECT", "JOIN"):
                found.add(bare(after))
            break
    return found


def _adds(statement: Statement, one: _Assignment, names: set[str]) -> Accumulated | None:
    value = one.value
    for index, word in enumerate(value):
        if word.kind not in ("word", "quoted") or bare(word) != one.column:
            continue
        qualified = index >= 2 and value[index - 1].text == "."
        if qualified and bare(value[index - 2]) not in names:
            continue
        if not qualified and statement.kind == "merge":
            continue
        first = index - 2 if qualified else index
        if not (_followed(value, index) or _preceded(value, first)):
            continue
        others = [w for number, w in enumerate(value) if not first <= number <= index and w.text not in "()+-*/,"]
        if _is_a_counter(others) or any(w.kind == "string" for w in others):
            return None  # Versions and attempts count up by one; a text is taken out of a JSON document.
        start, end = value[0].start - statement.start, value[-1].end - statement.start
        plain = first == 0 and index + 2 < len(value) and value[index + 1].text == "+"
        other = statement.text[value[index + 2].start - statement.start : end] if plain else ""
        return Accumulated(one.column, start, end, other.strip(), _by_set(statement))
    return None


def _is_a_counter(others: list[Word]) -> bool:
    return all(w.text in ("0", "1") or w.upper in _WRAPS for w in others)


def _followed(value: list[Word], index: int) -> bool:
    """`x + ...`, `COALESCE(x, 0) + ...`, `x::numeric * ...`"""
    at = index + 1
    while at < len(value) and (value[at].text in (",", ")", "::") or value[at].kind == "number"):
        at += 2 if value[at].text == "::" else 1
    return at < len(value) and value[at].text in _ARITHMETIC


def _preceded(value: list[Word], first: int) -> bool:
    """`... + x`, `... + COALESCE(x`"""
    at = first - 1
    while at >= 0 and (value[at].text == "(" or value[at].upper in _WRAPS):
        at -= 1
    return at >= 0 and value[at].text in _ARITHMETIC


def _by_set(statement: Statement) -> bool:
    if statement.kind != "update":
        return True
    return bool({"FROM", "JOIN", "SELECT"} & set(statement.uppers))


def _is_guarded(statement: Statement, zones: list[tuple[int, int]], assigned: set[str]) -> bool:
    """A condition asks for what the statement changes: WHERE applied = false, WHEN MATCHED AND s.seq > t.seq."""
    conditions: set[str] = set()
    inside = False
    for index, word in enumerate(statement.words):
        if any(start <= index < end for start, end in zones):
            inside = False
            continue
        if word.upper in ("WHERE", "MATCHED", "QUALIFY"):
            inside = True
        elif word.upper in ("THEN", "DO", "INSERT", "VALUES", "GROUP"):
            inside = False
        elif inside and word.kind in ("word", "quoted"):
            conditions.add(bare(word))
    if statement.has("NOT EXISTS") or statement.has("NOT IN") or statement.has("ANTI JOIN"):
        return True
    return bool(conditions & assigned)
