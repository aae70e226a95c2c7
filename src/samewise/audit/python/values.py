"""What an expression may be, as far as it matters here."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from samewise.audit.facts import Frame
from samewise.audit.finding import Place
from samewise.audit.sql.template import HOLE

_numbers = itertools.count(1)
NONE: frozenset[str] = frozenset()


@dataclass(eq=False)
class Conn:
    """A connection, and the transaction that it is in."""

    kind: str = "unknown"
    """dbapi, alchemy, engine, hook, spark, auto, unknown."""
    dialect: str = ""
    autocommit: bool = False
    number: int = field(default_factory=lambda: next(_numbers))
    turn: int = 0
    block: int = 0
    """How many transaction blocks we are in."""
    commits: int = 0
    explicit: bool = False
    """After a BEGIN that was executed as a statement."""
    memory: bool = False
    """A database that is gone when the process ends."""

    def tx(self) -> object:
        """What operations of now have in common; None where each commits on its own."""
        if self.block or self.explicit:
            return ("conn", self.number, self.turn)
        if self.autocommit or self.kind in ("engine", "spark", "auto"):
            return None
        return ("conn", self.number, self.turn)

    def enter(self, *, fresh: bool) -> None:
        """`with connection.transaction():` begins."""
        self.turn += 1 if fresh else 0
        self.block += 1

    def leave(self) -> None:
        self.block -= 1
        if self.block == 0:
            self.commit()

    def commit(self) -> None:
        self.turn += 1
        self.commits += 1
        self.explicit = False


@dataclass(eq=False)
class Value:
    """Something. `tags` tell what had a part in it: clock, uuid; `asked` which tables were queried for it."""

    tags: frozenset[str] = NONE
    asked: frozenset[str] = NONE
    name: str = ""
    conn: Conn | None = None


@dataclass(eq=False)
class Str(Value):
    """A text with names for its holes. `node` is the literal that holds all of it, if there is one."""

    text: str = ""
    exact: bool = True
    node: ast.AST | None = None


@dataclass(eq=False)
class Const(Value):
    value: Any = None


@dataclass(eq=False)
class Seq(Value):
    items: list[Value] = field(default_factory=list)
    exact: bool = True


@dataclass(eq=False)
class Map(Value):
    items: dict[str, Value] = field(default_factory=dict)
    exact: bool = True
    node: ast.AST | None = None


@dataclass(eq=False)
class FrameV(Value):
    frame: Frame = field(default_factory=Frame)


@dataclass(eq=False)
class Writer(Value):
    """A DataFrameWriter, of any library that has one."""

    frame: Frame = field(default_factory=Frame)
    mode: Value | None = None
    format: str = ""
    options: dict[str, str] = field(default_factory=dict)
    partition_by: tuple[str, ...] = ()
    stream: bool = False
    target: str = ""
    sure: bool = True
    batch: Value | None = None
    keys: tuple[str, ...] = ()
    var: str = ""


@dataclass(eq=False)
class Handle(Value):
    """An object of a library: engine, cursor, hook, http, producer, delta, window, reader, ..."""

    kind: str = ""
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Func(Value):
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda = None  # type: ignore[assignment]
    env: dict[str, Value] = field(default_factory=dict)
    owner: Value | None = None
    qualname: str = ""


@dataclass(eq=False)
class ClassV(Value):
    node: ast.ClassDef = None  # type: ignore[assignment]
    env: dict[str, Value] = field(default_factory=dict)


@dataclass(eq=False)
class Instance(Value):
    cls: ClassV = None  # type: ignore[assignment]
    attrs: dict[str, Value] = field(default_factory=dict)


@dataclass(eq=False)
class Ref(Value):
    """Something imported, by its full name."""

    dotted: str = ""

    @property
    def last(self) -> str:
        return self.dotted.rpartition(".")[2]


@dataclass(eq=False)
class Alt(Value):
    """One of several."""

    options: list[Value] = field(default_factory=list)


def unknown(*parts: Value | None, name: str = "") -> Value:
    """A value of which only is known what had a part in it."""
    tags, asked = merged(parts)
    return Value(tags, asked, name)


def merged(parts: Iterable[Value | None]) -> tuple[frozenset[str], frozenset[str]]:
    tags: set[str] = set()
    asked: set[str] = set()
    for part in parts:
        if part is not None:
            tags |= part.tags
            asked |= part.asked
            if isinstance(part, FrameV):
                asked |= part.frame.tables
    return frozenset(tags - {"default"}), frozenset(asked)


def hole(value: Value) -> str:
    """What stands in a text for a value that is not known."""
    if "clock" in value.tags:
        return f"{HOLE}_clock"
    name = re.sub(r"\W", "", value.name) or "x"
    return f"{HOLE}_{name}_"


def as_text(value: Value) -> str:
    """A value as a part of a text."""
    if isinstance(value, Str):
        return value.text
    if isinstance(value, Const) and value.value is not None:
        return str(value.value)
    return hole(value)


def is_exact(value: Value) -> bool:
    return value.exact if isinstance(value, Str) else isinstance(value, Const)


def join(one: Value | None, other: Value | None) -> Value:
    """A value that is one of two."""
    if one is None or other is None:
        return one or other or Value()
    if one is other:
        return one
    if isinstance(one, Str) and isinstance(other, Str) and one.text == other.text:
        return one
    if isinstance(one, Const) and isinstance(other, Const) and one.value == other.value:
        return one
    told = given_or_clock(one, other)
    if told is not None:
        return told
    options = [*_options(one), *_options(other)][:6]
    tags, asked = merged(options)
    return Alt(tags, asked, one.name, one.conn or other.conn, options)


def given_or_clock(one: Value, other: Value) -> Value | None:
    """A day that may be given, and is today's only where nobody gives one: whoever repeats a run says which it is."""
    for given, asked in ((one, other), (other, one)):
        if "clock" in asked.tags and "clock" not in given.tags and not isinstance(given, Const | Str):
            return Value(given.tags | (asked.tags - {"clock"}), given.asked | asked.asked, given.name or "given")
    return None


def _options(value: Value) -> list[Value]:
    return value.options if isinstance(value, Alt) else [value]


def options_of(value: Value | None) -> list[Value]:
    return [] if value is None else _options(value)


def text_of(value: Value | None) -> str | None:
    """The text, holes and all; None for anything that is not one."""
    if isinstance(value, Str):
        return value.text
    if isinstance(value, Alt):
        for one in value.options:
            if isinstance(one, Str):
                return one.text
    return None


def names_of(*values: Value | None) -> tuple[str, ...]:
    """Column names from strings, lists of strings, and columns."""
    found: list[str] = []
    for value in values:
        if isinstance(value, Str) and value.exact:
            found.append(value.text)
        elif isinstance(value, Seq):
            found.extend(names_of(*value.items))
        elif isinstance(value, Handle) and value.kind == "column" and value.data.get("name"):
            found.append(str(value.data["name"]))
    return tuple(found)


def place_of(node: ast.AST, cell: int = 0) -> Place:
    line = int(getattr(node, "lineno", 1))
    end_line = getattr(node, "end_lineno", None)
    end_column = getattr(node, "end_col_offset", None)
    return Place(
        line,
        int(getattr(node, "col_offset", 0)) + 1,
        line if end_line is None else int(end_line),
        0 if end_column is None else int(end_column) + 1,
        cell,
    )
