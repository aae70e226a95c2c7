"""A table's shape, in words that need no Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `type` is Spark's own spelling, lower case: `decimal(12,2)`, `array<string>`."""

    name: str
    type: str
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Schema:
    """Columns in order. Names are compared as Spark does: without regard to case."""

    columns: tuple[Column, ...]

    @classmethod
    def of(cls, columns: Sequence[tuple[str, str]]) -> Schema:
        """A schema of nullable columns from (name, type) pairs."""
        return cls(tuple(Column(name, type_) for name, type_ in columns))

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def get(self, name: str) -> Column | None:
        """The column called `name`, or None."""
        for column in self.columns:
            if column.name.lower() == name.lower():
                return column
        return None

    def to_json(self) -> list[dict[str, str | bool]]:
        return [{"name": c.name, "type": c.type, "nullable": c.nullable} for c in self.columns]

    @classmethod
    def from_json(cls, value: Sequence[dict[str, str | bool]]) -> Schema:
        """The inverse of `to_json`."""
        return cls(tuple(Column(str(c["name"]), str(c["type"]), bool(c["nullable"])) for c in value))
