"""YAML text -> plain values, with the line of every key and every value.

Built from the parser's events, not from its object constructor: a value means what it looks like
(`no` is text, `0123` is text, `2026-04-01` is a date), a key is always text, and what would make a
file hard to read (duplicate keys, anchors, merge keys, tags) is a problem with a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeAlias

KeyPath: TypeAlias = tuple[str | int, ...]

_MAX_DEPTH = 40
_NULL = re.compile(r"~|null|Null|NULL|")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?(0|[1-9][0-9]{0,99})")
_FLOAT = re.compile(r"[-+]?((0|[1-9][0-9]*)(\.[0-9]*([eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)|\.[0-9]+([eE][-+]?[0-9]+)?)")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Places:
    """Where each key and each value stands, by its path from the top of the file."""

    keys: dict[KeyPath, int] = field(default_factory=dict)
    values: dict[KeyPath, int] = field(default_factory=dict)

    def line(self, path: KeyPath) -> int:
        """The line of a scalar, or of the key that holds a block; else of the nearest parent."""
        while path:
            if path in self.values:
                return self.values[path]
            if path in self.keys:
                return self.keys[path]
            path = path[:-1]
        return 1

    def key_line(self, path: KeyPath) -> int:
        """The line of the key itself, even where its value stands further down."""
        return self.keys[path] if path in self.keys else self.line(path)


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML file. `problems` are (line, sentence); `value` is None where it cannot be read at all."""

    value: dict[str, Any] | None
    places: Places
    problems: tuple[tuple[int, str], ...]


class _UnreadableError(Exception):
    """Nothing after this line can be trusted."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(sentence)
        self.line = line
        self.sentence = sentence


def read_yaml(content: bytes) -> Document:
    """Read one file. Never raises for what is in it."""
    builder = _Builder()
    value: Any = None
    try:
        text = _decode(content)
        value = _read_document(text, builder)
    except _UnreadableError as stop:
        builder.problems.append((stop.line, stop.sentence))
        value = None
    return Document(value, builder.places, tuple(builder.problems))


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _UnreadableError(line, "not UTF-8: save the file as UTF-8") from error


def _read_document(text: str, builder: _Builder) -> dict[str, Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        value = builder.document(yaml.parse(text, Loader=loader))
    except yaml.reader.ReaderError as error:
        position = error.position if isinstance(error.position, int) else 0
        line = text.count("\n", 0, position) + 1
        raise _UnreadableError(line, "a character that YAML does not allow") from error
    except yaml.MarkedYAMLError as error:
        raise _explained(error, text) from error
    if value is None:
        raise _UnreadableError(1, "the file is empty")
    if not isinstance(value, dict):
        what = "a list" if isinstance(value, list) else "a single value"
        raise _UnreadableError(1, f"must be a mapping of keys at the top, not {what}")
    return value


def _explained(error: Any, text: str) -> _UnreadableError:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark is not None else 1
    lines = text.splitlines()
    shown = lines[line - 1] if 0 < line <= len(lines) else ""
    if "\t" in shown[: len(shown) - len(shown.lstrip())]:
        return _UnreadableError(line, "a tab: YAML is indented with spaces")
    hint = "; a template such as {{ pipeline }} must be put in quotes here" if "{{" in shown else ""
    return _UnreadableError(line, f"not YAML: {error.problem or error.context or 'cannot be read'}{hint}")


class _Builder:
    """Turns parser events into values, and remembers where they stood."""

    def __init__(self) -> None:
        self.places = Places()
        self.problems: list[tuple[int, str]] = []

    def document(self, events: Iterator[Any]) -> Any:
        import yaml

        value: Any = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _UnreadableError(_line(event), "a second document: one file holds one")
                value = self._value(next(events), events, ())
        return value

    def _value(self, event: Any, events: Iterator[Any], path: KeyPath) -> Any:
        import yaml

        if isinstance(event, yaml.AliasEvent):
            self.problems.append((_line(event), f"*{event.anchor}: anchors and aliases are not used here"))
            return None
        if len(path) > _MAX_DEPTH:
            raise _UnreadableError(_line(event), "nested too deeply")
        if event.anchor is not None:
            self.problems.append((_line(event), f"&{event.anchor}: anchors and aliases are not used here"))
        if event.tag not in (None, "!"):
            self.problems.append((_line(event), f"{event.tag}: tags are not used here"))
        if isinstance(event, yaml.ScalarEvent):
            self.places.values[path] = _line(event)
            return scalar(event.value) if event.style in (None, "") and event.tag is None else event.value
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(events, path)
        return self._mapping(events, path)

    def _sequence(self, events: Iterator[Any], path: KeyPath) -> list[Any]:
        import yaml

        items: list[Any] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            item_path = (*path, len(items))
            self.places.keys[item_path] = _line(event)
            items.append(self._value(event, events, item_path))
        return items

    def _mapping(self, events: Iterator[Any], path: KeyPath) -> dict[str, Any]:
        import yaml

        mapping: dict[str, Any] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise _UnreadableError(_line(event), "a key must be plain text, and a template in quotes")
            if event.anchor is not None:
                anchor = f"&{event.anchor}: anchors and aliases are not used here"
                self.problems.append((_line(event), anchor))
            key = event.value
            if key == "<<" and event.style in (None, ""):
                self.problems.append((_line(event), "<<: merge keys are not used here"))
                self._value(next(events), events, (*path, key))
                continue
            if key in mapping:
                first = self.places.keys[(*path, key)]
                dotted = ".".join(str(step) for step in (*path, key))
                self.problems.append((_line(event), f"{dotted}: written twice, first in line {first}"))
                # Under a path that nothing asks for, so that the lines of the first one stay.
                self._value(next(events), events, (*path, key, "<again>"))
                continue
            self.places.keys[(*path, key)] = _line(event)
            mapping[key] = self._value(next(events), events, (*path, key))
        return mapping


def scalar(text: str) -> bool | int | float | str | date | None:
    """What unquoted text means."""
    if _NULL.fullmatch(text):
        return None
    if _BOOL.fullmatch(text):
        return text.lower() == "true"
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _DATE.fullmatch(text):
        try:
            return date.fromisoformat(text)
        except ValueError:
            return text
    return text


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
