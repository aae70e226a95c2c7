"""A pipeline's tasks over its windows: each window in the order of the graph, oldest window first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from samewise.core.errors import Busy, Refused, SamewiseError, Superseded
from samewise.core.windows import Window
from samewise.run.events import Listener, Note, WindowBegan, WindowEnded
from samewise.run.results import RunResult, Status, WindowResult
from samewise.run.schedule import Followed, Graph, follow, in_order, wanted_windows
from samewise.run.stale import Left, find_stale, wanted_stale
from samewise.run.window import Options, run_window
from samewise.state import upstream, watermarks
from samewise.state.store import Store


def run_pipeline(
    graph: Graph,
    windows: Sequence[Window] | None,
    store: Store,
    options: Options,
    emit: Listener,
) -> RunResult:
    """Run what is due, or the windows that are asked for. A window that is refused or busy does not stop the others."""
    wanted = wanted_windows(graph, windows, store, now=store.now())
    return _run(graph, wanted, store, options, emit, follows=windows is None)


def run_stale(graph: Graph, kinds: Collection[str], store: Store, options: Options, emit: Listener) -> RunResult:
    """Run the loaded windows that differ from their receipts, and the same windows of what depends on them."""
    found = find_stale(graph, store, kinds)
    for one in found:
        why = f"left as it is: {one.error.message}" if isinstance(one, Left) else "; ".join(one.reasons)
        emit(Note(f"{one.job.name} {one.job.label(one.window)}: {why}"))
    return _run(graph, wanted_stale(graph, found), store, options, emit, follows=True)


def _run(
    graph: Graph,
    wanted: dict[str, set[Window]],
    store: Store,
    options: Options,
    emit: Listener,
    *,
    follows: bool,
) -> RunResult:
    """`follows`: what an incremental task brings makes the loaded windows of those that depend on it due as well."""
    before = _watermark(graph, store)
    results: list[WindowResult] = []
    blocked: set[tuple[str, Window]] = set()
    followed = {job.task: follow(graph, job, store) for job in graph.jobs} if follows else {}
    work, number = in_order(graph, wanted), 0
    while number < len(work):
        job, window = work[number]
        number += 1
        if _waits_for(blocked, graph.depends_on.get(job.task, ()), window):
            blocked.add((job.task, window))
            continue
        emit(WindowBegan(job.task, window, number, len(work)))
        result = run_window(job, window, store, options, emit)
        results.append(result)
        emit(WindowEnded(job.task, window, result.status, result.rows_written, result.seconds or 0.0))
        if result.error is not None and not isinstance(result.error, Superseded):
            blocked.add((job.task, window))
            if not _concerns_one_window(result.error):
                break
        if follows and job.incremental is not None and result.status is Status.SUCCEEDED:
            for other in (other for other in graph.jobs if job.task in graph.depends_on.get(other.task, ())):
                followed[other.task] = follow(graph, other, store)
                wanted[other.task] |= followed[other.task].windows
            # Windows come after it: what is done already stays in its place.
            work = in_order(graph, wanted)
    looked_at = {(result.task, result.window) for result in results} - blocked
    for job in graph.jobs:
        news = followed.get(job.task, Followed())
        if news.landed and all((job.task, window) in looked_at for window in news.windows):
            upstream.see(store, job.pipeline, job.task, news.landed)
    return RunResult(graph.pipeline, results, before, _watermark(graph, store))


def _waits_for(blocked: set[tuple[str, Window]], upstream: Sequence[str], window: Window) -> bool:
    """True if a task that this one depends on did not get through the window, or any window of a whole table."""
    return any(name in upstream and at.overlaps(window) for name, at in blocked)


def _concerns_one_window(error: SamewiseError) -> bool:
    return isinstance(error, Refused | Busy)


def _watermark(graph: Graph, store: Store) -> datetime | None:
    """How far the whole pipeline has come: as far as the task that has come least far."""
    marks = [watermarks.current(store, job.pipeline, job.task) for job in graph.jobs if job.has_watermark]
    known = [mark for mark in marks if mark is not None]
    return min(known) if known and len(known) == len(marks) else None
