"""Loaded windows that are no longer what their receipts say, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from samewise.core.errors import Refused
from samewise.core.windows import FULL, Window
from samewise.plan.unchanged import STALE, Reason
from samewise.run.check import judge_source
from samewise.run.job import Job
from samewise.run.planning import Plan, make_plan
from samewise.run.schedule import Graph
from samewise.state import contracts, receipts
from samewise.state.store import Store


@dataclass(frozen=True, slots=True)
class Stale:
    """One window that differs from its receipt."""

    job: Job
    window: Window
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Left:
    """A loaded window that differs and is left as it is: its source is gone, or does not fit the contract of now."""

    job: Job
    window: Window
    error: Refused


def find_stale(graph: Graph, store: Store, kinds: Collection[str]) -> list[Stale | Left]:
    """Every loaded window of the pipeline that differs in one of `kinds`, task by task, oldest first. Reads no row.

    What a run does and a dry run shows: both of them go by this.
    """
    found: list[Stale | Left] = []
    wanted = frozenset().union(*(STALE[kind] for kind in kinds))
    for job in graph.jobs:
        for window in sorted(receipts.done_windows(store, job.pipeline, job.task, job.target.key)):
            if (job.grid is None) != (window == FULL):
                continue  # Of another schedule, before it was changed.
            one = _look(job, window, store, wanted)
            if one is not None:
                found.append(one)
    return found


def wanted_stale(graph: Graph, found: Iterable[Stale | Left]) -> dict[str, set[Window]]:
    """The windows that are to be loaded again, by task."""
    wanted: dict[str, set[Window]] = {job.task: set() for job in graph.jobs}
    for one in found:
        if isinstance(one, Stale):
            wanted[one.job.task].add(one.window)
    return wanted


def _look(job: Job, window: Window, store: Store, wanted: frozenset[Reason]) -> Stale | Left | None:
    # What is new for an incremental task is not stale: every ordinary run goes on with it.
    wanted = wanted - {Reason.SOURCE} if job.incremental is not None else wanted
    try:
        plan: Plan = make_plan(job, window, store, force=False, stale=True)
    except Refused as error:
        # An incremental task looks for files that it has loaded only where it must load them again.
        needs_all = job.incremental is not None and error.code == "no_files"
        return Left(job, window, error) if needs_all or Reason.SOURCE in wanted else None
    reasons = tuple(reason for reason in plan.stale if reason in wanted)
    if reasons == (Reason.CONTRACT,):
        refusal = _why_no_more(job, plan, store)
        if refusal is not None:
            return Left(job, window, refusal)
    return Stale(job, window, reasons) if reasons else None


def _why_no_more(job: Job, plan: Plan, store: Store) -> Refused | None:
    """Why a load under the contract that holds now could bring nothing: the source does not fit it. None if it does.

    Looks at headers and footers; no row is read.
    """
    contract = contracts.current(store, job.pipeline, job.task)
    known = None if contract is None else contract.schema
    try:
        verdict = judge_source(job, known, job.source.shapes(plan.inputs.source))
    except Refused as error:
        return error
    if not verdict.is_refused:
        return None
    return Refused(
        "its source has another schema than the one that is accepted now",
        code="drift",
        kept="the rows stand as they were loaded",
        next_step="deliver the window again in the new shape; or let such changes pass with source.drift",
    )
