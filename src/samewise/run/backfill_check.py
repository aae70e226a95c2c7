"""Is what a backfill has loaded still in the target, as its receipts say?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from samewise.core.errors import Refused
from samewise.core.ports import GroupTarget
from samewise.core.records import Receipt
from samewise.core.windows import Window
from samewise.run.events import Listener, Note
from samewise.run.job import Job
from samewise.run.settle import group_target, spans_of
from samewise.state import receipts
from samewise.state.backfills import Backfill
from samewise.state.store import Store


@dataclass(frozen=True, slots=True)
class Checked:
    """One window: what its receipt says, and what the target holds."""

    task: str
    window: Window
    label: str
    is_right: bool | None
    """None where it cannot be said: the receipt was lost, or the table is another one."""
    promised: str
    found: str
    taken_over: int | None = None
    """By key: rows that belong to newer windows by now."""

    def to_json(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "window": self.label,
            "right": self.is_right,
            "receipt": self.promised,
            "target": self.found,
            "rows_taken_over": self.taken_over,
        }


def check_windows(job: Job, windows: Sequence[Window], store: Store) -> list[Checked]:
    """Compare windows that were loaded with their newest receipts. Windows of one commit are measured together."""
    target, head = group_target(job.target), job.target.head()
    found: list[Checked] = []
    by_version: dict[int, list[Receipt]] = {}
    for window in sorted(windows):
        receipt = receipts.latest(store, job.pipeline, job.task, window)
        if receipt is None or receipt.measures is None or target is None or head is None:
            lost = "no receipt" if receipt is None else "its receipt was lost" if receipt.measures is None else "loaded"
            there = "no table" if head is None else "not looked at"
            gone = receipt is not None and receipt.measures is not None and head is None
            found.append(Checked(job.task, window, job.label(window), False if gone else None, lost, there))
            continue
        by_version.setdefault(receipt.target_version, []).append(receipt)
    for version, loaded in by_version.items():
        assert target is not None and head is not None
        if job.keyed is not None:
            found += [_by_key(job, target, receipt) for receipt in loaded]
        else:
            found += _by_window(job, target, loaded, now=head.version, like=version)
    return sorted(found, key=lambda each: each.window)


def _by_window(job: Job, target: GroupTarget, loaded: Sequence[Receipt], *, now: int, like: int) -> list[Checked]:
    head = job.target.head()
    assert head is not None
    columns_at = like if all(receipt.table_id in (None, head.table_id) for receipt in loaded) and like <= now else None
    spans = spans_of(job, [receipt.window for receipt in loaded], head.schema)
    measured = target.measure_windows(spans, now, like=columns_at)
    found = []
    for receipt, shown in zip(loaded, measured, strict=True):
        assert receipt.measures is not None
        promised = _figures(receipt.measures.rows, receipt.measures.content_hash)
        is_right = receipt.measures.same_rows(shown)
        told = _figures(shown.rows, shown.content_hash)
        found.append(Checked(job.task, receipt.window, job.label(receipt.window), is_right, promised, told))
    return found


def _by_key(job: Job, target: GroupTarget, receipt: Receipt) -> Checked:
    assert job.keyed is not None
    rows = target.lineage(job.keyed, receipt.window.key, receipt.target_version)
    promised = f"{rows.kept + rows.taken_over + rows.changed + rows.missing} rows"
    told = f"{rows.kept} of them as they were, {rows.taken_over} taken over by newer windows"
    wrong = [
        f"{count} {what}"
        for count, what in ((rows.missing, "missing"), (rows.changed, "changed"), (rows.foreign, "not from this load"))
        if count
    ]
    told = ", ".join([told, *wrong])
    return Checked(job.task, receipt.window, job.label(receipt.window), rows.is_whole, promised, told, rows.taken_over)


def check_last(job: Job, found: Backfill, windows: Sequence[Window], store: Store, emit: Listener) -> None:
    """What was loaded last must still be in the target. Raises `Refused`; says so where that cannot be known."""
    landed = receipts.newest(store, job.pipeline, job.task, windows)
    checked = check_windows(job, last_loaded(found, landed), store)
    _refuse_differences(job, checked, found.backfill_id)
    unknown = [each for each in checked if each.is_right is None]
    if unknown:
        first = f"{unknown[0].label}: {unknown[0].found}"
        emit(Note(f"{job.name}: {len(unknown)} of the windows loaded last cannot be checked. {first}"))


def last_loaded(found: Backfill, landed: Mapping[Window, Receipt]) -> list[Window]:
    """Of the windows that the backfill is done with, those of the newest commit; and all that have landed since it was
    planned and that it does not know of.

    These are of a commit that it was killed after, or another run's: either way nobody will load them again.
    """
    done = {window: each for window, each in landed.items() if window in found.done and each.landed_at is not None}
    newest = max(done.values(), key=lambda each: (each.landed_at, each.target_version), default=None)
    last = [window for window, each in done.items() if newest and each.target_version == newest.target_version]
    unknown = [
        window
        for window, each in landed.items()
        if window not in found.done and not each.recovered and each.landed_at and each.landed_at >= found.created_at
    ]
    return [*last, *unknown]


def _refuse_differences(job: Job, checked: Sequence[Checked], backfill_id: str) -> None:
    """Raise `Refused`, with both sides, if a window is not what was loaded."""
    wrong = [each for each in checked if each.is_right is False]
    if not wrong:
        return
    lines = [f"{len(wrong)} of {len(checked)} windows are not as they were loaded"]
    lines += [f"  {each.label}  receipt: {each.promised}  target: {each.found}" for each in wrong[:10]]
    if len(wrong) > 10:
        lines.append(f"  … and {len(wrong) - 10} more")
    raise Refused(
        f"{job.name}: " + "\n".join(lines),
        code="tampered",
        kept="nothing was loaded",
        next_step=f"find out who changed the target; `samewise run {job.pipeline} --window {wrong[0].label} --force` "
        f"loads a window again; then `samewise backfill resume {backfill_id}`",
    )


def _figures(rows: int, content_hash: str) -> str:
    return f"{rows} rows, hash {content_hash[-12:]}"
