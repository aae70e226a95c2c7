"""From a run's pins to the rows that it would write, every shape on the way decided. No row moves here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from samewise.core.ports import Source
from samewise.core.records import Pins, RunRecord
from samewise.core.schema import Schema
from samewise.core.shapes import Fit
from samewise.core.sql import Span
from samewise.run.change import check_change_columns
from samewise.run.check import check_result, check_source, result_span
from samewise.run.dedup import without_duplicates
from samewise.run.job import Job
from samewise.run.keyed import check_keyed
from samewise.run.keys import with_hash_key
from samewise.run.observe import observed
from samewise.run.transform import Context, Keys, check_plan
from samewise.run.verify import bad_manifest, manifest_sums, source_expressions, unsummable
from samewise.state import contracts
from samewise.state.store import Store
from samewise.storage.frames import schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation


@dataclass(frozen=True, slots=True)
class Prepared:
    """The transform's result over the pinned rows, lazily."""

    rows: DataFrame
    span: Span | None
    contract: Schema
    """The schema that the rows are loaded under."""
    known_contract: str | None
    """The one that is stored; None before the first load."""
    fits: Sequence[Fit] | None
    reading: Observation | None
    """How many rows were read, once they have been; None where nothing comes between them and the result."""


def prepare_rows(job: Job, run: RunRecord, store: Store | None) -> Prepared:
    """Decide about every shape: the source's, the result's, the target's.

    Raises `PinsGone` if what was pinned is no longer there, `Refused` where the source has drifted too far
    or a manifest cannot be compared with it, `TransformFailed` for a result that cannot be written.
    """
    check_pins(job, run)
    known = None if store is None else contracts.current(store, job.pipeline, job.task)
    verdict = check_source(job, run.window, None if known is None else known.schema, job.source.shapes(run.source))
    rows, reading = _build(job, run, verdict.fits)
    head = job.target.head()
    result = schema_of(rows)
    check_result(job, result, None if head is None else head.schema)
    check_change_columns(job, result)
    if job.keyed is not None:
        check_keyed(job.keyed, result)
    if not job.passes_through:
        check_plan(rows, job.spark(), incremental=job.incremental is not None, keys=_keys(job, run))
    return Prepared(
        rows=rows,
        span=result_span(job, run.window, result),
        contract=verdict.contract,
        known_contract=None if known is None else known.contract_id,
        fits=verdict.fits,
        reading=reading,
    )


def _keys(job: Job, run: RunRecord) -> Keys | None:
    if job.keyed is None:
        return None
    key = job.keyed.key if job.hash_key is None else job.hash_key.of
    return Keys(key, job.keyed.version_by, run.run_ts, job.zone)


def check_pins(job: Job, run: RunRecord) -> None:
    """Raise `PinsGone` if what the run reads is no longer what was pinned."""
    sources: list[tuple[Source, Pins]] = [(job.source, run.source)]
    sources += [(source, run.inputs[name]) for name, source in job.inputs.items()]
    for source, pins in sources:
        source.check(pins)


def _build(job: Job, run: RunRecord, fits: Sequence[Fit] | None) -> tuple[DataFrame, Observation | None]:
    """The transform over the pinned rows, with the reading observed."""
    manifest = run.source.details.get("manifest") or {}
    sums = manifest_sums(manifest)
    rows, reading = job.source.read(run.source, run.window, fits), None
    problem = unsummable(sums, schema_of(rows)) if sums else None
    if problem is not None:
        raise bad_manifest(manifest, problem)
    if sums or not job.passes_through:
        rows, reading = observed(rows, source_expressions(sums))
    if job.dedup is not None:
        # After the count of what was read: a manifest promises the rows that were sent, repeats and all.
        rows = without_duplicates(rows, job.dedup)
    inputs = {name: source.read(run.inputs[name], run.window) for name, source in job.inputs.items()}
    context = Context(run.window, job.zone, run.run_ts, job.params, inputs, job.spark())
    result = job.transform.apply(rows, context)
    return (result if job.hash_key is None else with_hash_key(result, job.hash_key)), reading
