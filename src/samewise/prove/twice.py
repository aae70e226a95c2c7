"""The same window once more, with --force: the table must stay as it is."""

from __future__ import annotations

from collections.abc import Iterator

from samewise.prove.clean import Clean
from samewise.prove.judge import Trial, rewriting
from samewise.prove.laboratory import Laboratory, Start
from samewise.prove.verdict import Verdict

NAME = "twice"


def twice(lab: Laboratory, clean: Clean) -> Iterator[Verdict]:
    """Run the newest window again on top of the clean run."""
    trial = Trial(clean, NAME, "run again with --force")
    with lab.fork(Start.AFTER) as fork:
        trial.counts.append(clean.total)
        ran = fork.run(lab.windows[-1:], force=True)
        trial.count(fork)
        failed = trial.failed(ran) or trial.passed_over(ran)
        yield failed or trial.judged(fork, must_write=rewriting(lab, clean))
