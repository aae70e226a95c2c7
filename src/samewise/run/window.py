"""One window of one task, from lease to result: whatever was there before, it ends as one clean run would."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import tenacity

from samewise.core import failpoints
from samewise.core.errors import (
    Busy,
    Conflict,
    LeaseLost,
    MayHaveLanded,
    OutOfSpace,
    PinsGone,
    Refused,
    SamewiseError,
    Superseded,
    Transient,
)
from samewise.core.failpoints import Failpoint, Killed
from samewise.core.ids import new_attempt_id
from samewise.core.records import Answer, Landed, Point, Receipt, RunRecord, RunStatus, Stamp
from samewise.core.windows import Window, instant_text
from samewise.plan.protocol import Course, course
from samewise.run import staging
from samewise.run.attempt import Attempt, drop_leftovers
from samewise.run.burn import burn
from samewise.run.events import Listener, Note, WillRetry
from samewise.run.failures import explain
from samewise.run.job import Job
from samewise.run.planning import Plan, can_resume, landed_since, make_plan, new_run
from samewise.run.results import Status, WindowResult, status_of
from samewise.run.settle import settle_group
from samewise.state import attempts, leases, receipts, runs, watermarks
from samewise.state.attempts import AttemptStatus
from samewise.state.backfills import Outcome
from samewise.state.heartbeat import Heartbeat
from samewise.state.holders import Holder
from samewise.state.leases import Lease
from samewise.state.store import Store

_POLL_SECONDS = 0.5
_REPLANS = 5
_BEFORE_COMMITTING = (Point.PLANNED, Point.CHECKED, Point.STAGED, Point.VERIFIED)


@dataclass(frozen=True, slots=True)
class Options:
    """How a window is to be run."""

    force: bool = False
    wait: bool = False
    """Wait for another runner of the same window instead of reporting `busy`."""
    accept_change: bool = False
    """Publish also what `expect: change` would refuse."""
    stale: bool = False
    """Load again what was loaded under an older contract, too."""
    since: datetime | None = None
    """What has landed at this time or later stands, whatever a run would give now."""


def run_window(job: Job, window: Window, store: Store, options: Options, emit: Listener) -> WindowResult:
    """Load one window, or find that nothing would change. Never raises for a failure of the run itself."""
    started_at, began = store.now(), time.monotonic()
    try:
        result = _run(job, window, store, options, emit)
    except SamewiseError as error:
        result = window_failed(job, window, store, error)
    return result.timed(started_at, time.monotonic() - began)


def _run(job: Job, window: Window, store: Store, options: Options, emit: Listener) -> WindowResult:
    if runs.open_run(store, job.pipeline, job.task, window) is None:
        # Without a lease and without Spark: the answer for most windows on most days.
        plan = _plan(job, window, store, options)
        for text in plan.notes:
            emit(Note(text))
        if plan.reason is None:
            return window_unchanged(job, window, store)
    with holding(job, window, store, wait=options.wait) as (lease, heartbeat):
        return _Held(job, window, store, options, emit, lease, heartbeat).run()


def _plan(job: Job, window: Window, store: Store, options: Options) -> Plan:
    return make_plan(job, window, store, force=options.force, stale=options.stale)


@contextmanager
def holding(job: Job, window: Window, store: Store, *, wait: bool) -> Iterator[tuple[Lease, Heartbeat]]:
    """Hold the window's lease. Raises `Busy` at once, or waits as long as it takes."""
    holder = Holder.current()
    while True:
        try:
            lease = leases.acquire(store, job.target.key, window.key, holder, job.lease_seconds)
            break
        except Busy:
            if not wait:
                raise
            time.sleep(_POLL_SECONDS)
    try:
        with Heartbeat(store, lease) as heartbeat:
            yield lease, heartbeat
    except Killed:
        raise  # The dead release nothing: whoever comes next must find the lease as a kill leaves it.
    except BaseException:
        leases.release(store, lease)
        raise
    leases.release(store, lease)


@dataclass(frozen=True, slots=True)
class _Held:
    """A window whose lease is ours."""

    job: Job
    window: Window
    store: Store
    options: Options
    emit: Listener
    lease: Lease
    heartbeat: Heartbeat

    def run(self) -> WindowResult:
        finished: WindowResult | None = None
        for _ in range(_REPLANS):
            record = runs.open_run(self.store, self.job.pipeline, self.job.task, self.window)
            if record is not None and record.group is not None:
                # Planned together with its neighbours. Their commit is asked for, or made impossible, first.
                settle_group(self.job, record.group.group_id, self.store, [self.lease])
                continue
            if record is not None:
                landed = self._ask(record)
                match course(record.point, landed.answer, same_plan=self._can_resume(record, landed)):
                    case Course.RESUME:
                        try:
                            finished = self._attempts(record, "an earlier run was not finished")
                        except PinsGone:
                            continue
                        if record.forced and self.options.force:
                            return finished
                        continue
                    case Course.GIVE_WAY:
                        self._close(record, RunStatus.SUPERSEDED, None)
                        continue
                    case Course.BURN:
                        self._burn(record)
                        continue
                    case Course.REPLAN:
                        self._close(record, RunStatus.ABANDONED, None)
                        continue
            if self._newer_stands():
                return finished or window_unchanged(self.job, self.window, self.store, reason=Outcome.NEWER)
            plan = _plan(self.job, self.window, self.store, self.options)
            if plan.reason is None:
                return finished or window_unchanged(self.job, self.window, self.store)
            record = runs.insert_run(self.store, new_run(plan, forced=self.options.force), self.lease)
            failpoints.reach(Failpoint.PLANNED)
            try:
                return self._attempts(record, plan.reason.value)
            except PinsGone:
                # The source changed under the run: what it had pinned is closed, and pinned anew.
                continue
        raise Transient(
            f"the source changed {_REPLANS} times while it was read",
            next_step="run again when nobody is writing to it",
        )

    def _newer_stands(self) -> bool:
        """Asked under the lease: until then another run may land."""
        if self.options.since is None:
            return False
        receipt = receipts.latest(self.store, self.job.pipeline, self.job.task, self.window)
        return landed_since(receipt, self.options.since)

    def _ask(self, record: RunRecord) -> Landed:
        if record.point is Point.COMMITTING:
            return self.job.target.landed(record)
        return Landed(Answer.ABSENT)

    def _can_resume(self, record: RunRecord, landed: Landed) -> bool:
        """False if the world has moved on since this run was planned."""
        if landed.answer is not Answer.ABSENT or record.point in (Point.CHECKPOINTED, Point.DELIVERED):
            return False
        return can_resume(self.job, record, self.store, force=self.options.force)

    def _attempts(self, record: RunRecord, reason: str) -> WindowResult:
        """Try a run as often as the pipeline says. Raises what the last attempt raised, the run closed accordingly."""
        retries = self.job.retries
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(retries.attempts),
            wait=tenacity.wait_exponential(multiplier=retries.backoff_seconds, max=retries.max_backoff_seconds)
            + tenacity.wait_random(0, retries.backoff_seconds / 2),
            retry=tenacity.retry_if_exception(_worth_retrying),
            before_sleep=self._tell_retry,
            reraise=True,
        )
        try:
            number: int = retrying(self._attempt, record.run_id)
        except Transient as error:
            self._give_up(record.run_id, error)
            raise
        return window_succeeded(self.job, self.window, self.store, number, reason)

    def _give_up(self, run_id: str, error: Transient) -> None:
        """Close a run whose attempts are used up, unless one of them may have committed: that must be asked."""
        record = runs.get(self.store, run_id)
        if record is not None and record.point in _BEFORE_COMMITTING and not isinstance(error, MayHaveLanded):
            self._close(record, RunStatus.FAILED, error)

    def _attempt(self, run_id: str) -> int:
        record = runs.get(self.store, run_id)
        assert record is not None
        attempt_id = new_attempt_id()
        folder = self.job.staging_folder(record, attempt_id) if self.job.stages else None
        number = attempts.begin(self.store, record, self.lease, attempt_id, folder)
        attempt = Attempt(
            self.job,
            record,
            self.store,
            self.lease,
            self.heartbeat,
            attempt_id,
            number,
            self.emit,
            self.options.accept_change,
        )
        try:
            attempt.drive()
        except Exception as error:
            known = explain(error, self.job.source, record)
            if known.code == "unexpected":
                logging.getLogger("samewise").error("%s: %s", self.job.name, known.message, exc_info=error)
            known.redact(self.job.redact)
            self._ended(attempt, known)
            if known is error:
                raise
            raise known from error
        finally:
            self.job.source.release(record.source)
        return number

    def _ended(self, attempt: Attempt, error: SamewiseError) -> None:
        """Write down how a failed attempt ended, and close its run unless another attempt may mend it."""
        if isinstance(error, LeaseLost):
            _drop_own(self.job, attempt)
            return
        status = _attempt_status(error)
        attempts.end(
            self.store,
            attempt.run,
            self.lease,
            attempt.attempt_id,
            status,
            error_code=error.code,
            error_message=error.message,
        )
        drop_leftovers(self.job, attempt.run, self.store)
        if isinstance(error, Superseded):
            self._close(attempt.run, RunStatus.SUPERSEDED, error)
        elif not error.retryable:
            if attempt.run.point is Point.COMMITTING and attempt.number > 1:
                # An earlier attempt may be frozen on its way to the same commit.
                self._burn_token(attempt.run)
            closed = RunStatus.REFUSED if isinstance(error, Refused) else RunStatus.FAILED
            if isinstance(error, PinsGone):
                closed = RunStatus.ABANDONED
            self._close(attempt.run, closed, error)

    def _burn(self, record: RunRecord) -> None:
        """Close a run that may still commit: burn its token, unless the commit got there first."""
        if self._burn_token(record).answer is not Answer.MINE:
            self._close(record, RunStatus.ABANDONED, None)

    def _burn_token(self, record: RunRecord) -> Landed:
        return burn(
            self.job,
            record,
            Stamp(
                store_id=self.store.store_id,
                run_id=record.run_id,
                attempt_id="",
                pipeline=record.pipeline,
                task=record.task,
                window=record.window,
                generation=record.generation,
                definition=record.definition,
                fingerprint=record.fingerprint,
                contract=record.contract,
                run_ts=record.run_ts,
                kind="burn",
            ),
        )

    def _close(self, record: RunRecord, status: RunStatus, error: SamewiseError | None) -> None:
        told = None if error is None else {"code": error.code, "message": error.message}
        runs.close(self.store, record, status, self.lease, error=told)

    def _tell_retry(self, state: tenacity.RetryCallState) -> None:
        assert state.outcome is not None and state.next_action is not None
        cause = state.outcome.exception()
        message = cause.message if isinstance(cause, SamewiseError) else str(cause)
        self.emit(WillRetry(self.job.task, self.window, message, state.attempt_number, state.next_action.sleep))


def _drop_own(job: Job, attempt: Attempt) -> None:
    """Drop the staging of an attempt that was overtaken; nobody else will ever read it."""
    staging.drop(job.staging_folder(attempt.run, attempt.attempt_id))


def _worth_retrying(error: BaseException) -> bool:
    # A lost JVM cannot be replaced in this process, and a full disk does not empty itself.
    return isinstance(error, Transient) and not isinstance(error, MayHaveLanded | OutOfSpace | Busy)


def _attempt_status(error: SamewiseError) -> AttemptStatus:
    if isinstance(error, Refused):
        return AttemptStatus.REFUSED
    return AttemptStatus.SUPERSEDED if isinstance(error, Superseded) else AttemptStatus.FAILED


def window_unchanged(job: Job, window: Window, store: Store, *, reason: str | None = None) -> WindowResult:
    """The result of a window that is left as it is: a run would not change it, or for another `reason`."""
    receipt = receipts.latest(store, job.pipeline, job.task, window)
    return WindowResult(
        job.task,
        window,
        job.label(window),
        Status.UNCHANGED,
        reason=reason,
        generation=None if receipt is None else receipt.generation,
        target_version=None if receipt is None else receipt.target_version,
    )


def window_succeeded(job: Job, window: Window, store: Store, attempt: int, reason: str) -> WindowResult:
    """The result of a window whose receipt is stored."""
    receipt = receipts.latest(store, job.pipeline, job.task, window)
    assert receipt is not None
    return window_landed(job, receipt, runs.get(store, receipt.run_id), attempt, reason)


def window_landed(job: Job, receipt: Receipt, run: RunRecord | None, attempt: int, reason: str) -> WindowResult:
    """The result of a window with this receipt."""
    window, measures = receipt.window, receipt.measures
    return WindowResult(
        job.task,
        window,
        job.label(window),
        Status.SUCCEEDED,
        reason=reason,
        run_id=receipt.run_id,
        generation=receipt.generation,
        attempt=attempt,
        batch_id=None if run is None else run.batch_id,
        rows_read=receipt.rows_read,
        rows_staged=receipt.rows_staged,
        rows_written=_written(job, receipt),
        rows_inserted=receipt.rows_inserted,
        rows_updated=receipt.rows_updated,
        rows_deleted=receipt.rows_deleted,
        rows_unchanged=receipt.rows_unchanged,
        rows_quarantined=receipt.rows_quarantined,
        content_hash=None if measures is None else measures.content_hash,
        sums={} if measures is None else dict(measures.sums),
        target_version=receipt.target_version,
    )


def _written(job: Job, receipt: Receipt) -> int | None:
    if job.keyed is not None:
        counts = (receipt.rows_inserted, receipt.rows_updated, receipt.rows_deleted)
        return None if receipt.rows_inserted is None else sum(count or 0 for count in counts)
    return None if receipt.measures is None else receipt.measures.rows


def window_failed(job: Job, window: Window, store: Store, error: SamewiseError) -> WindowResult:
    """The result of a window that was not loaded, with an error that says everything that a person is told."""
    if isinstance(error, LeaseLost):
        error = _overtaken(job, window, store, error)
    status = status_of(error)
    error.message = f"{job.name} {job.label(window)}: {error.message}"
    error.with_kept(_kept(job, window, store, error))
    error.redact(job.redact)
    return WindowResult(job.task, window, job.label(window), status, error=error)


def _overtaken(job: Job, window: Window, store: Store, error: LeaseLost) -> SamewiseError:
    """What to report when another attempt took over: that it has finished, or that it is still at it."""
    newest = runs.latest_generation(store, job.pipeline, job.task, window)
    receipt = receipts.latest(store, job.pipeline, job.task, window)
    if receipt is not None and receipt.generation == newest:
        return Superseded("another attempt took over and has landed", kept="its rows stand")
    return Busy("another attempt took over", kept=error.kept, next_step="run the same command again when it is done")


def _kept(job: Job, window: Window, store: Store, error: SamewiseError) -> str:
    kept = _left_behind(job, window, store, error)
    mark = watermarks.current(store, job.pipeline, job.task)
    return kept if mark is None else f"{kept}; the watermark is still {instant_text(mark)}"


def _left_behind(job: Job, window: Window, store: Store, error: SamewiseError) -> str:
    """What the target holds now, as far as that can be known without asking it."""
    old_or_new = "the target holds either the old rows or the new ones, and the next run"
    if isinstance(error, MayHaveLanded):
        return f"{old_or_new} asks it which"
    run = runs.newest(store, job.pipeline, job.task, [window]).get(window)
    if run is None or run.point is not Point.COMMITTING or _says_that_nothing_landed(error):
        return "the target is untouched"
    if run.status is RunStatus.OPEN:
        return f"{old_or_new} asks it which"
    return f"{old_or_new} loads the window again" if run.status is RunStatus.FAILED else "the target is untouched"


def _says_that_nothing_landed(error: SamewiseError) -> bool:
    """A commit that was refused, or failed in the user's own code, is over; of one that broke off nobody knows."""
    if isinstance(error, Transient):
        return isinstance(error, Busy | Conflict)
    return error.code != "unexpected"
