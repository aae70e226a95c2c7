"""Tasks that go on from where the last run ended: by a watermark, or by a ledger of files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from samewise.core.errors import PinsGone, Refused
from samewise.core.records import Pins, Receipt, RunRecord
from samewise.core.windows import FULL, instant_text, parse_instant
from samewise.plan.new_files import Chosen, Loaded, choose_files, ledger_path
from samewise.plan.since import next_bounds
from samewise.plan.unchanged import Reason, why_other
from samewise.state import files, receipts, runs, watermarks

if TYPE_CHECKING:
    from samewise.core.ports import FolderSource, Head, SinceSource
    from samewise.run.job import Job
    from samewise.state.store import Store

_NAMED = 5
_TOLD = 2000
_ALL = "all"
_NEW = "new"


@dataclass(frozen=True, slots=True)
class Since:
    """Rows that changed after the watermark, and within the `overlap` before it."""

    source: SinceSource
    overlap: timedelta
    lag: timedelta
    start: datetime | None
    zone: ZoneInfo
    """Whose days and wall time the column is in."""


@dataclass(frozen=True, slots=True)
class NewFiles:
    """Files that no run has loaded yet."""

    source: FolderSource
    on_changed: str
    root: str
    """The project: the ledger names files relative to it."""


@dataclass(frozen=True, slots=True)
class Next:
    """What the next run of an incremental task reads."""

    pins: Pins
    before: datetime | None = None
    """The watermark that it goes on from; None where there is none, or where it starts over."""
    after: datetime | None = None
    """The watermark once it has landed."""
    nothing: bool = False
    """True where there is no new file: no definition makes a run of nothing worth while."""
    notes: tuple[str, ...] = ()


def why_over(job: Job, receipt: Receipt | None, head: Head | None) -> list[Reason]:
    """Why the next run reads everything again, and not only what is new; nothing where it goes on.

    What someone else did to the target may be about any row, however long ago it was loaded.
    """
    if receipt is None:
        return []
    commits = None if head is None else job.target.commits(receipt.known_up_to)
    other = why_other(
        receipt,
        target_exists=head is not None,
        commits=commits,
        keyed=job.keyed is not None,
        table_id=None if head is None else head.table_id,
    )
    return [] if other is None else [other]


def why_outdated(job: Job, store: Store, contract: str | None) -> list[Reason]:
    """In what rows that were loaded differ from what a run would load now, under this contract.

    The newest receipt does not tell: it may be of a run that read only what was new.
    """
    found = {
        Reason.DEFINITION: receipts.newest_other(store, job.pipeline, job.task, "definition", job.definition),
        Reason.CONTRACT: receipts.newest_other(store, job.pipeline, job.task, "contract", contract),
    }
    return [reason for reason, newest in found.items() if newest and not _all_read_since(job, store, newest)]


def _all_read_since(job: Job, store: Store, generation: int) -> bool:
    """Whether everything was loaded again after this generation."""
    return any(_reads_all(run) for run in receipts.runs_after(store, job.pipeline, job.task, generation))


def _reads_all(run: RunRecord) -> bool:
    """True for a run that did not go on from an earlier one."""
    return run.source.details.get("base", _NEW) in (None, _ALL)


def pin_next(
    job: Job,
    store: Store | None,
    receipt: Receipt | None,
    *,
    now: datetime,
    force: bool,
    over: bool,
) -> Next:
    """Fix what the next run reads: what is new, or everything (`over`).

    Raises `Refused` where a loaded file was overwritten and that is not allowed.
    """
    match job.incremental:
        case Since() as since:
            mark = None if store is None else watermarks.current(store, job.pipeline, job.task)
            bounds = next_bounds(
                mark,
                now=since.source.horizon() or now,
                overlap=since.overlap,
                lag=since.lag,
                start=since.start,
                starts_over=over,
            )
            run = None if store is None or receipt is None else runs.get(store, receipt.run_id)
            pins = since.source.pin_since(bounds, None if run is None or over else run.source)
            before = None if over else mark
            pins = _based(pins, None if before is None else instant_text(before))
            return Next(pins, before, parse_instant(pins.details["to"]))
        case NewFiles() as folder:
            ledger = {} if store is None else files.loaded(store, job.pipeline, job.task)
            if over or force:
                again = _next_files(job, folder, {}, base=_ALL, may_be_none=False)
                return replace(again, notes=_gone(job, folder, ledger, again.pins))
            may_be_none = bool(ledger) or receipt is not None
            return _next_files(job, folder, ledger, base=_NEW, may_be_none=may_be_none)
        case None:
            raise ValueError(f"{job.name} is not incremental")


def goes_on(job: Job, run: RunRecord, store: Store, *, force: bool) -> bool:
    """True if an unfinished run can be resumed as it was planned: what it reads is there, and it begins where we are.

    A fresh plan would read further. It comes next, when this run has landed.
    """
    if run.definition != job.definition or (force and not run.forced):
        return False
    if not _reads_all(run) and not _begins_here(job, run, store):
        return False
    try:
        job.source.check(run.source)
        for name, source in job.inputs.items():
            source.check(run.inputs[name])
    except (KeyError, PinsGone):
        return False
    return True


def _begins_here(job: Job, run: RunRecord, store: Store) -> bool:
    """True if the run goes on from where the task is now, and the target is as it was left there."""
    receipt = receipts.latest(store, job.pipeline, job.task, FULL)
    if why_over(job, receipt, job.target.head()):
        return False
    base: str | None = _NEW
    if isinstance(job.incremental, Since):
        mark = watermarks.current(store, job.pipeline, job.task)
        base = None if mark is None else instant_text(mark)
    return "base" in run.source.details and bool(run.source.details["base"] == base)


def was_buried(job: Job, run: RunRecord, store: Store, head: Head | None) -> bool:
    """True if rows of earlier runs may be gone from the target, and this run would not bring them back."""
    if job.incremental is None or _reads_all(run):
        return False
    return bool(why_over(job, receipts.latest(store, job.pipeline, job.task, FULL), head))


def went_on_from(run: RunRecord) -> datetime | None:
    """The watermark from which a run went on; None where it read everything, has none, or nobody knows any more."""
    base = run.source.details.get("base")
    return None if base in (None, _ALL, _NEW) else parse_instant(base)


def reached(job: Job, run: RunRecord) -> datetime | None:
    """Where the watermark stands once this run has landed; None for a task that has none of its own."""
    return parse_instant(run.source.details["to"]) if isinstance(job.incremental, Since) else None


def loaded_files(job: Job, run: RunRecord) -> Mapping[str, Loaded]:
    """What this run adds to the ledger once it has landed."""
    if not isinstance(job.incremental, NewFiles):
        return {}
    root = job.incremental.root
    return {ledger_path(path, root): Loaded(size, version) for path, size, version in run.source.details["files"]}


def told_files(job: Job, run: RunRecord) -> list[tuple[str, int, str]]:
    """The same for the commit, so that `recover` finds it there; nothing where it would make the commit unwieldy.

    A table's log is read again and again, and each commit in it as a whole.
    """
    found = loaded_files(job, run)
    return [] if len(found) > _TOLD else [(path, file.size_bytes, file.version) for path, file in found.items()]


def _next_files(job: Job, folder: NewFiles, ledger: Mapping[str, Loaded], *, base: str, may_be_none: bool) -> Next:
    chosen = choose_files(folder.source.found(), ledger, folder.root)
    notes: tuple[str, ...] = ()
    wanted = list(chosen.new)
    if chosen.changed:
        match folder.on_changed:
            case "refuse":
                raise _overwritten(chosen, folder.root)
            case "reload":
                wanted = sorted([*wanted, *chosen.changed])
            case _:
                notes = (f"{job.name}: left out, overwritten after they were loaded: {_names(chosen, folder.root)}",)
    if wanted or not may_be_none:
        return Next(_based(folder.source.pin_files(wanted), base), notes=notes)
    nothing = Pins("files", "", "no new file", {"files": [], "manifest": None, "base": base})
    return Next(nothing, nothing=True, notes=notes)


def _gone(job: Job, folder: NewFiles, ledger: Mapping[str, Loaded], pins: Pins) -> tuple[str, ...]:
    """A word about files that were loaded and are not there to be loaded again: their rows cannot be brought back."""
    there = {ledger_path(path, folder.root) for path, *_ in pins.details["files"]}
    count = len(ledger.keys() - there)
    told = "1 file that was loaded is" if count == 1 else f"{count} files that were loaded are"
    return (f"{job.name}: {told} gone, and cannot be loaded again",) if count else ()


def _based(pins: Pins, base: str | None) -> Pins:
    return replace(pins, details={**pins.details, "base": base})


def _overwritten(chosen: Chosen, root: str) -> Refused:
    one = len(chosen.changed) == 1
    return Refused(
        f"{_names(chosen, root)} {'was' if one else 'were'} loaded, and {'has' if one else 'have'} been "
        "overwritten since",
        code="changed_files",
        next_step="put the old contents back and send the new ones under another name; or write on_changed: reload "
        "(load such a file again) or ignore under source.incremental",
    )


def _names(chosen: Chosen, root: str) -> str:
    names = [ledger_path(file.path, root) for file in chosen.changed]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
