"""What is to be done about some windows: looked at without moving a row, before the first of them is loaded."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from samewise.core.errors import Refused, SamewiseError
from samewise.core.records import RunStatus
from samewise.core.schema import Schema
from samewise.core.windows import Window
from samewise.plan.drift import contract_id
from samewise.plan.parts import Piece
from samewise.plan.verdict import Verdict
from samewise.run.check import check_source
from samewise.run.group_rows import group_source
from samewise.run.job import Job
from samewise.run.planning import Past, Plan, landed_since, make_plan
from samewise.run.settle import group_target
from samewise.state import contracts, receipts, runs
from samewise.state.backfills import Outcome
from samewise.state.store import Store

_RECOVERED = "recovered"


@dataclass(frozen=True, slots=True)
class Surveyed:
    """One window, and what a run of it would meet."""

    window: Window
    done: Outcome | None = None
    """Set where nothing is to be done."""
    plan: Plan | None = None
    verdict: Verdict | None = None
    error: SamewiseError | None = None
    """Why it cannot be loaded now; by itself it says so in full."""
    alone: bool = False

    def piece(self, rows: int | None) -> Piece:
        kind = None if self.verdict is None else contract_id(self.verdict.contract)
        size = None if self.plan is None else self.plan.inputs.source.size_bytes
        return Piece(self.window, self.alone or self.error is not None, size, rows, kind)


def may_group(job: Job) -> bool:
    """False for a task whose windows must be loaded one by one.

    By key, what a window does depends on those before it; so does `expect: change`. Rows that are set aside are
    set aside by window. A database would have to keep a snapshot open for each window.
    """
    by_window = job.grid is not None and not job.replaces_all and job.keyed is None and job.incremental is None
    plain = not job.rules.changes and not job.set_aside_without and not job.sets_aside
    return by_window and plain and group_target(job.target) is not None and group_source(job.source) is not None


def survey(
    job: Job,
    windows: Sequence[Window],
    store: Store,
    *,
    force: bool,
    since: datetime,
    again: Collection[Window] = (),
    check_alone: bool = False,
) -> list[Surveyed]:
    """Look at the windows in their order: what would be read, under which schema, and what must go alone.

    `since`: when the backfill was planned. What has landed later than that stands, except in the windows to be
    looked at `again`. Each window's schema is judged as if those before it had been loaded; that of one that goes
    alone is left to its own run, unless `check_alone`.
    """
    known = contracts.current(store, job.pipeline, job.task)
    schema = None if known is None else known.schema
    newest = runs.newest(store, job.pipeline, job.task, windows)
    head = job.target.head()
    adopted = head is not None and head.adopted
    grouped = may_group(job)
    # One question for all windows, and one clock: what lands from now on, none of the plans may have seen.
    now = store.now()
    landed = receipts.newest(store, job.pipeline, job.task, windows)
    found: list[Surveyed] = []
    for window in windows:
        run = newest.get(window)
        # A single run has to be finished first.
        unfinished = run is not None and run.status is RunStatus.OPEN and run.group is None
        if unfinished and not check_alone:
            found.append(Surveyed(window, alone=True))
            continue
        receipt = landed.get(window)
        if not unfinished and landed_since(receipt, since) and window not in again:
            found.append(Surveyed(window, done=Outcome.NEWER))
            continue
        # A run that this store does not know can be held back by the window's own token only.
        unknown_past = adopted and (run is None or run.source.kind == _RECOVERED)
        past = Past(now, receipt, 0 if run is None else run.generation)
        alone = unfinished or unknown_past or not grouped
        one, schema = _look(
            job,
            past,
            window,
            store,
            schema,
            force=force or unfinished,
            alone=alone,
            check=check_alone or not alone,
        )
        found.append(one)
    return found


def _look(
    job: Job, past: Past, window: Window, store: Store, schema: Schema | None, *, force: bool, alone: bool, check: bool
) -> tuple[Surveyed, Schema | None]:
    try:
        plan = make_plan(job, window, store, force=force, past=past)
        if plan.reason is None:
            return Surveyed(window, done=Outcome.UNCHANGED), schema
        if not check:
            return Surveyed(window, plan=plan, alone=True), schema
        verdict = check_source(job, window, schema, job.source.shapes(plan.inputs.source))
    except Refused as error:
        return Surveyed(window, error=error, alone=True), schema
    except SamewiseError as error:
        if error.code == "pins_gone":
            return Surveyed(window, error=error, alone=True), schema
        raise
    return Surveyed(window, plan=plan, verdict=verdict, alone=alone), verdict.contract
