"""How a problem is put into words: the same way everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

_SHOWN_CHARACTERS = 60


def shown(value: object) -> str:
    """A value as a sentence shows it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        short = value if len(value) <= _SHOWN_CHARACTERS else value[: _SHOWN_CHARACTERS - 1] + "…"
        return f"'{short}'"
    if isinstance(value, int | float | date):
        return str(value)
    return "a list" if isinstance(value, list | tuple) else "a mapping"


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant."""
    import difflib

    choices = sorted(known)
    lowered = {choice.lower(): choice for choice in choices}
    found = difflib.get_close_matches(word.lower(), list(lowered), n=1, cutoff=0.6)
    return lowered[found[0]] if found else None


def listed(words: Iterable[str]) -> str:
    """`a, b and c`."""
    items = list(words)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else "none"


def unknown(noun: str, word: object, known: Iterable[str]) -> str:
    """`unknown strategy 'mrge', did you mean 'merge'? There are …`."""
    choices = list(known)
    meant = closest(word, choices) if isinstance(word, str) else None
    hint = f", did you mean '{meant}'? There" if meant else "; there"
    verb = "is" if len(choices) == 1 else "are"
    return f"unknown {noun} {shown(word)}{hint} {verb} {listed(choices)}"
