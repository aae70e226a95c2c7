"""Making sure that a run which may be on its way to its commit never gets there."""

from __future__ import annotations

import time

from samewise.core.errors import Conflict
from samewise.core.records import Answer, Landed, RunRecord, Stamp
from samewise.run.job import Job

_TRIES = 12


def burn(job: Job, run: RunRecord, stamp: Stamp) -> Landed:
    """Burn the run's token, or find that it is taken. A second call changes nothing.

    The commit of a runner that was killed may be under way still, in a Spark that has outlived it: then the two meet,
    and it is waited for until one of them is there. Raises `Conflict` if that takes too long.
    """
    landed = Landed(Answer.ABSENT)
    for tries in range(1, _TRIES + 1):
        try:
            job.target.burn(stamp)
        except Conflict:
            if tries == _TRIES:
                raise
            time.sleep(0.1 * tries)
        landed = job.target.landed(run)
        if landed.answer is not Answer.ABSENT or not job.target.exists():
            break
    return landed
