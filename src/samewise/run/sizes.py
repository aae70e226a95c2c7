"""How many rows the next windows may have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from samewise.core.records import Receipt
from samewise.core.windows import Window
from samewise.run.job import Job
from samewise.run.results import WindowResult
from samewise.state import receipts
from samewise.state.store import Store


@dataclass(slots=True)
class Sizes:
    """What is known about the windows of a backfill's tasks."""

    store: Store
    _rows: dict[str, int] = field(default_factory=dict)
    """By task, the rows of the largest window lately."""

    def near(self, job: Job, windows: Sequence[Window]) -> int | None:
        """As many as the last ones had; before the first, as many as the receipts of the neighbours say."""
        if job.task not in self._rows:
            known = receipts.near(self.store, job.pipeline, job.task, windows)
            counts = [count for each in known if (count := _rows_of(each)) is not None]
            if counts:
                self._rows[job.task] = max(counts)
        return self._rows.get(job.task)

    def learn(self, job: Job, results: Sequence[WindowResult]) -> None:
        """Take what was loaded now as the measure of what comes next."""
        counts = [rows for each in results if (rows := each.rows_read or each.rows_written) is not None]
        if counts:
            self._rows[job.task] = max(counts)


def _rows_of(receipt: Receipt) -> int | None:
    if receipt.rows_read is None and receipt.measures is not None:
        return receipt.measures.rows
    return receipt.rows_read
