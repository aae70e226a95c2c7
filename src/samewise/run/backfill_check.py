"""Is what a backfill has loaded still in the target, as its receipts say?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from samewise.core.errors import NoOlderVersion, Refused
from samewise.core.keyed import Keyed
from samewise.core.measures import Measures
from samewise.core.ports import GroupTarget, Head
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
    """None where it cannot be said: the receipt was lost, or the target does not keep what it takes."""
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
    known = receipts.newest(store, job.pipeline, job.task, windows) if windows else {}
    head = job.target.head()
    found: list[Checked] = []
    by_version: dict[int, list[Receipt]] = {}
    for window in sorted(windows):
        receipt = known.get(window)
        if receipt is None or receipt.measures is None:
            lost = "no receipt" if receipt is None else "its receipt was lost"
            found.append(Checked(job.task, window, job.label(window), None, lost, "not looked at"))
        elif head is None:
            found.append(_said(job, receipt, False, "no table"))
        else:
            by_version.setdefault(receipt.target_version, []).append(receipt)
    if head is not None:
        same_columns = not head.shared and _one_shape(job, store)
        for loaded in by_version.values():
            found += _of_one_commit(job, loaded, head, same_columns=same_columns)
    return sorted(found, key=lambda each: each.window)


def all_right(checked: Sequence[Checked]) -> bool | None:
    """False if a window differs; None where not every one could be looked at, or there is none."""
    if any(each.is_right is False for each in checked):
        return False
    return True if checked and all(each.is_right for each in checked) else None


def _of_one_commit(job: Job, loaded: Sequence[Receipt], head: Head, *, same_columns: bool) -> list[Checked]:
    target = group_target(job.target)
    if job.keyed is not None:
        return [_by_key(job, job.keyed, target, receipt, head) for receipt in loaded]
    if target is None:
        return [_alone(job, receipt, head, same_columns=same_columns) for receipt in loaded]
    return _by_window(job, target, loaded, head)


def _by_window(job: Job, target: GroupTarget, loaded: Sequence[Receipt], head: Head) -> list[Checked]:
    like, same_columns = loaded[0].target_version, True
    is_same_table = all(receipt.table_id in (None, head.table_id) for receipt in loaded)
    spans = spans_of(job, [receipt.window for receipt in loaded], head.schema)
    try:
        known = is_same_table and like <= head.version
        measured = target.measure_windows(spans, head.version, like=like if known else None)
    except NoOlderVersion:
        # The rows are still there to be counted; which columns they had then, nobody can say any more.
        measured, same_columns = target.measure_windows(spans, head.version), False
    pairs = zip(loaded, measured, strict=True)
    return [_compared(job, receipt, shown, same_columns=same_columns) for receipt, shown in pairs]


def _alone(job: Job, receipt: Receipt, head: Head, *, same_columns: bool) -> Checked:
    """For a target that keeps no versions: its rows as they are now, in the columns that it has now."""
    try:
        shown = job.target.measure(job.span(receipt.window, head.schema), head.version)
    except NoOlderVersion:
        return _said(job, receipt, None, "it was being written to")
    except Refused as error:
        return _said(job, receipt, None, error.message)
    except KeyError:
        return _said(job, receipt, None, f"the column {job.window_column} is filled in by the target itself")
    return _compared(job, receipt, shown, same_columns=same_columns)


def _one_shape(job: Job, store: Store) -> bool:
    """Whether all windows were loaded under one definition and one contract: then none has brought a column later."""
    landed = receipts.latest_all(store, job.pipeline, job.task).values()
    return len({(receipt.definition, receipt.contract) for receipt in landed}) == 1


def _compared(job: Job, receipt: Receipt, shown: Measures, *, same_columns: bool) -> Checked:
    """Without the `same_columns`, only the number of rows can be found wrong: another hash may have a good reason."""
    assert receipt.measures is not None
    if receipt.measures.same_rows(shown):
        return _said(job, receipt, True, _figures(shown))
    if same_columns or receipt.measures.rows != shown.rows:
        return _said(job, receipt, False, _figures(shown))
    return _said(job, receipt, None, f"{_figures(shown)}; its columns may be others than when it was loaded")


def _by_key(job: Job, keyed: Keyed, target: GroupTarget | None, receipt: Receipt, head: Head) -> Checked:
    if target is None:
        return _said(job, receipt, None, "it does not keep which window a row is from")
    if receipt.table_id not in (None, head.table_id):
        return _said(job, receipt, None, "the table was made again since")
    try:
        rows = target.lineage(keyed, receipt.window.key, receipt.target_version)
    except NoOlderVersion as error:
        return _said(job, receipt, None, error.message)
    promised = f"{rows.kept + rows.taken_over + rows.changed + rows.missing} rows"
    told = f"{rows.kept} of them as they were, {rows.taken_over} taken over by newer windows"
    wrong = [
        f"{count} {what}"
        for count, what in ((rows.missing, "missing"), (rows.changed, "changed"), (rows.foreign, "not from this load"))
        if count
    ]
    told = ", ".join([told, *wrong])
    return Checked(job.task, receipt.window, job.label(receipt.window), rows.is_whole, promised, told, rows.taken_over)


def _said(job: Job, receipt: Receipt, is_right: bool | None, found: str) -> Checked:
    assert receipt.measures is not None
    promised = _figures(receipt.measures)
    return Checked(job.task, receipt.window, job.label(receipt.window), is_right, promised, found)


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


def _figures(measures: Measures) -> str:
    return f"{measures.rows} rows, hash {measures.content_hash[-12:]}"
