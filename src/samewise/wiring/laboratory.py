"""The laboratory of a pipeline: the first fork from the real target and state, and every other one from that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import cast

from samewise.core.failpoints import Failpoint
from samewise.core.ports import Spark
from samewise.core.records import Owner
from samewise.core.windows import FULL, Window
from samewise.plan.protocol import Step, planned_steps
from samewise.prove.laboratory import Fork, KillAt, Ran, Start, Stop
from samewise.prove.scratch import Scratch
from samewise.run.events import Event, Listener, StepBegan
from samewise.run.job import Job
from samewise.run.schedule import Graph, in_order
from samewise.spec.load import Loaded
from samewise.spec.owners import Location
from samewise.spec.pipeline import PipelineSpec
from samewise.state import fork as state_fork
from samewise.state.store import Store
from samewise.storage.files import join
from samewise.wiring.forks import PLACE, ForkedPipeline, copy_state, forked
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

Die = Callable[[ForkedPipeline, Sequence[Window], bool, KillAt], Ran]


@dataclass(slots=True)
class Lab:
    """Implements `prove.laboratory.Laboratory`."""

    loaded: Loaded
    spec: PipelineSpec
    real: Graph
    store: Store | None
    windows: Sequence[Window]
    scratch: Scratch
    spark: Callable[[str], Spark]
    emit: Listener
    targets: TargetForks
    die: Die | None = None
    _kept: dict[Start, ForkedPipeline] = field(default_factory=dict)
    _made: int = 0

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

    def label(self, window: Window) -> str:
        return next((job.label(window) for job in self.real.jobs if job.grid is not None), "full")

    @contextmanager
    def fork(self, start: Start) -> Iterator[Fork]:
        if start is Start.BASE and Start.BASE not in self._kept:
            self._kept[Start.BASE] = self._base()
        fork = self._copy(self._kept[start])
        fork.begin()
        yield fork

    def keep(self, fork: Fork, start: Start) -> Fork:
        self._kept[start] = self._copy(cast(ForkedPipeline, fork))
        return self._kept[start]

    def _base(self) -> ForkedPipeline:
        """The first fork: the only thing here that reads the real target and the real state."""
        fork = self._new()
        with fork.open_store() as scratch:
            store_id = scratch.store_id
            if self.store is not None:
                keys = {job.target.key: mine.target.key for job, mine in self._pairs(fork)}
                proved = [window.key for window in self.windows]
                state_fork.copy_knowledge(self.store, scratch, self.spec.name, keys, proved)
        for job, mine in self._pairs(fork):
            owner = Owner(store_id, self.spec.name, job.task, PLACE)
            self.targets.clone(job, mine, owner, before=self._first_version(job))
        return fork

    def _first_version(self, job: Job) -> int | None:
        """The version at which the first of the windows landed in the real target."""
        if self.store is None:
            return None
        keys = [window.key for window in ([FULL] if job.grid is None else self.windows)]
        return state_fork.first_version(self.store, self.spec.name, job.target.key, keys)

    def _copy(self, old: ForkedPipeline) -> ForkedPipeline:
        new = self._new(copy_of=old)
        moves = {}
        for mine, other in zip(old.graph().jobs, new.graph().jobs, strict=True):
            self.targets.copy(mine, other)
            moves[mine.target.key] = other.target.key
        with new.open_store() as store:
            state_fork.move(store, moves, (old.loaded.staging, new.loaded.staging))
        return new

    def _new(self, copy_of: ForkedPipeline | None = None) -> ForkedPipeline:
        """A fork without a table. Its state store is empty, or a copy."""
        self._made += 1
        name = f"fork-{self._made}"
        folder, data = self.scratch.folder / name, join(self.scratch.data, name)
        folder.mkdir()
        if copy_of is not None:
            copy_state(copy_of.folder, folder)
        moved: dict[str, Location] = {}
        for task in self.spec.tasks:
            real = self.loaded.location(task.target, self.spec)
            moved[real.key] = self.targets.place(real, data, task.name, self._made)
        loaded = forked(self.loaded, folder, data, moved)
        return ForkedPipeline(folder, loaded, self.spec, self.windows, self.stops, self.spark, self._tell, self.die)

    def _pairs(self, fork: ForkedPipeline) -> list[tuple[Job, Job]]:
        return list(zip(self.real.jobs, fork.graph().jobs, strict=True))

    def _tell(self, event: Event) -> None:
        # Of the dozens of runs here only what one is doing now is told: each experiment's end has its own line.
        if isinstance(event, StepBegan):
            self.emit(event)


def points_of(job: Job) -> list[Failpoint]:
    """The failpoints that a run of the task passes."""
    later = [point for step in planned_steps(stages=job.stages) for point in _POINTS.get(step, ())]
    return [Failpoint.PLANNED, *later]
