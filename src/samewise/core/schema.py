"""A table's shape, in words that need no Spark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `type` is Spark's own spelling, lower case: `decimal(12,2)`, `array<string>`."""

    name: str
    type: str
    nullable: bool = True
    optional: bool = False
    """In a contract: the column came later, so that older data may lack it."""

    @property
    def plain_type(self) -> str:
        """The type without what makes no difference: case, spaces, and quotes around the names of fields."""
        return re.sub(r"[\s`]+", "", self.type).lower()

    def has_type_of(self, other: Column) -> bool:
        return self.plain_type == other.plain_type


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
        return [_column_json(column) for column in self.columns]

    @classmethod
    def from_json(cls, value: Sequence[dict[str, str | bool]]) -> Schema:
        """The inverse of `to_json`."""
        return cls(
            tuple(
                Column(str(c["name"]), str(c["type"]), bool(c["nullable"]), bool(c.get("optional", False)))
                for c in value
            )
        )

    def with_optional(self, other: Schema) -> Schema:
        """This schema and the optional columns of `other` that it lacks."""
        return Schema((*self.columns, *(c for c in other if c.optional and self.get(c.name) is None)))


def _column_json(column: Column) -> dict[str, str | bool]:
    body: dict[str, str | bool] = {"name": column.name, "type": column.type, "nullable": column.nullable}
    return {**body, "optional": True} if column.optional else body
