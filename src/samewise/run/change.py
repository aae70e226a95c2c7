"""`expect: change`: the staged figures against the receipts of earlier windows, before anything is published."""

from __future__ import annotations

import re
from decimal import Decimal

from samewise.core.errors import ConfigError, Refused
from samewise.core.measures import Measures
from samewise.core.records import Receipt, RunRecord
from samewise.core.schema import Schema
from samewise.plan.change import Change, is_usual, usual
from samewise.run.events import Listener, Note
from samewise.run.job import Job
from samewise.state import receipts
from samewise.state.store import Store

_SUMMABLE = re.compile(r"tinyint|smallint|int|bigint|decimal\(\d+,\d+\)")
_MOST_SHOWN = 7


def check_change_columns(job: Job, result: Schema) -> None:
    """Raise `ConfigError` for a rule about a column that the result does not have, or that has no exact sum."""
    for change in job.rules.changes:
        if change.column is None:
            continue
        column = result.get(change.column)
        if column is None or not _SUMMABLE.fullmatch(column.type):
            has = "the result has no such column" if column is None else f"it is {column.type}"
            raise ConfigError(
                f"expect: change: column {change.column}: {has}",
                next_step="name a column of whole numbers or decimals, or leave `column` out to count rows; a double "
                "can be cast in the transform",
            )


def check_change(job: Job, run: RunRecord, store: Store, measures: Measures, emit: Listener, *, accepted: bool) -> None:
    """Raise `Refused` for the first figure that is too far from those of the windows before this one.

    `accepted`: a person has looked at this window and lets it through; it is told, not refused.
    """
    for change in job.rules.changes:
        found = change.figure(measures)
        assert found is not None, "measure_staged adds up every column of a rule"
        earlier = _earlier(job, run, store, change)
        figures = [figure for _, figure in earlier]
        name = f"{job.name} {job.label(run.window)}"
        if len(figures) < change.enough:
            emit(Note(f"{name}: {change.what} is not compared: {_how_many(len(figures))}, {change.enough} are needed"))
        elif is_usual(change, found, figures):
            continue
        elif accepted:
            emit(Note(f"{name}: {change.what} is {found:f}, median {usual(figures):f}: accepted"))
        else:
            raise _unusual(job, run, change, found, earlier)


def _earlier(job: Job, run: RunRecord, store: Store, change: Change) -> list[tuple[Receipt, Decimal]]:
    """The newest receipts before this window, newest first, with their figures.

    One from before the column was there, or was measured, has none and is passed over.
    """
    found: list[tuple[Receipt, Decimal]] = []
    for receipt in receipts.earlier(store, run, limit=change.over):
        figure = None if receipt.measures is None else change.figure(receipt.measures)
        if figure is not None:
            found.append((receipt, figure))
    return found


def _unusual(
    job: Job, run: RunRecord, change: Change, found: Decimal, earlier: list[tuple[Receipt, Decimal]]
) -> Refused:
    middle = usual([figure for _, figure in earlier])
    lines = [
        f"{change.what} is {found:f}, too far from {middle:f},",
        f"the median of {_how_many(len(earlier))} (expect: change, within {change.within:f}%)",
    ]
    lines += [f"  {_name(job, receipt):<20} {figure:f}" for receipt, figure in earlier[:_MOST_SHOWN]]
    if len(earlier) > _MOST_SHOWN:
        lines.append(f"  … and {len(earlier) - _MOST_SHOWN} more")
    window = "" if run.window.is_full else f" --window {job.label(run.window)}"
    return Refused(
        "\n".join(lines),
        code="change",
        next_step="check the source for repeated or missing rows, then run again; if the figure is right: "
        f"`samewise run {job.pipeline}{window} --accept-change`",
    )


def _name(job: Job, receipt: Receipt) -> str:
    return f"generation {receipt.generation}" if receipt.window.is_full else job.label(receipt.window)


def _how_many(windows: int) -> str:
    return f"{windows} earlier {'load' if windows == 1 else 'loads'}"
