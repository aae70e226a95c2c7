"""The schema that was accepted for a task's source, beside the one that the source has now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from samewise.core.errors import ConfigError, Refused
from samewise.core.schema import Schema
from samewise.core.shapes import Shape
from samewise.core.windows import FULL, Window
from samewise.plan.drift import contract_id
from samewise.plan.grid import holds
from samewise.plan.verdict import Difference, Verdict, common_contract, decide, declared_contract
from samewise.run.check import drift_refusal, judge_source
from samewise.run.incremental import pin_next, why_over
from samewise.run.job import Job
from samewise.run.schedule import due
from samewise.state import contracts, receipts, runs
from samewise.state.store import Store


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a task's contract says, and what its source says today."""

    accepted: Schema | None
    """The declared schema, or the stored one; None until the first run."""
    window: Window
    """The window whose source was looked at."""
    shapes: Sequence[Shape]
    """Every shape that the window's data has; none for an incremental task that has nothing new to read."""
    verdict: Verdict

    @property
    def differences(self) -> Sequence[Difference]:
        return self.verdict.differences


def compare(job: Job, store: Store, window: Window | None = None) -> Comparison:
    """Look at the source of a window: the one that is named, or the one that a person most likely asks about.

    That is the last one that was refused for drift and has not been loaded since; else the oldest that waits; else
    the newest that is loaded. Reads no row. Raises `Refused` if there is no source that can be read.
    """
    stored = contracts.current(store, job.pipeline, job.task)
    known = None if stored is None else stored.schema
    accepted = known if job.declared_schema is None else declared_contract(job.declared_schema, known)
    refusal: Refused | None = None
    for at in _candidates(job, store) if window is None else [window]:
        try:
            shapes = _shapes(job, store, at)
        except Refused as error:
            refusal = refusal or error
            continue
        if shapes:
            return Comparison(accepted, at, shapes, judge_source(job, known, shapes))
        if accepted is not None:
            return Comparison(accepted, at, (), Verdict(accepted, (), ()))
    raise refusal or Refused("no window is due and none is loaded: there is no source to look at", code="no_window")


def accept(job: Job, store: Store, comparison: Comparison) -> Schema | None:
    """Make the source's schema of today the contract, and give it; None, and nothing stored, where it is that already.

    Raises `Refused` where the files do not agree on one, as the first load of them would.
    """
    if not comparison.differences:
        return None
    if job.declared:
        raise ConfigError(
            f"{job.name}: the schema is declared in the pipeline's file, which is the contract",
            kept="nothing was changed",
            next_step="write the new columns under source.schema",
        )
    verdict = decide(common_contract(comparison.shapes, job.drift), comparison.shapes, job.drift)
    if verdict.is_refused:
        error = drift_refusal(job, comparison.window, None, verdict)
        error.message = f"{job.name}: there is no one schema to accept: {error.message}"
        error.with_kept("the contract is as it was")
        raise error
    schema = verdict.contract
    stored = contracts.accept(store, job.pipeline, job.task, contract_id(schema), schema, "accepted by a person")
    return schema if stored else None


def _shapes(job: Job, store: Store, window: Window) -> Sequence[Shape]:
    """Of what the next run of the window reads: of an incremental task what is new, since nothing else is judged."""
    if job.incremental is None:
        return job.source.shapes(job.source.pin(window))
    receipt = receipts.latest(store, job.pipeline, job.task, window)
    over = bool(why_over(job, receipt, job.target.head()))
    going_on = pin_next(job, store, receipt, now=store.now(), force=False, over=over)
    return [] if going_on.nothing else job.source.shapes(going_on.pins)


def _candidates(job: Job, store: Store) -> Iterator[Window]:
    for window in runs.refused_windows(store, job.pipeline, job.task, "drift"):
        # One of another schedule, before it was changed, will never be asked for again.
        if window == FULL if job.grid is None else holds(job.grid, window):
            yield window
    yield from due(job, store, now=store.now())
    yield from sorted(receipts.done_windows(store, job.pipeline, job.task, job.target.key), reverse=True)
