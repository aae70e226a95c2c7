"""All experiments about a pipeline, and what they say together."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue

from samewise.core.errors import SamewiseError, UsageError
from samewise.prove import concurrent, empty, killed, order, shuffled, twice
from samewise.prove.clean import Clean, clean
from samewise.prove.judge import Part
from samewise.prove.laboratory import Laboratory
from samewise.prove.verdict import Outcome, Proof, Verdict
from samewise.run.events import ExperimentBegan, ExperimentEnded, Listener

EXPERIMENTS: Mapping[str, Callable[[Laboratory], Sequence[Part]]] = {
    "twice": lambda _: [twice.twice],
    "killed": killed.killed,
    "shuffled": lambda _: [shuffled.shuffled],
    "order": lambda _: [order.order],
    "empty": lambda _: [empty.empty],
    "concurrent": lambda _: [concurrent.concurrent],
}
_LONG = ("order", "shuffled", "empty")
"""Several runs each, one after the other: begun first, so that none of them is waited for alone."""


def chosen(names: Sequence[str]) -> list[str]:
    """The experiments of these names, in their own order; all without any. Raises UsageError for another name."""
    for name in names:
        if name not in EXPERIMENTS:
            raise UsageError(
                f"there is no experiment {name!r}", next_step=f"use some of {', '.join(EXPERIMENTS)}, with commas"
            )
    return [name for name in EXPERIMENTS if not names or name in names]


def prove(lab: Laboratory, subject: str, target: str, names: Sequence[str], emit: Listener) -> Proof:
    """Make the experiments. Raises what stopped the clean run: without it there is nothing to compare with."""
    began = time.monotonic()
    wanted = chosen(names)
    emit(ExperimentBegan("clean", 0, len(wanted)))
    reference = clean(lab)
    emit(ExperimentEnded("clean", "done", reference.seconds))
    verdicts = [verdict for made in _all(lab, reference, wanted, emit) for verdict in made]
    return Proof(
        subject=subject,
        target=target,
        windows=tuple(lab.label(window) for window in lab.windows),
        clean=reference.main,
        verdicts=tuple(verdicts),
        seconds=round(time.monotonic() - began, 3),
        clean_seconds=reference.seconds,
        notes=tuple(lab.notes),
    )


def _all(lab: Laboratory, reference: Clean, wanted: Sequence[str], emit: Listener) -> list[list[Verdict]]:
    """Every part's verdicts, in the order of the experiments, several parts at a time."""
    parts = [(name, part) for name in wanted for part in EXPERIMENTS[name](lab)]
    found: list[list[Verdict]] = [[] for _ in parts]
    todo: SimpleQueue[int] = SimpleQueue()
    for at in sorted(range(len(parts)), key=lambda at: parts[at][0] not in _LONG):
        todo.put(at)
    stop = threading.Event()

    def work(own: Laboratory) -> None:
        while not stop.is_set():
            try:
                at = todo.get_nowait()
            except Empty:
                return
            name, part = parts[at]
            emit(ExperimentBegan(name, wanted.index(name) + 1, len(wanted)))
            found[at] = _made(part, own, reference, name, emit, stop)

    beside = min(lab.lanes, len(parts)) - 1
    with ThreadPoolExecutor(max(beside, 1), thread_name_prefix="samewise-prove") as threads:
        others = [threads.submit(work, lab.lane(f"lane {number}")) for number in range(beside)]
        try:
            work(lab)
        except BaseException:
            stop.set()  # Ctrl-C does not wait for what is left.
            raise
        for other in others:
            other.result()
    return found


def _made(
    part: Part, lab: Laboratory, reference: Clean, name: str, emit: Listener, stop: threading.Event
) -> list[Verdict]:
    verdicts = []
    for verdict in _tried(part, lab, reference, name):
        verdicts.append(verdict)
        told = " ".join(word for word in (verdict.experiment, verdict.detail) if word)
        emit(ExperimentEnded(told, verdict.outcome.value, verdict.seconds))
        if stop.is_set():
            break
    return verdicts


def _tried(part: Part, lab: Laboratory, reference: Clean, name: str) -> Iterator[Verdict]:
    """The part's verdicts; one that cannot be made is void, and does not stop the others."""
    began = time.monotonic()
    try:
        yield from part(lab, reference)
    except SamewiseError as error:
        yield Verdict(name, "", Outcome.VOID, round(time.monotonic() - began, 3), message=error.message)
