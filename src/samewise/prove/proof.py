"""All experiments about a pipeline, and what they say together."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from samewise.core.errors import SamewiseError, UsageError
from samewise.prove import concurrent, empty, killed, order, shuffled, twice
from samewise.prove.clean import Clean, clean
from samewise.prove.laboratory import Laboratory
from samewise.prove.verdict import Outcome, Proof, Verdict
from samewise.run.events import ExperimentBegan, ExperimentEnded, Listener

Experiment = Callable[[Laboratory, Clean], Iterator[Verdict]]

EXPERIMENTS: Mapping[str, Experiment] = {
    "twice": twice.twice,
    "killed": killed.killed,
    "shuffled": shuffled.shuffled,
    "order": order.order,
    "empty": empty.empty,
    "concurrent": concurrent.concurrent,
}


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
    )


def _all(lab: Laboratory, reference: Clean, wanted: Sequence[str], emit: Listener) -> list[list[Verdict]]:
    """Every experiment's verdicts, in order. Kills take as long as all the others, so they go beside them."""

    stop = threading.Event()

    def made(lane: str, names: Sequence[str]) -> dict[str, list[Verdict]]:
        own = lab if lane == "main" else lab.lane(lane)
        return {name: _made(own, reference, name, wanted.index(name) + 1, len(wanted), emit, stop) for name in names}

    beside = [name for name in wanted if name == killed.NAME and len(wanted) > 1]
    with ThreadPoolExecutor(1, thread_name_prefix="samewise-prove") as thread:
        other = thread.submit(made, "killed", beside)
        try:
            found = made("main", [name for name in wanted if name not in beside])
        except BaseException:
            stop.set()  # Ctrl-C does not wait for the kills that are left.
            raise
        found |= other.result()
    return [found[name] for name in wanted]


def _made(
    lab: Laboratory, reference: Clean, name: str, number: int, of: int, emit: Listener, stop: threading.Event
) -> list[Verdict]:
    emit(ExperimentBegan(name, number, of))
    verdicts = []
    for verdict in _tried(EXPERIMENTS[name], lab, reference, name):
        verdicts.append(verdict)
        told = " ".join(part for part in (verdict.experiment, verdict.detail) if part)
        emit(ExperimentEnded(told, verdict.outcome.value, verdict.seconds))
        if stop.is_set():
            break
    return verdicts


def _tried(experiment: Experiment, lab: Laboratory, reference: Clean, name: str) -> Iterator[Verdict]:
    """The experiment's verdicts; one that cannot be made is void, and does not stop the others."""
    began = time.monotonic()
    try:
        yield from experiment(lab, reference)
    except SamewiseError as error:
        yield Verdict(name, "", Outcome.VOID, round(time.monotonic() - began, 3), message=error.message)
