"""Neighbouring windows of one task, loaded together: one read, one commit, a receipt for each."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from samewise.core import failpoints
from samewise.core.errors import Busy, Conflict, LeaseLost, MayHaveLanded, Refused, SamewiseError
from samewise.core.failpoints import Failpoint, Killed
from samewise.core.groups import Group, span_of
from samewise.core.ids import group_app_id, new_attempt_id, new_run_id
from samewise.core.measures import Measures
from samewise.core.ports import Write
from samewise.core.records import Answer, Point, RunRecord, RunStatus
from samewise.core.sql import AT
from samewise.core.windows import Window
from samewise.plan.drift import contract_id
from samewise.plan.verdict import Verdict
from samewise.run import staging
from samewise.run.events import Listener
from samewise.run.failures import explain
from samewise.run.group_rows import GroupRows, group_rows
from samewise.run.group_verify import Unfit, check_published, verify_group
from samewise.run.job import Job
from samewise.run.planning import Plan, new_run
from samewise.run.results import WindowResult
from samewise.run.rows import check_pins
from samewise.run.settle import group_stamp, record_landed, settle_group, tidy_up
from samewise.run.window import window_landed
from samewise.state import attempts, contracts, groups, leases, receipts, runs
from samewise.state.heartbeat import Heartbeat
from samewise.state.holders import Holder
from samewise.state.leases import Lease
from samewise.state.store import Store
from samewise.storage.frames import schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CONFLICT_TRIES = 12
_POLL_SECONDS = 0.5


class Divide(Exception):
    """The group cannot be published as a whole: what is wrong, and with which of its windows, if that is known."""

    def __init__(self, windows: set[Window], cause: SamewiseError | None = None) -> None:
        super().__init__(str(cause))
        self.windows = windows
        self.cause = cause


class Moved(Exception):
    """Another run came between the plan and the leases: it must be planned again."""


def run_group(
    job: Job,
    plans: Sequence[Plan],
    verdicts: Sequence[Verdict],
    store: Store,
    *,
    forced: bool,
    wait: bool,
    emit: Listener,
) -> list[WindowResult]:
    """Load the windows of these plans, oldest first, in one commit. Afterwards all of them have landed, or none.

    Raises `Divide` where some of them must be left out, `Moved` where the plans are out of date, `Busy` where another
    runner has one of the windows; and `PinsGone` or `Transient` as an attempt does, with nothing left open that could
    still land unseen.
    """
    windows = [plan.window for plan in plans]
    with _holding(job, windows, store, wait=wait) as (held, heartbeat):
        _check_still_planned(job, plans, store, held)
        group = groups.insert(store, _records(job, plans, store, forced=forced), held)
        failpoints.reach(Failpoint.PLANNED)
        attempt = _Attempt(job, group, verdicts, store, held, heartbeat)
        attempt.drive()
        landed = receipts.newest(store, job.pipeline, job.task, windows)
        planned = {run.window: run for run in group}
        return [window_landed(job, landed[p.window], planned[p.window], 1, str(p.reason)) for p in plans]


@contextmanager
def _holding(
    job: Job, windows: Sequence[Window], store: Store, *, wait: bool
) -> Iterator[tuple[Sequence[Lease], Heartbeat]]:
    """Hold the leases of all windows. Raises `Busy` at once, or waits as long as it takes."""
    holder, keys = Holder.current(), [window.key for window in windows]
    while True:
        try:
            held = leases.acquire_all(store, job.target.key, keys, holder, job.lease_seconds)
            break
        except Busy:
            if not wait:
                raise
            time.sleep(_POLL_SECONDS)
    try:
        with Heartbeat(store, *held) as heartbeat:
            yield held, heartbeat
    except Killed:
        raise  # The dead release nothing.
    except BaseException:
        leases.release_all(store, held)
        raise
    leases.release_all(store, held)


def _check_still_planned(job: Job, plans: Sequence[Plan], store: Store, held: Sequence[Lease]) -> None:
    """Raise `Moved` unless every plan is still the next generation of its window. Groups in the way are settled."""
    newest = runs.newest(store, job.pipeline, job.task, [plan.window for plan in plans])
    unfinished = {run.group.group_id for run in newest.values() if run.status is RunStatus.OPEN and run.group}
    for group_id in unfinished:
        settle_group(job, group_id, store, held)
    moved = any(
        (run := newest.get(plan.window)) is not None
        and (run.generation >= plan.generation or run.status is RunStatus.OPEN)
        for plan in plans
    )
    if unfinished or moved:
        raise Moved


def _records(job: Job, plans: Sequence[Plan], store: Store, *, forced: bool) -> list[RunRecord]:
    span = span_of([plan.window for plan in plans])
    known = groups.latest_generation(store, job.pipeline, job.task, span)
    token = job.target.generation(group_app_id(job.pipeline, job.task, span))
    group = Group(new_run_id(), span, 1 + max(known, token))
    # One clock for all: it is one reading, and one commit.
    return [replace(new_run(plan, forced=forced), group=group, run_ts=plans[0].now) for plan in plans]


@dataclass(slots=True)
class _Attempt:
    """The one try at a group. Whatever stops it, the next command plans anew, and burns the token if it must."""

    job: Job
    group: list[RunRecord]
    verdicts: Sequence[Verdict]
    store: Store
    held: Sequence[Lease]
    heartbeat: Heartbeat
    attempt_id: str = field(default_factory=new_attempt_id)
    _staged: staging.Staged | None = field(init=False, default=None)
    _measures: list[Measures] | None = field(init=False, default=None)
    _rows_read: list[int | None] = field(init=False, default_factory=list)

    def drive(self) -> None:
        try:
            self._load()
        except Exception as error:
            try:
                if not isinstance(error, LeaseLost):
                    return self._failed(error)
            except LeaseLost:
                pass
            # Whoever took over has settled the group, or will: nothing of it is ours to write any more.
            staging.drop(self._folder)
            raise _overtaken() from error
        finally:
            for run in self.group:
                self.job.source.release(run.source)

    def _failed(self, error: Exception) -> None:
        """Close the group, unless it has landed or may land yet; raise what the caller is to do about it."""
        known = Refused(str(error)) if isinstance(error, Unfit) else self._explained(error)
        landed = self.group[0].point is Point.COMMITTING and self._answer() is not Answer.ABSENT
        # Other rows than those that were verified are not recorded: they are loaded anew, and replaced.
        if landed and known.code != "published_differs":
            settle_group(self.job, self._id, self.store, self.held)
            if all(run.status is RunStatus.SUCCEEDED for run in groups.members(self.store, self._id)):
                return
            raise _overtaken() from error
        if isinstance(known, MayHaveLanded):
            settle_group(self.job, self._id, self.store, self.held)  # Burned: it cannot land any more.
            raise known from error
        status = RunStatus.REFUSED if isinstance(known, Refused) else RunStatus.FAILED
        told = {"code": known.code, "message": known.message}
        groups.close(self.store, self.group, status, self.held, error=told)
        tidy_up(self.job, self.group, self.store)
        if isinstance(error, Unfit):
            raise Divide({self.group[at].window for at in error.places}) from error
        if known.retryable or known.code == "pins_gone":
            if known is error:
                raise error
            raise known from error
        raise Divide(set(), known) from error

    def _explained(self, error: Exception) -> SamewiseError:
        known = explain(error, self.job.source, self.group[0])
        known.redact(self.job.redact)
        if known.code == "unexpected":
            logging.getLogger("samewise").warning("%s: a group is divided: %s", self.job.name, known.message)
        return known

    def _load(self) -> None:
        job, store = self.job, self.store
        attempts.begin(store, self.group[0], self.held[0], self.attempt_id, self._folder if job.stages else None)
        for run in self.group:
            check_pins(job, run)
        contract = self.verdicts[0].contract
        made = group_rows(job, self.group, [verdict.fits for verdict in self.verdicts], self.attempt_id)
        self._advance(Point.CHECKED, contract_id(contract))
        failpoints.reach(Failpoint.CHECKED)
        rows = made.refusing_strays() if job.window_column is not None and not job.stages else made.rows
        known = contracts.current(store, job.pipeline, job.task)
        if job.stages:
            rows = self._stage(made)
        self._commit(rows.drop(AT), made)
        if not job.stages:
            self._rows_read = made.rows_read(exact=False)
        landed = job.target.landed(self.group[0])
        if landed.answer is not Answer.MINE:
            raise MayHaveLanded("the commit was accepted, and the target does not show it")
        if self._staged is not None and self._staged.was_touched():
            check_published(job, made.spans, landed, self._measures)
        record_landed(
            job,
            self.group,
            landed,
            store,
            self.held,
            measures=self._measures,
            rows_read=self._rows_read,
            known_contract=None if known is None else known.contract_id,
        )
        failpoints.reach(Failpoint.CHECKPOINTED)
        failpoints.reach(Failpoint.DELIVERED)
        groups.close(store, self.group, RunStatus.SUCCEEDED, self.held)
        tidy_up(job, self.group, store)

    def _stage(self, made: GroupRows) -> DataFrame:
        self._staged = staged = staging.stage(made.rows, self._folder)
        self._advance(Point.STAGED)
        failpoints.reach(Failpoint.STAGED)
        rows = staged.read(self.job.spark(), made.rows)
        self._rows_read = made.rows_read(exact=self.job.has_manifest)
        fits = [verdict.fits for verdict in self.verdicts]
        self._measures = verify_group(self.job, self.group, fits, rows, made.spans, self._rows_read)
        if self.job.passes_through:
            self._rows_read = [measures.rows for measures in self._measures]
        self._advance(Point.VERIFIED)
        failpoints.reach(Failpoint.VERIFIED)
        return rows

    def _commit(self, rows: DataFrame, made: GroupRows) -> None:
        for tries in range(1, _CONFLICT_TRIES + 1):
            try:
                self._publish(rows, made)
                break
            except Conflict:
                if tries == _CONFLICT_TRIES:
                    raise
                time.sleep(random.uniform(0.05, 0.3) * tries)
                if self._answer() is not Answer.ABSENT:
                    break
        failpoints.reach(Failpoint.COMMITTED)

    def _publish(self, rows: DataFrame, made: GroupRows) -> None:
        job = self.job
        for run in self.group:
            check_pins(job, run)
        self._check_staged()
        job.target.prepare(schema_of(rows), job.owner, job.partition_by)
        # Written before every try: this is what tells a frozen attempt that it was overtaken.
        self._advance(Point.COMMITTING)
        failpoints.reach(Failpoint.COMMITTING)
        self._check_staged()
        stamp = group_stamp(
            job,
            self.group,
            self.store,
            attempt_id=self.attempt_id,
            contract=self.verdicts[0].contract,
            measures=self._measures,
            rows_read=self._rows_read or None,
        )
        job.target.publish(rows, Write(made.spans, job.partition_by, inside=True), stamp)

    def _answer(self) -> Answer:
        return self.job.target.landed(self.group[0]).answer

    def _check_staged(self) -> None:
        if self._staged is not None:
            self._staged.check()

    def _advance(self, point: Point, contract: str | None = None) -> None:
        self.heartbeat.check()
        self.group = groups.advance(self.store, self.group, point, self.held, contract=contract)

    @property
    def _folder(self) -> str:
        return self.job.staging_folder(self.group[0], self.attempt_id)

    @property
    def _id(self) -> str:
        return self.group[0].commit_id


def _overtaken() -> Busy:
    return Busy(
        "another attempt took over a window of the group",
        kept="what the other one does stands",
        next_step="run the same command again when it is done",
    )
