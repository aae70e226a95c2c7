"""The columns that files have, compared with those that were declared."""

from __future__ import annotations

from collections.abc import Sequence

from samewise.core.errors import Refused
from samewise.core.schema import Schema

_MOST_LINES = 10


def check_order(file: str, declared: Sequence[str], found: Sequence[str]) -> None:
    """Raise `Refused` unless `found` are the declared columns in the declared order.

    For formats that Spark reads by position: there a moved column would land in the wrong place.
    """
    if _folded(declared) == _folded(found):
        return
    raise _refused(file, declared, found)


def check_names(file: str, declared: Sequence[str], found: Sequence[str]) -> None:
    """Raise `Refused` unless `found` are the declared columns, in whatever order."""
    if sorted(_folded(declared)) == sorted(_folded(found)):
        return
    raise _refused(file, declared, found)


def check_types(files: str, declared: Schema, found: Schema) -> None:
    """Raise `Refused` unless each column has the declared type. Both have the same names."""
    wrong = [
        (column.name, column.type, other.type)
        for column in declared
        if (other := found.get(column.name)) is not None and other.type != column.type
    ]
    if wrong:
        raise Refused(
            f"{files}: the types are not the declared ones\n" + _table(("column", "declared", "in the files"), wrong),
            code="schema",
            next_step="ask the sender for the declared types, or change `schema:` to what the files have",
        )


def _refused(file: str, declared: Sequence[str], found: Sequence[str]) -> Refused:
    missing = [name for name in declared if name.lower() not in _folded(found)]
    extra = [name for name in found if name.lower() not in _folded(declared)]
    facts = []
    if missing:
        facts.append(f"missing: {', '.join(missing)}")
    if extra:
        facts.append(f"not declared: {', '.join(name or '(no name)' for name in extra)}")
    if not facts:
        twice = len(set(_folded(found))) < len(found)
        facts.append("a name occurs twice" if twice else "the columns have moved")
    longest = max(len(declared), len(found))
    pairs = [
        (str(at + 1), _at(declared, at), _at(found, at))
        for at in range(longest)
        if _at(declared, at).lower() != _at(found, at).lower()
    ]
    return Refused(
        f"{file}: the columns are not the declared ones ({'; '.join(facts)})\n"
        + _table(("place", "declared", "in the file"), pairs),
        code="schema",
        next_step="ask the sender for the declared columns, or change `schema:` to what the file has",
    )


def _at(names: Sequence[str], place: int) -> str:
    return names[place] if place < len(names) else "-"


def _folded(names: Sequence[str]) -> list[str]:
    return [name.lower() for name in names]


def _table(head: tuple[str, str, str], rows: Sequence[tuple[str, str, str]]) -> str:
    shown = [head, *rows[:_MOST_LINES]]
    widths = [max(len(row[at]) for row in shown) for at in range(2)]
    lines = [f"  {a:<{widths[0]}}  {b:<{widths[1]}}  {c}".rstrip() for a, b, c in shown]
    if len(rows) > _MOST_LINES:
        lines.append(f"  … and {len(rows) - _MOST_LINES} more")
    return "\n".join(lines)
