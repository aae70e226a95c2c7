"""Backfills of a project: find or make one, run it, look at it, stop it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from samewise.core.errors import ConfigError, SamewiseError, UsageError
from samewise.core.ports import Source, VersionedSource
from samewise.core.windows import Window
from samewise.plan.parts import Limits
from samewise.run.events import BackfillPlanned, Note
from samewise.run.job import Job
from samewise.run.results import error_json
from samewise.run.schedule import Graph
from samewise.state import backfills, contracts, leases, receipts, watermarks
from samewise.state.backfills import UNFINISHED, Backfill, BackfillStatus, Outcome
from samewise.state.heartbeat import Heartbeat
from samewise.state.holders import Holder
from samewise.storage.files import check_writable

if TYPE_CHECKING:
    from samewise.run.backfill_check import Checked
    from samewise.run.backfill_result import BackfillResult
    from samewise.wiring.project import Project


@dataclass(frozen=True, slots=True)
class Backfills:
    """What can be done with the backfills of an open project."""

    project: Project

    def plan(self, pipeline: str, start: str, end: str) -> list[Window]:
        """The windows of a span that are over, oldest first. Raises `UsageError` where there are none."""
        asked = self._asked(pipeline, start, end)
        store = self.project.known_store
        windows = _over(asked, datetime.now(UTC) if store is None else store.now())
        if not windows:
            raise UsageError(
                f"no window from {start} to {end} is over yet", kept="nothing was run", next_step="name an earlier span"
            )
        if len(windows) < len(asked):
            self.project.tell(Note(f"{len(asked) - len(windows)} windows are not over yet, and left out"))
        return windows

    def run(
        self,
        pipeline: str,
        *,
        start: str,
        end: str,
        order: str = "oldest",
        force: bool = False,
        parallel: int = 1,
        repin: bool = False,
        stop: Callable[[], str | None] = lambda: None,
    ) -> BackfillResult:
        """Load every window of a span. A span that was asked for before and is not finished goes on from there."""
        windows = self.plan(pipeline, start, end)
        # As it was asked for: where the end lies ahead, more windows are over tomorrow, and it is the same backfill.
        asked = self._asked(pipeline, start, end)
        span = Window(asked[0].start, asked[-1].end)
        how = {"newest_first": order == "newest", "forced": force}
        found = backfills.unfinished_twin(self.project.store, pipeline, span, **how)
        if found is not None:
            self._tell_later(len(windows) - found.windows)
            return self.resume(found.backfill_id, parallel=parallel, repin=repin, stop=stop)
        check_writable(self.project.loaded.warehouse)
        graph = self.project.graph(pipeline)
        made = backfills.create(
            self.project.store,
            pipeline,
            span,
            pins=self._pins(graph),
            windows=len(windows),
            **how,
        )
        return self._fill(made, windows, parallel=parallel, stop=stop)

    def resume(
        self,
        backfill_id: str | None = None,
        *,
        parallel: int = 1,
        repin: bool = False,
        stop: Callable[[], str | None] = lambda: None,
    ) -> BackfillResult:
        """Go on with a backfill: what was loaded last is compared with the target first."""
        found = self.find(backfill_id, unfinished=True)
        graph = self.project.graph(found.pipeline)
        if not repin:
            self._check_definition(found, graph)
        grid = next(job.grid for job in graph.jobs if job.grid is not None)
        from samewise.plan.grid import windows_between

        windows = _over(windows_between(grid, found.start, found.end), found.created_at)
        return self._fill(found, windows, parallel=parallel, stop=stop, resumed=True, repin=repin)

    def find(self, backfill_id: str | None, *, unfinished: bool = False) -> Backfill:
        """A backfill by its id or its pipeline's name; without either, the newest. Raises `UsageError`."""
        store = self.project.known_store
        if store is None:
            raise UsageError("there is no backfill", next_step="samewise backfill PIPELINE --from DATE --to DATE")
        found = None if backfill_id is None else backfills.get(store, backfill_id)
        if found is None and (backfill_id is None or backfill_id in self.project.pipelines):
            listed = backfills.recent(store, backfill_id, limit=1)
            newest = listed[0] if listed else None
            found = backfills.newest_unfinished(store, backfill_id) if unfinished else newest
        if found is None:
            which = "" if backfill_id is None else f" {backfill_id}"
            kind = "unfinished backfill" if unfinished and not which else "backfill"
            raise UsageError(f"there is no {kind}{which}", next_step="samewise backfill status")
        if unfinished and found.status not in UNFINISHED:
            raise UsageError(
                f"backfill {found.backfill_id} is {found.status}",
                kept="nothing was run",
                next_step="plan a new one: samewise backfill PIPELINE --from DATE --to DATE",
            )
        return found

    def recent(self, pipeline: str | None = None) -> list[tuple[Backfill, bool]]:
        """The newest first, each with whether a process works at it."""
        store = self.project.known_store
        found = [] if store is None else backfills.recent(store, pipeline)
        return [(each, store is not None and backfills.is_live(store, each)) for each in found]

    def one(self, backfill_id: str) -> tuple[Backfill, bool]:
        """The same of one, however old. Raises `UsageError` where there is none."""
        found = self.find(backfill_id)
        return found, backfills.is_live(self.project.store, found)

    def ask(self, backfill_id: str | None, wish: str) -> Backfill:
        """`pause` or `cancel`: after the current commit where it runs, at once where nobody works at it."""
        found, store = self.find(backfill_id, unfinished=True), self.project.store
        backfills.ask(store, found.backfill_id, wish)
        if not backfills.is_live(store, found):
            status = BackfillStatus.CANCELLED if wish == "cancel" else BackfillStatus.PAUSED
            backfills.set_status(store, found.backfill_id, status, error=found.error)
        again = backfills.get(store, found.backfill_id)
        assert again is not None
        return again

    def verify(self, backfill_id: str | None) -> tuple[Backfill, list[Checked]]:
        """Compare every window that a backfill is done with to the target."""
        from samewise.run.backfill_check import check_windows

        found = self.find(backfill_id)
        jobs = [job for job in self.project.graph(found.pipeline).jobs if job.grid is not None]
        windows = sorted(found.done)
        return found, [each for job in jobs for each in check_windows(job, windows, self.project.store)]

    def _asked(self, pipeline: str, start: str, end: str) -> list[Window]:
        """Every window of a span, oldest first; some may not be over, or not even have begun."""
        spec = self.project.loaded.pipeline(pipeline)
        if spec.schedule is None or all(job.grid is None for job in self.project.graph(pipeline).jobs):
            raise UsageError(
                f"{pipeline} has no windows: a backfill is about a schedule's windows",
                kept="nothing was run",
                next_step=f"samewise run {pipeline}",
            )
        return self.project.windows(spec, None, start, end) or []

    def _tell_later(self, windows: int) -> None:
        if windows > 0:
            self.project.tell(
                Note(f"{windows} windows have ended since it was planned: the same command loads them once it is done")
            )

    def _pins(self, graph: Graph) -> dict[str, Any]:
        """What the backfill is made under. A table that a task of the same pipeline writes has no fixed version."""
        store = self.project.store
        pins: dict[str, Any] = {}
        for job in graph.jobs:
            contract = contracts.current(store, job.pipeline, job.task)
            source = None if graph.depends_on.get(job.task) or job.grid is None else _versioned(job.source)
            pins[job.task] = {
                "definition": job.definition,
                "contract": None if contract is None else contract.contract_id,
                "version": None if source is None else source.version,
            }
        return pins

    def _check_definition(self, found: Backfill, graph: Graph) -> None:
        changed = _changed(found, graph)
        if changed:
            raise ConfigError(
                f"backfill {found.backfill_id} was planned under another definition of {', '.join(changed)}",
                kept=f"{len(found.done)} of {found.windows} windows are done; nothing was run now",
                next_step=f"`samewise backfill resume {found.backfill_id} --repin` goes on with the new definition; "
                "or take the change back; or cancel it and plan a new one",
                code="definition_changed",
            )

    def _repin(self, found: Backfill) -> None:
        """Go on under the definition of today. Whoever calls this holds the backfill's lease."""
        graph = self.project.graph(found.pipeline)
        backfills.repin(self.project.store, found.backfill_id, self._pins(graph))
        loaded = sum(outcome is not Outcome.UNCHANGED for outcome in found.done.values())
        if loaded and _changed(found, graph):
            again = f"samewise run {found.pipeline} --stale definition"
            self.project.tell(Note(f"{loaded} windows were loaded under the older definition: `{again}`"))

    def _tell_contracts(self, found: Backfill) -> None:
        """Say where the source has another contract than the backfill began under: accepting one is what it waits for.

        The first load of all makes the contract: then it is the one that the first window was loaded under.
        """
        store, done = self.project.store, list(found.done)
        for job in self.project.graph(found.pipeline).jobs:
            current = contracts.current(store, job.pipeline, job.task)
            landed = receipts.newest(store, job.pipeline, job.task, done) if done else {}
            under = [each.contract for each in sorted(landed.values(), key=lambda each: each.target_version)]
            began = found.pins.get(job.task, {}).get("contract") or next((each for each in under if each), None)
            if current is None or began in (None, current.contract_id):
                continue
            older = sum(each not in (None, current.contract_id) for each in under)
            told = f"{job.name}: the contract has changed since the backfill was planned"
            if older:
                windows = "1 window that it has loaded is" if older == 1 else f"{older} windows that it has loaded are"
                told += f"; {windows} under an older one: `samewise run {job.pipeline} --stale contract`"
            self.project.tell(Note(told))

    def _fill(
        self,
        found: Backfill,
        windows: Sequence[Window],
        *,
        parallel: int,
        stop: Callable[[], str | None],
        resumed: bool = False,
        repin: bool = False,
    ) -> BackfillResult:
        from samewise.run.backfill import Filling
        from samewise.run.backfill_result import BackfillResult

        store, began = self.project.store, time.monotonic()
        lease = leases.acquire(store, found.lease_target, "backfill", Holder.current(), self._lease_seconds)
        try:
            with Heartbeat(store, lease):
                if repin:
                    self._repin(self._again(found))
                again = self._again(found)
                backfills.set_status(store, found.backfill_id, BackfillStatus.RUNNING)
                self.project.tell(BackfillPlanned(again.backfill_id, again.windows, len(again.done)))
                if resumed:
                    self._tell_contracts(again)
                settings = self.project.loaded.project.backfill
                filling = Filling(
                    graph=self._graphs(again, own_session=parallel > 1),
                    store=store,
                    backfill=again,
                    limits=Limits(settings.windows, settings.megabytes * 1_000_000, settings.rows),
                    emit=self.project.tell,
                    stop=stop,
                    parallel=parallel,
                )
                filling.settle(windows)
                if resumed:
                    self._check_last(again, windows)
                ordered = sorted((w for w in windows if w not in again.done), reverse=again.newest_first)
                stopped = filling.run(ordered)
                error = None if stopped is None or stopped.result is None else stopped.result.error
                asked = None if stopped is None else stopped.asked
                self._ended(found, error, asked, done=stopped is None)
        except SamewiseError as raised:
            backfills.set_status(store, found.backfill_id, BackfillStatus.PAUSED, error=error_json(raised))
            raise
        except KeyboardInterrupt:
            backfills.set_status(store, found.backfill_id, BackfillStatus.PAUSED)
            raise
        finally:
            leases.release(store, lease)
        last = self._again(found)
        seconds = time.monotonic() - began
        return BackfillResult(last, filling.results, self._watermark(found.pipeline), error, asked, seconds)

    def _ended(self, found: Backfill, error: SamewiseError | None, asked: str | None, *, done: bool) -> None:
        status = BackfillStatus.PAUSED
        if done:
            status = BackfillStatus.DONE
        elif asked == "cancel":
            status = BackfillStatus.CANCELLED
        told = None if error is None else error_json(error)
        backfills.set_status(self.project.store, found.backfill_id, status, error=told)

    def _check_last(self, found: Backfill, windows: Sequence[Window]) -> None:
        from samewise.run.backfill_check import check_last

        for job in self.project.graph(found.pipeline).jobs:
            if job.grid is not None:
                check_last(job, found, windows, self.project.store, self.project.tell)

    def _again(self, found: Backfill) -> Backfill:
        """The backfill, as the store has it now."""
        again = backfills.get(self.project.store, found.backfill_id)
        assert again is not None
        return again

    def _graphs(self, found: Backfill, *, own_session: bool) -> Callable[[], Graph]:
        def graph() -> Graph:
            made = self.project.graph(found.pipeline, own_session=own_session)
            return replace(made, jobs=[_pinned(job, found.pins.get(job.task, {})) for job in made.jobs])

        return graph

    @property
    def _lease_seconds(self) -> float:
        return self.project.loaded.project.lease.total_seconds()

    def _watermark(self, pipeline: str) -> datetime | None:
        jobs = [job for job in self.project.graph(pipeline).jobs if job.has_watermark]
        marks = [watermarks.current(self.project.store, job.pipeline, job.task) for job in jobs]
        known = [mark for mark in marks if mark is not None]
        return min(known) if known and len(known) == len(marks) else None


def _over(windows: Sequence[Window], at: datetime) -> list[Window]:
    return [window for window in windows if window.end <= at]


def _changed(found: Backfill, graph: Graph) -> list[str]:
    """The tasks whose definition is not the one that the backfill was planned under."""
    return [job.task for job in graph.jobs if found.pins.get(job.task, {}).get("definition") != job.definition]


def _versioned(source: Source) -> VersionedSource | None:
    found: VersionedSource | None = source if hasattr(source, "at_version") else None  # type: ignore[assignment]
    return found


def _pinned(job: Job, pins: Mapping[str, Any]) -> Job:
    """The job, reading its source as it was when the backfill was planned."""
    version, source = pins.get("version"), _versioned(job.source)
    return job if version is None or source is None else replace(job, source=source.at_version(int(version)))
