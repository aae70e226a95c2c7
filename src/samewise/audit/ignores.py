"""Inline ignores: `# samewise: ignore[SW101] reason`, in Python and in SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator

_IGNORE = re.compile(r"(?:#|--|/\*|//)\s*samewise:\s*ignore(?:\[([A-Z0-9, ]*)\])?[ \t:]*([^\n*]*)")
_WHOLE_FILE = re.compile(r"(?:#|--|/\*)\s*samewise:\s*ignore-file(?:\[([A-Z0-9, ]*)\])?[ \t:]*([^\n*]*)")


def find_ignores(text: str) -> Iterator[tuple[int, tuple[str, ...], str]]:
    """(line, rules or none for all, reason). Line 0 is the whole file."""
    if "samewise:" not in text:
        return
    for number, line in enumerate(text.split("\n"), start=1):
        found = _WHOLE_FILE.search(line)
        if found:
            yield 0, _rules(found[1]), found[2].strip()
            continue
        found = _IGNORE.search(line)
        if found:
            yield number, _rules(found[1]), found[2].strip().rstrip('",\\').strip()


def _rules(text: str | None) -> tuple[str, ...]:
    return tuple(one.strip() for one in (text or "").split(",") if one.strip())


def is_ignored(ignores: tuple[tuple[int, tuple[str, ...], str], ...], rule: str, first: int, last: int) -> bool:
    """Whether a comment on a line of the finding, or on the line above it, says so."""
    return any((line == 0 or first - 1 <= line <= last) and (not rules or rule in rules) for line, rules, _ in ignores)
