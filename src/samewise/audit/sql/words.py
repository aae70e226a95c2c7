"""SQL text into words. Fast, for any dialect, and content with rubbish."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

_PATTERN = re.compile(
    r"""(?P<space>[\s\ufeff]+)
    |(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z)|\#(?=[ !-])[^\n]*)
    |(?P<string>[eEnNrRbB]?'(?:[^'\\]|''|\\.)*(?:'|\Z)|\$(?P<tag>[A-Za-z_]*)\$.*?(?:\$(?P=tag)\$|\Z)|'''.*?''')
    |(?P<quoted>"(?:[^"]|"")*"|`[^`\n]*`|\[[A-Za-z_\#][^\]\n]*\])
    |(?P<number>\d+(?:\.\d+)?)
    |(?P<word>[\w@\#$\\]+)
    |(?P<mark>::|<=|>=|<>|!=|\|\||.)""",
    re.VERBOSE | re.DOTALL,
)


class Word(NamedTuple):
    """One word: upper case in `upper` where it may be a keyword, as typed in `text`."""

    kind: str
    text: str
    upper: str
    start: int
    end: int


class Text:
    """A text, and the line and column of every place in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def place(self, at: int) -> tuple[int, int]:
        """Line and column, from 1."""
        line = bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1


def words_of(text: str, *, start: int = 0, end: int | None = None) -> list[Word]:
    """Every word but blanks and comments."""
    found: list[Word] = []
    for match in _PATTERN.finditer(text, start, len(text) if end is None else end):
        kind = match.lastgroup
        if kind == "tag":
            kind = "string"
        if kind in ("space", "comment") or kind is None:
            continue
        value = match[0]
        upper = value.upper() if kind in ("word", "mark") else ""
        found.append(Word(kind, value, upper, match.start(), match.end()))
    return found


def bare(word: Word) -> str:
    """A name without its quotes, in lower case."""
    if word.kind == "quoted":
        return word.text[1:-1].lower()
    return word.text.lower()
