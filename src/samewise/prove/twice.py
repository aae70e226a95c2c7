"""The same window once more, with --force: the table must stay as it is.

A forced run of an incremental task reads what is new, or all that is there. So that the very same input is read again,
its state is taken back to where the clean run began.
"""

from __future__ import annotations

from collections.abc import Iterator

from samewise.prove.clean import Clean
from samewise.prove.judge import Trial, rewriting
from samewise.prove.laboratory import Laboratory, Start
from samewise.prove.verdict import Verdict

NAME = "twice"


def twice(lab: Laboratory, clean: Clean) -> Iterator[Verdict]:
    """Run the newest window again on top of the clean run."""
    goes_on = lab.is_incremental and not clean.force
    trial = Trial(clean, NAME, "the same input once more" if goes_on else "run again with --force")
    with lab.fork(Start.AGAIN if goes_on else Start.AFTER) as fork:
        trial.counts.append(clean.total)
        ran = fork.run(lab.windows[-1:], force=not goes_on)
        trial.count(fork)
        failed = trial.failed(ran) or trial.passed_over(ran)
        yield failed or trial.judged(fork, must_write=rewriting(lab, clean))
