"""A project as Python sees it: open it, run a pipeline, get a typed result."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from samewise.core.errors import Refused, UsageError
from samewise.core.windows import FULL, Window
from samewise.plan.window_text import parse_window
from samewise.run.schedule import Graph, in_order, schedule_work
from samewise.spec.load import Loaded, find_project, load_project
from samewise.state.store import Store
from samewise.wiring.checks import check_pipelines
from samewise.wiring.parts import build_graph, build_grid

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from samewise.core.ports import Spark
    from samewise.prove.verdict import Proof
    from samewise.run.diff import Difference
    from samewise.run.events import Event, Listener
    from samewise.run.job import Job
    from samewise.run.planning import Plan
    from samewise.run.recover import Recovered
    from samewise.run.results import RunResult
    from samewise.run.session import LazySpark
    from samewise.run.spark_conf import SparkSettings
    from samewise.spec.pipeline import PipelineSpec
    from samewise.wiring.backfills import Backfills


def open_project(
    folder: str | Path = ".",
    *,
    env: str | None = None,
    spark: SparkSession | None = None,
    listen: Listener | None = None,
    environ: Mapping[str, str] | None = None,
    fork: Path | None = None,
) -> Project:
    """Open the project in `folder`, or in the nearest folder above it.

    `spark` is a session that the caller brings: it is used and never changed. Without it a session
    is started when one is needed, as samewise.yaml says. Raises `SpecError` with every problem of
    every file. `fork` is a file that `prove` writes for the processes that it kills.
    """
    loaded = load_project(find_project(Path(folder)), env, os.environ if environ is None else environ)
    check_pipelines(loaded)
    if fork is None:
        return Project(loaded, spark, listen or _ignore, env=env)
    from samewise.wiring.fork_place import PLACE
    from samewise.wiring.fork_process import ForkFile

    told = ForkFile.read(fork)
    return Project(told.applied(loaded), spark, told.deadly(listen or _ignore), env=env, place=PLACE)


@dataclass(frozen=True, slots=True)
class Unplanned:
    """A window that cannot be planned now: its source is not there, or not yet."""

    job: Job
    window: Window
    error: Refused
    left: bool = False
    """True for a loaded one that a run would leave as it is, and not even try."""


class Project(AbstractContextManager["Project"]):
    """An open project. Closing it stops the Spark session that it started, and no other."""

    def __init__(
        self,
        loaded: Loaded,
        spark: SparkSession | None,
        listen: Listener,
        *,
        env: str | None = None,
        place: str | None = None,
    ) -> None:
        self.loaded = loaded
        self.env = env
        """The environment that was laid over the settings."""
        self._named_place = place
        self._listen = listen
        self._store: Store | None = None
        self._spark = _Sessions(lambda: self.spark_settings, spark, self._note)

    @property
    def name(self) -> str:
        return self.loaded.project.project

    @property
    def pipelines(self) -> Sequence[str]:
        return list(self.loaded.pipelines)

    def listen(self, listener: Listener) -> None:
        """Tell `listener` what goes on from now on."""
        self._listen = listener

    @property
    def store(self) -> Store:
        """The state store, made on first use."""
        if self._store is None:
            self._store = Store.open(self.loaded.state_url)
        return self._store

    @property
    def known_store(self) -> Store | None:
        """The state store if there is one already: asking never makes it."""
        if self._store is None:
            self._store = Store.find(self.loaded.state_url)
        return self._store

    def run(
        self,
        pipeline: str,
        *,
        window: str | Window | None = None,
        start: str | None = None,
        end: str | None = None,
        force: bool = False,
        wait: bool = False,
        accept_change: bool = False,
        stale: str | None = None,
    ) -> RunResult:
        """Run every due window, or those that are asked for: `window`, or all from `start` up to `end`.

        `accept_change` lets one window through that `expect: change` would refuse. `stale` runs the loaded
        windows that differ from their receipts: in their `source`, `definition`, `contract` or `target`, or in
        `any` of these. Gives a result also where the data was refused; raises only for a wrong request or setting.
        """
        spec = self.loaded.pipeline(pipeline)
        windows = self.windows(spec, window, start, end)
        kinds = _kinds(stale, named=windows is not None, force=force)
        from samewise.run.pipeline import run_pipeline, run_stale
        from samewise.run.window import Options
        from samewise.storage.files import check_writable

        if accept_change and window is None and spec.schedule is not None:
            raise UsageError(
                "--accept-change lets through one window that a person has looked at",
                kept="nothing was run",
                next_step="name it with --window",
            )
        check_writable(self.loaded.warehouse)
        store = self.store
        if kinds is not None:
            return run_stale(self.graph(pipeline), kinds, store, Options(wait=wait, stale=True), self._listen)
        options = Options(force, wait, accept_change)
        return run_pipeline(self.graph(pipeline), windows, store, options, self._listen)

    def plan(
        self,
        pipeline: str,
        *,
        window: str | Window | None = None,
        start: str | None = None,
        end: str | None = None,
        force: bool = False,
        stale: str | None = None,
    ) -> list[Plan | Unplanned]:
        """What `run` would do: the same windows, bounds, predicates and steps. Writes nothing."""
        spec = self.loaded.pipeline(pipeline)
        windows = self.windows(spec, window, start, end)
        kinds = _kinds(stale, named=windows is not None, force=force)
        store = self.known_store
        if kinds is not None:
            return [] if store is None else self._plan_stale(pipeline, kinds, store)
        now = datetime.now(UTC) if store is None else store.now()
        work = schedule_work(self.graph(pipeline), windows, store, now=now)
        return [_plan(job, at, store, force=force) for job, at in work]

    def diff(
        self,
        pipeline: str,
        *,
        window: str | Window | None = None,
        start: str | None = None,
        end: str | None = None,
    ) -> list[Difference]:
        """How the rows of every due window, or of those that are asked for, would change. Writes nothing.

        Each window is compared with the target as it is now. One for which a run would be refused, for what can be
        seen without staging, has an `error` instead of counts.
        """
        from samewise.run.diff import diff_windows

        windows = self.windows(self.loaded.pipeline(pipeline), window, start, end)
        store = self.known_store
        now = datetime.now(UTC) if store is None else store.now()
        work = schedule_work(self.graph(pipeline), windows, store, now=now)
        return diff_windows(work, store)

    def _plan_stale(self, pipeline: str, kinds: Collection[str], store: Store) -> list[Plan | Unplanned]:
        from samewise.run.stale import Left, find_stale, wanted_stale

        graph = self.graph(pipeline)
        found = find_stale(graph, store, kinds)
        work = in_order(graph, wanted_stale(graph, found))
        plans = [_plan(job, at, store, force=False, stale=True) for job, at in work]
        return [*plans, *(_left(one.job, one.window, one.error) for one in found if isinstance(one, Left))]

    def recover(self, pipeline: str, *, adopt: bool = False) -> list[Recovered]:
        """Rebuild the state store from what the pipeline's targets hold. A second call changes nothing."""
        from samewise.run.recover import recover

        store = self.store
        jobs = self.graph(pipeline).jobs
        return [recover(job, store, adopt=adopt, emit=self._listen) for job in jobs]

    @property
    def spark_settings(self) -> SparkSettings:
        """How a Spark session is started or reached. Raises `ConfigError` for a conf that breaks a promise."""
        from samewise.run.spark_conf import SparkSettings

        spark = self.loaded.project.spark
        return SparkSettings(
            log_dir=self.loaded.root / ".samewise" / "logs",
            master=spark.effective_master,
            remote=spark.remote,
            conf=spark.conf,
            warehouse_dir=self.loaded.warehouse,
        )

    def graph(self, pipeline: str, *, own_session: bool = False) -> Graph:
        """The pipeline's tasks with everything that they need; starts nothing.

        `own_session`: with a Spark session that no other graph uses, for a thread of its own.
        """
        spec = self.loaded.pipeline(pipeline)
        store = self.known_store
        store_id = "" if store is None else store.store_id
        place = "" if store is None else self._named_place or _place(store)
        spark = self._spark.in_zone(str(spec.zone), own_session=own_session)
        return build_graph(self.loaded, spec, spark, store_id, place)

    def spark_in(self, zone: str, *, own_session: bool = False) -> Spark:
        """A Spark session on demand in a zone; `own_session`: one that nobody else uses."""
        return self._spark.in_zone(zone, own_session=own_session)

    def prove(
        self,
        pipeline: str,
        *,
        window: str | Window | None = None,
        last: int | None = None,
        only: Sequence[str] = (),
        sigkill: bool = False,
        keep: bool = False,
    ) -> Proof:
        """Run a pipeline again in every way that production will, on forks, and compare with one clean run.

        The real target and the real state are only read. `window` or the `last` N windows; `only` some of the
        experiments; `sigkill` kills real processes; `keep` leaves the forks. Raises where the clean run fails.
        """
        from samewise.wiring.prove import Asked, prove_pipeline

        return prove_pipeline(self, pipeline, Asked(window, last, tuple(only), sigkill, keep))

    @property
    def backfills(self) -> Backfills:
        """Years of history, resumable: plan, run, pause, verify."""
        from samewise.wiring.backfills import Backfills

        return Backfills(self)

    def _note(self, text: str) -> None:
        from samewise.run.events import Note

        self._listen(Note(text))

    def tell(self, event: Event) -> None:
        """Tell whoever listens."""
        self._listen(event)

    def close(self) -> None:
        """Let go of the state store and of a Spark session that was started here. A second call does nothing."""
        self._spark.stop()
        if self._store is not None:
            self._store.close()
            self._store = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def windows(
        self, spec: PipelineSpec, window: str | Window | None, start: str | None, end: str | None
    ) -> list[Window] | None:
        """The windows that are asked for; None for every due one."""
        if window is None and start is None and end is None:
            return None
        if window is not None and (start is not None or end is not None):
            raise UsageError("a window and a span exclude each other", next_step="use --window, or --from and --to")
        grid = build_grid(spec)
        if grid is None:
            if window in ("full", FULL):
                return [FULL]
            raise UsageError(
                f"{spec.name} has no schedule, so its only window is `full`",
                next_step=f"samewise run {spec.name}",
            )
        if isinstance(window, Window):
            return [window]
        if window is None and (start is None or end is None):
            raise UsageError(
                "a span needs both ends", next_step="use --from DATE --to DATE; the last day is not included"
            )
        try:
            return parse_window(window if window is not None else f"{start}/{end}", grid)
        except ValueError as error:
            raise UsageError(str(error), next_step="a window is 2026-04-25, 2026-04-25T13 or START/END") from error


def _ignore(event: Event) -> None:
    """The listener of someone who only wants the result."""


def _kinds(stale: str | None, *, named: bool, force: bool) -> Collection[str] | None:
    """What a loaded window is to differ in to be run again; None where that is not the question."""
    if stale is None:
        return None
    from samewise.plan.unchanged import STALE

    if named or force:
        raise UsageError(
            "--stale finds its windows itself: it goes without --window, --from, --to and --force",
            next_step="leave out one or the other",
        )
    if stale != "any" and stale not in STALE:
        raise UsageError(f"there is no kind of stale {stale!r}", next_step=f"write one of {', '.join(STALE)}")
    return list(STALE) if stale == "any" else [stale]


def _plan(job: Job, window: Window, store: Store | None, *, force: bool, stale: bool = False) -> Plan | Unplanned:
    from samewise.run.planning import make_plan

    try:
        return make_plan(job, window, store, force=force, stale=stale)
    except Refused as error:
        error.redact(job.redact)
        return Unplanned(job, window, error)


def _left(job: Job, window: Window, error: Refused) -> Unplanned:
    error.redact(job.redact)
    return Unplanned(job, window, error, left=True)


def _place(store: Store) -> str:
    """Where a store lies, for the targets to remember. A file is told apart from one of the same name elsewhere."""
    return f"{socket.gethostname()}:{store.place}" if store.place.startswith("/") else store.place


class _Sessions:
    """Spark for the pipelines of a project. Even the code that would start it is loaded only when it is needed."""

    def __init__(
        self,
        settings: Callable[[], SparkSettings],
        caller: SparkSession | None,
        on_start: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._caller = caller
        self._on_start = on_start
        self._lazy: LazySpark | None = None

    def in_zone(self, zone: str, *, own_session: bool = False) -> Spark:
        """A session on demand whose zone is `zone`; starts nothing."""
        return _OfThread(self, zone) if own_session else _Zoned(self, zone)

    def get(self) -> LazySpark:
        if self._lazy is None:
            from samewise.run.session import LazySpark

            self._lazy = LazySpark(self._settings(), self._caller, self._on_start)
        return self._lazy

    @property
    def started(self) -> bool:
        return self._lazy is not None and self._lazy.started

    def stop(self) -> None:
        """Stop what was started here. A second call does nothing."""
        if self._lazy is not None:
            self._lazy.stop()


@dataclass(frozen=True, slots=True)
class _Zoned:
    """The session that the pipelines of a zone share."""

    sessions: _Sessions
    zone: str

    def __call__(self) -> SparkSession:
        return self.sessions.get().session_for(self.zone)

    @property
    def started(self) -> bool:
        return self.sessions.started

    def alone(self) -> AbstractContextManager[SparkSession]:
        return self.sessions.get().alone_in(self.zone)


@dataclass(slots=True)
class _OfThread:
    """A session of its own, made when it is first asked for."""

    sessions: _Sessions
    zone: str
    _session: SparkSession | None = None

    def __call__(self) -> SparkSession:
        if self._session is None:
            self._session = self.sessions.get().another_in(self.zone)
        return self._session

    @property
    def started(self) -> bool:
        return self.sessions.started

    def alone(self) -> AbstractContextManager[SparkSession]:
        return self.sessions.get().alone_in(self.zone)
