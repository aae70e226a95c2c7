"""The same rows in other partitions and in another order: the table must be the same."""

from __future__ import annotations

from collections.abc import Iterator

from samewise.prove.clean import Clean
from samewise.prove.judge import Trial
from samewise.prove.laboratory import Laboratory, Start, Twist
from samewise.prove.verdict import Verdict

NAME = "shuffled"

_LAYOUTS = (
    ("one partition, one shuffle partition", Twist(seed=1, partitions=1)),
    ("7 partitions, 7 shuffle partitions", Twist(seed=2, partitions=7)),
)
"""One in which everything meets in one place, one in which hardly anything does; two orders of rows."""


def shuffled(lab: Laboratory, clean: Clean) -> Iterator[Verdict]:
    """Run the newest window on each layout."""
    for detail, twist in _LAYOUTS:
        trial = Trial(clean, NAME, detail)
        with lab.fork(Start.BEFORE) as fork:
            ran = fork.run(lab.windows[-1:], force=clean.force, twist=twist)
            trial.count(fork)
            yield trial.failed(ran) or trial.judged(fork)
