"""A kill at every failpoint that the pipeline passes, then the same command once more."""

from __future__ import annotations

from collections.abc import Iterator

from samewise.core.failpoints import Failpoint
from samewise.prove.clean import Clean
from samewise.prove.judge import Trial
from samewise.prove.laboratory import Fork, KillAt, Laboratory, Start
from samewise.prove.verdict import Verdict

NAME = "killed"


def killed(lab: Laboratory, clean: Clean) -> Iterator[Verdict]:
    """Die at each point of each task in turn, each time on a fork of its own."""
    for stop in lab.stops:
        for point in stop.points:
            detail = f"at {point}" if len(lab.stops) == 1 else f"{stop.task} at {point}"
            with lab.fork(Start.BEFORE) as fork:
                yield _killed(Trial(clean, NAME, detail), lab, fork, stop.task, point)


def _killed(trial: Trial, lab: Laboratory, fork: Fork, task: str, point: Failpoint) -> Verdict:
    window = lab.windows[-1:]
    died = fork.run(window, force=trial.clean.force, kill=KillAt(task, point))
    if not died.fired:
        # Not `failed`: a run that was never killed says nothing about kills, however it ended.
        return trial.void(f"the kill at {point} never fired")
    if died.wrote_after_death:
        return trial.void(f"something was still written after the kill at {point}: that was no kill")
    trial.count(fork)
    again = fork.run(window, force=trial.clean.force)
    trial.count(fork)
    return trial.failed(again) or trial.judged(fork)
