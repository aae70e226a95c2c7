"""A kill at every failpoint that the pipeline passes, then the same command once more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial

from samewise.core.failpoints import Failpoint
from samewise.prove.clean import Clean
from samewise.prove.judge import Part, Trial
from samewise.prove.laboratory import Fork, KillAt, Laboratory, Start
from samewise.prove.verdict import Verdict

NAME = "killed"
_LANDED = (Failpoint.COMMITTED, Failpoint.CHECKPOINTED, Failpoint.DELIVERED)
"""From here on the commit is there: the next kill goes on from the last one's ruins, and nothing is written twice."""


def killed(lab: Laboratory) -> list[Part]:
    """Die at each point of each task in turn, and each time run the same command again to its end."""
    parts: list[Part] = []
    for stop in lab.stops:
        parts += [partial(_early, stop.task, point) for point in stop.points if point not in _LANDED]
        parts.append(partial(_landed, stop.task, [point for point in stop.points if point in _LANDED]))
    return parts


def _early(task: str, point: Failpoint, lab: Laboratory, clean: Clean) -> Iterator[Verdict]:
    with lab.fork(Start.BEFORE) as fork:
        trial = _trial(lab, clean, task, point)
        yield _died(trial, lab, fork, task, point) or _again(trial, lab, fork)


def _landed(task: str, points: Sequence[Failpoint], lab: Laboratory, clean: Clean) -> Iterator[Verdict]:
    """One run dies at the first of these points, what resumes it at the second, and so on: each is looked at."""
    ruins: Fork | None = None
    for point in points:
        trial = _trial(lab, clean, task, point)
        with ExitStack() as stack:
            fork = stack.enter_context(lab.fork(Start.BEFORE) if ruins is None else lab.copy(ruins))
            void = _died(trial, lab, fork, task, point)
            # A run that was not killed has come to its end: the next one starts afresh.
            ruins = fork if void is None else None
            if void is not None:
                yield void
                continue
            again = stack.enter_context(lab.copy(fork))
            yield _again(trial, lab, again)


def _trial(lab: Laboratory, clean: Clean, task: str, point: Failpoint) -> Trial:
    return Trial(clean, NAME, f"at {point}" if len(lab.stops) == 1 else f"{task} at {point}")


def _died(trial: Trial, lab: Laboratory, fork: Fork, task: str, point: Failpoint) -> Verdict | None:
    """Kill a run; the verdict where that did not work."""
    died = fork.run(lab.windows[-1:], force=trial.clean.force, kill=KillAt(task, point))
    if not died.fired:
        # Not `failed`: a run that was never killed says nothing about kills, however it ended.
        return trial.void(f"the kill at {point} never fired")
    if died.wrote_after_death:
        return trial.void(f"something was still written after the kill at {point}: that was no kill")
    trial.count(fork)
    return None


def _again(trial: Trial, lab: Laboratory, fork: Fork) -> Verdict:
    again = fork.run(lab.windows[-1:], force=trial.clean.force)
    trial.count(fork)
    return trial.failed(again) or trial.judged(fork)
