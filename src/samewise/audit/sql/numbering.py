"""ROW_NUMBER, LIMIT and TOP: by words, since it is the order of words that decides."""

from __future__ import annotations

import re
from collections.abc import Iterator

from samewise.audit.sql.names import is_coarse, is_unique_looking
from samewise.audit.sql.statement import Statement
from samewise.audit.sql.words import Word, bare

_FUNCTIONS = ("ROW_NUMBER",)


def loose_numbers(statement: Statement) -> Iterator[tuple[Word, str, bool]]:
    """Each ROW_NUMBER that keeps one row of several, but not always the same: (where, why, unsure)."""
    words = statement.words
    uppers = statement.uppers
    if "ROW_NUMBER" not in uppers or not _keeps_one(statement):
        return
    for index, word in enumerate(words):
        if word.upper not in _FUNCTIONS:
            continue
        over = next((i for i in range(index, min(index + 6, len(words))) if uppers[i] == "OVER"), None)
        if over is None or over + 1 >= len(words) or words[over + 1].text != "(":
            continue
        inside = _inside(words, over + 1)
        partition, order = _clauses(inside)
        if not partition:
            continue  # Numbers the whole table: an id, not a choice.
        why, unsure = judge_order(partition, order)
        if why:
            yield word, why, unsure


def judge_order(partition: list[str], order: list[str]) -> tuple[str, bool]:
    """Why an order leaves ties, and whether that is only likely. Names, without ASC and DESC."""
    real = [name for name in order if name and name not in partition]
    if not order:
        return "it has no ORDER BY", False
    if not real:
        return "it is ordered by a constant or by its own partition", False
    if len(real) == 1 and not is_unique_looking(real[0]):
        if is_coarse(real[0]):
            return f"many rows share one {real[0]}", False
        return f"two rows with the same {real[0]} tie", True
    return "", False


def _keeps_one(statement: Statement) -> bool:
    flat = statement.flat
    return re.search(r"\b\w+ = 1\b|< 2\b|<= 1\b|= 1 \)|\) = 1|> 1\b|QUALIFY", flat) is not None


def _inside(words: list[Word], at: int) -> list[Word]:
    depth = 0
    for index in range(at, len(words)):
        if words[index].text == "(":
            depth += 1
        elif words[index].text == ")":
            depth -= 1
            if depth == 0:
                return words[at + 1 : index]
    return words[at + 1 :]


def _clauses(inside: list[Word]) -> tuple[list[str], list[str]]:
    partition: list[list[Word]] = []
    order: list[list[Word]] = []
    now: list[list[Word]] | None = None
    depth = 0
    for word in inside:
        if word.upper in ("PARTITION", "ORDER") and depth == 0:
            now = partition if word.upper == "PARTITION" else order
            now.append([])
            continue
        if word.upper in ("ROWS", "RANGE") and depth == 0:
            now = None
        if now is None or word.upper == "BY":
            continue
        depth += {"(": 1, ")": -1}.get(word.text, 0)
        if word.text == "," and depth == 0:
            now.append([])
        else:
            now[-1].append(word)
    return [_column(p) for p in partition if p], [_column(p) for p in order if p]


def _column(words: list[Word]) -> str:
    """The last name of an expression that is a column; empty for a constant."""
    names = [bare(w) for w in words if w.kind in ("word", "quoted")]
    names = [
        n for n in names if n.upper() not in ("ASC", "DESC", "NULLS", "FIRST", "LAST", "SELECT", "NULL", "CAST", "AS")
    ]
    if len(words) > 1 and words[1].text == "(" and len(names) > 1:
        return names[-1] if names[0] not in ("date_trunc", "to_date", "date", "trunc") else f"{names[-1]}_date"
    return names[-1] if names else ""


def loose_limit(statement: Statement) -> Word | None:
    """A LIMIT or TOP that picks rows for a write without saying which."""
    uppers, words = statement.uppers, statement.words
    for index, word in enumerate(words):
        if word.upper == "LIMIT" and word.kind == "word" and index and words[index - 1].upper not in ("(", ",", "."):
            after = words[index + 1] if index + 1 < len(words) else None
            if after is None or after.text in ("0", "1", ")", "="):
                continue
            if not _ordered(words, index, -1) and _feeds(words, index):
                return word
        if word.upper == "TOP" and index and uppers[index - 1] in ("SELECT", "DISTINCT"):
            after = words[index + 1] if index + 1 < len(words) else None
            number = words[index + 2] if after is not None and after.text == "(" and index + 2 < len(words) else after
            if number is None or number.text in ("0", "1"):
                continue
            if not _ordered(words, index, 1) and _feeds(words, index):
                return word
    return None


def _ordered(words: list[Word], at: int, step: int) -> bool:
    """Whether an ORDER BY stands at the same depth, before a LIMIT or after a TOP."""
    depth = 0
    closing, opening = (")", "(") if step < 0 else ("(", ")")
    index = at + step
    while 0 <= index < len(words):
        word = words[index]
        if word.text == closing:
            depth += 1
        elif word.text == opening:
            if depth == 0:
                return False
            depth -= 1
        elif depth == 0 and word.upper == "ORDER":
            return True
        elif depth == 0 and word.upper == "SELECT" and step < 0:
            return False
        index += step
    return False


def _feeds(words: list[Word], at: int) -> bool:
    """Whether these rows are what is written, and not a scalar or a test: the parenthesis follows FROM, JOIN, AS."""
    depth = 0
    for index in range(at, -1, -1):
        if words[index].text == ")":
            depth += 1
        elif words[index].text == "(":
            if depth == 0:
                before = words[index - 1].upper if index else ""
                return before in ("FROM", "JOIN", "AS", "USING", "INTO") or words[index - 1].kind in ("quoted",)
            depth -= 1
    return True
