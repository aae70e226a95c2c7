"""Two runners of the same window at the same time: together they must leave what one leaves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from samewise.prove.clean import Clean
from samewise.prove.judge import Trial
from samewise.prove.laboratory import Laboratory, Ran, Start
from samewise.prove.verdict import Verdict

NAME = "concurrent"
_WAIT_SECONDS = 60.0


def concurrent(lab: Laboratory, clean: Clean) -> Iterator[Verdict]:
    """Start both at once. One of them may find the window busy, or nothing left to do."""
    trial = Trial(clean, NAME, "two runners at once")
    with lab.fork(Start.BEFORE) as fork:
        together = threading.Barrier(2)

        def start(lane: int) -> Ran:
            together.wait(_WAIT_SECONDS)
            return fork.run(lab.windows[-1:], force=clean.force, lane=lane)

        with ThreadPoolExecutor(2, thread_name_prefix="samewise-prove") as threads:
            both = list(threads.map(start, (1, 2)))
        trial.count(fork)
        if all(ran.busy for ran in both):
            # Each met the other: an orchestrator would try again, and so do we.
            both = [fork.run(lab.windows[-1:], force=clean.force)]
        for ran in both:
            verdict = None if ran.busy else trial.failed(ran)
            if verdict is not None:
                yield verdict
                return
        note = "one of them was busy" if any(ran.busy for ran in both) else ""
        yield trial.judged(fork, note)
