"""Forks of a pipeline: every target in a scratch place, with a state store of its own, and the real sources."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from samewise.core import failpoints
from samewise.core.failpoints import Kill, Killed
from samewise.core.keyed import BOOKKEEPING_PREFIX, DELETED_AT
from samewise.core.ports import Source, Spark
from samewise.core.sql import Span, quote
from samewise.core.windows import Window
from samewise.prove.inputs import TwistedSource
from samewise.prove.laboratory import AS_IT_IS, Fork, KillAt, Ran, Table, Twist
from samewise.run.events import Event, Listener, WindowBegan
from samewise.run.job import Job
from samewise.run.pipeline import run_pipeline
from samewise.run.schedule import Graph
from samewise.run.transform import PythonTransform, SqlTransform
from samewise.run.window import Options
from samewise.spec.load import Loaded
from samewise.spec.pipeline import PipelineSpec
from samewise.state import leases
from samewise.state.store import Store
from samewise.targets import delta_fork
from samewise.targets.delta import DeltaTarget
from samewise.wiring import elsewhere
from samewise.wiring.fork_place import PLACE, STATE_FILE, trace
from samewise.wiring.parts import build_graph

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LOOK = "look"
_SHUFFLE = "spark.sql.shuffle.partitions"


@runtime_checkable
class Countable(Protocol):
    """A target that counts its rows itself, without Spark."""

    def count_rows(self) -> int: ...


class Process(Protocol):
    """Runs windows of a fork in a process of its own."""

    def __call__(
        self, fork: ForkedPipeline, windows: Sequence[Window], force: bool, kill: KillAt | None, lane: int = 0
    ) -> Ran: ...


@dataclass(slots=True)
class ForkedPipeline:
    """Implements `prove.laboratory.Fork`."""

    folder: Path
    """The state store, and what a run stages."""
    loaded: Loaded
    """The project, with the forks in the place of the targets."""
    spec: PipelineSpec
    windows: Sequence[Window]
    spark: Callable[[str], Spark]
    """A session for a purpose, the same one each time."""
    emit: Listener
    lane: str = "main"
    """The session that runs use; two lanes of experiments go side by side."""
    process: Process | None = None
    """How a run is made where not in this process: one that is to die, and two at once."""
    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    """Rows of tables that were counted before, on whichever fork, by task and identity."""
    versions: dict[str, int] = field(default_factory=dict)
    _graphs: dict[str, Graph] = field(default_factory=dict)

    def open_store(self) -> Store:
        return Store.open(f"sqlite:///{self.folder / STATE_FILE}")

    def graph(self, purpose: str = _LOOK) -> Graph:
        """The jobs on this fork, with a session for a purpose. To look at what is there is one: all tables that are
        compared belong to one session, whichever lane wrote them."""
        if purpose not in self._graphs:
            with self.open_store() as store:
                store_id = store.store_id
            spark = self.spark("main" if purpose == _LOOK else purpose)
            self._graphs[purpose] = build_graph(self.loaded, self.spec, spark, store_id, PLACE)
        return self._graphs[purpose]

    def begin(self) -> None:
        """Remember where each target stands: what lands later is this fork's own."""
        for job in self.graph().jobs:
            head = job.target.head()
            self.versions[job.task] = -1 if head is None else head.version

    def run(
        self,
        windows: Sequence[Window],
        *,
        force: bool = False,
        twist: Twist = AS_IT_IS,
        kill: KillAt | None = None,
        lane: int = 0,
    ) -> Ran:
        try:
            if self.process is not None and (kill is not None or lane > 0):
                return self.process(self, windows, force, kill, lane)
            return self._run(windows, force, twist, kill, lane)
        finally:
            # A target may remember for a moment what its log said before the run.
            self._graphs.pop(_LOOK, None)

    def _run(self, windows: Sequence[Window], force: bool, twist: Twist, kill: KillAt | None, lane: int) -> Ran:
        began = time.monotonic()
        graph = self._twisted(twist, lane)
        options = Options(force=force)
        with self.open_store() as store:
            if kill is None:
                results = run_pipeline(graph, windows, store, options, self.emit).windows
                return Ran(results, time.monotonic() - began)
            traces: list[str] = []
            order = Kill(kill.point, armed=False, on_fire=lambda: traces.append(trace(self.folder)))
            try:
                with failpoints.killing(order):
                    results = run_pipeline(graph, windows, store, options, armed_by(order, kill, self.emit)).windows
            except Killed:
                pass
            else:
                return Ran(results, time.monotonic() - began, fired=order.fired)
        wrote = traces != [trace(self.folder)]
        with self.open_store() as store:
            leases.orphan(store)
        # What it knew about the target died with it.
        self._graphs.clear()
        return Ran([], time.monotonic() - began, fired=True, wrote_after_death=wrote)

    def tables(self) -> Sequence[Table]:
        return self._tables(self._compared)

    def others(self) -> Sequence[Table]:
        return self._tables(self._not_compared)

    def _tables(self, look: Callable[[Job], DataFrame | None]) -> Sequence[Table]:
        found = []
        for job in self.graph().jobs:
            rows = look(job)
            if rows is not None:
                code = job.transform.text if isinstance(job.transform, SqlTransform | PythonTransform) else None
                found.append(Table(job.task, job.target.key, rows, _key(job), strategy(job), code))
        return found

    def total(self) -> int:
        return sum(self._count(job) for job in self.graph().jobs)

    def identity(self, task: str) -> str | None:
        job = next(job for job in self.graph().jobs if job.task == task)
        return delta_fork.identity(job.target) if isinstance(job.target, DeltaTarget) else None

    def wrote(self) -> Mapping[str, bool]:
        landed = {}
        for job in self.graph().jobs:
            commits = job.target.commits(self.versions[job.task]) or []
            stamps = [commit.stamp for commit in commits if commit.stamp is not None]
            landed[job.task] = any(stamp.kind == "data" for stamp in stamps)
        return landed

    def window_rows(self, window: Window) -> Mapping[str, int]:
        counts = {}
        for job in self.graph().jobs:
            head = job.target.head()
            if job.keyed is None and head is not None:
                rows = job.target.rows(job.span(window, head.schema))
                counts[job.task] = 0 if rows is None else rows.count()
        return counts

    def differs_elsewhere(self, task: str, clean: Fork, rows: int) -> bool:
        assert isinstance(clean, ForkedPipeline)
        mine, other = (next(job for job in fork.graph().jobs if job.task == task) for fork in (self, clean))
        spans = self._proved(mine)
        return spans is not None and elsewhere.differs(other, mine, spans, rows)

    def _count(self, job: Job) -> int:
        head = job.target.head()
        if head is None:
            return 0
        if isinstance(job.target, DeltaTarget):
            deletes = job.keyed is not None and head.schema.get(DELETED_AT) is not None
            told = delta_fork.count_rows(job.target, null_in=DELETED_AT if deletes else None)
            if told is not None:
                return told
        elif isinstance(job.target, Countable):
            return job.target.count_rows()
        identity = self.identity(job.task)
        if identity is not None and (job.task, identity) in self.counts:
            return self.counts[job.task, identity]
        rows = self._seen(job)
        counted = 0 if rows is None else rows.count()
        if identity is not None:
            self.counts[job.task, identity] = counted
        return counted

    def _seen(self, job: Job) -> DataFrame | None:
        """The rows of a target as its readers see them: by key, without what Samewise keeps for itself."""
        rows = delta_fork.rows(job.target, job.spark) if isinstance(job.target, DeltaTarget) else None
        rows = job.target.rows(None) if rows is None else rows
        if rows is None or job.keyed is None:
            return rows
        if DELETED_AT in rows.columns:
            rows = rows.where(f"{quote(DELETED_AT)} IS NULL")
        return rows.drop(*[name for name in rows.columns if name.startswith(BOOKKEEPING_PREFIX)])

    def _compared(self, job: Job) -> DataFrame | None:
        """Of a target whose windows replace their own rows, those of the windows; the rest is counted."""
        rows, spans = self._seen(job), self._proved(job)
        if rows is None or spans is None:
            return rows
        return rows.where(" OR ".join(f"({span.sql})" for span in spans))

    def _not_compared(self, job: Job) -> DataFrame | None:
        rows, spans = self._seen(job), self._proved(job)
        return None if rows is None or spans is None else rows.where(elsewhere.outside(spans))

    def _proved(self, job: Job) -> Sequence[Span] | None:
        """What tells the rows of the windows from others; None where the whole table is compared."""
        head = job.target.head()
        if head is None or job.grid is None or job.keyed is not None:
            return None
        spans = [job.span(window, head.schema) for window in self.windows]
        return [span for span in spans if span is not None]

    def _twisted(self, twist: Twist, lane: int) -> Graph:
        if twist == AS_IT_IS:
            return self.graph(self.lane if lane == 0 else f"{self.lane}, runner {lane}")
        graph = self.graph(self.lane if twist.partitions is None else "shuffled")
        if twist.partitions is not None:
            self.spark("shuffled")().conf.set(_SHUFFLE, str(twist.partitions))
        own = {self._key(task.target) for task in self.spec.tasks}
        jobs = []
        for job in graph.jobs:
            source, inputs = job.source, dict(job.inputs)
            # What a task upstream writes is empty by itself, or is not.
            outside = self._key(self.spec.task(job.task).source) not in own
            if outside or not twist.empty:
                source = TwistedSource(source, twist)
            if not twist.empty:
                inputs = {name: _twisted(table, twist) for name, table in inputs.items()}
            jobs.append(replace(job, source=source, inputs=inputs))
        return replace(graph, jobs=jobs)

    def _key(self, ref: object) -> str | None:
        """Where a table is that is named in the spec; None for files and queries."""
        from samewise.spec.connections import PostgresRef
        from samewise.spec.postgres_source import PostgresSource
        from samewise.spec.sources import TableRef

        if isinstance(ref, PostgresSource):
            ref = ref.ref
        return self.loaded.location(ref, self.spec).key if isinstance(ref, TableRef | PostgresRef) else None


def armed_by(order: Kill, kill: KillAt, emit: Listener) -> Listener:
    """A listener that arms the order while the task is at work whose run is to die."""

    def listen(event: Event) -> None:
        if isinstance(event, WindowBegan):
            order.armed = event.task == kill.task
        emit(event)

    return listen


def _twisted(source: Source, twist: Twist) -> Source:
    return TwistedSource(source, twist)


def strategy(job: Job) -> str:
    """The strategy's name in the spec."""
    if job.keyed is not None:
        return "merge" if job.keyed.updates else "insert_new"
    return "refresh" if job.replaces_all else "replace_window"


def _key(job: Job) -> Sequence[str]:
    """What tells one row from another, as far as the pipeline says it."""
    if job.keyed is not None:
        return job.keyed.key
    return job.rules.unique[0] if job.rules.unique else ()
