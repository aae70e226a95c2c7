"""All experiments about a pipeline, one after the other, and what they say together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

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
    verdicts: list[Verdict] = []
    for number, name in enumerate(wanted, start=1):
        emit(ExperimentBegan(name, number, len(wanted)))
        for verdict in _tried(EXPERIMENTS[name], lab, reference, name):
            verdicts.append(verdict)
            told = " ".join(part for part in (verdict.experiment, verdict.detail) if part)
            emit(ExperimentEnded(told, verdict.outcome.value, verdict.seconds))
    return Proof(
        subject=subject,
        target=target,
        windows=tuple(lab.label(window) for window in lab.windows),
        clean=reference.main,
        verdicts=tuple(verdicts),
        seconds=round(time.monotonic() - began, 3),
        clean_seconds=reference.seconds,
    )


def _tried(experiment: Experiment, lab: Laboratory, reference: Clean, name: str) -> Iterator[Verdict]:
    """The experiment's verdicts; one that cannot be made is void, and does not stop the others."""
    began = time.monotonic()
    try:
        yield from experiment(lab, reference)
    except SamewiseError as error:
        yield Verdict(name, "", Outcome.VOID, round(time.monotonic() - began, 3), message=error.message)
