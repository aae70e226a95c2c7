"""What a change of the source's schema leads to: a refusal, or rows that are fitted to the accepted schema.

`decide` is the only place that answers this, for every source. It compares each shape that the window's data
has, and gives either the changes that are refused or, for each shape, where every accepted column is taken from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from samewise.core.schema import Column, Schema
from samewise.core.shapes import Fit, Shape, Taken
from samewise.plan.drift import Change, ChangeKind, describe, schema_changes
from samewise.plan.policy import Policy

_RESERVED = "_samewise_"
_MOST_PLACES = 2
_MOST_DIFFERENCES = 3
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_TIMES = ("date", "timestamp", "timestamp_ntz")


@dataclass(frozen=True, slots=True)
class Difference:
    """How the files of one shape differ from the contract."""

    places: tuple[str, ...]
    changes: tuple[Change, ...]
    refused: tuple[Change, ...]
    notes: tuple[str, ...] = ()
    """Why a change is refused that the policy would let pass."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided about all shapes of a window."""

    contract: Schema
    """The schema that the rows are loaded under: the accepted one, and the columns that `added: add` lets in."""
    differences: tuple[Difference, ...]
    """Of the shapes that differ, in the order of their files."""
    fits: tuple[Fit, ...]
    """One for each shape; none where any change is refused."""

    @property
    def is_refused(self) -> bool:
        return any(difference.refused for difference in self.differences)


def decide(contract: Schema, shapes: Sequence[Shape], policy: Policy) -> Verdict:
    """Compare every shape with the contract, and say what follows under the policy."""
    named = [_named(shape, policy) for shape in shapes]
    wider = _widened(contract, named) if policy.added == "add" else contract
    judged = [_judge(contract, wider, shape, policy) for shape in named]
    differences = tuple(difference for difference in judged if difference.changes)
    if any(difference.refused for difference in differences):
        return Verdict(contract, differences, ())
    return Verdict(wider, differences, tuple(_fit(wider, shape) for shape in named))


def common_contract(shapes: Sequence[Shape], policy: Policy) -> Schema:
    """The schema to begin with, from the shapes alone: the first one's, or what the policy makes of all of them.

    The shapes are still to be compared with it: where nothing else is declared, all files must be alike.
    """
    named = [_named(shape, policy).columns for shape in shapes]
    first, *others = named
    columns = list(first)
    if policy.removed == "ignore":
        for schema in others:
            columns += [column for column in schema if Schema(tuple(columns)).get(column.name) is None]
    elif policy.added != "fail":
        columns = [column for column in columns if all(schema.get(column.name) is not None for schema in others)]
    return Schema(tuple(_loosest(column, named) for column in columns))


def declared_contract(declared: Schema, stored: Schema | None) -> Schema:
    """The declared schema, which is the contract, with the columns that `added: add` has let in since."""
    return declared if stored is None else declared.with_optional(stored)


def refusal_text(verdict: Verdict) -> str:
    """The refused changes as small tables that fit 80 columns, each under the files that it is about."""
    refused = [difference for difference in verdict.differences if difference.refused]
    lines: list[str] = []
    for difference in refused[:_MOST_DIFFERENCES]:
        lines += [*difference.places[:_MOST_PLACES]]
        if len(difference.places) > _MOST_PLACES:
            lines.append(f"… and {len(difference.places) - _MOST_PLACES} more like them")
        lines += [describe(difference.refused), *difference.notes]
    left = sum(len(difference.places) for difference in refused[_MOST_DIFFERENCES:])
    if left:
        lines.append(f"… and {left} more with other differences")
    return "\n".join(lines)


def policy_hint(verdict: Verdict) -> str | None:
    """The `source.drift:` that would let the refused changes pass, as it is written; None if none would."""
    refused = [change for difference in verdict.differences for change in difference.refused]
    if any(difference.notes for difference in verdict.differences):
        return None
    renames = {c.likely_rename_of: c.column for c in refused if c.likely_rename_of is not None}
    rules: dict[str, None] = {}
    for change in refused:
        match change.kind:
            case ChangeKind.ADDED if change.likely_rename_of is None:
                rules["added: add"] = None
            case ChangeKind.REMOVED if change.column not in renames:
                rules["removed: ignore"] = None
            case ChangeKind.TYPE_CHANGED:
                rules["type: ignore"] = None
            case ChangeKind.NULLABILITY:
                rules["nullability: ignore"] = None
            case ChangeKind.MOVED:
                rules["order: ignore"] = None
    if renames:
        pairs = ", ".join(f"{old}: {new}" for old, new in renames.items())
        rules[f"rename: {{{pairs}}}"] = None
    return f"source.drift: {{{', '.join(rules)}}}"


def can_cast(before: str, after: str) -> bool:
    """Whether values of the type `before` can be read as `after`, each checked to be the same value still.

    Nested types cannot: Spark matches the fields of structs by their places.
    """
    families = (_family(before), _family(after))
    if None in families:
        return False
    if "string" in families or families[0] == families[1]:
        return True
    return set(families) == {"number", "boolean"}


@dataclass(frozen=True, slots=True)
class _Named:
    """A shape in the contract's names."""

    shape: Shape
    columns: Schema
    """Everything that can be read, renamed."""
    found: Mapping[str, Column]
    """By lower-case accepted name: the column as the source calls it."""
    torn: frozenset[str]
    """New names of columns whose old names are there too, lower case."""


def _named(shape: Shape, policy: Policy) -> _Named:
    own = {column.name.lower() for column in shape.columns}
    accepted = {new.lower(): old for old, new in policy.rename.items()}
    torn = frozenset(new for new, old in accepted.items() if new in own and old.lower() in own)
    columns: list[Column] = []
    found: dict[str, Column] = {}
    for column in shape.columns:
        new = column.name.lower()
        name = accepted[new] if new in accepted and new not in torn else column.name
        columns.append(Column(name, column.type, column.nullable))
        found.setdefault(name.lower(), column)
    return _Named(shape, Schema(tuple(columns)), found, torn)


def _widened(contract: Schema, shapes: Sequence[_Named]) -> Schema:
    """The contract and every new column. Rows of other files have none of it, so it is nullable and optional."""
    columns = list(contract)
    known = {column.name.lower() for column in columns}
    for column in (column for shape in shapes for column in shape.columns):
        if column.name.lower() not in known:
            known.add(column.name.lower())
            columns.append(Column(column.name, column.type, nullable=True, optional=True))
    return Schema(tuple(columns))


def _judge(contract: Schema, wider: Schema, shape: _Named, policy: Policy) -> Difference:
    changes = [*_changes(contract, shape), *_torn_types(contract, wider, shape)]
    notes = {change: note for change in changes if (note := _impossible(change, contract, shape, policy)) is not None}
    refused = tuple(change for change in changes if change in notes or _is_refused(change, policy))
    return Difference(shape.shape.places, tuple(changes), refused, tuple(dict.fromkeys(notes.values())))


def _changes(contract: Schema, shape: _Named) -> list[Change]:
    present = {column.name.lower() for column in shape.columns}
    # A column that came later has no place of its own, and neither has one that a folder names.
    optional = [column.name for column in contract if column.optional]
    wanted = Schema(tuple(c for c in contract if not c.optional or c.name.lower() in present))
    return schema_changes(
        wanted,
        shape.columns,
        ordered=shape.shape.is_header,
        typed=not shape.shape.is_header,
        unplaced=[*optional, *shape.shape.in_path.names],
    )


def _torn_types(contract: Schema, wider: Schema, shape: _Named) -> Iterator[Change]:
    """New columns that two files bring in with different types."""
    for column in wider:
        own = shape.columns.get(column.name)
        if contract.get(column.name) is None and own is not None and not own.has_type_of(column):
            yield Change(ChangeKind.TYPE_CHANGED, column.name, column.type, own.type)


def _is_refused(change: Change, policy: Policy) -> bool:
    match change.kind:
        case ChangeKind.ADDED:
            return policy.added == "fail"
        case ChangeKind.REMOVED:
            return policy.removed == "fail"
        case ChangeKind.TYPE_CHANGED:
            return policy.type == "fail"
        case ChangeKind.NULLABILITY:
            return policy.nullability == "fail"
        case ChangeKind.MOVED:
            return policy.order == "fail"


def _impossible(change: Change, contract: Schema, shape: _Named, policy: Policy) -> str | None:
    """Why no policy can let this change pass; None where one can."""
    name = change.column
    if change.kind is ChangeKind.TYPE_CHANGED and not can_cast(change.after or "", change.before or ""):
        return f"  {name}: values of the one type cannot be read as the other"
    if change.kind is not ChangeKind.ADDED:
        return None
    if name.lower() in shape.torn:
        return f"  {name} is the new name of a column that is still there too"
    if policy.added == "ignore" and contract.get(name) is None:
        return None
    if [other.lower() for other in shape.columns.names].count(name.lower()) > 1:
        return f"  two columns are called {name or '(no name)'}"
    if name.lower().startswith(_RESERVED):
        return f"  {name}: names that start with {_RESERVED} belong to Samewise"
    return None if name.strip() else "  a column has no name"


def _fit(contract: Schema, shape: _Named) -> Fit:
    return tuple(Taken(column, shape.found.get(column.name.lower())) for column in contract)


def _loosest(column: Column, schemas: Sequence[Schema]) -> Column:
    same = [found for schema in schemas if (found := schema.get(column.name)) is not None]
    return Column(column.name, column.type, any(found.nullable for found in same))


def _family(type_: str) -> str | None:
    name = re.sub(r"\(.*", "", type_.strip().lower())
    if name in _NUMBERS:
        return "number"
    if name in _TIMES:
        return "time"
    return name if name in ("string", "boolean", "binary") else None
