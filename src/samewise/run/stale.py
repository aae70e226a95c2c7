"""Loaded windows that are no longer what their receipts say, and why."""

from __future__ import annotations

from collections.abc import Collection
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
class Sourceless:
    """A loaded window whose source cannot be read any more: there is nothing to load it again from."""

    job: Job
    window: Window
    error: Refused


def find_stale(graph: Graph, store: Store, kinds: Collection[str]) -> list[Stale | Sourceless]:
    """Every loaded window of the pipeline that differs in one of `kinds`, task by task, oldest first. Reads no row."""
    found: list[Stale | Sourceless] = []
    wanted = frozenset().union(*(STALE[kind] for kind in kinds))
    for job in graph.jobs:
        for window in sorted(receipts.done_windows(store, job.pipeline, job.task, job.target.key)):
            if (job.grid is None) != (window == FULL):
                continue  # Of another schedule, before it was changed.
            one = _look(job, window, store, wanted)
            if one is not None:
                found.append(one)
    return found


def _look(job: Job, window: Window, store: Store, wanted: frozenset[Reason]) -> Stale | Sourceless | None:
    # What is new for an incremental task is not stale: every ordinary run goes on with it.
    wanted = wanted - {Reason.SOURCE} if job.incremental is not None else wanted
    try:
        plan: Plan = make_plan(job, window, store, force=False, stale=True)
    except Refused as error:
        # An incremental task looks for files that it has loaded only where it must load them again.
        needs_all = job.incremental is not None and error.code == "no_files"
        return Sourceless(job, window, error) if needs_all or Reason.SOURCE in wanted else None
    reasons = tuple(reason for reason in plan.stale if reason in wanted)
    return Stale(job, window, reasons) if reasons else None


def could_have_more(job: Job, window: Window, store: Store) -> bool:
    """Whether the window's source fits the contract that holds now: only then could a load under it bring anything.

    Looks at headers and footers; no row is read.
    """
    contract = contracts.current(store, job.pipeline, job.task)
    known = None if contract is None else contract.schema
    return not judge_source(job, known, job.source.shapes(job.source.pin(window))).is_refused
