"""Is a window's figure in line with those before it? `expect: change`, as a pure decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from statistics import median

from samewise.core.measures import Measures

_ENOUGH = 3
"""Fewer earlier windows say nothing about what is usual."""
_EXACT = 80
"""More digits than a sum of DECIMAL(38) times a share can have."""


@dataclass(frozen=True, slots=True)
class Change:
    """One rule: how far the sum of a column, or the number of rows, may be from the median of earlier windows."""

    column: str | None
    """None for the number of rows."""
    within: Decimal
    """In percent of the median, up or down; exactly that much is still allowed."""
    over: int

    @property
    def enough(self) -> int:
        """With fewer earlier windows than this the rule holds: a new pipeline has no history."""
        return min(_ENOUGH, self.over)

    @property
    def what(self) -> str:
        return "the number of rows" if self.column is None else f"the sum of {self.column}"

    def figure(self, measures: Measures) -> Decimal | None:
        """What the rule looks at; None where it was not measured."""
        if self.column is None:
            return Decimal(measures.rows)
        for name, text in measures.sums.items():
            if name.lower() == self.column.lower():
                return Decimal(text)
        return None


def usual(earlier: Sequence[Decimal]) -> Decimal:
    """The median: one window that was off before does not move it."""
    with localcontext(prec=_EXACT):
        return median(earlier)


def is_usual(change: Change, found: Decimal, earlier: Sequence[Decimal]) -> bool:
    """True where `found` is near enough to the earlier figures, or there are too few to say.

    Where the median is 0 only 0 will do: nothing is a share of it.
    """
    if len(earlier) < change.enough:
        return True
    with localcontext(prec=_EXACT):
        middle = usual(earlier)
        return abs(found - middle) * 100 <= change.within * abs(middle)
