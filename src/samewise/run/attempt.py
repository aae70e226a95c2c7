"""One try at a run: it asks the protocol what comes next, and does it, until there is nothing left."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from samewise.core import failpoints
from samewise.core.errors import Conflict, MayHaveLanded, PinsGone, Refused, Superseded, Transient
from samewise.core.failpoints import Failpoint
from samewise.core.keyed import FileMarks, Keyed
from samewise.core.measures import measure_expressions
from samewise.core.ports import Write
from samewise.core.records import Answer, Landed, Point, RunRecord, RunStatus, Stamp
from samewise.core.sql import literal
from samewise.core.windows import Window, instant_text
from samewise.plan.drift import contract_id
from samewise.plan.grid import contiguous_end
from samewise.plan.protocol import Progress, Step, next_step
from samewise.plan.spans import WINDOW_COLUMN
from samewise.run import staging
from samewise.run.change import check_change
from samewise.run.events import Listener, Note, StepBegan
from samewise.run.incremental import loaded_files, reached, told_files, was_buried
from samewise.run.job import Job
from samewise.run.keyed import (
    Changes,
    living,
    marked,
    missing_columns,
    range_expressions,
    read_ranges,
    unmarked,
    write_changes,
)
from samewise.run.keys import set_null_keys_aside
from samewise.run.observe import figures, observed
from samewise.run.quarantine import keep_only, set_aside
from samewise.run.receipt import Gathered, landed_contract, landed_receipt
from samewise.run.rows import Prepared, check_pins, prepare_rows
from samewise.run.verify import check_empty, check_manifest, measure_staged
from samewise.state import attempts, contracts, epochs, leases, runs
from samewise.state.attempts import AttemptStatus
from samewise.state.checkpoint import Reach, checkpoint
from samewise.state.contracts import Contract
from samewise.state.heartbeat import Heartbeat
from samewise.state.leases import Lease
from samewise.state.store import Store
from samewise.storage.frames import schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CONFLICT_TRIES = 12
_ORDER = list(Point)


@dataclass(slots=True)
class Attempt:
    """The mutable middle of a run. What it learns is never trusted by another attempt."""

    job: Job
    run: RunRecord
    store: Store
    lease: Lease
    heartbeat: Heartbeat
    attempt_id: str
    number: int
    emit: Listener
    accept_change: bool = False
    """A person has looked at this window: `expect: change` tells about it and lets it through."""

    _point: Point = field(init=False)
    _own: bool = field(init=False, default=False)
    _rows: DataFrame | None = field(init=False, default=None)
    _staged: staging.Staged | None = field(init=False, default=None)
    _gathered: Gathered = field(init=False, default_factory=Gathered)
    _nothing_to_write: bool = field(init=False, default=False)
    _prepared: Prepared | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        # What an earlier attempt prepared is of no use to this one; what it may have committed is.
        late = _ORDER.index(self.run.point) >= _ORDER.index(Point.COMMITTING)
        self._point = self.run.point if late else Point.PLANNED

    def drive(self) -> None:
        """Take the run to its end, from wherever it is. Raises what stopped it."""
        while True:
            landed = Landed(Answer.ABSENT)
            if self._point is Point.COMMITTING:
                landed = self.job.target.landed(self.run)
            progress = Progress(self._point, self._own, self.job.stages, self._nothing_to_write)
            step = next_step(progress, landed.answer)
            self.emit(StepBegan(self.job.task, self.run.window, step, self.number))
            match step:
                case Step.CHECK:
                    self._check()
                case Step.STAGE:
                    self._stage()
                case Step.VERIFY:
                    self._verify()
                case Step.COMMIT:
                    self._commit()
                case Step.CHECKPOINT:
                    self._checkpoint(landed)
                case Step.DELIVER:
                    self._advance(Point.DELIVERED)
                    failpoints.reach(Failpoint.DELIVERED)
                case Step.CLEAN_UP:
                    return self._clean_up()
                case Step.GIVE_WAY:
                    raise Superseded("a newer run of this window has landed", kept="the newer rows stand")

    def _check(self) -> None:
        """Decide about every shape: the source's, the result's, the target's. No row moves."""
        job, run = self.job, self.run
        try:
            self._prepared = prepared = prepare_rows(job, run, self.store)
        except Refused as error:
            if error.code == "target_schema" and (other := self._other_window()) is not None:
                # It may just have brought the column, and be about to say so in the contract.
                raise Transient(f"{error.message}\n{job.label(other)} is being loaded, and may be why") from error
            raise
        self._gathered.contract = prepared.contract
        self._gathered.span = prepared.span
        self._gathered.reading = prepared.reading
        self.run = replace(run, contract=contract_id(prepared.contract))
        rows = prepared.rows
        if job.marks_rows:
            from pyspark.sql import functions as f

            rows = rows.withColumn(WINDOW_COLUMN, f.expr(literal(run.window.key)))
        if job.keyed is not None:
            self.run = epochs.assign(self.store, self.run, self.lease)
            rows = marked(job, job.keyed, self.run, rows)
        self._rows = rows
        self._advance(Point.CHECKED)
        failpoints.reach(Failpoint.CHECKED)

    def _other_window(self) -> Window | None:
        """Another window of this task that is being loaded right now."""
        for window in sorted(runs.open_windows(self.store, self.job.pipeline, self.job.task)):
            if window != self.run.window and leases.owner(self.store, self.job.target.key, window.key) is not None:
                return window
        return None

    def _stage(self) -> None:
        assert self._rows is not None
        self._gathered.rows_quarantined = set_aside(self.job, self.run)
        self._staged = staging.stage(self._rows, self.job.staging_folder(self.run, self.attempt_id))
        # The rows are here: whoever writes at the source need not wait for the commit.
        self.job.source.release(self.run.source)
        self._advance(Point.STAGED)
        failpoints.reach(Failpoint.STAGED)

    def _verify(self) -> None:
        assert self._rows is not None and self._staged is not None and self._prepared is not None
        fits = self._prepared.fits
        gathered, quarantined = self._gathered, self._gathered.rows_quarantined or 0
        staged, without_key = self._staged.read(self.job.spark(), self._rows), 0
        if self.job.set_aside_without:
            staged, without_key = set_null_keys_aside(self.job, self.run, staged, self.job.set_aside_without)
            gathered.rows_quarantined = quarantined + without_key
        if gathered.reading is not None:
            passing = figures(gathered.reading)
            gathered.rows_read = check_manifest(self.job.source, self.run, fits, passing, quarantined)
        if self.job.keyed is None:
            gathered.measures = measure_staged(staged, self.job.rules, gathered.span)
        else:
            own, ranges = unmarked(staged), dict[str, Any]()
            further = range_expressions(schema_of(own), self.job.keyed)
            gathered.measures = measure_staged(own, self.job.rules.of_batch, None, further=further, into=ranges)
            if self.job.rules.of_rows:
                measure_staged(living(staged), self.job.rules.of_rows, None)
            gathered.batch = read_ranges(schema_of(own), self.job.keyed, ranges, self.run.era or 0)
        check_change(self.job, self.run, self.store, gathered.measures, self.emit, accepted=self.accept_change)
        if gathered.reading is None:
            # Nothing came between the source and the staged rows: as many were read.
            passing = {"rows": gathered.measures.rows + without_key}
            gathered.rows_read = check_manifest(self.job.source, self.run, fits, passing, quarantined)
        check_empty(gathered.measures.rows, self.job.on_empty)
        self._rows = staged
        self._advance(Point.VERIFIED)
        failpoints.reach(Failpoint.VERIFIED)

    def _commit(self) -> None:
        """Publish; and again, after another look at the target, when another window's commit came first."""
        assert self._rows is not None
        job = self.job
        if not job.stages:
            self._gathered.rows_quarantined = set_aside(job, self.run)
        for tries in range(1, _CONFLICT_TRIES + 1):
            try:
                self._publish()
                break
            except Conflict:
                if tries == _CONFLICT_TRIES:
                    raise
                time.sleep(random.uniform(0.05, 0.3) * tries)
                if job.target.landed(self.run).answer is not Answer.ABSENT:
                    break
        failpoints.reach(Failpoint.COMMITTED)
        if not self._nothing_to_write and job.target.landed(self.run).answer is Answer.ABSENT:
            raise MayHaveLanded("the commit was accepted, and the target does not show it")

    def _publish(self) -> None:
        assert self._rows is not None
        job, gathered = self.job, self._gathered
        check_pins(job, self.run)
        if self._staged is not None:
            self._staged.check()
        job.target.prepare(schema_of(self._rows), job.owner, job.partition_by, keyed=job.keyed)
        if job.keyed is not None:
            self._check_columns()
            self._look_at_target()
        alone = job.target.works_alone
        rows, touched, staged = self._rows, FileMarks(), [self._staged]
        if job.keyed is not None and not alone:
            changes = self._changes(job.keyed)
            rows, touched = changes.rows, changes.touched
            staged.append(changes.kept)
        # Written before every try: this is what tells a frozen attempt that it was overtaken.
        self._advance(Point.COMMITTING)
        failpoints.reach(Failpoint.COMMITTING)
        for each in staged:
            if each is not None:
                each.check()
        if self._nothing_to_write:
            return
        if gathered.measures is None and not alone:
            rows, gathered.writing = observed(rows, measure_expressions(schema_of(rows), bits=32))
        empty = gathered.measures is not None and gathered.measures.rows == 0
        keep = empty and job.on_empty == "keep" and job.keyed is None
        write = Write(gathered.span, job.partition_by, keep, job.keyed, gathered.batch, touched)
        published = job.target.publish(rows, write, self._stamp())
        # A target that works alone has compared count and hash in its own transaction.
        gathered.touched = not alone and any(each is not None and each.was_touched() for each in staged)
        if published.changes is not None:
            gathered.changes = published.changes
        self._nothing_to_write = not published.wrote

    def _check_columns(self) -> None:
        """Raise `PinsGone` if another window has brought a column since: a row is replaced as a whole."""
        head = self.job.target.head()
        assert self._rows is not None and head is not None
        missing = missing_columns(schema_of(self._rows), head.schema)
        if missing:
            names = ", ".join(column.name for column in missing)
            raise PinsGone(f"the target has got columns since this run was planned: {names}")

    def _look_at_target(self) -> None:
        """Fix up to which version of the target this run knows what others did: what comes later, the next plan sees.

        Raises `PinsGone` for a run that only brings what is new, where the rest is not there any more.
        """
        head = self.job.target.head()
        self._gathered.seen_version = -1 if head is None else head.version
        if was_buried(self.job, self.run, self.store, head):
            raise PinsGone("the target was changed by someone else since this run was planned")

    def _changes(self, keyed: Keyed) -> Changes:
        """Those of the staged rows that change the target as it is now. Asked again before every try."""
        gathered = self._gathered
        assert self._rows is not None and gathered.batch is not None and gathered.measures is not None
        folder = f"{self.job.staging_folder(self.run, self.attempt_id)}/changes"
        changes = write_changes(self.job, keyed, self._rows, gathered.batch, folder, staged_rows=gathered.measures.rows)
        gathered.changes = changes.counts
        self._nothing_to_write = changes.written == 0
        return changes

    def _stamp(self) -> Stamp:
        run, gathered = self.run, self._gathered
        return Stamp(
            store_id=self.store.store_id,
            run_id=run.run_id,
            attempt_id=self.attempt_id,
            pipeline=run.pipeline,
            task=run.task,
            window=run.window,
            generation=run.generation,
            definition=run.definition,
            fingerprint=run.fingerprint,
            contract=run.contract,
            contract_schema=None if gathered.contract is None else gathered.contract.to_json(),
            run_ts=run.run_ts,
            measures=None if gathered.measures is None else gathered.measures.to_json(),
            rows_read=gathered.rows_read,
            rows_quarantined=gathered.rows_quarantined,
            epoch=run.epoch,
            era=run.era,
            changes=gathered.changes,
            seen_version=gathered.seen_version,
            files=told_files(self.job, run),
            watermark=None if (mark := reached(self.job, run)) is None else instant_text(mark),
        )

    def _checkpoint(self, landed: Landed) -> None:
        """Receipt, watermark and contract in one transaction, once the target says that the commit is ours."""
        receipt = landed_receipt(self.job, self.run, landed, self._gathered, self.attempt_id)
        self.run = checkpoint(
            self.store,
            self.run,
            receipt,
            self.lease,
            watermark=self._reach(),
            contract=self._new_contract(landed),
            loaded=loaded_files(self.job, self.run),
        )
        self._reached(Point.CHECKPOINTED)
        failpoints.reach(Failpoint.CHECKPOINTED)

    def _new_contract(self, landed: Landed) -> Contract | None:
        """The contract that holds from this commit on; None where the rows came under one that is stored already.

        A run that is finished late must not bring back the contract of its time.
        """
        schema = landed_contract(landed, self._gathered)
        if schema is None:
            return None
        name = contract_id(schema)
        if self._prepared is not None:
            is_stored = name == self._prepared.known_contract
        else:
            is_stored = contracts.is_stored(self.store, self.job.pipeline, self.job.task, name)
        return None if is_stored else Contract(name, schema)

    def _reach(self) -> Reach | None:
        """Where the watermark goes: as far as the windows have landed without a gap, or as far as this run has read."""
        grid = self.job.grid
        return reached(self.job, self.run) if grid is None else lambda done: contiguous_end(grid, done)

    def _clean_up(self) -> None:
        keep_only(self.job, self.run)
        if self.job.keyed is not None and self.job.delete_when is not None:
            self._forget(self.job.keyed)
        attempts.end(self.store, self.run, self.lease, self.attempt_id, AttemptStatus.SUCCEEDED)
        drop_leftovers(self.job, self.run, self.store)
        if self.number > 1:
            self.job.target.tidy()
        self.run = runs.close(self.store, self.run, RunStatus.SUCCEEDED, self.lease)

    def _forget(self, keyed: Keyed) -> None:
        """Drop deletes that need not be remembered any longer; left to the next run if another commit comes first."""
        try:
            stamp = replace(self._stamp(), kind="forget", files=())
            self.job.target.forget(keyed, self.run.run_ts - keyed.tombstones, stamp)
        except Conflict as error:
            self.emit(Note(f"old deletes are kept until the next run: {error.message}"))

    def _advance(self, point: Point) -> None:
        """Write down how far the run has got; raises `LeaseLost` if another attempt took over.

        The stored point never goes back: once an attempt may have committed, that stays known.
        """
        self.heartbeat.check()
        if _ORDER.index(point) >= _ORDER.index(self.run.point):
            self.run = runs.advance(self.store, self.run, point, self.lease, contract=self.run.contract)
        self._reached(point)

    def _reached(self, point: Point) -> None:
        self._point = point
        self._own = True


def drop_leftovers(job: Job, run: RunRecord, store: Store) -> None:
    """Drop what attempts at this window staged and no live one owns. A second call changes nothing."""
    for left in attempts.leftovers(store, job.pipeline, job.task, run.window):
        if left.staging is not None:
            staging.drop(left.staging)
        attempts.mark_dropped(store, left.attempt_id)
