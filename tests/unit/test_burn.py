"""A token is burned also while the commit that it is to keep out is under way."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from samewise.core.errors import Conflict
from samewise.core.records import Point, Stamp
from samewise.core.windows import Window
from samewise.run.job import Job
from samewise.run.planning import make_plan, new_run
from samewise.state import leases, runs
from samewise.state.holders import Holder
from samewise.state.store import Store
from tests.support.light_runner import FIRST_DAY, LightTarget, light_job, run_light


class _Meeting(LightTarget):
    """Refuses the first burns: a commit with the same token is under way, which lands with the last of them."""

    def __init__(self, target: LightTarget, conflicts: int, lands: Stamp | None) -> None:
        super().__init__(target._folder, target._owner)
        self.conflicts = conflicts
        self._lands = lands

    def burn(self, stamp: Stamp) -> None:
        if self.conflicts == 0:
            return super().burn(stamp)
        self.conflicts -= 1
        if self.conflicts == 0 and self._lands is not None:
            self.publish(None, None, self._lands)  # type: ignore[arg-type]
        raise Conflict("another commit with this token is under way")


def _left_committing(job: Job, window: Window, store: Store) -> Stamp:
    """A run of the window whose process died just before, or in the middle of, its commit; and its commit's stamp."""
    plan = make_plan(job, window, store, force=False)
    lease = leases.acquire(store, job.target.key, window.key, Holder.current(), 60)
    run = runs.insert_run(store, new_run(plan, forced=False), lease)
    run = runs.advance(store, run, Point.COMMITTING, lease)
    leases.release(store, lease)
    return Stamp(
        store_id=store.store_id,
        run_id=run.run_id,
        attempt_id="killed",
        pipeline=run.pipeline,
        task=run.task,
        window=window,
        generation=run.generation,
        definition=run.definition,
        fingerprint=run.fingerprint,
        contract=None,
        run_ts=run.run_ts,
    )


@pytest.mark.parametrize("lands", [False, True], ids=["which never lands", "which lands meanwhile"])
def test_a_run_waits_for_the_commit_of_a_killed_one_instead_of_giving_up(tmp_path: Path, lands: bool) -> None:
    (tmp_path / "commits").mkdir()
    with Store.open(f"sqlite:///{tmp_path}/state.db") as store:
        job = light_job(store, tmp_path / "commits", 1)
        midnight = datetime.combine(FIRST_DAY, datetime.min.time(), UTC)
        window = Window(midnight, midnight + timedelta(days=1))
        stamp = _left_committing(job, window, store)
        assert isinstance(job.target, LightTarget)
        target = _Meeting(job.target, 3, stamp if lands else None)
        # Under another definition the left run is not gone on with: it must be kept from landing.
        changed = replace(job, definition="changed", target=target)  # type: ignore[arg-type]

        result = run_light(changed, store)

        assert [each.error for each in result.windows] == [None]
        assert [each.status.value for each in result.windows] == ["succeeded"]
        assert target.conflicts == 0
        kinds = [(each.kind, each.definition) for each in target.stamps()]
        assert kinds == [("data" if lands else "burn", "d"), ("data", "changed")]
