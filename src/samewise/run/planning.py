"""Is there anything to do for a window, and what exactly? Nothing here starts Spark if it can be helped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from samewise.core.errors import ConfigError, Refused
from samewise.core.ids import new_run_id
from samewise.core.ownership import check_owner
from samewise.core.records import Pins, Receipt, RunRecord
from samewise.plan.protocol import Step, planned_steps
from samewise.plan.unchanged import Reason, why_due
from samewise.run.incremental import goes_on, pin_next, why_outdated, why_over
from samewise.state import contracts, receipts, runs

if TYPE_CHECKING:
    from samewise.core.ports import Head
    from samewise.core.sql import Span
    from samewise.core.windows import Window
    from samewise.run.job import Job
    from samewise.state.store import Store


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a window would read now."""

    source: Pins
    tables: Mapping[str, Pins]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run of a window would do: what a dry run shows and a run follows."""

    job: Job
    window: Window
    inputs: Inputs
    generation: int
    reason: Reason | None
    """None: nothing would change."""
    base_version: int
    span: Span | None
    """The predicate of the write; None where the whole table is replaced, or its type is not known yet."""
    steps: list[Step]
    now: datetime
    """The store's clock before anything was pinned: whatever lands later, this plan may not have seen."""
    stale: Sequence[Reason] = ()
    """Everything in which the window differs from its receipt."""
    mark: datetime | None = None
    """The watermark that an incremental run goes on from."""
    next_mark: datetime | None = None
    """And the one that it would leave."""
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Past:
    """What the state store knows about a window."""

    now: datetime
    receipt: Receipt | None = None
    generation: int = 0
    """The highest that was planned."""

    @classmethod
    def of(cls, job: Job, window: Window, store: Store | None) -> Past:
        if store is None:
            return cls(datetime.now(UTC))
        now, receipt = store.now(), receipts.latest(store, job.pipeline, job.task, window)
        return cls(now, receipt, runs.latest_generation(store, job.pipeline, job.task, window))


def landed_since(receipt: Receipt | None, since: datetime) -> bool:
    """Whether this store saw the load land at `since` or later; of one that was recovered nobody knows when it did."""
    if receipt is None or receipt.recovered or receipt.landed_at is None:
        return False
    return receipt.landed_at >= since


def make_plan(
    job: Job, window: Window, store: Store | None, *, force: bool, stale: bool = False, past: Past | None = None
) -> Plan:
    """Plan a run of one window. Reads names, sizes and logs; writes nothing. No store: nothing has run yet.

    `stale`: a window that was loaded under an older contract is due as well. `past`: where it is known already.
    """
    past = past or Past.of(job, window, store)
    now, receipt = past.now, past.receipt
    head = job.target.head()
    tables = {name: source.pin(window) for name, source in job.inputs.items()}
    contract = contracts.current(store, job.pipeline, job.task) if stale and store is not None else None
    contract_id = None if contract is None else contract.contract_id
    going_on = None
    over: list[Reason] = []
    if job.incremental is not None:
        over = why_over(job, receipt, head)
        if stale and store is not None:
            over = [*why_outdated(job, store, contract_id), *over]
        going_on = pin_next(job, store, receipt, now=now, force=force, over=bool(over))
    inputs = Inputs(job.source.pin(window) if going_on is None else going_on.pins, tables)
    if head is not None:
        check_owner(head.owner, job.owner, job.target.key)
    if store is not None and job.marks_rows:
        _check_grid(job, window, store)
    reasons = _reasons(job, window, inputs, receipt, head, contract_id)
    if going_on is not None:
        # What is not in `over` is a reason to load what is new, as long as there is any.
        reasons = over if going_on.nothing else [*over, *(reason for reason in reasons if reason not in over)]
    reason = Reason.FORCED if force else (reasons[0] if reasons else None)
    record = _record(job, window, inputs, generation=1, base_version=-1 if head is None else head.version)
    return Plan(
        job=job,
        window=window,
        inputs=inputs,
        generation=1 + max(past.generation, job.target.generation(record.app_id)),
        reason=reason,
        base_version=record.base_version,
        span=_likely_span(job, window, head),
        steps=planned_steps(stages=job.stages),
        now=now,
        stale=reasons,
        mark=None if going_on is None else going_on.before,
        next_mark=None if going_on is None else going_on.after,
        notes=() if going_on is None else going_on.notes,
    )


def new_run(plan: Plan, *, forced: bool) -> RunRecord:
    """The run that a plan asks for, with a fresh identity and a frozen clock."""
    return replace(new_record(plan), forced=forced)


def new_record(plan: Plan) -> RunRecord:
    """The same for who only wants to know."""
    record = _record(plan.job, plan.window, plan.inputs, plan.generation, plan.base_version)
    return replace(record, run_ts=plan.now)


def can_resume(job: Job, run: RunRecord, store: Store, *, force: bool) -> bool:
    """True if planning again would give the run that is there already, so that it can go on."""
    if job.incremental is not None:
        return goes_on(job, run, store, force=force)
    try:
        plan = make_plan(job, run.window, store, force=force)
    except Refused:
        return False
    fresh = _record(job, run.window, plan.inputs, run.generation, run.base_version)
    unforced = force and not run.forced
    return not unforced and fresh.definition == run.definition and fresh.fingerprint == run.fingerprint


def _check_grid(job: Job, window: Window, store: Store) -> None:
    """Raise where a window of another grid is in the target: its rows have other marks, and would stay beside ours."""
    other = receipts.overlapping(store, job.pipeline, job.task, job.target.key, window)
    if other is not None:
        raise ConfigError(
            f"{job.target.key} holds the window {other.key}, which overlaps {window.key}: the schedule was changed",
            kept="the target is untouched",
            next_step="take the schedule back; or name another target, for the new schedule to load from its start",
            code="changed_grid",
        )


def _reasons(
    job: Job, window: Window, inputs: Inputs, receipt: Receipt | None, head: Head | None, contract: str | None
) -> list[Reason]:
    record = _record(job, window, inputs, generation=1, base_version=-1)
    commits = None
    if receipt is not None and head is not None:
        commits = job.target.commits(receipt.known_up_to)
    return why_due(
        receipt,
        definition=job.definition,
        fingerprint=record.fingerprint,
        target_exists=head is not None,
        commits=commits,
        keyed=job.keyed is not None,
        contract=contract,
        table_id=None if head is None else head.table_id,
        source_tells=bool(inputs.source.details.get("can_tell", True)),
    )


def _record(job: Job, window: Window, inputs: Inputs, generation: int, base_version: int) -> RunRecord:
    return RunRecord(
        run_id=new_run_id(),
        pipeline=job.pipeline,
        task=job.task,
        window=window,
        generation=generation,
        target=job.target.key,
        definition=job.definition,
        run_ts=datetime.min.replace(tzinfo=UTC),
        source=inputs.source,
        inputs=inputs.tables,
        base_version=base_version,
    )


def _likely_span(job: Job, window: Window, head: Head | None) -> Span | None:
    """The write's predicate as far as it can be known without Spark: by the target's schema, or the declared one."""
    for schema in (None if head is None else head.schema, job.declared_schema):
        try:
            return job.span(window, schema)
        except (KeyError, ValueError):
            continue
    return None
