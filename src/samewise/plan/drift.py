"""How a schema differs from the one that was accepted."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from samewise.core.ids import stable_hash
from samewise.core.schema import Column, Schema

_LINE_WIDTH = 80
_SIMILAR = 0.6
"""From this ratio on, two names read like one that was changed; difflib's own measure of a close match."""


class ChangeKind(StrEnum):
    """What happened to a column."""

    ADDED = "added"
    REMOVED = "removed"
    TYPE_CHANGED = "type_changed"
    NULLABILITY = "nullability"
    """A column that was never NULL may now be. The other way round nothing can break."""
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `before` and `after` are types, `not null` and `nullable`, or positions from 1."""

    kind: ChangeKind
    column: str
    before: str | None = None
    after: str | None = None
    likely_rename_of: str | None = None
    """For an added column: the removed one that it seems to be. A guess for a person, never acted upon."""


def schema_changes(
    contract: Schema, observed: Schema, *, ordered: bool, typed: bool = True, unplaced: Collection[str] = ()
) -> list[Change]:
    """What has changed since `contract` was accepted; empty if nothing has.

    Names are compared without regard to case. `ordered` says that columns are matched by position somewhere,
    so that one which changed places matters, unless it is among the `unplaced`. Without `typed` the type of a
    new column is not known, and a column that was renamed is told by its name or its place alone.
    """
    old, new = _by_name(contract), _by_name(observed)
    changes: list[Change] = []
    for name, before in old.items():
        after = new.get(name)
        if after is None:
            changes.append(Change(ChangeKind.REMOVED, before.name, before=before.type))
            continue
        if not before.has_type_of(after):
            changes.append(Change(ChangeKind.TYPE_CHANGED, before.name, before.type, after.type))
        if after.nullable and not before.nullable:
            changes.append(Change(ChangeKind.NULLABILITY, before.name, "not null", "nullable"))
    if ordered:
        changes += _moves(list(old), list(new), old, {name.lower() for name in unplaced})
    renames = _likely_renames(contract, observed, typed=typed)
    seen: set[str] = set()
    for column in observed:
        name = column.name.lower()
        # A name that comes twice is one column too many, even if the contract knows the first.
        if name not in old or name in seen:
            rename = renames.get(name) if name not in seen else None
            changes.append(Change(ChangeKind.ADDED, column.name, after=column.type, likely_rename_of=rename))
        seen.add(name)
    return changes


def describe(changes: Sequence[Change]) -> str:
    """A plain-text table of the changes that fits 80 columns; one line says so if there are none."""
    if not changes:
        return "no changes"
    rows = [("change", "column", "was", "is")]
    for change in changes:
        was, now = _shorten_pair(change.before or "-", change.after or "-", 22)
        rows.append((change.kind.replace("_", " "), _shorten(change.column, 18), was, now))
    widths = [max(len(row[at]) for row in rows) for at in range(3)]
    lines = []
    for at, row in enumerate(rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, row[3]]).rstrip())
        rename = changes[at - 1].likely_rename_of if at else None
        if rename is not None:
            lines.append(_shorten(f"  {row[1]} looks like {rename} under a new name", _LINE_WIDTH))
    return "\n".join(lines)


def contract_id(schema: Schema) -> str:
    """The same for two schemas exactly when `schema_changes` finds nothing, ordered, in either direction."""
    return stable_hash([[column.name.lower(), column.plain_type, column.nullable] for column in schema])


def _by_name(schema: Schema) -> dict[str, Column]:
    """Columns by lower-case name; of two with the same name, the first."""
    found: dict[str, Column] = {}
    for column in schema:
        found.setdefault(column.name.lower(), column)
    return found


def _moves(old: list[str], new: list[str], columns: dict[str, Column], unplaced: Collection[str]) -> list[Change]:
    """The fewest columns that changed places among those in both: a new one in the middle moves none."""
    in_both = [name for name in new if name in columns and name not in unplaced]
    still = _longest_in_order([old.index(name) for name in in_both])
    return [
        Change(ChangeKind.MOVED, columns[name].name, str(old.index(name) + 1), str(new.index(name) + 1))
        for name in in_both
        if old.index(name) not in still
    ]


def _longest_in_order(positions: Sequence[int]) -> set[int]:
    """The longest rising subsequence."""
    tails: list[int] = []
    chains: list[tuple[int, ...]] = []
    for position in positions:
        at = bisect_left(tails, position)
        chain = (*(chains[at - 1] if at else ()), position)
        tails[at : at + 1] = [position]
        chains[at : at + 1] = [chain]
    return set(chains[-1]) if chains else set()


def _likely_renames(contract: Schema, observed: Schema, *, typed: bool) -> dict[str, str]:
    """Which removed column each added one seems to be: the same type, and a like name or the same place."""
    old, new = _by_name(contract), _by_name(observed)
    removed = [(at, column) for at, (name, column) in enumerate(old.items()) if name not in new]
    added = [(at, column) for at, (name, column) in enumerate(new.items()) if name not in old]
    pairs = []
    for new_at, after in added:
        for old_at, before in removed:
            likeness = SequenceMatcher(None, before.name.lower(), after.name.lower()).ratio()
            is_likely = likeness >= _SIMILAR or old_at == new_at
            if is_likely and (before.has_type_of(after) or not typed):
                pairs.append((-likeness, abs(old_at - new_at), before.name, after.name.lower()))
    found: dict[str, str] = {}
    for _, _, before_name, after_name in sorted(pairs):
        if after_name not in found and before_name not in found.values():
            found[after_name] = before_name
    return found


def _shorten(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _shorten_pair(before: str, after: str, width: int) -> tuple[str, str]:
    """Two texts cut to `width` from just before where they differ, so that the difference is in sight."""
    if max(len(before), len(after)) > width:
        same = next((at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
        first = max(0, same - 8)
        if first:
            before, after = "…" + before[first:], "…" + after[first:]
    return _shorten(before, width), _shorten(after, width)
