"""The schema that was accepted for a task's source, beside the one that the source has now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from samewise.core.errors import ConfigError, Refused
from samewise.core.schema import Schema
from samewise.core.shapes import Shape
from samewise.core.windows import Window
from samewise.plan.drift import contract_id
from samewise.plan.verdict import Difference, Verdict, common_contract, decide, declared_contract
from samewise.run.check import drift_refusal, judge_source
from samewise.run.job import Job
from samewise.run.schedule import due
from samewise.state import contracts, receipts
from samewise.state.store import Store


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a task's contract says, and what its source says today."""

    accepted: Schema | None
    """The declared schema, or the stored one; None until the first run."""
    window: Window
    """The window whose source was looked at."""
    shapes: Sequence[Shape]
    """Every shape that the window's data has."""
    verdict: Verdict

    @property
    def differences(self) -> Sequence[Difference]:
        return self.verdict.differences


def compare(job: Job, store: Store) -> Comparison:
    """Look at the source of the oldest window that waits, or of the newest that is loaded. Reads no row.

    Raises `Refused` if no window has a source that can be read.
    """
    stored = contracts.current(store, job.pipeline, job.task)
    known = None if stored is None else stored.schema
    accepted = known if job.declared_schema is None else declared_contract(job.declared_schema, known)
    refusal: Refused | None = None
    for window in _candidates(job, store):
        try:
            shapes = job.source.shapes(job.source.pin(window))
        except Refused as error:
            refusal = refusal or error
            continue
        return Comparison(accepted, window, shapes, judge_source(job, known, shapes))
    raise refusal or Refused("no window is due and none is loaded: there is no source to look at", code="no_window")


def accept(job: Job, store: Store, comparison: Comparison) -> Schema:
    """Make the source's schema of today the contract, and give it. A second call changes nothing.

    Raises `Refused` where the files do not agree on one, as the first load of them would.
    """
    if job.declared:
        raise ConfigError(
            f"{job.name}: the schema is declared in the pipeline's file, which is the contract",
            kept="nothing was changed",
            next_step="write the new columns under source.schema",
        )
    verdict = decide(common_contract(comparison.shapes, job.drift), comparison.shapes, job.drift)
    if verdict.is_refused:
        error = drift_refusal(job, None, verdict)
        error.message = f"{job.name}: there is no one schema to accept: {error.message}"
        error.with_kept("the contract is as it was")
        raise error
    schema = verdict.contract
    contracts.accept(store, job.pipeline, job.task, contract_id(schema), schema, "accepted by a person")
    return schema


def _candidates(job: Job, store: Store) -> Iterator[Window]:
    yield from due(job, store, now=store.now())
    yield from sorted(receipts.done_windows(store, job.pipeline, job.task, job.target.key), reverse=True)
