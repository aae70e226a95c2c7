"""A person moves a watermark: in the target first, so that it outlives the state store, then in the store."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Mapping
from datetime import datetime

from samewise.core.errors import Conflict, UsageError
from samewise.core.ids import app_id, new_run_id
from samewise.core.ownership import check_owner
from samewise.core.records import Answer, RunStatus, Stamp
from samewise.core.windows import FULL, instant_text
from samewise.run.incremental import Since, why_over
from samewise.run.job import Job
from samewise.run.window import holding
from samewise.state import receipts, runs, watermarks
from samewise.state.fence import fenced_all
from samewise.state.store import Store

_NOT_MOVED = "the watermark is where it was"


def set_watermark(job: Job, store: Store, value: datetime, reason: str) -> bool:
    """Move the watermark to `value`, back or forward; False if it is there already.

    Takes the task's lease, and a generation of its own in the target, so that a run which was planned
    before can no longer land. A second call changes nothing. Raises `Busy` while a run is under way.
    """
    check_settable(job)
    with holding(job, FULL, store, wait=False) as (lease, heartbeat):
        head = job.target.head()
        if head is not None:
            check_owner(head.owner, job.owner, job.target.key)
        over = why_over(job, receipts.latest(store, job.pipeline, job.task, FULL), head)
        if over:
            raise UsageError(
                f"{job.target.key}: {over[0]}: the next run starts over, whatever the watermark says",
                kept=_NOT_MOVED,
                next_step="write incremental.start in the pipeline's file to start later than at the oldest row",
            )
        if watermarks.current(store, job.pipeline, job.task) == value:
            return False
        unfinished = runs.open_run(store, job.pipeline, job.task, FULL)
        if unfinished is not None and job.target.landed(unfinished).answer is Answer.MINE:
            raise UsageError(
                "an earlier run has landed and is not written down yet",
                kept=_NOT_MOVED,
                next_step=f"`samewise run {job.pipeline}` finishes it; then move the watermark",
            )
        run_id, person = new_run_id(), _person()
        if head is not None:
            _tell_target(job, store, value, run_id, {"by": person, "reason": reason})
        heartbeat.check()
        if unfinished is not None:
            runs.close(store, unfinished, RunStatus.ABANDONED, lease)
        # Whoever was frozen since the check, and overtaken, must not move what the other one has moved since.
        with fenced_all(store, [lease]) as connection:
            return watermarks.move(
                connection,
                job.pipeline,
                job.task,
                value,
                run_id=run_id,
                reason=reason,
                backwards=True,
                moved_by=person,
            )


def check_settable(job: Job) -> None:
    """Raise `UsageError` for a task whose watermark is not anybody's to move."""
    if isinstance(job.incremental, Since):
        return
    if job.grid is not None:
        raise UsageError(
            f"the watermark of {job.name} follows from its windows: it is how far they are loaded without a gap",
            kept=_NOT_MOVED,
            next_step=f"to load windows again: `samewise run {job.pipeline} --from DATE --to DATE --force`",
        )
    raise UsageError(
        f"{job.name} has no watermark: its source is not incremental by a column",
        kept="nothing was changed",
        next_step=f"to load everything again: `samewise run {job.pipeline} --force`",
    )


def _person() -> str:
    try:
        return f"{getpass.getuser()}@{socket.gethostname()}"
    except (KeyError, OSError):  # A container may run as a number that has no name.
        return f"user {os.getuid()}@{socket.gethostname()}"


def _tell_target(job: Job, store: Store, value: datetime, run_id: str, moved: Mapping[str, str]) -> None:
    known = runs.latest_generation(store, job.pipeline, job.task, FULL)
    token = app_id(job.pipeline, job.task, FULL)
    generation = 1 + max(known, job.target.generation(token))
    stamp = Stamp(
        store_id=store.store_id,
        run_id=run_id,
        attempt_id="",
        pipeline=job.pipeline,
        task=job.task,
        window=FULL,
        generation=generation,
        definition=job.definition,
        fingerprint="",
        contract=None,
        run_ts=store.now(),
        kind="watermark",
        watermark=instant_text(value),
        moved=moved,
    )
    job.target.burn(stamp)
    told = [c.stamp.run_id for c in job.target.known_commits() if c.stamp is not None and c.stamp.app_id == token]
    if told[-1:] != [run_id]:
        raise Conflict(
            f"another commit of {job.name} came first", kept=_NOT_MOVED, next_step="run the same command again"
        )
