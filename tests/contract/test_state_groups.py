"""Groups and backfills in the state store, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from samewise.core.errors import Busy, LeaseLost
from samewise.core.groups import Group, span_of
from samewise.core.records import Point, RunRecord, RunStatus
from samewise.state import backfills, groups, leases, receipts, runs, watermarks
from samewise.state.backfills import BackfillStatus, Outcome
from samewise.state.heartbeat import Heartbeat
from samewise.state.holders import Holder
from samewise.state.leases import Lease
from samewise.state.store import Store
from tests.support.state import TARGET, a_receipt, a_run, day, take, take_over

DAYS = [day(number) for number in (1, 2, 3)]


def _hold(store: Store, *numbers: int) -> list[Lease]:
    return leases.acquire_all(store, TARGET, [day(n).key for n in numbers], Holder.current(), 60)


def _group(store: Store, held: list[Lease], generation: int = 1) -> list[RunRecord]:
    group = Group(f"g{generation}", span_of(DAYS), generation)
    return groups.insert(store, [a_run(window, generation, group=group) for window in DAYS], held)


def test_leases_are_taken_all_or_none(store: Store) -> None:
    single = take(store, day(2))
    with pytest.raises(Busy, match=day(2).key):
        _hold(store, 1, 2, 3)
    assert leases.owner(store, TARGET, day(1).key) is None
    leases.release(store, single)
    assert [lease.window_key for lease in _hold(store, 3, 1, 2)] == [window.key for window in DAYS]
    with pytest.raises(Busy):
        take(store, day(3))


def test_two_groups_that_overlap_never_wait_for_each_other(store: Store) -> None:
    outcomes: list[str] = []

    def try_often(*numbers: int) -> None:
        for _ in range(15):
            try:
                leases.release_all(store, _hold(store, *numbers))
                outcomes.append("held")
            except Busy:
                outcomes.append("busy")

    threads = [threading.Thread(target=try_often, args=args) for args in ((1, 2, 3), (3, 2, 1), (2, 3, 4))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(outcomes) == 45
    assert "held" in outcomes


def test_a_group_comes_back_as_it_was_planned(store: Store) -> None:
    planned = _group(store, _hold(store, 1, 2, 3))
    assert groups.members(store, "g1") == planned
    assert groups.latest_generation(store, "orders_daily", "load", span_of(DAYS)) == 1
    assert runs.open_run(store, "orders_daily", "load", day(2)) == planned[1]


def test_every_write_of_a_group_needs_all_of_its_leases(store: Store) -> None:
    held = _hold(store, 1, 2, 3)
    group = groups.advance(store, _group(store, held), Point.COMMITTING, held)
    taken = take_over(store, held[1])
    for write in (
        lambda: groups.advance(store, group, Point.CHECKPOINTED, held),
        lambda: groups.close(store, group, RunStatus.SUCCEEDED, held),
        lambda: groups.checkpoint(store, group, [a_receipt(r) for r in group], held, watermark=None, contract=None),
        lambda: leases.renew_all(store, held),
    ):
        with pytest.raises(LeaseLost):
            write()
    # Whoever took one of the windows may end it, and nobody else.
    with pytest.raises(ValueError, match="no lease covers"):
        groups.close(store, group, RunStatus.ABANDONED, [take(store, day(9))])
    groups.close(store, group, RunStatus.ABANDONED, [taken])
    assert {run.status for run in groups.members(store, "g1")} == {RunStatus.ABANDONED}


def test_a_groups_checkpoint_is_one_for_all_windows_and_a_second_one_changes_nothing(store: Store) -> None:
    held = _hold(store, 1, 2, 3)
    group = groups.advance(store, _group(store, held), Point.COMMITTING, held)
    landed = [a_receipt(run, rows_read=number) for number, run in enumerate(group)]
    for _ in range(2):
        groups.checkpoint(store, group, landed, held, watermark=lambda done: max(w.end for w in done), contract=None)
        groups.close(store, group, RunStatus.SUCCEEDED, held)
    assert receipts.done_windows(store, "orders_daily", "load", TARGET) == set(DAYS)
    assert watermarks.current(store, "orders_daily", "load") == day(3).end
    assert len(watermarks.moves(store, "orders_daily", "load")) == 1
    assert {(run.status, run.point) for run in groups.members(store, "g1")} == {
        (RunStatus.SUCCEEDED, Point.CHECKPOINTED)
    }


def test_a_group_that_was_abandoned_gets_no_receipts(store: Store) -> None:
    held = _hold(store, 1, 2, 3)
    group = _group(store, held)
    groups.close(store, group, RunStatus.ABANDONED, held)
    groups.checkpoint(store, group, [a_receipt(run) for run in group], held, watermark=None, contract=None)
    assert receipts.latest(store, "orders_daily", "load", day(1)) is None


def test_a_heartbeat_keeps_every_lease_of_a_group(store: Store) -> None:
    held = leases.acquire_all(store, TARGET, [day(1).key, day(2).key], Holder.current(), 0.6)
    with Heartbeat(store, *held) as heartbeat:
        threading.Event().wait(1.2)
        heartbeat.check()
        elsewhere = replace(Holder.current(), host="elsewhere", machine="another boot", pid=4711)
        for number in (1, 2):
            with pytest.raises(Busy):
                leases.acquire(store, TARGET, day(number).key, elsewhere, 60)


def test_a_backfill_remembers_what_it_is_done_with(store: Store) -> None:
    span = span_of(DAYS)
    pins = {"load": {"definition": "d1"}}
    made = backfills.create(store, "orders", span, newest_first=True, forced=False, pins=pins, windows=3)
    assert (made.start, made.end, made.pins, made.done) == (span.start, span.end, pins, {})
    backfills.mark(store, made.backfill_id, [(day(1), Outcome.LOADED)])
    backfills.mark(store, made.backfill_id, [(day(1), Outcome.NEWER), (day(2), Outcome.UNCHANGED)])
    backfills.ask(store, made.backfill_id, "pause")
    assert backfills.asked(store, made.backfill_id) == "pause"
    backfills.set_status(store, made.backfill_id, BackfillStatus.PAUSED, error={"code": "drift"})
    (found,) = backfills.recent(store, "orders")
    assert found.done == {day(1): Outcome.LOADED, day(2): Outcome.UNCHANGED}
    assert (found.status, found.asked, found.error) == (BackfillStatus.PAUSED, None, {"code": "drift"})
    assert found.updated_at >= found.created_at > datetime(2026, 1, 1, tzinfo=UTC)
    assert backfills.recent(store, "other") == []
    assert not backfills.is_live(store, found)
