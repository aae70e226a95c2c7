"""Jinja and placeholders become names of the same length, so that places in the text stay right.

Nothing is rendered: what a template would give is not known, only that something stands there.
"""

from __future__ import annotations

import re

HOLE = "jj"
"""How every name that stands for something unknown begins."""

_JINJA = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_TAG = re.compile(r"\{%-?\s*(\w+)")
_PLACEHOLDER = re.compile(
    r"%\(\w+\)s|(?<![\w%'])%s|\$\{[^}\n]{0,200}\}|\$\([A-Za-z_]\w*\)|(?<![:\w]):(?=[A-Za-z_'\"])['\"]?(?=[A-Za-z_])\w+['\"]?"
)
_CLOCK = re.compile(r"modules\.datetime|run_started_at|\bnow\(\)|utcnow\(\)|\btoday\(\)")
_NAME = re.compile(r"[A-Za-z_]\w*")


def fill(text: str) -> str:
    """The text with a name for every hole, and blanks for every tag. As long as before, line by line."""
    if "{" in text:
        text = _without_jinja(text)
    if "DELIMITER" in text.upper():
        text = _without_delimiters(text)
    return _PLACEHOLDER.sub(_placeholder, text)


def _without_delimiters(text: str) -> str:
    """MySQL's client ends statements by what DELIMITER says; to us it is a semicolon."""
    found: list[str] = []
    sign = ";"
    for line in text.split("\n"):
        told = re.match(r"\s*DELIMITER\s+(\S+)", line, re.IGNORECASE)
        if told:
            sign = told[1]
            found.append(" " * len(line))
        else:
            found.append(line if sign == ";" else line.replace(sign, ";".ljust(len(sign))))
    return "\n".join(found)


def _placeholder(match: re.Match[str]) -> str:
    found = match[0]
    if found.startswith(":") or "'" in found:
        return _named(found)
    return _named(found)


def _named(found: str) -> str:
    """A name as long as what it stands for, with the first word of it inside where there is room."""
    word = _NAME.search(found)
    name = f"{HOLE}_{word[0]}" if word else HOLE
    if len(name) > len(found):
        name = HOLE[: len(found)] if len(found) > 1 else "j"
    lines = found.split("\n")
    first = name[: len(lines[0])].ljust(len(lines[0]), "_")
    return "\n".join([first, *(" " * len(line) for line in lines[1:])])


def _blank(found: str) -> str:
    return re.sub(r"[^\n]", " ", found)


def _without_jinja(text: str) -> str:
    parts: list[str] = []
    at = 0
    dead: list[bool] = []
    """For each open `if`: whether the branch that we are in is left out."""
    for match in _JINJA.finditer(text):
        parts.append(_kept(text[at : match.start()], dead))
        at = match.end()
        found = match[0]
        if found.startswith("{{"):
            if any(dead) or _is_statement(found):
                parts.append(_blank(found))
            elif _CLOCK.search(found):
                parts.append(_clock(found))
            else:
                parts.append(_named(_reference(found)))
            continue
        parts.append(_blank(found))
        tag = _TAG.match(found)
        word = tag[1] if tag else ""
        if word == "if":
            dead.append("not is_incremental" in found)
        elif word == "else" and dead:
            dead[-1] = not dead[-1]
        elif word == "elif" and dead:
            dead[-1] = True
        elif word == "endif" and dead:
            dead.pop()
        elif word in ("macro", "set", "call") and not re.search(r"=", found[:200]) and word != "macro":
            dead.append(True)
        elif word in ("endset", "endcall") and dead:
            dead.pop()
    parts.append(_kept(text[at:], dead))
    return "".join(parts)


def _kept(text: str, dead: list[bool]) -> str:
    return _blank(text) if any(dead) else text


def _is_statement(found: str) -> bool:
    """`{{ config(...) }}` and its like stand beside the SQL, not in it."""
    return re.match(r"\{\{-?\s*(config|log|print|exceptions|return)\b", found) is not None


def _reference(found: str) -> str:
    """`{{ ref('orders') }}` is known by the model's name; the length stays."""
    named = re.search(r"(?:ref|source)\([^)]*['\"](\w+)['\"]\s*\)", found)
    if named and "\n" not in found:
        return named[1].ljust(len(found), "_")
    return found


def _clock(found: str) -> str:
    name = f"{HOLE}_clock"
    return name.ljust(len(found), "_") if "\n" not in found and len(found) >= len(name) else _named(found)


def is_hole(name: str) -> bool:
    """Whether a name stands for something that is not known."""
    return name.lower().startswith(f"{HOLE}_") or name.strip("_").lower() == HOLE


def clean(name: str) -> str:
    """A filled name as a person would write it."""
    return re.sub(rf"^{HOLE}_", "", name).rstrip("_") or name
