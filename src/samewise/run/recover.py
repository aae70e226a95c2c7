"""Rebuild what the state store knew about a task from the commits that its target holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from samewise.core.ids import app_id, stable_hash
from samewise.core.measures import Measures
from samewise.core.ownership import check_owner, was_lost
from samewise.core.ports import Head
from samewise.core.records import Pins, Point, Receipt, RunRecord, RunStatus, Stamp, TargetCommit
from samewise.core.schema import Schema
from samewise.core.windows import FULL, Window, parse_instant
from samewise.plan.grid import contiguous_end, due_windows
from samewise.plan.new_files import Loaded
from samewise.run.events import Listener, Note
from samewise.run.incremental import NewFiles, Since
from samewise.run.job import Job
from samewise.run.keyed import visible
from samewise.state import contracts, epochs, files, receipts, restore, runs, watermarks
from samewise.state.store import Store

_RECOVERED = "recovered from the target"


@dataclass(frozen=True, slots=True)
class Recovered:
    """What `recover` found for one task."""

    pipeline: str
    task: str
    target: str
    exists: bool
    adopted: bool = False
    windows: int = 0
    """Windows whose receipts were missing and are there now."""
    lost_receipts: int = 0
    """Windows that are known to be loaded, though the log no longer says with what."""
    watermark: datetime | None = None


def recover(job: Job, store: Store, *, adopt: bool, emit: Listener) -> Recovered:
    """Bring the store up to what the target holds. A second call changes nothing.

    Raises `ForeignTarget` if the target belongs to another store, unless `adopt` makes it ours.
    """
    head = job.target.head()
    if head is None:
        return Recovered(job.pipeline, job.task, job.target.key, exists=False)
    changes_hands = head.owner is not None and head.owner != job.owner
    if head.owner is not None and changes_hands and not adopt and not was_lost(head.owner, job.owner):
        check_owner(head.owner, job.owner, job.target.key)
    known = job.target.known_commits()
    commits = [part for c in known if _is_ours(c, job) for part in _parts(c)]
    generation = runs.latest_generation(store, job.pipeline, job.task, FULL)
    restored = sum(_restore(job, store, commit, head, emit) for commit in _newest(commits))
    lost = _restore_lost(job, store, commits, head)
    _restore_contract(job, store, commits)
    if job.keyed is not None:
        _restore_epoch(job, store, commits, log_is_whole=bool(known) and known[0].version == 0)
    mark = None
    if job.grid is not None:
        done = receipts.done_windows(store, job.pipeline, job.task, job.target.key)
        mark = contiguous_end(job.grid, done)
        restore.restore_watermark(store, job.pipeline, job.task, mark, _RECOVERED)
    elif isinstance(job.incremental, Since):
        mark = _restore_mark(job, store, commits, generation)
    elif isinstance(job.incremental, NewFiles):
        _restore_files(job, store, commits, generation)
    if changes_hands:
        # Last: until everything is there again, a run must not be able to start.
        job.target.adopt(job.owner)
    return Recovered(job.pipeline, job.task, job.target.key, True, changes_hands, restored, lost, mark)


def _is_ours(commit: TargetCommit, job: Job) -> bool:
    stamp = commit.stamp
    return stamp is not None and stamp.takes_token and (stamp.pipeline, stamp.task) == (job.pipeline, job.task)


def _parts(commit: TargetCommit) -> list[TargetCommit]:
    """A commit as its windows would tell it, each for itself: a group's commit is one of each of them."""
    assert commit.stamp is not None
    return [replace(commit, stamp=part, rows=None) for part in commit.stamp.parts] if commit.stamp.members else [commit]


def _newest(commits: Sequence[TargetCommit]) -> list[TargetCommit]:
    """The last commit of each window that carried data, and any later burned token of it."""
    newest: dict[tuple[Window, str], TargetCommit] = {}
    for commit in commits:
        assert commit.stamp is not None
        key = (commit.stamp.window, commit.stamp.kind)
        known = newest.get(key)
        if known is None or known.stamp is None or known.stamp.generation < commit.stamp.generation:
            newest[key] = commit
    return sorted(newest.values(), key=lambda commit: commit.version)


def _restore_mark(job: Job, store: Store, commits: Sequence[TargetCommit], known: int) -> datetime | None:
    """The watermark of the newest commit, also where a person has moved it back, unless the store knows a newer run.

    A run that found nothing to write moved it without a commit: then some rows are read once more.
    """
    told = [c.stamp for c in commits if c.stamp is not None and c.stamp.watermark is not None]
    newer = sorted((stamp for stamp in told if stamp.generation > known), key=lambda stamp: stamp.generation)
    kept = {move.run_id for move in watermarks.moves(store, job.pipeline, job.task)}
    for stamp in newer:
        # What a person did is kept step by step; of the runs, where the last one came to.
        if stamp.run_id not in kept and (stamp.moved is not None or stamp is newer[-1]):
            _move_again(job, store, stamp)
    return watermarks.current(store, job.pipeline, job.task)


def _restore_files(job: Job, store: Store, commits: Sequence[TargetCommit], known: int) -> None:
    """The ledger of files, commit by commit; what the store knows stands, unless a newer run has loaded it again.

    A run that found every row in the target told nobody, nor did one of very many files: these are loaded once more.
    """
    ledger = files.loaded(store, job.pipeline, job.task)
    told = [c.stamp for c in commits if c.stamp is not None and c.stamp.kind == "data"]
    for stamp in sorted(told, key=lambda stamp: stamp.generation):
        found = {path: Loaded(int(size), version) for path, size, version in stamp.files}
        if stamp.generation <= known:
            found = {path: file for path, file in found.items() if path not in ledger}
        restore.restore_files(store, job.pipeline, job.task, found, stamp.run_id)


def _move_again(job: Job, store: Store, stamp: Stamp) -> None:
    assert stamp.watermark is not None
    value = parse_instant(stamp.watermark)
    if stamp.moved is None:
        restore.restore_moved_watermark(store, job.pipeline, job.task, value, _RECOVERED)
        return
    restore.restore_moved_watermark(
        store,
        job.pipeline,
        job.task,
        value,
        stamp.moved["reason"],
        run_id=stamp.run_id,
        moved_by=stamp.moved["by"],
    )


def _restore(job: Job, store: Store, commit: TargetCommit, head: Head, emit: Listener) -> bool:
    stamp = commit.stamp
    assert stamp is not None
    if stamp.kind == "watermark":
        return False
    record = _record(job, stamp, commit.version)
    if stamp.kind == "burn":
        restore.restore_run(store, record, None)
        return False
    known = receipts.latest(store, job.pipeline, job.task, stamp.window)
    if known is not None and known.generation >= stamp.generation:
        return False
    changes = {} if stamp.changes is None else visible(stamp.changes)
    measures = _measures(job, stamp, commit, emit)
    receipt = Receipt(
        run_id=stamp.run_id,
        pipeline=job.pipeline,
        task=job.task,
        window=stamp.window,
        generation=stamp.generation,
        target=job.target.key,
        target_version=commit.version,
        definition=stamp.definition,
        fingerprint=stamp.fingerprint,
        contract=stamp.contract,
        measures=measures,
        rows_read=stamp.rows_read,
        rows_quarantined=stamp.rows_quarantined,
        rows_staged=measures.rows if job.stages else None,
        recovered=True,
        epoch=stamp.epoch,
        landed_at=commit.timestamp,
        table_id=head.table_id,
        rows_inserted=changes.get("rows_inserted"),
        rows_updated=changes.get("rows_updated"),
        rows_deleted=changes.get("rows_deleted"),
        rows_unchanged=changes.get("rows_unchanged"),
        seen_version=stamp.seen_version,
    )
    return restore.restore_run(store, record, receipt)


def _measures(job: Job, stamp: Stamp, commit: TargetCommit, emit: Listener) -> Measures:
    """From the commit where it carries them; otherwise the target is measured as it was at that version."""
    if stamp.measures is not None:
        return Measures.from_json(stamp.measures)
    emit(Note(f"measuring {job.name} {job.label(stamp.window)}"))
    head = job.target.head()
    span = job.span(stamp.window, None if head is None else head.schema)
    return job.target.measure(span, commit.version)


def _restore_lost(job: Job, store: Store, commits: Sequence[TargetCommit], head: Head) -> int:
    """Windows whose token is in the target and whose commit is no longer in its log: loaded, never due again."""
    told = {commit.stamp.window for commit in commits if commit.stamp is not None}
    windows = [FULL] if job.grid is None else due_windows(job.grid, told, now=store.now())
    lost = 0
    for window in windows:
        generation = job.target.generation(app_id(job.pipeline, job.task, window))
        if window in told or generation == 0:
            continue
        stamp = Stamp(
            store_id=store.store_id,
            run_id=stable_hash(["lost", job.target.key, window.key, generation])[:32],
            attempt_id="",
            pipeline=job.pipeline,
            task=job.task,
            window=window,
            generation=generation,
            definition="",
            fingerprint="",
            contract=None,
            run_ts=store.now(),
        )
        receipt = Receipt(
            run_id=stamp.run_id,
            pipeline=job.pipeline,
            task=job.task,
            window=window,
            generation=generation,
            target=job.target.key,
            target_version=head.version,
            table_id=head.table_id,
            definition="",
            fingerprint="",
            contract=None,
            measures=None,
            recovered=True,
        )
        lost += restore.restore_run(store, _record(job, stamp, head.version), receipt)
    return lost


def _restore_contract(job: Job, store: Store, commits: Sequence[TargetCommit]) -> None:
    if contracts.current(store, job.pipeline, job.task) is not None:
        return
    for commit in reversed(commits):
        stamp = commit.stamp
        if stamp is not None and stamp.contract is not None and isinstance(stamp.contract_schema, list):
            schema = Schema.from_json(stamp.contract_schema)
            contracts.accept(store, job.pipeline, job.task, stamp.contract, schema, "recovered from the target")
            return


def _restore_epoch(job: Job, store: Store, commits: Sequence[TargetCommit], *, log_is_whole: bool) -> None:
    """The load epoch that the target has reached: by its commits, and, where they are not all there, by its rows."""
    stamps = [c.stamp for c in commits if c.stamp is not None and c.stamp.epoch is not None]
    newest = max(stamps, key=lambda stamp: stamp.epoch or 0, default=None)
    if newest is not None and newest.epoch is not None:
        epoch = epochs.Epoch(newest.epoch, newest.era or newest.epoch)
        epochs.restore(store, job.pipeline, job.task, epoch, newest.definition, newest.contract)
    if not log_is_whole:
        found = job.target.latest_epoch()
        # Under which definition is not known any more: the next run begins an era of its own.
        epochs.restore(store, job.pipeline, job.task, epochs.Epoch(found, found), None, None)


def _record(job: Job, stamp: Stamp, version: int) -> RunRecord:
    burned = stamp.kind == "burn"
    return RunRecord(
        run_id=stamp.run_id,
        pipeline=job.pipeline,
        task=job.task,
        window=stamp.window,
        generation=stamp.generation,
        target=job.target.key,
        definition=stamp.definition,
        run_ts=stamp.run_ts,
        source=Pins("recovered", stamp.fingerprint, "recovered from the target"),
        contract=stamp.contract,
        epoch=stamp.epoch,
        era=stamp.era,
        base_version=version - 1,
        point=Point.COMMITTING if burned else Point.DELIVERED,
        status=RunStatus.ABANDONED if burned else RunStatus.SUCCEEDED,
    )
