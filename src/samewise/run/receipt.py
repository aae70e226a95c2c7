"""From a landed commit to its receipt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from samewise.core.errors import SamewiseError
from samewise.core.keyed import Batch
from samewise.core.measures import Measures, read_measures
from samewise.core.records import Landed, Receipt, RunRecord, Stamp
from samewise.core.schema import Schema
from samewise.core.sql import Span
from samewise.run.job import Job
from samewise.run.keyed import visible
from samewise.run.observe import figures

if TYPE_CHECKING:
    from pyspark.sql import Observation


@dataclass(slots=True)
class Gathered:
    """What an attempt has learned on its way; empty for one that only finds out that the run has landed."""

    span: Span | None = None
    contract: Schema | None = None
    reading: Observation | None = None
    writing: Observation | None = None
    measures: Measures | None = None
    rows_read: int | None = None
    rows_quarantined: int | None = None
    batch: Batch | None = None
    changes: Mapping[str, int] | None = None
    touched: bool = False
    """What was staged is not what it was before the commit: the target must be asked what it got."""
    seen_version: int | None = None


def landed_receipt(job: Job, run: RunRecord, landed: Landed, gathered: Gathered, attempt_id: str) -> Receipt:
    """The receipt of a run whose commit is in the target, whichever attempt of it committed."""
    commit = landed.commit
    stamp = None if commit is None else commit.stamp
    own = stamp is not None and stamp.attempt_id == attempt_id
    head = job.target.head()
    version = commit.version if commit is not None else (-1 if head is None else head.version)
    measures = _measures(job, run, landed, gathered, own=own)
    changes = _changes(gathered, stamp, own=own)
    quarantined = gathered.rows_quarantined
    if quarantined is None and stamp is not None:
        quarantined = stamp.rows_quarantined
    return Receipt(
        run_id=run.run_id,
        pipeline=run.pipeline,
        task=run.task,
        window=run.window,
        generation=run.generation,
        target=run.target,
        target_version=version,
        definition=run.definition,
        fingerprint=run.fingerprint,
        contract=run.contract if stamp is None else stamp.contract,
        measures=measures,
        rows_read=_rows_read(job, gathered, stamp, measures, quarantined, own=own),
        rows_staged=measures.rows if measures is not None and job.stages else None,
        rows_quarantined=quarantined,
        epoch=run.epoch,
        wrote=commit is not None or job.keyed is None,
        table_id=None if head is None else head.table_id,
        rows_inserted=changes.get("rows_inserted"),
        rows_updated=changes.get("rows_updated"),
        rows_deleted=changes.get("rows_deleted"),
        rows_unchanged=changes.get("rows_unchanged"),
        seen_version=gathered.seen_version if stamp is None else stamp.seen_version,
    )


def _changes(gathered: Gathered, stamp: Stamp | None, *, own: bool) -> dict[str, int]:
    """Who did what to the target: by the commit itself, or by the attempt that found nothing to commit."""
    counts = gathered.changes if own or stamp is None else stamp.changes
    return {} if counts is None else visible(counts)


def landed_contract(landed: Landed, gathered: Gathered) -> Schema | None:
    """The schema that the rows were loaded under: from this attempt, or from the commit itself."""
    if gathered.contract is not None or landed.commit is None or landed.commit.stamp is None:
        return gathered.contract
    found = landed.commit.stamp.contract_schema
    return Schema.from_json(found) if isinstance(found, list) else None


def _measures(job: Job, run: RunRecord, landed: Landed, gathered: Gathered, *, own: bool) -> Measures | None:
    """As they were taken on the way; or, in doubt, as the target shows them at that version."""
    commit = landed.commit
    if job.keyed is not None and (commit is None or commit.stamp is None):
        return gathered.measures
    if commit is None or commit.stamp is None:
        return None
    if job.keyed is not None and commit.stamp.measures is not None:
        if own and gathered.touched:
            raise published_differs("what was staged was changed while it was published", commit.version)
        # What was verified before the MERGE; the target counts what it copied, too.
        return Measures.from_json(commit.stamp.measures)
    on_the_way: Measures | None = None
    if commit.stamp.measures is not None:
        on_the_way = Measures.from_json(commit.stamp.measures)
    elif own and gathered.writing is not None:
        found = figures(gathered.writing)
        on_the_way = None if found is None else read_measures(found)
    # A stage that Spark had to run again is observed twice, so the target's own count has the last word.
    if on_the_way is not None and not gathered.touched and commit.rows in (None, on_the_way.rows):
        return on_the_way
    head = job.target.head()
    span = gathered.span or job.span(run.window, None if head is None else head.schema)
    shown = job.target.measure(span, commit.version)
    if commit.stamp.measures is not None:
        assert on_the_way is not None
        if shown.same_rows(on_the_way):
            return on_the_way
        told = f"{on_the_way.rows} rows were verified, {shown.rows} were published"
        raise published_differs(told if shown.rows != on_the_way.rows else f"{told}, and they differ", commit.version)
    return shown


def published_differs(message: str, version: int) -> SamewiseError:
    """What is in the target is not what was verified."""
    return SamewiseError(
        message,
        kept=f"the target is at version {version}, and this run is not recorded",
        next_step=f"look at the table; RESTORE it to version {version - 1} if these rows are wrong, then run again",
        code="published_differs",
    )


def _rows_read(
    job: Job,
    gathered: Gathered,
    stamp: Stamp | None,
    measures: Measures | None,
    quarantined: int | None,
    *,
    own: bool,
) -> int | None:
    if gathered.rows_read is not None:
        return gathered.rows_read
    if stamp is not None and stamp.rows_read is not None:
        return stamp.rows_read
    if own and gathered.reading is not None:
        found = figures(gathered.reading)
        return None if found is None else int(found["rows"]) + (quarantined or 0)
    if measures is None or not job.passes_through or job.dedup is not None or (job.sets_aside and quarantined is None):
        return None
    # Whichever attempt wrote them: every row that was read is in the target or in the quarantine.
    return measures.rows + (quarantined or 0)
