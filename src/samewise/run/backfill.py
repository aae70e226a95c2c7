"""A backfill: many windows, in groups, from wherever it was left to its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock, local

from samewise.core.errors import Busy, OutOfSpace, PinsGone, SamewiseError, Superseded, Transient
from samewise.core.records import RunStatus
from samewise.core.windows import FULL, Window
from samewise.plan.parts import Limits, in_parts
from samewise.run.events import GroupBegan, GroupEnded, Listener, Note, WindowEnded
from samewise.run.group import Divide, Moved, run_group
from samewise.run.job import Job
from samewise.run.results import Status, WindowResult
from samewise.run.schedule import Graph
from samewise.run.settle import drop_staged, settle_group
from samewise.run.sizes import Sizes
from samewise.run.survey import Surveyed, survey
from samewise.run.window import Options, run_window, window_failed
from samewise.state import backfills, groups, leases, runs
from samewise.state.backfills import Backfill, Outcome
from samewise.state.holders import Holder
from samewise.state.store import Store

_REPLANS = 5


class Stopped(Exception):
    """The backfill goes no further: a window that was not loaded, or a person's wish."""

    def __init__(self, result: WindowResult | None = None, asked: str | None = None) -> None:
        super().__init__()
        self.result = result
        self.asked = asked


@dataclass(slots=True)
class Filling:
    """One process's work on a backfill."""

    graph: Callable[[], Graph]
    """The pipeline's jobs, with a Spark session of their own for each thread that asks."""
    store: Store
    backfill: Backfill
    limits: Limits
    emit: Listener
    stop: Callable[[], str | None]
    """`pause` once a person wants it to stop after the current commit."""
    parallel: int = 1
    results: list[WindowResult] = field(default_factory=list)
    _sizes: Sizes = field(init=False)
    _lock: Lock = field(default_factory=Lock)
    _own: local = field(default_factory=local)

    def __post_init__(self) -> None:
        self._sizes = Sizes(self.store)

    def run(self, windows: Sequence[Window]) -> Stopped | None:
        """Load the windows in their order; gives what stopped it, None at the end. Others' runs are settled before."""
        side_by_side = self.parallel > 1 and self._any_order()
        try:
            for jobs, by_window in self._graph().phases():
                if by_window and side_by_side:
                    self._side_by_side(windows)
                elif by_window:
                    for slice_ in self._slices(windows):
                        self._batch(slice_)
                else:
                    for job in jobs:
                        self._single(job, FULL)
        except Stopped as stopped:
            return stopped
        return None

    def settle(self, span: Sequence[Window]) -> None:
        """End what processes that died have left open, so that every window's newest run says how it ended.

        `span` are all windows of the backfill: one that is done may have a run that was killed while it tidied up.
        """
        for job in self._graph().jobs:
            if job.grid is None or not span:
                continue
            newest = runs.newest(self.store, job.pipeline, job.task, span)
            for group_id in {run.commit_id for run in newest.values() if run.status is RunStatus.OPEN and run.group}:
                keys = [run.window.key for run in groups.members(self.store, group_id)]
                try:
                    held = leases.acquire_all(self.store, job.target.key, keys, Holder.current(), job.lease_seconds)
                except Busy:
                    continue  # Somebody is at it.
                try:
                    settle_group(job, group_id, self.store, held)
                finally:
                    leases.release_all(self.store, held)
            # One that was killed after its runs were closed has left its files to whoever comes next.
            drop_staged(job, self.store)

    def _any_order(self) -> bool:
        """False where what a window leaves depends on those that came before it."""
        ordered = [job.name for job in self._graph().jobs if job.keyed is not None or job.rules.changes]
        if ordered:
            self.emit(Note(f"{', '.join(ordered)}: each window depends on those before it: one after the other"))
        return not ordered

    def _slices(self, windows: Sequence[Window]) -> list[Sequence[Window]]:
        most = self.limits.windows
        return [windows[at : at + most] for at in range(0, len(windows), most)]

    def _side_by_side(self, windows: Sequence[Window]) -> None:
        """Several groups at a time. None is begun before the schemas of all that come before it were found good."""
        job = next(job for job in self._graph().jobs if job.grid is not None)
        pending: list[Future[None]] = []
        with ThreadPoolExecutor(self.parallel, thread_name_prefix="samewise-backfill") as pool:
            try:
                for slice_ in self._slices(windows):
                    # Those that go alone as well: the next one may land before this one has looked at its source.
                    seen = self._survey(job, slice_, check_alone=True)
                    rows = self._sizes.near(job, slice_)
                    for part in in_parts([each.piece(rows) for each in seen], self._share(slice_)):
                        chosen = [piece.window for piece in part]
                        if any(each.error is not None for each in seen if each.window in chosen):
                            self._await(pending, down_to=0)
                            self._batch(chosen)
                            continue
                        self._await(pending, down_to=self.parallel - 1)
                        pending.append(pool.submit(self._batch, chosen))
                self._await(pending, down_to=0)
            except BaseException:
                for future in pending:
                    future.cancel()
                raise

    def _share(self, windows: Sequence[Window]) -> Limits:
        """Smaller groups, so that there is one for each thread."""
        most = max(1, -(-len(windows) // self.parallel))
        return Limits(min(self.limits.windows, most), self.limits.size_bytes, self.limits.rows)

    def _await(self, pending: list[Future[None]], *, down_to: int) -> None:
        while len(pending) > down_to:
            pending.pop(0).result()

    def _batch(self, windows: Sequence[Window]) -> None:
        """Every task for these windows, in the order of the graph; then the windows are done with."""
        outcomes = dict.fromkeys(windows, Outcome.UNCHANGED)
        jobs = [job for job in self._graph().jobs if job.grid is not None]
        for job in jobs:
            loaded = frozenset(window for window, outcome in outcomes.items() if outcome is Outcome.LOADED)
            for window, outcome in self._load(job, windows, again=loaded).items():
                outcomes[window] = Outcome.LOADED if window in loaded else outcome
        backfills.mark(self.store, self.backfill.backfill_id, list(outcomes.items()))

    def _load(
        self,
        job: Job,
        windows: Sequence[Window],
        *,
        again: frozenset[Window] = frozenset(),
        replans: int = 0,
    ) -> dict[Window, Outcome]:
        """Load what is to be loaded of these windows, part by part. Raises `Stopped` at the first that is not.

        `again`: windows that a task upstream has just loaded, so that no load from before counts.
        """
        seen = {each.window: each for each in self._survey(job, windows, again)}
        outcomes = {window: each.done for window, each in seen.items() if each.done is not None}
        self._ended(
            job,
            [
                WindowResult(job.task, window, job.label(window), Status.UNCHANGED, reason=done.value)
                for window, done in outcomes.items()
            ],
        )
        rows = self._sizes.near(job, windows)
        todo = [each.piece(rows) for each in seen.values() if each.done is None]
        for part in in_parts(todo, self.limits):
            self._check_asked()
            outcomes |= self._part(job, [seen[piece.window] for piece in part], again, replans)
        return outcomes

    def _part(
        self, job: Job, part: Sequence[Surveyed], again: frozenset[Window], replans: int
    ) -> dict[Window, Outcome]:
        """Windows that go together, or one that goes alone."""
        windows = [each.window for each in part]
        if len(part) == 1:
            return {windows[0]: self._single(job, windows[0], again)}
        try:
            self._group(job, part)
            return dict.fromkeys(windows, Outcome.LOADED)
        except (Moved, PinsGone) as error:
            if replans >= _REPLANS:
                raise Stopped(window_failed(job, windows[0], self.store, _restless(error))) from error
            return self._load(job, windows, again=again, replans=replans + 1)
        except Divide as divided:
            outcomes: dict[Window, Outcome] = {}
            at = next((at for at, window in enumerate(windows) if window in divided.windows), None)
            cut = len(part) // 2 if at is None else at
            if cut:
                outcomes |= self._part(job, part[:cut], again, replans)
            if at is not None:
                outcomes[windows[at]] = self._single(job, windows[at], again)
                cut += 1
            if part[cut:]:
                # Planned anew: what was left alone may have changed the contract that the rest is judged by.
                outcomes |= self._load(job, windows[cut:], again=again, replans=replans)
            return outcomes
        except Transient as error:
            if not isinstance(error, Busy) and (isinstance(error, OutOfSpace) or replans + 1 >= job.retries.attempts):
                raise Stopped(window_failed(job, windows[0], self.store, error)) from error
            if replans >= _REPLANS:
                raise Stopped(window_failed(job, windows[0], self.store, error)) from error
            self._pause_before(job, replans)
            return self._load(job, windows, again=again, replans=replans + 1)

    def _group(self, job: Job, part: Sequence[Surveyed]) -> None:
        """Load a part in one commit."""
        oldest_first = sorted(part, key=lambda each: each.window)
        plans = [each.plan for each in oldest_first if each.plan is not None]
        verdicts = [each.verdict for each in oldest_first if each.verdict is not None]
        began, started_at = time.monotonic(), self.store.now()
        self.emit(GroupBegan(job.task, plans[0].window, plans[-1].window, len(plans)))
        done = run_group(job, plans, verdicts, self.store, forced=self.backfill.forced, wait=True, emit=self.emit)
        seconds = (time.monotonic() - began) / len(plans)
        self._mark(job, [plan.window for plan in plans], Outcome.LOADED)
        results = [result.timed(started_at, seconds) for result in done]
        self._ended(job, results[::-1] if self.backfill.newest_first else results)
        self._sizes.learn(job, done)

    def _pause_before(self, job: Job, tries: int) -> None:
        time.sleep(min(job.retries.backoff_seconds * 2**tries, job.retries.max_backoff_seconds))

    def _single(self, job: Job, window: Window, again: frozenset[Window] = frozenset()) -> Outcome:
        self._check_asked()
        # A window of the whole table is made of all others, and what a task upstream has loaded is to be seen here.
        since = None if window == FULL or window in again else self.backfill.created_at
        options = Options(self.backfill.forced, wait=True, since=since)
        self.emit(GroupBegan(job.task, window, window, 1))
        result = run_window(job, window, self.store, options, self.emit)
        self._ended(job, [result])
        if result.error is not None and not isinstance(result.error, Superseded):
            raise Stopped(result)
        outcome = _outcome(result)
        if window != FULL:
            self._mark(job, [window], outcome)
        self._sizes.learn(job, [result])
        return outcome

    def _mark(self, job: Job, windows: Sequence[Window], outcome: Outcome) -> None:
        """The last task's load of a window ends it: those before it have loaded the whole batch by then."""
        last = [each for each in self._graph().jobs if each.grid is not None][-1]
        if job.task == last.task:
            backfills.mark(self.store, self.backfill.backfill_id, [(window, outcome) for window in windows])

    def _survey(
        self, job: Job, windows: Sequence[Window], again: frozenset[Window] = frozenset(), *, check_alone: bool = False
    ) -> list[Surveyed]:
        return survey(
            job,
            windows,
            self.store,
            force=self.backfill.forced,
            since=self.backfill.created_at,
            again=again,
            check_alone=check_alone,
        )

    def _ended(self, job: Job, results: Sequence[WindowResult]) -> None:
        """Tell of windows that ended together, with none of another thread's in between."""
        with self._lock:
            self.results += results
            for result in results:
                rows = result.rows_written
                self.emit(WindowEnded(result.task, result.window, result.status, rows, result.seconds or 0.0))
            if results:
                self.emit(GroupEnded(job.task))

    def _check_asked(self) -> None:
        asked = self.stop() or backfills.asked(self.store, self.backfill.backfill_id)
        if asked is not None:
            raise Stopped(asked=asked)

    def _graph(self) -> Graph:
        found: Graph | None = getattr(self._own, "graph", None)
        if found is None:
            found = self._own.graph = self.graph()
        return found


def _outcome(result: WindowResult) -> Outcome:
    """How a window that went alone was ended; another run may have come first."""
    if result.status is Status.SUPERSEDED or result.reason == Outcome.NEWER:
        return Outcome.NEWER
    return Outcome.UNCHANGED if result.status is Status.UNCHANGED else Outcome.LOADED


def _restless(error: Exception) -> SamewiseError:
    if isinstance(error, PinsGone):
        return Transient(
            f"the source changed {_REPLANS} times while it was read: {error.message}",
            next_step="run again when nobody is writing to it",
        )
    return Busy("other runs of these windows came first again and again", next_step="run the same command again")
