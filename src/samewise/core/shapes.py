"""What the data of a source holds today, and how its rows become rows of the schema that was accepted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from samewise.core.schema import Column, Schema


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of some files of a source, all alike, or of a table at the pinned version."""

    schema: Schema
    places: tuple[str, ...]
    """The files, or the table, by name."""
    in_path: Schema = field(default_factory=lambda: Schema(()))
    """Columns that the folders name and the files do not hold."""
    is_header: bool = False
    """Names from the header of a CSV file: their order is that of the values, and they come without types."""

    @property
    def columns(self) -> Schema:
        """Everything that can be read."""
        return Schema((*self.schema.columns, *self.in_path.columns))


@dataclass(frozen=True, slots=True)
class Taken:
    """Where a column of the accepted schema is taken from."""

    column: Column
    found: Column | None
    """The source's own column; None gives NULL."""

    @property
    def casts(self) -> bool:
        return self.found is not None and not self.found.has_type_of(self.column)


Fit = tuple[Taken, ...]
"""How the rows of one shape become rows of the accepted schema: its columns, in its order."""


def as_it_is(shape: Shape) -> Fit:
    """Every column, as it was found."""
    return tuple(Taken(column, column) for column in shape.columns)


def is_as_it_is(fit: Fit, found: Sequence[str]) -> bool:
    """True where the rows need nothing done to them: `found` are their columns."""
    return not any(taken.casts for taken in fit) and [taken.column.name for taken in fit] == list(found)
