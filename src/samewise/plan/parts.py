"""Which windows of a backfill are loaded together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from samewise.core.windows import Window


@dataclass(frozen=True, slots=True)
class Limits:
    """How much goes into one commit at most. A window that is larger goes alone."""

    windows: int = 100
    size_bytes: int = 256_000_000
    rows: int = 5_000_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A window that is to be loaded."""

    window: Window
    alone: bool = False
    """True where it must not be published with others."""
    size_bytes: int | None = None
    rows: int | None = None
    """As far as its neighbours tell."""
    kind: str | None = None
    """Only windows of one kind, under one contract, go together."""

    @property
    def is_known(self) -> bool:
        """False where nothing tells how large it is: then it goes alone, and tells about the next ones."""
        return self.size_bytes is not None or self.rows is not None


def in_parts(pieces: Sequence[Piece], limits: Limits) -> list[list[Piece]]:
    """The pieces in their order, cut into runs of neighbours that go together."""
    parts: list[list[Piece]] = []
    for piece in pieces:
        if parts and _fits(parts[-1], piece, limits):
            parts[-1].append(piece)
        else:
            parts.append([piece])
    return parts


def _fits(part: Sequence[Piece], piece: Piece, limits: Limits) -> bool:
    last = part[-1]
    beside = last.window.end == piece.window.start or piece.window.end == last.window.start
    # Onwards only: two windows may touch, and the part would turn back.
    if len(part) > 1 and beside:
        beside = (part[0].window < part[1].window) == (last.window < piece.window)
    if not beside or last.alone or piece.alone or last.kind != piece.kind:
        return False
    if not (piece.is_known and all(each.is_known for each in part)):
        return False
    together = [*part, piece]
    return (
        len(together) <= limits.windows
        and sum(each.size_bytes or 0 for each in together) <= limits.size_bytes
        and sum(each.rows or 0 for each in together) <= limits.rows
    )
