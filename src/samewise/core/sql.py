"""The only place that turns a name or a value into SQL text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from samewise.core.windows import instant_text

AT = "_samewise_at"
"""Which of several windows a row belongs to, counted from 0; never written to a target."""


def quote(identifier: str) -> str:
    """One identifier for Spark SQL: `order``s` is just a name with a backtick in it."""
    return "`" + identifier.replace("`", "``") + "`"


def literal(value: str | date | datetime) -> str:
    """A typed Spark SQL literal. An aware datetime is an instant, a naive one is wall time."""
    if isinstance(value, datetime):
        if value.tzinfo is None:
            return f"TIMESTAMP_NTZ'{value.isoformat(sep=' ')}'"
        return f"TIMESTAMP'{instant_text(value.astimezone(UTC))}'"
    if isinstance(value, date):
        return f"DATE'{value.isoformat()}'"
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


@dataclass(frozen=True, slots=True)
class Span:
    """Rows whose `column` lies in [lower, upper), or equals `lower` where there is no upper."""

    column: str
    lower: str | date | datetime
    upper: date | datetime | None = None

    @property
    def sql(self) -> str:
        """A predicate that is never true for NULL."""
        name = quote(self.column)
        if self.upper is None:
            return f"{name} = {literal(self.lower)}"
        return f"{name} >= {literal(self.lower)} AND {name} < {literal(self.upper)}"


@dataclass(frozen=True, slots=True)
class Spans:
    """The rows of several windows together: `parts` are their spans, in order of time, each beside the next."""

    parts: tuple[Span, ...]

    @property
    def sql(self) -> str:
        """A predicate that is never true for NULL."""
        first, last = self.parts[0], self.parts[-1]
        if first.upper is None:
            values = ", ".join(literal(part.lower) for part in self.parts)
            return f"{quote(first.column)} IN ({values})"
        return Span(first.column, first.lower, last.upper).sql

    def at(self, number: str) -> str:
        """Whether a row lies in the span whose place in `parts`, from 0 on, `number` says. SQL that may be NULL."""
        column = quote(self.parts[0].column)
        lowers = ", ".join(literal(part.lower) for part in self.parts)
        lower = f"element_at(array({lowers}), {number} + 1)"
        if self.parts[0].upper is None:
            return f"{column} = {lower}"
        uppers = ", ".join(literal(part.upper) for part in self.parts if part.upper is not None)
        return f"{column} >= {lower} AND {column} < element_at(array({uppers}), {number} + 1)"

    @property
    def number(self) -> str:
        """The place in `parts` of the span that a row lies in; NULL for a row outside all of them."""
        bounds = [literal(part.lower) for part in self.parts]
        found = [(bounds[at], f"IF({part.sql}, {at}, NULL)") for at, part in enumerate(self.parts)]
        # Text is ordered by its bytes, and so are the keys of windows only while all years have four digits.
        if isinstance(self.parts[0].lower, str):
            found.sort(key=lambda each: each[0].encode())
        return by_halves(quote(self.parts[0].column), found)


def by_halves(value: str, leaves: Sequence[tuple[str, str]]) -> str:
    """The SQL of the last of the `leaves`, each with its lower bound, in order, that `value` is not below.

    For every row of a hundred windows: seven comparisons, where a CASE or a map would make a hundred.
    """
    if len(leaves) == 1:
        return leaves[0][1]
    middle = len(leaves) // 2
    below, others = by_halves(value, leaves[:middle]), by_halves(value, leaves[middle:])
    return f"IF({value} < {leaves[middle][0]}, {below}, {others})"
