"""A scratch store that knows what the real one knows, whichever database that is; and leases of a run that died."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from samewise.core.records import RunStatus
from samewise.core.schema import Schema
from samewise.core.windows import FULL, Window
from samewise.plan.new_files import Loaded
from samewise.state import contracts, epochs, files, fork, leases, receipts, runs, watermarks
from samewise.state.checkpoint import checkpoint
from samewise.state.contracts import Contract
from samewise.state.holders import Holder
from samewise.state.store import Store
from samewise.state.tables import meta
from tests.support.state import TARGET, a_receipt, a_run, day, take

FORK = "delta:/scratch/orders"
CONTRACT = Contract("c1", Schema.of([("order_id", "bigint")]))


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path}/scratch.db") as opened:
        yield opened


def landed(store: Store, window: Window, version: int, *, generation: int = 1, table_id: str = "t1") -> None:
    lease = take(store, window)
    run = runs.insert_run(store, a_run(window, generation), lease)
    receipt = replace(a_receipt(run), target_version=version, table_id=table_id)
    run = checkpoint(store, run, receipt, lease, watermark=window.end, contract=CONTRACT)
    runs.close(store, run, RunStatus.SUCCEEDED, lease)
    leases.release(store, lease)


def test_what_holds_for_a_task_and_the_receipts_of_other_windows_are_copied_and_unfinished_runs_are_not(
    store: Store, scratch: Store
) -> None:
    landed(store, day(24), 1)
    landed(store, day(25), 2)
    unfinished = runs.insert_run(store, a_run(day(26)), take(store, day(26)))
    fork.copy_knowledge(store, scratch, "orders_daily", {TARGET: FORK}, [day(25).key])
    assert scratch.store_id != store.store_id
    assert watermarks.current(scratch, "orders_daily", "load") == day(25).end
    known = contracts.current(scratch, "orders_daily", "load")
    assert known is not None
    assert known.contract_id == "c1"
    other = receipts.latest(scratch, "orders_daily", "load", day(24))
    assert other is not None
    assert other.target == FORK
    assert receipts.latest(scratch, "orders_daily", "load", day(25)) is None
    assert runs.get(scratch, unfinished.run_id) is None
    assert runs.get(store, unfinished.run_id) == unfinished


def test_a_copy_of_a_fork_knows_its_own_places(scratch: Store) -> None:
    lease = take(scratch, day(25))
    run = runs.insert_run(scratch, a_run(day(25)), lease)
    fork.move(scratch, {TARGET: FORK}, ("/old/staging", "/new/staging"))
    moved = runs.get(scratch, run.run_id)
    assert moved is not None
    assert moved.target == FORK
    assert leases.owner(scratch, FORK, day(25).key) == Holder.current()


def test_windows_landed_when_the_first_of_them_did_in_the_table_that_is_there_now(store: Store) -> None:
    landed(store, day(23), 1, table_id="dropped since")
    landed(store, day(24), 4)
    landed(store, day(25), 7)
    landed(store, day(24), 9, generation=2)

    def landed_at(*windows: Window) -> int | None:
        return fork.landed_at(store, "orders_daily", TARGET, "t1", [window.key for window in windows])

    assert (landed_at(day(24), day(25)), landed_at(day(25)), landed_at(day(23))) == (4, 7, None)


def test_the_last_load_that_wrote_and_all_later_ones_are_taken_back_with_their_files(
    store: Store, scratch: Store
) -> None:
    for generation, wrote in ((1, True), (2, True), (3, False)):
        lease = take(store, FULL)
        run = runs.insert_run(store, a_run(FULL, generation), lease)
        receipt = replace(a_receipt(run), target_version=generation + 4, table_id="t1", wrote=wrote)
        loaded = {f"{generation}.csv": Loaded(1, "v1")}
        run = checkpoint(store, run, receipt, lease, watermark=day(generation).end, loaded=loaded)
        runs.close(store, run, RunStatus.SUCCEEDED, lease)
        leases.release(store, lease)
    fork.copy_knowledge(store, scratch, "orders_daily", {TARGET: FORK}, [])
    load = fork.last_load(store, "orders_daily", "load", TARGET, "t1")
    assert load is not None
    assert (load.generation, load.version) == (2, 6)
    assert fork.last_load(store, "orders_daily", "load", TARGET, "dropped since") is None
    fork.take_back(store, scratch, "orders_daily", "load", load, day(1).end)
    assert watermarks.current(scratch, "orders_daily", "load") == day(1).end
    assert files.loaded(scratch, "orders_daily", "load").keys() == {"1.csv"}
    assert watermarks.current(store, "orders_daily", "load") == day(3).end, "the real one is only read"
    assert len(files.loaded(store, "orders_daily", "load")) == 3
    before = epochs.current(scratch, "orders_daily", "load")
    fork.raise_epochs(scratch)
    assert epochs.current(scratch, "orders_daily", "load").epoch == before.epoch + 1


def test_a_store_of_this_version_is_current_and_an_older_one_is_not(store: Store, state_url: str) -> None:
    assert fork.is_current(state_url)
    with store.transaction() as connection:
        connection.execute(update(meta).values(level=1))
    assert not fork.is_current(state_url)


def test_a_lease_whose_holder_died_in_this_process_is_taken_over_at_once(store: Store) -> None:
    lease = take(store)
    assert leases.orphan(store) == 1
    assert leases.owner(store, TARGET, day(25).key) is None
    assert take(store).epoch == lease.epoch + 1
