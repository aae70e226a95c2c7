"""The only place that turns a name or a value into SQL text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime

from samewise.core.windows import instant_text


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
