"""Which tasks and windows a run looks at, in which order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from samewise.core.windows import FULL, Window
from samewise.plan.grid import due_windows, holds, newest_windows
from samewise.state import receipts, runs
from samewise.state import upstream as upstream_seen

if TYPE_CHECKING:
    from samewise.run.job import Job
    from samewise.state.store import Store


@dataclass(frozen=True, slots=True)
class Graph:
    """A pipeline's jobs in an order in which each comes after those it depends on."""

    pipeline: str
    jobs: Sequence[Job]
    depends_on: Mapping[str, Sequence[str]]

    def phases(self) -> Iterator[tuple[Sequence[Job], bool]]:
        """Groups of jobs, and whether a group goes window by window.

        Tasks with the one window `full` come first, or last where they depend on tasks with windows.
        """
        after = {job.task for job in self.jobs if job.grid is None and self._has_windowed_ancestor(job.task)}
        yield [job for job in self.jobs if job.grid is None and job.task not in after], False
        yield [job for job in self.jobs if job.grid is not None], True
        yield [job for job in self.jobs if job.task in after], False

    def _has_windowed_ancestor(self, task: str) -> bool:
        windowed = {job.task for job in self.jobs if job.grid is not None}
        return any(name in windowed or self._has_windowed_ancestor(name) for name in self.depends_on.get(task, ()))


def due(job: Job, store: Store | None, *, now: datetime) -> list[Window]:
    """Windows to load for a task: those that are closed and not loaded, and those left unfinished."""
    if job.grid is None:
        return [FULL]
    if store is None:
        return due_windows(job.grid, set(), now=now)
    # A target that was dropped holds nothing, whatever the receipts say.
    gone = not job.target.exists()
    done = set() if gone else receipts.done_windows(store, job.pipeline, job.task, job.target.key)
    unfinished = runs.open_windows(store, job.pipeline, job.task)
    return due_windows(job.grid, done - unfinished, now=now)


def schedule_work(
    graph: Graph, windows: Sequence[Window] | None, store: Store | None, *, now: datetime
) -> list[tuple[Job, Window]]:
    """What a run looks at, in order. `windows` are those asked for; None for every due one."""
    return in_order(graph, wanted_windows(graph, windows, store, now=now))


def wanted_windows(
    graph: Graph, windows: Sequence[Window] | None, store: Store | None, *, now: datetime
) -> dict[str, set[Window]]:
    """The same by task: without those that are looked at because of another task's."""
    if windows is not None:
        return {job.task: {FULL} if job.grid is None else set(windows) for job in graph.jobs}
    return {job.task: _looked_at(graph, job, store, now=now) for job in graph.jobs}


def in_order(graph: Graph, wanted: Mapping[str, Iterable[Window]]) -> list[tuple[Job, Window]]:
    """The wanted windows of each task and the same windows of the tasks that depend on it, window by window.

    A task whose window is loaded is looked at again when one that it depends on is: it may read other rows.
    """
    work: list[tuple[Job, Window]] = []
    asked = {task: set(windows) for task, windows in wanted.items()}
    worked: set[str] = set()
    for jobs, by_window in graph.phases():
        if not by_window:
            for job in jobs:
                if FULL in asked[job.task] or worked.intersection(graph.depends_on.get(job.task, ())):
                    worked.add(job.task)
                    work.append((job, FULL))
            continue
        for window in sorted(set().union(*(asked[job.task] for job in jobs))):
            looked_at: set[str] = set()
            for job in jobs:
                upstream = looked_at.intersection(graph.depends_on.get(job.task, ()))
                if window in asked[job.task] or upstream:
                    looked_at.add(job.task)
                    worked.add(job.task)
                    work.append((job, window))
    return work


def _looked_at(graph: Graph, job: Job, store: Store | None, *, now: datetime) -> set[Window]:
    """What is due; the newest windows again, for late rows; and those whose upstream has changed since."""
    windows = set(due(job, store, now=now))
    if job.grid is not None:
        windows.update(newest_windows(job.grid, job.lookback, now=now))
        if store is not None:
            windows.update(_overtaken(graph, job, store))
            windows.update(follow(graph, job, store).windows)
    return windows


@dataclass(frozen=True, slots=True)
class Followed:
    """What incremental tasks upstream have brought since a task's loaded windows were last looked at."""

    windows: frozenset[Window] = frozenset()
    """Those that were planned before."""
    landed: Mapping[str, datetime] = field(default_factory=dict)
    """When, by the name of the task upstream: to be remembered once all `windows` have been looked at."""


def follow(graph: Graph, job: Job, store: Store) -> Followed:
    """The loaded windows of a task that may lack what an incremental task upstream has brought: of any day, it may be.

    A `refresh` upstream is not followed: each load of a table of names and rates would load all history again.
    """
    upstream = [other for other in graph.jobs if other.task in graph.depends_on.get(job.task, ())]
    if job.grid is None or all(other.incremental is None for other in upstream):
        return Followed()
    seen = upstream_seen.seen(store, job.pipeline, job.task)
    landed: dict[str, datetime] = {}
    for other in upstream:
        if other.incremental is not None:
            at = receipts.last_changed(store, other.pipeline, other.task, other.target.key).get(FULL)
            if at is not None and (other.task not in seen or at > seen[other.task]):
                landed[other.task] = at
    if not landed:
        return Followed()
    newest = max(landed.values())
    planned = receipts.last_planned(store, job.pipeline, job.task, job.target.key)
    older = (window for window, at in planned.items() if at < newest)
    return Followed(frozenset(window for window in older if holds(job.grid, window)), landed)


def _overtaken(graph: Graph, job: Job, store: Store) -> set[Window]:
    """Loaded windows for which a task upstream has landed later than they were planned.

    That run was to make them due in the same command, and did not live to do it; or it came from elsewhere.
    """
    upstream = [other for other in graph.jobs if other.task in graph.depends_on.get(job.task, ())]
    windowed = [other for other in upstream if other.grid is not None]
    if not windowed:
        return set()
    planned = receipts.last_planned(store, job.pipeline, job.task, job.target.key)
    return {
        window
        for other in windowed
        for window, at in receipts.last_changed(store, other.pipeline, other.task, other.target.key).items()
        if window in planned and at > planned[window]
    }
