"""Leases and heartbeats, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from samewise.core.errors import Busy, LeaseLost, Transient
from samewise.state import fence, leases
from samewise.state.heartbeat import Heartbeat
from samewise.state.holders import Holder
from samewise.state.leases import Lease
from samewise.state.store import Store
from tests.support.state import TARGET, a_run, day, outputs, start_python, take, take_over

ELSEWHERE = replace(Holder.current(), host="elsewhere", machine="another boot", pid=4711)

HOLD = """
import sys, time
from samewise.state import leases
from samewise.state.holders import Holder
from samewise.state.store import Store
leases.acquire(Store.open(sys.argv[1]), sys.argv[2], sys.argv[3], Holder.current(), 600)
print("held", flush=True)
time.sleep(600)
"""


def test_a_second_runner_is_told_who_holds_the_window(store: Store) -> None:
    leases.acquire(store, TARGET, day(25).key, ELSEWHERE, 60)
    with pytest.raises(Busy, match="process 4711 on elsewhere, since 20") as caught:
        take(store)
    assert "--wait" in (caught.value.next_step or "")


def test_two_threads_of_one_process_are_two_runners(store: Store) -> None:
    take(store)
    with pytest.raises(Busy):
        take(store)


def test_different_windows_are_held_side_by_side(store: Store) -> None:
    assert (take(store, day(1)).epoch, take(store, day(2)).epoch) == (1, 1)


def test_a_window_that_was_given_free_is_taken_with_the_next_epoch(store: Store) -> None:
    first = take(store)
    leases.release(store, first)
    assert take(store).epoch == first.epoch + 1


def test_a_lease_ends_by_the_stores_clock(store: Store) -> None:
    lease = take(store, ttl_seconds=60)
    assert timedelta(0) <= store.now() - lease.acquired_at < timedelta(seconds=5)
    assert lease.expires_at - lease.acquired_at == timedelta(seconds=60)


def test_a_lease_that_expired_is_taken_over(store: Store) -> None:
    old = leases.acquire(store, TARGET, day(25).key, ELSEWHERE, 0.2)
    time.sleep(0.3)
    assert take(store).epoch == old.epoch + 1


def test_a_renewed_lease_is_not_taken_over(store: Store) -> None:
    lease = leases.acquire(store, TARGET, day(25).key, ELSEWHERE, 0.6)
    time.sleep(0.4)
    leases.renew(store, lease)
    time.sleep(0.4)
    with pytest.raises(Busy):
        take(store)


def test_releasing_after_a_takeover_leaves_the_new_holder_alone(store: Store) -> None:
    old = take(store)
    new = take_over(store, old)
    leases.release(store, old)
    assert leases.renew(store, new).epoch == new.epoch


def test_a_killed_holder_is_taken_over_at_once(store: Store, state_url: str) -> None:
    holder = start_python(HOLD, state_url, TARGET, day(25).key)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(Busy):
        take(store)
    # Not waited for yet: for the system it is still there, as a zombie.
    holder.kill()
    lease = _until_free(lambda: take(store))
    holder.communicate()
    assert lease.epoch == 2


def test_a_holder_that_was_waited_for_is_taken_over_at_once(store: Store, state_url: str) -> None:
    holder = start_python(HOLD, state_url, TARGET, day(25).key)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    holder.kill()
    holder.communicate()
    assert take(store).epoch == 2


def test_a_holder_whose_process_number_was_reused_is_taken_over_at_once(store: Store) -> None:
    earlier = replace(Holder.current(), started=1)
    leases.acquire(store, TARGET, day(25).key, earlier, 600)
    assert take(store).epoch == 2


def test_a_holder_on_another_machine_is_not_taken_over_before_it_expires(store: Store) -> None:
    leases.acquire(store, TARGET, day(25).key, replace(ELSEWHERE, pid=2**22 + 1), 600)
    with pytest.raises(Busy):
        take(store)


def test_a_takeover_waits_for_a_write_that_is_under_way(store: Store) -> None:
    lease = take(store, ttl_seconds=0)
    taker = threading.Thread(target=take, args=(store,))
    with fence.fenced(store, lease, a_run()):
        taker.start()
        taker.join(0.3)
        assert taker.is_alive()
    taker.join()
    with pytest.raises(LeaseLost):
        leases.renew(store, lease)


def test_a_window_has_an_owner_only_while_it_is_held(store: Store) -> None:
    assert leases.owner(store, TARGET, day(25).key) is None
    lease = take(store)
    assert leases.owner(store, TARGET, day(25).key) == Holder.current()
    leases.release(store, lease)
    assert leases.owner(store, TARGET, day(25).key) is None


def test_of_many_processes_exactly_one_wins_each_epoch(store: Store, state_url: str, tmp_path: Path) -> None:
    script = """
import os, sys, time
from samewise.core.errors import Busy
from samewise.state import leases
from samewise.state.holders import Holder
from samewise.state.store import Store
url, target, window, marker, rounds = sys.argv[1:]
store, won = Store.open(url), 0
while won < int(rounds):
    try:
        lease = leases.acquire(store, target, window, Holder.current(), 60)
    except Busy:
        time.sleep(0.002)
        continue
    # Fails if another process holds the lease at the same time.
    os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    os.unlink(marker)
    leases.release(store, lease)
    won += 1
    print(lease.epoch)
"""
    processes, rounds = 8, 5
    arguments = (state_url, TARGET, day(25).key, str(tmp_path / "held"), str(rounds))
    printed = outputs([start_python(script, *arguments) for _ in range(processes)])
    epochs = sorted(int(line) for output in printed for line in output.split())
    assert epochs == list(range(1, processes * rounds + 1))


def test_a_heartbeat_keeps_the_lease(store: Store) -> None:
    lease = leases.acquire(store, TARGET, day(25).key, ELSEWHERE, 0.9)
    with Heartbeat(store, lease) as heartbeat:
        time.sleep(1.5)
        with pytest.raises(Busy):
            take(store)
        heartbeat.check()
    assert not heartbeat.lost


def test_a_heartbeat_notices_a_takeover(store: Store) -> None:
    lease = take(store, ttl_seconds=0.3)
    with Heartbeat(store, lease) as heartbeat:
        take_over(store, lease)
        _until(lambda: heartbeat.lost)
        with pytest.raises(LeaseLost, match="took over"):
            heartbeat.check()


def test_a_heartbeat_tries_again_after_an_error_that_passes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    renew, calls = leases.renew, []

    def fail_twice(store: Store, lease: Lease) -> Lease:
        calls.append(lease)
        if len(calls) <= 2:
            raise Transient("away")
        return renew(store, lease)

    monkeypatch.setattr(leases, "renew", fail_twice)
    with Heartbeat(store, take(store, ttl_seconds=1.5)) as heartbeat:
        _until(lambda: len(calls) > 3)
    assert not heartbeat.lost


def test_a_heartbeat_gives_up_when_the_lease_has_run_out(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(store: Store, lease: Lease) -> Lease:
        raise Transient("away")

    lease = take(store, ttl_seconds=0.3)
    monkeypatch.setattr(leases, "renew", fail)
    with Heartbeat(store, lease) as heartbeat:
        _until(lambda: heartbeat.lost)
        with pytest.raises(LeaseLost, match="could not be renewed: away"):
            heartbeat.check()


def test_the_heartbeats_thread_ends_with_its_block(store: Store) -> None:
    with Heartbeat(store, take(store)):
        assert "samewise-heartbeat" in _threads()
    assert "samewise-heartbeat" not in _threads()


def _threads() -> set[str]:
    return {thread.name for thread in threading.enumerate()}


def _until(reached: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + 10
    while not reached():
        assert time.monotonic() < give_up_at
        time.sleep(0.01)


def _until_free(acquire: Callable[[], Lease]) -> Lease:
    # A signal takes a moment to arrive; far less than the ten minutes of the lease.
    give_up_at = time.monotonic() + 5
    while True:
        try:
            return acquire()
        except Busy:
            assert time.monotonic() < give_up_at
            time.sleep(0.01)
