"""A window: the unit of work, of checkpoint and of replacement."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

_BEGINNING = datetime.min.replace(tzinfo=UTC)
_END = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """Half-open span of time: start <= t < end, both UTC."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        for instant in (self.start, self.end):
            if instant.utcoffset() is None or instant.tzinfo is not UTC:
                raise ValueError(f"a window is made of UTC instants, not {instant!r}")
        if self.start >= self.end:
            raise ValueError(f"empty window: {self.start} to {self.end}")

    @property
    def is_full(self) -> bool:
        """True for the one window of a task that always replaces its whole table."""
        return self == FULL

    @property
    def key(self) -> str:
        """The window's name in the state store, in tokens and in commits; sorts by start."""
        if self.is_full:
            return "full"
        return f"{instant_text(self.start)}/{instant_text(self.end)}"

    @classmethod
    def from_key(cls, key: str) -> Window:
        """The inverse of `key`."""
        if key == "full":
            return FULL
        start, _, end = key.partition("/")
        return cls(parse_instant(start), parse_instant(end))

    def overlaps(self, other: Window) -> bool:
        """Two windows overlap when at least one instant lies in both."""
        return self.start < other.end and other.start < self.end


def instant_text(instant: datetime) -> str:
    """`2026-04-24T22:00:00Z`: UTC, seconds always, microseconds only when there are any."""
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def parse_instant(text: str) -> datetime:
    """The inverse of `instant_text`. Raises ValueError for a text without an offset."""
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        raise ValueError(f"no UTC offset in {text!r}")
    return instant.astimezone(UTC)


FULL = Window(_BEGINNING, _END)
