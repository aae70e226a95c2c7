"""Runs, attempts, receipts, watermarks and contracts, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

import threading
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from samewise.core.errors import Conflict, LeaseLost, SamewiseError
from samewise.core.records import Point, RunRecord, RunStatus
from samewise.core.schema import Column, Schema
from samewise.core.windows import FULL, Window
from samewise.plan.drift import contract_id
from samewise.plan.new_files import Loaded
from samewise.state import attempts, contracts, files, leases, receipts, restore, runs, upstream, watermarks
from samewise.state.attempts import AttemptStatus
from samewise.state.checkpoint import checkpoint
from samewise.state.contracts import Contract
from samewise.state.engine import insert_new
from samewise.state.holders import Holder
from samewise.state.leases import Lease
from samewise.state.store import Store
from samewise.state.tables import tasks
from tests.support.state import TARGET, a_receipt, a_run, day, take, take_over

SCHEMA = Schema.of([("order_id", "bigint"), ("amount", "decimal(12,2)")])
CONTRACT = Contract("c1", SCHEMA)
NOON = datetime(2026, 4, 25, 12, tzinfo=UTC)


def planned(store: Store, **changes: object) -> tuple[RunRecord, Lease]:
    run = a_run(**changes)  # type: ignore[arg-type]
    lease = take(store, run.window)
    return runs.insert_run(store, run, lease), lease


# Runs


def test_a_run_comes_back_as_it_was_written(store: Store) -> None:
    run, _ = planned(store, forced=True, base_version=2**40)
    assert runs.get(store, run.run_id) == run


def test_the_full_window_can_be_stored(store: Store) -> None:
    run, _ = planned(store, window=FULL)
    assert runs.open_run(store, run.pipeline, run.task, FULL) == run


def test_the_window_that_was_refused_last_comes_first_until_it_has_been_loaded(store: Store) -> None:
    times: list[datetime] = []

    def ended(at: int, generation: int, status: RunStatus, code: str | None = None) -> None:
        # A clock of milliseconds may give two of them the same time.
        times.append(NOON + timedelta(minutes=len(times)))
        run, lease = planned(store, window=day(at), generation=generation, planned_at=times[-1])
        runs.close(store, run, status, lease, error=None if code is None else {"code": code, "message": "no"})
        leases.release(store, lease)

    def drifted() -> list[Window]:
        return runs.refused_windows(store, "orders_daily", "load", "drift")

    ended(27, 1, RunStatus.REFUSED, "drift")
    ended(25, 1, RunStatus.REFUSED, "drift")
    ended(26, 1, RunStatus.REFUSED, "expectation")
    assert drifted() == [day(25), day(27)]
    ended(25, 2, RunStatus.FAILED, "transient")
    ended(27, 2, RunStatus.REFUSED, "drift")
    assert drifted() == [day(27), day(25)], "each once, by its newest refusal; one that failed since is not loaded"
    ended(27, 3, RunStatus.SUCCEEDED)
    assert drifted() == [day(25)]


def test_a_run_is_planned_at_the_stores_time(store: Store) -> None:
    before = store.now()
    run, _ = planned(store)
    assert run.planned_at is not None
    assert before <= run.planned_at <= store.now()


def test_planning_the_same_run_twice_changes_nothing(store: Store) -> None:
    run, lease = planned(store)
    assert runs.insert_run(store, replace(run, definition="other", planned_at=None), lease) == run


def test_two_runs_cannot_have_one_generation(store: Store) -> None:
    run, lease = planned(store)
    with pytest.raises(Conflict):
        runs.insert_run(store, a_run(run.window, run.generation), lease)


def test_the_newest_open_run_is_found(store: Store) -> None:
    _, lease = planned(store)
    newer = runs.insert_run(store, a_run(generation=2), lease)
    assert runs.open_run(store, newer.pipeline, newer.task, newer.window) == newer


def test_a_closed_run_is_not_open(store: Store) -> None:
    run, lease = planned(store)
    runs.close(store, run, RunStatus.REFUSED, lease)
    assert runs.open_run(store, run.pipeline, run.task, run.window) is None


def test_the_latest_generation_counts_closed_runs(store: Store) -> None:
    run, lease = planned(store, generation=41)
    runs.close(store, run, RunStatus.FAILED, lease)
    assert runs.latest_generation(store, run.pipeline, run.task, run.window) == 41


def test_a_window_without_a_run_has_generation_zero(store: Store) -> None:
    assert runs.latest_generation(store, "orders_daily", "load", day(1)) == 0


def test_advancing_keeps_the_point_and_the_contract(store: Store) -> None:
    run, lease = planned(store)
    advanced = runs.advance(store, run, Point.CHECKED, lease, contract="c1")
    assert runs.get(store, run.run_id) == advanced == replace(run, point=Point.CHECKED, contract="c1")


def test_advancing_without_a_contract_keeps_the_one_that_is_there(store: Store) -> None:
    run, lease = planned(store)
    run = runs.advance(store, run, Point.CHECKED, lease, contract="c1")
    assert runs.advance(store, run, Point.STAGED, lease).contract == "c1"


def test_a_closed_run_does_not_advance(store: Store) -> None:
    run, lease = planned(store)
    runs.close(store, run, RunStatus.FAILED, lease)
    with pytest.raises(SamewiseError, match="not open"):
        runs.advance(store, run, Point.STAGED, lease)


def test_closing_twice_keeps_the_first_time(store: Store) -> None:
    run, lease = planned(store)
    error = {"code": "refused", "message": "wei\udce4 \x00"}
    first = runs.close(store, run, RunStatus.REFUSED, lease, error)
    assert first.error == error
    assert runs.close(store, run, RunStatus.REFUSED, lease) == first


def test_a_run_that_ended_does_not_end_otherwise(store: Store) -> None:
    run, lease = planned(store)
    runs.close(store, run, RunStatus.REFUSED, lease)
    with pytest.raises(SamewiseError, match="cannot become succeeded"):
        runs.close(store, run, RunStatus.SUCCEEDED, lease)


def test_history_shows_the_newest_runs_first_and_no_more_than_asked(store: Store) -> None:
    early = datetime(2026, 5, 1, tzinfo=UTC)
    made = [planned(store, window=day(n), planned_at=early + timedelta(hours=n))[0] for n in (1, 3, 2)]
    planned(store, window=day(9), pipeline="other")
    assert runs.history(store, "orders_daily", limit=2) == [made[1], made[2]]


def test_history_can_show_one_task(store: Store) -> None:
    planned(store, window=day(1), task="load")
    other, _ = planned(store, window=day(2), task="totals")
    assert runs.history(store, "orders_daily", "totals") == [other]


@pytest.mark.parametrize("repeat", [False, True])
def test_an_insert_says_whether_it_inserted(store: Store, repeat: bool) -> None:
    row = {"pipeline": "p", "task": "t", "watermark_moves": 0, "contracts": 0}
    with store.transaction() as connection:
        if repeat:
            insert_new(connection, tasks, row)
        assert insert_new(connection, tasks, row) is not repeat


# Fencing: each write, by a lease that was taken over


WRITES: dict[str, Callable[[Store, RunRecord, Lease], object]] = {
    "insert_run": lambda store, run, lease: runs.insert_run(store, a_run(generation=2), lease),
    "advance": lambda store, run, lease: runs.advance(store, run, Point.COMMITTING, lease),
    "close": lambda store, run, lease: runs.close(store, run, RunStatus.SUCCEEDED, lease),
    "begin": lambda store, run, lease: attempts.begin(store, run, lease, "a2", None),
    "end": lambda store, run, lease: attempts.end(store, run, lease, "a1", AttemptStatus.SUCCEEDED),
    "checkpoint": lambda store, run, lease: checkpoint(
        store, run, a_receipt(run), lease, watermark=NOON, contract=CONTRACT
    ),
    "renew": lambda store, run, lease: leases.renew(store, lease),
}


@pytest.mark.parametrize("write", WRITES)
def test_after_a_takeover_the_old_holder_cannot(store: Store, write: str) -> None:
    run, lease = planned(store)
    attempts.begin(store, run, lease, "a1", None)
    before = _everything(store, run)
    take_over(store, lease)
    with pytest.raises(LeaseLost, match="took over"):
        WRITES[write](store, run, lease)
    assert _everything(store, run) == before


@pytest.mark.parametrize("write", WRITES)
def test_after_giving_it_free_the_holder_cannot(store: Store, write: str) -> None:
    run, lease = planned(store)
    attempts.begin(store, run, lease, "a1", None)
    leases.release(store, lease)
    with pytest.raises(LeaseLost, match="given free"):
        WRITES[write](store, run, lease)


def test_a_lease_that_expired_still_writes_while_nobody_took_over(store: Store) -> None:
    run = a_run()
    lease = take(store, ttl_seconds=0)
    assert runs.insert_run(store, run, lease).run_id == run.run_id


def test_a_lease_of_another_window_is_no_right_to_write(store: Store) -> None:
    run, _ = planned(store)
    with pytest.raises(ValueError, match="does not cover"):
        runs.advance(store, run, Point.STAGED, take(store, day(1)))


# Attempts


def test_attempts_are_numbered_and_the_run_knows_the_newest(store: Store) -> None:
    run, lease = planned(store)
    assert [attempts.begin(store, run, lease, name, None) for name in ("a1", "a2")] == [1, 2]
    found = runs.get(store, run.run_id)
    assert found is not None
    assert found.attempt == 2


def test_beginning_an_attempt_twice_gives_the_same_number(store: Store) -> None:
    run, lease = planned(store)
    assert [attempts.begin(store, run, lease, "a1", None) for _ in "12"] == [1, 1]


def test_an_attempt_that_never_ended_is_lost_when_the_next_begins(store: Store) -> None:
    run, lease = planned(store)
    attempts.begin(store, run, lease, "a1", None)
    attempts.begin(store, run, lease, "a2", None)
    assert [attempt.status for attempt in attempts.of_run(store, run.run_id)] == ["lost", "running"]


def test_an_abandoned_runs_attempt_is_lost(store: Store) -> None:
    run, lease = planned(store)
    attempts.begin(store, run, lease, "a1", None)
    runs.close(store, run, RunStatus.ABANDONED, lease)
    assert [attempt.status for attempt in attempts.of_run(store, run.run_id)] == ["lost"]


def test_an_attempt_tells_its_process_and_its_cause(store: Store) -> None:
    run, lease = planned(store)
    attempts.begin(store, run, lease, "a1", "/staging/a1")
    attempts.end(store, run, lease, "a1", AttemptStatus.FAILED, error_code="transient", error_message="a\x00b\udce4")
    (attempt,) = attempts.of_run(store, run.run_id)
    assert (attempt.host, attempt.pid) == (lease.holder.host, lease.holder.pid)
    assert (attempt.status, attempt.error_code, attempt.error_message) == ("failed", "transient", "a\ufffdb?")
    assert attempt.ended_at is not None
    assert attempt.ended_at >= attempt.started_at


def test_an_attempt_keeps_its_first_ending(store: Store) -> None:
    run, lease = planned(store)
    attempts.begin(store, run, lease, "a1", None)
    attempts.end(store, run, lease, "a1", AttemptStatus.REFUSED)
    attempts.end(store, run, lease, "a1", AttemptStatus.SUCCEEDED)
    assert attempts.of_run(store, run.run_id)[0].status is AttemptStatus.REFUSED


def test_the_staging_of_a_running_attempt_is_no_leftover(store: Store) -> None:
    run, lease = planned(store)
    attempts.begin(store, run, lease, "a1", "/staging/a1")
    assert attempts.leftovers(store, run.pipeline, run.task) == []


def test_the_staging_of_an_attempt_that_was_taken_over_is_a_leftover(store: Store) -> None:
    run, lease = planned(store)
    attempts.begin(store, run, lease, "a1", "/staging/a1")
    take_over(store, lease)
    assert [a.attempt_id for a in attempts.leftovers(store, run.pipeline, run.task, run.window)] == ["a1"]


def test_the_staging_of_a_dead_process_is_a_leftover(store: Store) -> None:
    run = a_run()
    dead = replace(Holder.current(), started=1)
    lease = leases.acquire(store, TARGET, run.window.key, dead, 60)
    runs.insert_run(store, run, lease)
    attempts.begin(store, run, lease, "a1", "/staging/a1")
    assert [a.attempt_id for a in attempts.leftovers(store, run.pipeline, run.task)] == ["a1"]


def test_leftovers_of_one_window_leave_out_the_others(store: Store) -> None:
    run, lease = planned(store)
    attempts.begin(store, run, lease, "a1", "/staging/a1")
    attempts.end(store, run, lease, "a1", AttemptStatus.FAILED)
    assert attempts.leftovers(store, run.pipeline, run.task, day(1)) == []


def test_staging_that_was_dropped_is_no_leftover(store: Store) -> None:
    run, lease = planned(store)
    attempts.begin(store, run, lease, "a1", "/staging/a1")
    attempts.end(store, run, lease, "a1", AttemptStatus.FAILED)
    for _ in "12":
        attempts.mark_dropped(store, "a1")
    assert attempts.leftovers(store, run.pipeline, run.task) == []


# Checkpoint, receipts, watermarks, contracts


def test_a_checkpoint_stores_all_of_it(store: Store) -> None:
    run, lease = planned(store)
    receipt = a_receipt(run, landed_at=NOON, seen_version=2)
    done = checkpoint(store, run, receipt, lease, watermark=run.window.end, contract=CONTRACT)
    assert runs.get(store, run.run_id) == done == replace(run, point=Point.CHECKPOINTED, contract="c1")
    assert receipts.latest(store, run.pipeline, run.task, run.window) == receipt
    assert watermarks.current(store, run.pipeline, run.task) == run.window.end
    assert contracts.current(store, run.pipeline, run.task) == CONTRACT


def test_a_second_checkpoint_changes_nothing(store: Store) -> None:
    run, lease = planned(store)
    checkpoint(store, run, a_receipt(run), lease, watermark=NOON, contract=CONTRACT)
    before = _everything(store, run)
    checkpoint(store, run, a_receipt(run, rows_read=0), lease, watermark=NOON, contract=CONTRACT)
    assert _everything(store, run) == before


def test_a_checkpoint_after_the_run_was_closed_changes_nothing(store: Store) -> None:
    run, lease = planned(store)
    runs.close(store, checkpoint(store, run, a_receipt(run), lease), RunStatus.SUCCEEDED, lease)
    before = _everything(store, run)
    checkpoint(store, run, a_receipt(run), lease, watermark=NOON)
    assert _everything(store, run) == before


def test_a_refused_run_gets_no_receipt(store: Store) -> None:
    run, lease = planned(store)
    runs.close(store, run, RunStatus.REFUSED, lease)
    with pytest.raises(SamewiseError, match="has no checkpoint"):
        checkpoint(store, run, a_receipt(run), lease)


def test_a_checkpoint_whose_last_part_fails_leaves_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run, lease = planned(store)
    before = _everything(store, run)
    monkeypatch.setattr(contracts, "put", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        checkpoint(store, run, a_receipt(run), lease, watermark=NOON, contract=CONTRACT)
    assert _everything(store, run) == before


def _land(store: Store, run: RunRecord, **changes: object) -> None:
    lease = leases.acquire(store, run.target, run.window.key, Holder.current(), 60)
    stored = runs.insert_run(store, run, lease)
    checkpoint(store, stored, a_receipt(stored, **changes), lease)
    leases.release(store, lease)


def test_earlier_receipts_are_those_of_the_windows_before_newest_first(store: Store) -> None:
    for number in (1, 2, 3, 4, 6):
        for generation in (1, 2):
            _land(store, a_run(day(number), generation))
    _land(store, a_run(day(4), 3), measures=None)
    _land(store, a_run(day(1), 1, task="other"))
    _land(store, a_run(day(3), 3, target="elsewhere"))
    run = a_run(day(5), 1)
    found = [(receipt.window, receipt.generation) for receipt in receipts.earlier(store, run, limit=7)]
    assert found == [(day(3), 2), (day(2), 2), (day(1), 2)]
    assert len(receipts.earlier(store, run, limit=2)) == 2


def test_a_task_without_windows_is_compared_with_its_earlier_generations(store: Store) -> None:
    for generation in (1, 2, 3, 4):
        _land(store, a_run(FULL, generation))
    found = receipts.earlier(store, a_run(FULL, 4), limit=2)
    assert [receipt.generation for receipt in found] == [3, 2]


def test_the_newest_generation_of_each_window_is_its_receipt(store: Store) -> None:
    for window in (day(1), day(2)):
        lease = take(store, window)
        for generation in (1, 2):
            run = runs.insert_run(store, a_run(window, generation), lease)
            checkpoint(store, run, a_receipt(run), lease)
    found = receipts.latest_all(store, "orders_daily", "load")
    assert [(key, receipt.generation) for key, receipt in found.items()] == [(day(1).key, 2), (day(2).key, 2)]


def test_near_some_windows_are_those_between_them_and_the_nearest_on_either_side(store: Store) -> None:
    for number in (1, 2, 5, 8, 9):
        for generation in (1, 2):
            _land(store, a_run(day(number), generation))
    _land(store, a_run(day(3), 1, task="other"))
    found = receipts.near(store, "orders_daily", "load", [day(6), day(4)])
    assert {(receipt.window, receipt.generation) for receipt in found} == {(day(2), 2), (day(5), 2), (day(8), 2)}
    first = receipts.near(store, "orders_daily", "load", [day(1)])
    assert {receipt.window for receipt in first} == {day(1), day(2)}


def test_a_receipt_that_was_lost_with_the_log_has_no_measures(store: Store) -> None:
    run, lease = planned(store)
    checkpoint(store, run, a_receipt(run, measures=None), lease)
    found = receipts.latest(store, run.pipeline, run.task, run.window)
    assert found is not None
    assert found.measures is None


def test_done_windows_are_those_that_landed_in_this_target(store: Store) -> None:
    run, lease = planned(store)
    checkpoint(store, run, a_receipt(run), lease)
    planned(store, window=day(1))
    assert receipts.done_windows(store, run.pipeline, run.task, TARGET) == {run.window}
    assert receipts.done_windows(store, run.pipeline, run.task, "delta:/elsewhere") == set()


def test_a_watermark_never_moves_backwards(store: Store) -> None:
    for window, value in ((day(2), NOON), (day(1), NOON - timedelta(microseconds=1))):
        run, lease = planned(store, window=window)
        checkpoint(store, run, a_receipt(run), lease, watermark=value)
    assert watermarks.current(store, "orders_daily", "load") == NOON
    assert [move.value for move in watermarks.moves(store, "orders_daily", "load")] == [NOON]


def test_a_watermark_remembers_how_it_moved(store: Store) -> None:
    made = []
    for number in (1, 2):
        run, lease = planned(store, window=day(number))
        checkpoint(store, run, a_receipt(run), lease, watermark=run.window.end)
        made.append((run.window.end, run.run_id))
    moves = watermarks.moves(store, "orders_daily", "load")
    assert [(move.value, move.run_id) for move in moves] == made[::-1]


def test_a_watermark_can_be_counted_from_all_windows_that_landed(store: Store) -> None:
    for number in (2, 1):
        run, lease = planned(store, window=day(number))
        checkpoint(store, run, a_receipt(run), lease, watermark=lambda done: max(w.end for w in done))
    assert watermarks.current(store, "orders_daily", "load") == day(2).end


def test_of_two_windows_that_end_together_the_second_sees_the_first(store: Store) -> None:
    # The task's row is there already: making it would line them up by itself.
    contracts.accept(store, "orders_daily", "load", *CONTRACT, reason="by hand")
    (first, first_lease), (second, second_lease) = (planned(store, window=day(n)) for n in (1, 2))

    def contiguous(done: AbstractSet[Window]) -> datetime | None:
        return max(w.end for w in done) if day(1) in done else None

    def while_the_other_ends(done: AbstractSet[Window]) -> datetime | None:
        other.start()
        other.join(0.3)
        return contiguous(done)

    def end_second() -> None:
        checkpoint(store, second, a_receipt(second), second_lease, watermark=contiguous)

    other = threading.Thread(target=end_second)
    checkpoint(store, first, a_receipt(first), first_lease, watermark=while_the_other_ends)
    other.join()
    assert watermarks.current(store, "orders_daily", "load") == day(2).end


def test_a_contract_can_change_and_change_back(store: Store) -> None:
    other = Contract("c2", Schema.of([("order_id", "string")]))
    for contract in (CONTRACT, other, CONTRACT):
        assert contracts.accept(store, "p", "t", *contract, reason="by hand")
    assert contracts.current(store, "p", "t") == CONTRACT


def test_accepting_the_same_contract_twice_changes_nothing(store: Store) -> None:
    assert contracts.accept(store, "p", "t", *CONTRACT, reason="by hand")
    assert not contracts.accept(store, "p", "t", *CONTRACT, reason="by hand")


def test_a_contract_that_was_replaced_is_still_known(store: Store) -> None:
    other = Contract("c2", Schema.of([("order_id", "bigint")]))
    for contract in (CONTRACT, other):
        contracts.accept(store, "p", "t", *contract, reason="by hand")
    assert [contracts.is_stored(store, "p", "t", name) for name in ("c1", "c2", "c3")] == [True, True, False]


def with_column(name: str, schema: Schema = SCHEMA) -> Contract:
    wider = Schema((*schema.columns, Column(name, "string", optional=True)))
    return Contract(contract_id(wider), wider)


def test_two_runs_that_each_let_a_column_in_leave_both(store: Store) -> None:
    contracts.accept(store, "orders_daily", "load", *CONTRACT, reason="by hand")
    for number, name in ((1, "note"), (2, "memo")):
        run, lease = planned(store, window=day(number))
        checkpoint(store, run, a_receipt(run), lease, contract=with_column(name))
    found = contracts.current(store, "orders_daily", "load")
    assert found is not None
    assert found.schema.names == ("order_id", "amount", "memo", "note")
    assert found.contract_id == contract_id(found.schema)


def test_a_person_can_accept_a_schema_without_a_column_that_was_let_in(store: Store) -> None:
    contracts.accept(store, "p", "t", *with_column("note"), reason="by hand")
    assert contracts.accept(store, "p", "t", *CONTRACT, reason="by hand")
    assert contracts.current(store, "p", "t") == CONTRACT


def test_a_task_that_never_ran_has_neither_watermark_nor_contract(store: Store) -> None:
    assert watermarks.current(store, "p", "t") is None
    assert contracts.current(store, "p", "t") is None


# Restoring


def test_a_restored_run_has_its_generation_and_its_receipt(store: Store) -> None:
    run = a_run(generation=7, status=RunStatus.SUCCEEDED, point=Point.CHECKPOINTED)
    assert restore.restore_run(store, run, a_receipt(run, landed_at=NOON))
    assert runs.latest_generation(store, run.pipeline, run.task, run.window) == 7
    found = receipts.latest(store, run.pipeline, run.task, run.window)
    assert found == a_receipt(run, landed_at=NOON, recovered=True)


def test_restoring_twice_changes_nothing(store: Store) -> None:
    run = a_run(status=RunStatus.SUCCEEDED)
    restore.restore_run(store, run, a_receipt(run))
    before = _everything(store, run)
    assert not restore.restore_run(store, run, a_receipt(run, rows_read=0))
    assert _everything(store, run) == before


def test_restoring_does_not_touch_a_run_that_is_known(store: Store) -> None:
    run, _ = planned(store)
    before = _everything(store, run)
    assert not restore.restore_run(store, replace(run, status=RunStatus.SUCCEEDED), a_receipt(run))
    assert _everything(store, run) == before


def test_a_restored_watermark_only_moves_forward(store: Store) -> None:
    assert restore.restore_watermark(store, "p", "t", NOON, "recover")
    assert not restore.restore_watermark(store, "p", "t", NOON, "recover")
    assert not restore.restore_watermark(store, "p", "t", NOON - timedelta(days=1), "recover")
    assert watermarks.current(store, "p", "t") == NOON


def _everything(store: Store, run: RunRecord) -> list[object]:
    return [
        runs.history(store, run.pipeline),
        attempts.of_run(store, run.run_id),
        receipts.latest_all(store, run.pipeline, run.task),
        watermarks.moves(store, run.pipeline, run.task),
        contracts.current(store, run.pipeline, run.task),
    ]


# A watermark that a person moves, and the ledger of files


def test_a_person_may_move_a_watermark_back_and_the_next_run_forward_again(store: Store) -> None:
    with store.transaction() as connection:
        watermarks.move(connection, "p", "load", NOON, run_id="r1", reason="landed")
        back = NOON - timedelta(days=9)
        assert watermarks.move(connection, "p", "load", back, run_id=None, reason="late rows", backwards=True)
        assert not watermarks.move(connection, "p", "load", back, run_id=None, reason="again", backwards=True)
    assert watermarks.current(store, "p", "load") == NOON - timedelta(days=9)
    with store.transaction() as connection:
        assert watermarks.move(connection, "p", "load", NOON, run_id="r2", reason="landed")
    assert [move.reason for move in watermarks.moves(store, "p", "load")] == ["landed", "late rows", "landed"]


def test_a_checkpoint_writes_down_the_files_that_were_loaded(store: Store) -> None:
    run, lease = planned(store)
    first = {"landing/größe.csv": Loaded(2**40, "v1"), "landing/b.csv": Loaded(1, "v1")}
    checkpoint(store, run, a_receipt(run), lease, loaded=first)
    assert files.loaded(store, run.pipeline, run.task) == first
    assert files.loaded(store, run.pipeline, "another") == {}


def test_a_file_that_is_loaded_again_is_known_as_it_is_now(store: Store) -> None:
    with store.transaction() as connection:
        files.put(connection, "p", "load", {"a.csv": Loaded(1, "v1"), "b.csv": Loaded(1, "v1")}, "r1")
        files.put(connection, "p", "load", {"a.csv": Loaded(2, "v2")}, "r2")
        files.put(connection, "p", "other", {"a.csv": Loaded(3, "v3")}, "r3")
    assert files.loaded(store, "p", "load") == {"a.csv": Loaded(2, "v2"), "b.csv": Loaded(1, "v1")}


def test_a_checkpoint_that_fails_leaves_no_file_in_the_ledger(store: Store) -> None:
    run, lease = planned(store)
    take_over(store, lease)
    with pytest.raises(LeaseLost):
        checkpoint(store, run, a_receipt(run), lease, loaded={"a.csv": Loaded(1, "v1")})
    assert files.loaded(store, run.pipeline, run.task) == {}


def test_the_store_knows_when_a_window_changed_and_when_one_was_planned(store: Store) -> None:
    run, lease = planned(store, run_ts=NOON)
    checkpoint(store, run, a_receipt(run, landed_at=NOON), lease)
    runs.close(store, run, RunStatus.SUCCEEDED, lease)
    leases.release(store, lease)
    later, lease = planned(store, generation=2, run_ts=NOON + timedelta(hours=1))
    checkpoint(store, later, a_receipt(later, landed_at=NOON + timedelta(hours=2), wrote=False), lease)
    of = (store, run.pipeline, run.task)
    # The second one found nothing to write: whoever reads the table need not look at it again.
    assert receipts.last_changed(*of, TARGET) == {run.window: NOON}
    assert receipts.last_planned(*of, TARGET) == {run.window: NOON + timedelta(hours=1)}
    assert receipts.last_changed(*of, "another") == {}


# What has been seen of tasks upstream


def test_a_task_remembers_the_newest_landing_that_it_has_seen_of_each_task_upstream(store: Store) -> None:
    assert upstream.seen(store, "orders", "daily") == {}
    upstream.see(store, "orders", "daily", {"orders": NOON, "rates": NOON})
    upstream.see(store, "orders", "daily", {"orders": NOON - timedelta(hours=1), "rates": NOON + timedelta(hours=1)})
    assert upstream.seen(store, "orders", "daily") == {"orders": NOON, "rates": NOON + timedelta(hours=1)}
    assert upstream.seen(store, "orders", "weekly") == {}
