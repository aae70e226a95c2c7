"""What a task expects of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samewise.plan.change import Change


@dataclass(frozen=True, slots=True)
class Rules:
    """The `expect:` list of a task."""

    conditions: Sequence[str] = ()
    """SQL over one row. A row passes only if the condition is true: NULL is not."""
    unique: Sequence[Sequence[str]] = ()
    rows_min: int | None = None
    rows_max: int | None = None
    changes: Sequence[Change] = ()
    """Against earlier windows; `run.change` looks at them, here their columns are added up."""
    key: Sequence[str] = ()
    """Columns that must not be NULL in any row, for rows are found by them."""

    def __bool__(self) -> bool:
        counted = self.rows_min is not None or self.rows_max is not None
        return bool(self.conditions or self.unique or counted or self.changes or self.key)

    @property
    def of_batch(self) -> Rules:
        """What must hold of a batch by key as it came, deletes and all."""
        return Rules(changes=self.changes, key=self.key)

    @property
    def of_rows(self) -> Rules:
        """The rest: about the rows that readers will see."""
        return replace(self, changes=(), key=())

    @property
    def summed(self) -> list[str]:
        """The columns whose sums are compared with earlier windows."""
        return [change.column for change in self.changes if change.column is not None]
