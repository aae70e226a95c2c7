"""The schema that was accepted for a task's source, beside the one that the source has now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from samewise.core.errors import ConfigError, Refused
from samewise.core.schema import Schema
from samewise.core.windows import Window
from samewise.plan.drift import Change, contract_id, schema_changes
from samewise.run.job import Job
from samewise.run.schedule import due
from samewise.state import contracts, receipts
from samewise.state.store import Store


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a task's contract says, and what its source says today."""

    accepted: Schema | None
    """None until the first run, or where the spec declares the schema: then the spec is the contract."""
    window: Window
    """The window whose source was looked at."""
    found: Schema

    @property
    def changes(self) -> list[Change]:
        return [] if self.accepted is None else schema_changes(self.accepted, self.found, ordered=False)


def compare(job: Job, store: Store) -> Comparison:
    """Look at the source of the oldest window that waits, or of the newest that is loaded. Reads no row.

    Raises `Refused` if no window has a source that can be read.
    """
    accepted = contracts.current(store, job.pipeline, job.task)
    refusal: Refused | None = None
    for window in _candidates(job, store):
        try:
            found = job.source.schema(job.source.pin(window))
        except Refused as error:
            refusal = refusal or error
            continue
        return Comparison(None if accepted is None else accepted.schema, window, found)
    raise refusal or Refused("no window is due and none is loaded: there is no source to look at", code="no_window")


def accept(job: Job, store: Store, comparison: Comparison) -> None:
    """Make the source's schema the contract. A second call changes nothing."""
    if job.declared:
        raise ConfigError(
            f"{job.name}: the schema is declared in the pipeline's file, which is the contract",
            kept="nothing was changed",
            next_step="write the new columns under source.schema",
        )
    found = comparison.found
    contracts.accept(store, job.pipeline, job.task, contract_id(found), found, "accepted by a person")


def _candidates(job: Job, store: Store) -> Iterator[Window]:
    yield from due(job, store, now=store.now())
    yield from sorted(receipts.done_windows(store, job.pipeline, job.task, job.target.key), reverse=True)
