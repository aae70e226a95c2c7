"""Windows that are published together, in one commit with one token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from samewise.core.windows import Window


@dataclass(frozen=True, slots=True)
class Group:
    """What the runs of some contiguous windows share: one commit, under a token of its own."""

    group_id: str
    """To the commit what a `run_id` is to that of a single window."""
    span: Window
    """From the first window's start to the last one's end. No window between them is left out."""
    generation: int
    """The token's version, counted for each span."""


@dataclass(frozen=True, slots=True)
class Member:
    """One window of a group, as the group's commit tells about it."""

    window: Window
    run_id: str
    generation: int
    fingerprint: str
    measures: Mapping[str, Any] | None = None
    rows_read: int | None = None

    def to_json(self) -> list[Any]:
        """A list and not a mapping: there are up to hundreds of them in one commit."""
        return [self.window.key, self.run_id, self.generation, self.fingerprint, self.measures, self.rows_read]

    @classmethod
    def from_json(cls, value: Sequence[Any]) -> Member:
        """The inverse of `to_json`."""
        key, run_id, generation, fingerprint, measures, rows_read = value
        return cls(Window.from_key(key), run_id, int(generation), fingerprint, measures, rows_read)


def span_of(windows: Sequence[Window]) -> Window:
    """From the first start to the last end. Raises ValueError where a window between is missing."""
    ordered = sorted(windows)
    for one, following in pairwise(ordered):
        if one.end != following.start:
            raise ValueError(f"{one.key} and {following.key} are not neighbours")
    return Window(ordered[0].start, ordered[-1].end)
