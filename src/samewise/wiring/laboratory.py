"""The laboratory of a pipeline: the first fork from the real target and state, and every other one from that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import cast

from samewise.core.failpoints import Failpoint
from samewise.core.ports import Spark
from samewise.core.records import Owner
from samewise.core.windows import FULL, Window
from samewise.plan.protocol import Step, planned_steps
from samewise.prove.laboratory import Fork, Start, Stop
from samewise.prove.scratch import Scratch
from samewise.run.events import Event, Listener, StepBegan
from samewise.run.incremental import went_on_from
from samewise.run.job import Job
from samewise.run.schedule import Graph, in_order
from samewise.spec.load import Loaded
from samewise.spec.owners import Location
from samewise.spec.pipeline import PipelineSpec
from samewise.state import fork as state_fork
from samewise.state import runs
from samewise.state.store import Store
from samewise.storage.files import join
from samewise.wiring.fork_place import PLACE, copy_state, forked
from samewise.wiring.forks import ForkedPipeline, Process
from samewise.wiring.target_forks import TargetForks

_POINTS = {
    Step.CHECK: (Failpoint.CHECKED,),
    Step.STAGE: (Failpoint.STAGED,),
    Step.VERIFY: (Failpoint.VERIFIED,),
    Step.COMMIT: (Failpoint.COMMITTING, Failpoint.COMMITTED),
    Step.CHECKPOINT: (Failpoint.CHECKPOINTED,),
    Step.DELIVER: (Failpoint.DELIVERED,),
}
"""What the protocol promises to pass. Asked of the protocol and not of a run: a point that got lost must be missed."""


@dataclass(slots=True)
class Lab:
    """Implements `prove.laboratory.Laboratory`."""

    loaded: Loaded
    spec: PipelineSpec
    real: Graph
    windows: Sequence[Window]
    scratch: Scratch
    spark: Callable[[str], Spark]
    emit: Listener
    targets: TargetForks
    process: Process | None = None
    runs_in: str = "main"
    beside: Sequence[Window] = ()
    """Of the windows those that nobody asked for: the others are loaded after them."""
    last_one: bool = False
    notes: list[str] = field(default_factory=list)
    _counts: dict[tuple[str, str], int] = field(default_factory=dict)
    _kept: dict[Start, ForkedPipeline] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def stops(self) -> Sequence[Stop]:
        wanted = {job.task: [FULL] if job.grid is None else self.windows[-1:] for job in self.real.jobs}
        return [Stop(job.task, points_of(job)) for job, _ in in_order(self.real, wanted)]

    @property
    def on_empty(self) -> Mapping[str, str]:
        return {job.task: "by key" if job.keyed is not None else job.on_empty for job in self.real.jobs}

    @property
    def is_incremental(self) -> bool:
        return any(job.incremental is not None for job in self.real.jobs)

    @property
    def lanes(self) -> int:
        # With processes each of them has a JVM.
        return 3 if self.process is None else 2

    def leave_out(self, window: Window, why: str) -> bool:
        if window not in self.beside:
            return False
        self.windows = [other for other in self.windows if other != window]
        self.notes.append(f"{self.label(window)} is left out, nobody asked for it: {why}")
        return True

    def label(self, window: Window) -> str:
        return next((job.label(window) for job in self.real.jobs if job.grid is not None), "full")

    def lane(self, name: str) -> Lab:
        # What was kept and the numbers of the forks are shared: `count` gives each of them once.
        return replace(self, runs_in=name)

    @contextmanager
    def fork(self, start: Start) -> Iterator[Fork]:
        if start is Start.AGAIN:
            fork = self._copy(self._kept[Start.AFTER], state_of=self._kept[Start.BEFORE])
            with fork.open_store() as store:
                state_fork.raise_epochs(store)
        else:
            fork = self._copy(self._kept[start])
        fork.begin()
        yield fork

    @contextmanager
    def copy(self, fork: Fork) -> Iterator[Fork]:
        old = cast(ForkedPipeline, fork)
        new = self._copy(old)
        # What landed before the copy was made is the experiment's, too.
        new.versions.update(old.versions)
        yield new

    def keep(self, fork: Fork, start: Start) -> Fork:
        self._kept[start] = self._copy(cast(ForkedPipeline, fork))
        return self._kept[start]

    def prepare(self, real_store: Callable[[], AbstractContextManager[Store | None]]) -> None:
        """Make the first fork: the only thing here that looks at the real target and at the real state."""
        fork = self._new()
        pairs = list(zip(self.real.jobs, fork.graph().jobs, strict=True))
        tables = {job.task: None if (head := job.target.head()) is None else head.table_id for job in self.real.jobs}
        before: dict[str, _Landed] = {}
        with fork.open_store() as scratch, real_store() as store:
            store_id = scratch.store_id
            if store is not None:
                keys = {job.target.key: mine.target.key for job, mine in pairs}
                proved = [window.key for window in self.windows]
                state_fork.copy_knowledge(store, scratch, self.spec.name, keys, proved)
                before = {job.task: self._landed(job, store, scratch, tables[job.task]) for job in self.real.jobs}
        for job, mine in pairs:
            owner = Owner(store_id, self.spec.name, job.task, PLACE)
            at = before.get(job.task, _Landed())
            note = self.targets.clone(job, mine, owner, self.windows, before=at.first, is_loaded=at.has_last)
            self.notes += [] if note is None else [note]
        self._kept[Start.BASE] = fork

    def _landed(self, job: Job, store: Store, scratch: Store, table_id: str | None) -> _Landed:
        """Where the windows are in the real target. Of an incremental task, the last load that wrote rows; the
        scratch store is taken back to before it: up to date as the real one is, it would leave nothing to load."""
        if table_id is None:
            return _Landed()
        if job.incremental is not None:
            load = state_fork.last_load(store, self.spec.name, job.task, job.target.key, table_id)
            run = None if load is None else runs.get(store, load.run_id)
            if load is None or run is None:
                return _Landed()
            state_fork.take_back(store, scratch, self.spec.name, job.task, load, went_on_from(run))
            return _Landed(load.version, has_last=True)
        keys = [window.key for window in ([FULL] if job.grid is None else self.windows)]
        first, last = (
            state_fork.landed_at(store, self.spec.name, job.target.key, table_id, some) for some in (keys, keys[-1:])
        )
        return _Landed(first, last is not None)

    def _copy(self, old: ForkedPipeline, state_of: ForkedPipeline | None = None) -> ForkedPipeline:
        """Fork a fork: its targets, and its own state or that of another one."""
        known = state_of or old
        new = self._new(copy_of=known)
        moves = {}
        for mine, there, other in zip(known.graph().jobs, old.graph().jobs, new.graph().jobs, strict=True):
            self.targets.copy(there, other)
            moves[mine.target.key] = other.target.key
        with new.open_store() as store:
            state_fork.move(store, moves, (known.loaded.staging, new.loaded.staging))
        return new

    def _new(self, copy_of: ForkedPipeline | None = None) -> ForkedPipeline:
        """A fork without a table. Its state store is empty, or a copy."""
        number = next(self._numbers)
        name = f"fork-{number}"
        folder, data = self.scratch.folder / name, join(self.scratch.data, name)
        folder.mkdir()
        if copy_of is not None:
            copy_state(copy_of.folder, folder)
        moved: dict[str, Location] = {}
        for at, task in enumerate(self.spec.tasks):
            real = self.loaded.location(task.target, self.spec)
            moved[real.key] = self.targets.place(real, data, task.name, number, at)
        loaded = forked(self.loaded, folder, data, moved)
        parts = (self.spec, self.windows, self.spark, self._tell, self.runs_in, self.process, self._counts)
        return ForkedPipeline(folder, loaded, *parts)

    def _tell(self, event: Event) -> None:
        # Of the dozens of runs here only what one is doing now is told: each experiment's end has its own line.
        if isinstance(event, StepBegan):
            self.emit(event)


@dataclass(frozen=True, slots=True)
class _Landed:
    """Where what is to be proved has landed in a real target before."""

    first: int | None = None
    """The version with the first of it; None where none of it has."""
    has_last: bool = False


def points_of(job: Job) -> list[Failpoint]:
    """The failpoints that a run of the task passes."""
    later = [point for step in planned_steps(stages=job.stages) for point in _POINTS.get(step, ())]
    return [Failpoint.PLANNED, *later]
