"""Which tasks and windows a run looks at, in which order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from samewise.core.windows import FULL, Window
from samewise.plan.grid import due_windows
from samewise.run.job import Job
from samewise.state import receipts, runs
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
        after = {job.task for job in self.jobs if job.replaces_all and self._has_windowed_ancestor(job.task)}
        yield [job for job in self.jobs if job.replaces_all and job.task not in after], False
        yield [job for job in self.jobs if not job.replaces_all], True
        yield [job for job in self.jobs if job.task in after], False

    def _has_windowed_ancestor(self, task: str) -> bool:
        windowed = {job.task for job in self.jobs if not job.replaces_all}
        return any(name in windowed or self._has_windowed_ancestor(name) for name in self.depends_on.get(task, ()))


def due(job: Job, store: Store | None, *, now: datetime) -> list[Window]:
    """Windows to consider for a task: those that are closed and not loaded, and those left unfinished."""
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
    work: list[tuple[Job, Window]] = []
    for jobs, by_window in graph.phases():
        if not by_window:
            work += [(job, FULL) for job in jobs]
            continue
        wanted = {job.task: set(windows if windows is not None else due(job, store, now=now)) for job in jobs}
        for window in sorted(set().union(*wanted.values())):
            # A task whose window is loaded is looked at again when one that it depends on is: it may read other rows.
            looked_at: set[str] = set()
            for job in jobs:
                upstream = looked_at.intersection(graph.depends_on.get(job.task, ()))
                if window in wanted[job.task] or upstream:
                    looked_at.add(job.task)
                    work.append((job, window))
    return work
