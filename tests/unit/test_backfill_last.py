"""Which windows are compared with the target before a backfill goes on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from samewise.core.records import Receipt
from samewise.core.windows import Window
from samewise.run.backfill_check import last_loaded
from samewise.state.backfills import Backfill, BackfillStatus, Outcome

PLANNED_AT = datetime(2026, 5, 1, tzinfo=UTC)


def _day(number: int) -> Window:
    start = datetime(2026, 4, number, tzinfo=UTC)
    return Window(start, start + timedelta(days=1))


def _backfill(*done: int) -> Backfill:
    return Backfill(
        backfill_id="b",
        pipeline="orders",
        start=_day(1).start,
        end=_day(9).end,
        newest_first=False,
        forced=False,
        status=BackfillStatus.PAUSED,
        pins={},
        windows=9,
        created_at=PLANNED_AT,
        updated_at=PLANNED_AT,
        done=dict.fromkeys([_day(number) for number in done], Outcome.LOADED),
    )


def _landed(day: int, version: int, *, minute: int, recovered: bool = False) -> Receipt:
    """What landed so many minutes after the backfill was planned, or before."""
    return Receipt(
        run_id=f"run-{day}",
        pipeline="orders",
        task="load",
        window=_day(day),
        generation=1,
        target="orders",
        target_version=version,
        definition="d",
        fingerprint="f",
        contract=None,
        measures=None,
        recovered=recovered,
        landed_at=PLANNED_AT + timedelta(minutes=minute),
    )


def _chosen(backfill: Backfill, *landed: Receipt) -> list[Window]:
    return sorted(last_loaded(backfill, {receipt.window: receipt for receipt in landed}))


def test_the_windows_of_the_newest_commit_are_chosen() -> None:
    landed = [_landed(1, 4, minute=1), _landed(2, 5, minute=2), _landed(3, 5, minute=2)]
    assert _chosen(_backfill(1, 2, 3), *landed) == [_day(2), _day(3)]


def test_a_commit_that_was_not_marked_is_chosen_beside_the_last_that_was() -> None:
    landed = [_landed(1, 4, minute=1), _landed(2, 5, minute=2), _landed(3, 6, minute=3)]
    assert _chosen(_backfill(1, 2), *landed) == [_day(2), _day(3)]


def test_a_table_that_was_made_again_counts_its_versions_anew() -> None:
    assert _chosen(_backfill(1, 2), _landed(1, 40, minute=1), _landed(2, 3, minute=2)) == [_day(2)]


def test_what_landed_before_the_plan_is_left_out_until_the_backfill_is_done_with_it() -> None:
    landed = [_landed(1, 4, minute=1), _landed(2, 3, minute=-1), _landed(3, 6, minute=5, recovered=True)]
    assert _chosen(_backfill(1), *landed) == [_day(1)]
