"""What the columns of a result are made of, read from the text of Spark's analysed plan.

The text is all that Spark's public API gives. Each column in it has a number: `order_id#12L`; a node that makes one
says so: `Project [upper(a#3) AS b#7]`. A text literal is printed without quotes and may look like anything, so this
finds what a careful reader of the plan would find, and does not prove that there is nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from samewise.plan.impure import analysed_plan

_MADE = re.compile(r"^(?P<expression>.*) AS (?P<name>.+)#(?P<id>\d+)L?$", re.DOTALL)
_NUMBER = re.compile(r"#(\d+)")
_OPENING, _CLOSING = "([", ")]"
_ONE_SIDED = ("Join LeftSemi", "Join LeftAnti")


@dataclass(slots=True)
class _Node:
    """One operator of the plan, over those that it reads."""

    depth: int
    text: str
    children: list[_Node] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return self.text.partition(" ")[0]


class Lineage:
    """The columns of a result, followed down to the node at which the user's own part begins."""

    def __init__(self, plan_text: str, source_node: str) -> None:
        """`plan_text` is what EXPLAIN EXTENDED gives. Below a node that begins with `source_node` nothing is read."""
        self._source_node = source_node
        self._made: dict[str, list[str]] = {}
        self._tables: dict[str, _Node] = {}
        self._root = _tree(analysed_plan(plan_text))
        if self._root is not None:
            self._read(self._root)

    def parts(self, column: str) -> Iterator[str]:
        """The text of everything that a column of the result is made of: expressions, and columns of the source."""
        for item in [] if self._root is None else self._outputs(self._root):
            if _name(item).lower() == column.lower():
                yield from self._below(item, set())

    def comes_from_data(self, text: str) -> bool:
        """Whether an expression reads any column that the source, or a table, has."""
        return any(self._is_data(number, set()) for number in _NUMBER.findall(text))

    def _is_data(self, number: str, seen: set[str]) -> bool:
        if number in seen:
            return False
        seen.add(number)
        made = self._made.get(number)
        if made is None:
            return True
        return any(self._is_data(other, seen) for text in made for other in _NUMBER.findall(text))

    def _below(self, text: str, seen: set[str]) -> Iterator[str]:
        yield text
        for number in _NUMBER.findall(text):
            if number not in seen:
                seen.add(number)
                for expression in self._made.get(number, ()):
                    yield from self._below(expression, seen)

    def _read(self, node: _Node) -> None:
        if node.text.startswith(self._source_node):
            return
        # A table of a WITH comes before whoever reads it.
        for child in node.children:
            self._read(child)
        if node.kind == "CTERelationDef":
            self._tables[node.text.split()[1].rstrip(",")] = node
        elif node.kind == "CTERelationRef":
            table = self._tables.get(node.text.split()[1].rstrip(","))
            if table is not None:
                self._link(self._outputs(node), self._outputs(table))
        elif node.kind == "Union":
            first, *others = [self._outputs(child) for child in node.children] or [[]]
            for other in others:
                self._link(first, other)
        elif node.kind == "Generate":
            self._generated(node)
        else:
            for item in (item for group in _groups(node.text) for item in group):
                match = _MADE.match(item)
                if match is not None:
                    self._add(match["id"], match["expression"])

    def _generated(self, node: _Node) -> None:
        for item in (_groups(node.text) or [[]])[-1]:
            self._add(_id(item), node.text.rpartition("[")[0])

    def _link(self, here: list[str], there: list[str]) -> None:
        """Columns that are the same by their place."""
        if len(here) == len(there):
            for one, other in zip(here, there, strict=True):
                if _id(one) != _id(other):
                    self._add(_id(one), f"#{_id(other)}")

    def _add(self, number: str, expression: str) -> None:
        known = self._made.setdefault(number, [])
        if expression not in known:
            known.append(expression)

    def _outputs(self, node: _Node) -> list[str]:
        """The columns that a node gives, in their order, as they are printed."""
        groups = _groups(node.text)
        match node.kind:
            case "Project":
                return groups[0] if groups else []
            case "Aggregate":
                return groups[-1] if groups else []
            case "Window":
                return [*self._of_children(node), *(groups[0] if groups else [])]
            case "Generate":
                return [*self._of_children(node), *(groups[-1] if groups else [])]
            case "Union":
                return self._outputs(node.children[0]) if node.children else []
            case _ if node.text.startswith(_ONE_SIDED):
                return self._outputs(node.children[0]) if node.children else []
            case _ if node.children:
                return self._of_children(node)
            case _:
                return groups[-1] if groups else []

    def _of_children(self, node: _Node) -> list[str]:
        children = node.children[-1:] if node.kind == "WithCTE" else node.children
        return [item for child in children for item in self._outputs(child)]


def _tree(plan: str) -> _Node | None:
    root: _Node | None = None
    above: list[_Node] = []
    for line in plan.splitlines():
        text = line.lstrip(" :+-")
        if not text:
            continue
        node = _Node(len(line) - len(text), text)
        above = [other for other in above if other.depth < node.depth]
        if above:
            above[-1].children.append(node)
        elif root is None:
            root = node
        above.append(node)
    return root


def _groups(text: str) -> list[list[str]]:
    """The lists in square brackets of a node, each by its items."""
    groups: list[list[str]] = []
    depth, start = 0, 0
    for at, character in enumerate(text):
        if character in _OPENING:
            depth += 1
            if depth == 1 and character == "[":
                start = at + 1
        elif character in _CLOSING and depth:
            depth -= 1
            if depth == 0 and character == "]":
                groups.append(split_items(text[start:at]))
    return groups


def split_items(text: str) -> list[str]:
    """The items of a list, which may have lists in them."""
    items, depth, start = [], 0, 0
    for at, character in enumerate(text):
        if character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth = max(0, depth - 1)
        elif character == "," and depth == 0:
            items.append(text[start:at].strip())
            start = at + 1
    items.append(text[start:].strip())
    return [item for item in items if item]


def _name(item: str) -> str:
    match = _MADE.match(item)
    return match["name"] if match is not None else item.rpartition("#")[0]


def _id(item: str) -> str:
    numbers = _NUMBER.findall(item)
    return numbers[-1] if numbers else ""
