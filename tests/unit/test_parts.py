"""Which windows of a backfill go together."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from samewise.core.windows import Window
from samewise.plan.parts import Limits, Piece, in_parts

START = datetime(2026, 4, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def _day(number: int) -> Window:
    return Window(START + number * DAY, START + (number + 1) * DAY)


def _piece(
    number: int, *, size: int | None = 10, rows: int | None = None, alone: bool = False, kind: str = "a"
) -> Piece:
    return Piece(_day(number), alone, size, rows, kind)


def _cut(pieces: list[Piece], limits: Limits) -> list[int]:
    return [len(part) for part in in_parts(pieces, limits)]


def test_small_neighbours_go_together_up_to_the_number_of_windows() -> None:
    assert _cut([_piece(n) for n in range(10)], Limits(windows=4)) == [4, 4, 2]


def test_bytes_and_rows_limit_a_group() -> None:
    assert _cut([_piece(n, size=40) for n in range(5)], Limits(size_bytes=100)) == [2, 2, 1]
    assert _cut([_piece(n, rows=60) for n in range(4)], Limits(rows=100)) == [1, 1, 1, 1]


def test_a_window_larger_than_the_limit_goes_alone() -> None:
    pieces = [_piece(0), _piece(1, size=500), _piece(2), _piece(3)]
    assert _cut(pieces, Limits(size_bytes=100)) == [1, 1, 2]


def test_a_window_of_which_nothing_is_known_goes_alone() -> None:
    assert _cut([_piece(n, size=None) for n in range(3)], Limits()) == [1, 1, 1]


def test_a_gap_another_contract_and_what_must_go_alone_end_a_group() -> None:
    assert _cut([_piece(0), _piece(2), _piece(3)], Limits()) == [1, 2]
    assert _cut([_piece(0), _piece(1), _piece(2, kind="b"), _piece(3, kind="b")], Limits()) == [2, 2]
    assert _cut([_piece(0), _piece(1, alone=True), _piece(2), _piece(3)], Limits()) == [1, 1, 2]


def test_newest_first_goes_together_just_as_well() -> None:
    assert _cut([_piece(n) for n in (5, 4, 3, 2)], Limits()) == [4]


@given(
    st.lists(st.tuples(st.integers(0, 30), st.booleans(), st.integers(1, 50)), unique_by=lambda each: each[0]),
    st.integers(1, 6),
    st.integers(10, 120),
)
def test_every_window_is_in_one_part_and_no_part_is_too_large(
    drawn: list[tuple[int, bool, int]], windows: int, size: int
) -> None:
    pieces = [_piece(number, size=bytes_, alone=alone) for number, alone, bytes_ in drawn]
    parts = in_parts(pieces, Limits(windows=windows, size_bytes=size))
    assert [piece for part in parts for piece in part] == pieces
    for part in parts:
        assert len(part) == 1 or (len(part) <= windows and sum(piece.size_bytes or 0 for piece in part) <= size)
        assert len(part) == 1 or not any(piece.alone for piece in part)
        covered = sorted(piece.window for piece in part)
        assert all(one.end == other.start for one, other in pairwise(covered))
