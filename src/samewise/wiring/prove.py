"""`samewise prove`: a laboratory for a project's pipeline. The real target and the real state are only read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from samewise.core.errors import ConfigError, Refused, UsageError
from samewise.core.ports import Spark
from samewise.core.windows import FULL, Window
from samewise.plan.grid import newest_windows
from samewise.run.events import Note
from samewise.run.job import Job
from samewise.run.schedule import Graph
from samewise.run.spark_conf import local_cores
from samewise.spec.pipeline import PipelineSpec
from samewise.state import fork as state_fork
from samewise.state.store import Store
from samewise.storage.files import join
from samewise.wiring.parts import build_graph

if TYPE_CHECKING:
    from samewise.prove.scratch import Scratch
    from samewise.prove.verdict import Proof
    from samewise.wiring.project import Project
    from samewise.wiring.target_forks import TargetForks

KEYED_WINDOWS = 3
"""How many windows are proved where rows find their place by key, unless told otherwise."""
_LOOK_BACK = 400
"""So many windows are looked at for the newest ones that have data."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be proved, and how."""

    window: str | Window | None = None
    last: int | None = None
    only: Sequence[str] = ()
    sigkill: bool = False
    keep: bool = False


def prove_pipeline(project: Project, pipeline: str, asked: Asked) -> Proof:
    """Make the experiments. Raises where even a clean run on a fork does not come to its end."""
    from samewise.prove import proof
    from samewise.prove.scratch import make_scratch, sweep
    from samewise.wiring.fork_process import ForkProcess
    from samewise.wiring.laboratory import Lab
    from samewise.wiring.target_forks import TargetForks, sweep_targets

    proof.chosen(asked.only)  # A misspelt one is told before Spark starts.
    spec = project.loaded.pipeline(pipeline)
    sessions = _Sessions(project, str(spec.zone))
    real = build_graph(project.loaded, spec, sessions("main"), "", "")
    root = project.loaded.root / ".samewise" / "prove"
    with _real_store(project) as store:
        now = datetime.now(UTC) if store is None else store.now()
    windows = choose_windows(project, spec, real, asked, now=now)
    beside = _before(real, windows) if asked.window is not None and "order" in proof.chosen(asked.only) else []
    sweep(root)
    sweep_targets(real.jobs)
    scratch = make_scratch(root, _data_root(project, sessions("main")))
    targets = TargetForks(scratch.folder.name, sessions("main"))
    lab = Lab(project.loaded, spec, real, [*beside, *windows], scratch, sessions, project.tell, targets)
    lab.beside, lab.last_one = beside, asked.last == 1
    if asked.sigkill:
        lab.process = ForkProcess(project.env)
    with _removed(project, scratch, targets, keep=asked.keep):
        lab.prepare(lambda: _real_store(project))
        target = ", ".join(job.target.key for job in real.jobs)
        return proof.prove(lab, pipeline, target, asked.only, project.tell)


@contextmanager
def _removed(project: Project, scratch: Scratch, targets: TargetForks, *, keep: bool) -> Iterator[None]:
    """Whatever happens inside, the forks go at the end; those that are kept, with the next prove."""
    try:
        yield
    finally:
        if keep:
            project.tell(Note(f"kept until the next prove: {scratch.folder}"))
        else:
            targets.remove()
            scratch.remove()


def _data_root(project: Project, spark: Spark) -> str | None:
    """Where a cluster sees the forks: beside the staging. None where Spark is this machine."""
    if project.loaded.project.spark.remote is None and local_cores(str(spark().conf.get("spark.master", "local"))):
        return None
    return join(project.loaded.staging.rpartition("/")[0], "prove")


@contextmanager
def _real_store(project: Project) -> Iterator[Store | None]:
    """The state store, for a moment: whoever is killed while it is open leaves SQLite's side files behind.

    None where there is none. Changes nothing.
    """
    url = project.loaded.state_url
    if not Store.exists(url):
        yield None
        return
    if not state_fork.is_current(url):
        raise ConfigError(
            "the state store was made by an older version, and prove must not change it",
            kept="nothing was run",
            next_step="`samewise status` brings it up to date, then prove again",
        )
    with Store.open(url, create=False) as store:
        yield store


def choose_windows(project: Project, spec: PipelineSpec, graph: Graph, asked: Asked, *, now: datetime) -> list[Window]:
    """What is proved: the windows that are named, or the newest ones that are over and have data."""
    if asked.window is not None and asked.last is not None:
        raise UsageError("--window and --last exclude each other", next_step="use one of them")
    if asked.last is not None and asked.last < 1:
        raise UsageError("--last needs a number from 1 on", next_step="--last 3")
    windowed = [job for job in graph.jobs if job.grid is not None]
    if asked.window is not None:
        named = project.windows(spec, asked.window, None, None) or []
        return sorted(named) if windowed else [FULL]
    if not windowed:
        return [FULL]
    wanted = asked.last or (KEYED_WINDOWS if _is_keyed(graph) else 1)
    found = _newest_with_data(windowed[0], wanted, now=now)
    if not found:
        raise Refused(
            f"{spec.name}: none of its newest windows has data",
            kept="nothing was run",
            next_step="name a window with --window",
            code="nothing_to_prove",
        )
    return found


def _before(graph: Graph, windows: Sequence[Window]) -> list[Window]:
    """Where rows are written by key, the windows with data before the one that is named: it is loaded after them, so
    their order is to be tried. Several that were named are an order of their own."""
    windowed = [job for job in graph.jobs if job.grid is not None]
    if len(windows) != 1 or windows[0].is_full or not _is_keyed(graph):
        return []
    return _newest_with_data(windowed[0], KEYED_WINDOWS - 1, now=windows[0].start)


def _is_keyed(graph: Graph) -> bool:
    return any(job.keyed is not None and job.grid is not None for job in graph.jobs)


def _newest_with_data(job: Job, wanted: int, *, now: datetime) -> list[Window]:
    """The newest windows that are over and have data, up to `wanted` of them, oldest first."""
    assert job.grid is not None
    found: list[Window] = []
    for window in reversed(newest_windows(job.grid, _LOOK_BACK, now=now)):
        if _has_data(job, window):
            found.append(window)
        if len(found) == wanted:
            break
    return sorted(found)


def _has_data(job: Job, window: Window) -> bool:
    try:
        pins = job.source.pin(window)
    except Refused:
        return False
    return pins.size_bytes != 0


@dataclass(slots=True)
class _Sessions:
    """A Spark session for each purpose: two runners at once, and one that shuffles otherwise, need their own."""

    project: Project
    zone: str
    _known: dict[str, Spark] = field(default_factory=dict)

    def __call__(self, purpose: str) -> Spark:
        if purpose not in self._known:
            self._known[purpose] = self.project.spark_in(self.zone, own_session=purpose != "main")
        return self._known[purpose]
