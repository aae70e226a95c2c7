"""What becomes of a group that was left unfinished: it landed and is written down, or it never will."""

from __future__ import annotations

from collections.abc import Sequence

from samewise.core.groups import Member
from samewise.core.measures import Measures
from samewise.core.ports import GroupTarget, Target
from samewise.core.records import Answer, Landed, Point, Receipt, RunRecord, RunStatus, Stamp
from samewise.core.schema import Schema
from samewise.core.sql import Spans
from samewise.core.windows import Window
from samewise.plan.drift import contract_id
from samewise.plan.grid import contiguous_end
from samewise.plan.protocol import Course, course
from samewise.run import staging
from samewise.run.burn import burn
from samewise.run.job import Job
from samewise.run.quarantine import keep_only
from samewise.state import attempts, contracts, groups
from samewise.state.checkpoint import Reach
from samewise.state.contracts import Contract
from samewise.state.leases import Lease
from samewise.state.store import Store


def group_target(target: Target) -> GroupTarget | None:
    """The target, if it can publish several windows in one commit."""
    found: GroupTarget | None = target if hasattr(target, "measure_windows") else None  # type: ignore[assignment]
    return found


def settle_group(job: Job, group_id: str, store: Store, held: Sequence[Lease]) -> None:
    """End a group that nobody works at any more. Afterwards it has landed and is recorded, or can never land.

    `held` is the lease of at least one of its windows. A second call changes nothing.
    """
    group = groups.members(store, group_id)
    first = next((member for member in group if member.status is RunStatus.OPEN), None)
    if first is None:
        return
    landed = Landed(Answer.ABSENT)
    if first.point is Point.COMMITTING:
        landed = job.target.landed(first)
    match course(first.point, landed.answer, same_plan=False):
        case Course.REPLAN | Course.GIVE_WAY:
            groups.close(store, group, RunStatus.ABANDONED, held)
        case Course.BURN:
            landed = burn(job, first, group_stamp(job, group, store, kind="burn"))
            if landed.answer is Answer.MINE:
                record_landed(job, group, landed, store, held)
                groups.close(store, group, RunStatus.SUCCEEDED, held)
            else:
                groups.close(store, group, RunStatus.ABANDONED, held)
        case Course.RESUME:
            if first.point is Point.COMMITTING:
                record_landed(job, group, landed, store, held)
            groups.close(store, group, RunStatus.SUCCEEDED, held)
    tidy_up(job, group, store)


def record_landed(
    job: Job,
    group: Sequence[RunRecord],
    landed: Landed,
    store: Store,
    held: Sequence[Lease],
    *,
    measures: Sequence[Measures] | None = None,
    rows_read: Sequence[int | None] | None = None,
    known_contract: str | None = None,
) -> list[Receipt]:
    """Write down the receipts of a group whose commit is in the target.

    What was not measured before the commit is measured now, as it left the target.
    """
    commit = landed.commit
    parts = [] if commit is None or commit.stamp is None else commit.stamp.parts
    told = {part.run_id: part for part in parts}
    head = job.target.head()
    version = commit.version if commit is not None else (-1 if head is None else head.version)
    if measures is None:
        measures = _measured(job, group, [told.get(member.run_id) for member in group], version)
    receipts = []
    for at, member in enumerate(group):
        part = told.get(member.run_id)
        found = None if measures is None else measures[at]
        read = None if rows_read is None else rows_read[at]
        if read is None and part is not None:
            read = part.rows_read
        if read is None and job.passes_through and found is not None:
            read = found.rows
        receipts.append(
            Receipt(
                run_id=member.run_id,
                pipeline=member.pipeline,
                task=member.task,
                window=member.window,
                generation=member.generation,
                target=member.target,
                target_version=version,
                definition=member.definition,
                fingerprint=member.fingerprint,
                contract=member.contract if part is None else part.contract,
                measures=found,
                rows_read=read,
                rows_staged=found.rows if found is not None and job.stages else None,
                table_id=None if head is None else head.table_id,
            )
        )
    contract = _new_contract(job, parts, store, known_contract)
    groups.checkpoint(store, group, receipts, held, watermark=_reach(job), contract=contract)
    return receipts


def _measured(
    job: Job, group: Sequence[RunRecord], parts: Sequence[Stamp | None], version: int
) -> list[Measures] | None:
    told = [part.measures for part in parts if part is not None and part.measures is not None]
    if len(told) == len(group):
        return [Measures.from_json(each) for each in told]
    target, head = group_target(job.target), job.target.head()
    if target is None or head is None or not any(parts):
        return None  # The commit is known by its token alone: its log was cut off.
    return list(target.measure_published(spans_of(job, [member.window for member in group], head.schema), version))


def spans_of(job: Job, windows: Sequence[Window], schema: Schema | None) -> Spans:
    """The rows of each of some windows, in the target."""
    parts = []
    for window in windows:
        span = job.span(window, schema)
        assert span is not None
        parts.append(span)
    return Spans(tuple(parts))


def group_stamp(
    job: Job,
    group: Sequence[RunRecord],
    store: Store,
    *,
    kind: str = "data",
    attempt_id: str = "",
    contract: Schema | None = None,
    measures: Sequence[Measures] | None = None,
    rows_read: Sequence[int | None] | None = None,
) -> Stamp:
    """What the group's commit carries: its own token, and who its windows are."""
    first = group[0]
    assert first.group is not None
    members = tuple(
        Member(
            member.window,
            member.run_id,
            member.generation,
            member.fingerprint,
            None if measures is None else measures[at].to_json(),
            None if rows_read is None else rows_read[at],
        )
        for at, member in enumerate(group)
    )
    return Stamp(
        store_id=store.store_id,
        run_id=first.group.group_id,
        attempt_id=attempt_id,
        pipeline=first.pipeline,
        task=first.task,
        window=first.group.span,
        generation=first.group.generation,
        definition=first.definition,
        fingerprint="",
        contract=first.contract,
        contract_schema=None if contract is None else contract.to_json(),
        run_ts=first.run_ts,
        kind=kind,
        members=members,
    )


def tidy_up(job: Job, group: Sequence[RunRecord], store: Store) -> None:
    """Drop what the group staged, and what earlier runs of its windows set aside if it landed. Safe to call again."""
    drop_staged(job, store, group[0].window)
    newest = groups.members(store, group[0].commit_id)
    for member in newest:
        if member.status is RunStatus.SUCCEEDED:
            keep_only(job, member)


def drop_staged(job: Job, store: Store, window: Window | None = None) -> None:
    """Drop what attempts at a window, or at any of the task's, staged and no live one owns. Safe to call again."""
    for left in attempts.leftovers(store, job.pipeline, job.task, window):
        if left.staging is not None:
            staging.drop(left.staging)
        attempts.mark_dropped(store, left.attempt_id)


def _reach(job: Job) -> Reach | None:
    grid = job.grid
    return None if grid is None else lambda done: contiguous_end(grid, done)


def _new_contract(job: Job, parts: Sequence[Stamp], store: Store, known: str | None) -> Contract | None:
    """The contract that the rows came under, unless it is the one that is `known` to hold.

    A group that is finished late, when that is not known, brings back none that is or was stored.
    """
    schema = parts[0].contract_schema if parts else None
    if not isinstance(schema, list):
        return None
    found = Schema.from_json(schema)
    name = contract_id(found)
    is_stored = contracts.is_stored(store, job.pipeline, job.task, name) if known is None else name == known
    return None if is_stored else Contract(name, found)
