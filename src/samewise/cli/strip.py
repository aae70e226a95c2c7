"""The windows of a task as a calendar strip: one mark a window, a line for each month, or for so many windows."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from samewise.cli.output import say, styled
from samewise.core.errors import SamewiseError
from samewise.core.records import Receipt, RunRecord, RunStatus
from samewise.core.windows import Window
from samewise.plan.grid import Grid, Unit, due_windows
from samewise.run.job import Job
from samewise.state.contracts import Contract

_LOOK_SECONDS = 0.2
"""A look at every window's source may take long; the answer may not."""
_WIDTH = 62


class Mark(StrEnum):
    """How a window stands. The first that holds is shown."""

    FAILED = "failed"
    MISSING = "missing"
    UNFINISHED = "unfinished"
    SOURCE = "changed at the source"
    CONTRACT = "loaded under an older contract"
    DONE = "done"


_SIGNS = {
    Mark.DONE: ("#", "good"),
    Mark.MISSING: (".", "dim"),
    Mark.FAILED: ("!", "bad"),
    Mark.UNFINISHED: ("?", "warn"),
    Mark.CONTRACT: ("o", "warn"),
    Mark.SOURCE: ("~", "warn"),
}


def marks_of(
    job: Job,
    grid: Grid,
    loaded: Mapping[str, Receipt],
    newest: Mapping[Window, RunRecord],
    contract: Contract | None,
    *,
    now: datetime,
) -> tuple[dict[Window, Mark], int]:
    """How every window that is over stands, and how many loaded ones were not compared with their source.

    Reads names and sizes of the source, as long as there is time; for a source that needs Spark for that, nothing.
    """
    give_up_at, skipped = time.monotonic() + _LOOK_SECONDS, 0
    marks: dict[Window, Mark] = {}
    for window in reversed(due_windows(grid, set(), now=now)):
        receipt, run = loaded.get(window.key), newest.get(window)
        marks[window] = _mark(receipt, run, contract)
        if marks[window] in (Mark.CONTRACT, Mark.DONE) and receipt is not None:
            if time.monotonic() > give_up_at or not _can_compare(job, receipt):
                skipped += 1
            elif _has_changed(job, window, receipt):
                marks[window] = Mark.SOURCE
    return dict(sorted(marks.items())), skipped


def _mark(receipt: Receipt | None, run: RunRecord | None, contract: Contract | None) -> Mark:
    later = run is not None and (receipt is None or run.generation > receipt.generation)
    if run is not None and later and run.status in (RunStatus.REFUSED, RunStatus.FAILED):
        return Mark.FAILED
    if run is not None and run.status is RunStatus.OPEN:
        return Mark.UNFINISHED
    if receipt is None:
        return Mark.MISSING
    if contract is not None and receipt.contract not in (None, contract.contract_id):
        return Mark.CONTRACT
    return Mark.DONE


def _can_compare(job: Job, receipt: Receipt) -> bool:
    """False for a source that cannot be looked at without Spark, and for a receipt that does not say what was read."""
    return receipt.fingerprint != "" and job.pins_without_spark


def _has_changed(job: Job, window: Window, receipt: Receipt) -> bool:
    from samewise.core.ids import stable_hash

    try:
        inputs = {name: source.pin(window).fingerprint for name, source in job.inputs.items()}
        found = stable_hash([job.source.pin(window).fingerprint, inputs])
    except SamewiseError:
        return True  # It is not there any more, or cannot be read as it is.
    return found != receipt.fingerprint


def show_strip(marks: Mapping[Window, Mark], grid: Grid, skipped: int) -> None:
    """Draw it, with a legend of the marks that are there."""
    if not marks:
        return
    for label, windows in _lines(list(marks), grid):
        signs = "".join(styled(*_SIGNS[marks[window]]) if window else " " for window in windows)
        say(f"  {label}  {signs}")
    legend = [f"{sign} {mark} {count}" for mark, (sign, _) in _SIGNS.items() if (count := _count(marks, mark))]
    say(f"  {'   '.join(legend)}")
    if skipped:
        say(f"  {skipped} windows were not compared with their source")


def _count(marks: Mapping[Window, Mark], wanted: Mark) -> int:
    return sum(mark is wanted for mark in marks.values())


def _lines(windows: Sequence[Window], grid: Grid) -> list[tuple[str, list[Window | None]]]:
    local = {window: window.start.astimezone(grid.zone) for window in windows}
    if grid.every.unit is Unit.DAY:
        months: dict[str, list[Window | None]] = {}
        for window in windows:
            days = months.setdefault(f"{local[window]:%Y-%m}", [])
            days += [None] * (local[window].day - 1 - len(days))
            days.append(window)
        return list(months.items())
    width = max(10, min(_WIDTH, shutil.get_terminal_size().columns - 22))
    form = "%Y-%m-%dT%H:%M" if grid.every.is_below_a_day else "%Y-%m-%d"
    rows = [list(windows[at : at + width]) for at in range(0, len(windows), width)]
    return [(f"{local[row[0]]:{form}}", [*row]) for row in rows]
