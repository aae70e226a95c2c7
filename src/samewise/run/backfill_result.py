"""What a backfill gives back: to Python as types, to machines as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from samewise.core.errors import SamewiseError
from samewise.core.windows import instant_text
from samewise.run.results import SCHEMA_VERSION, Status, WindowResult, error_json
from samewise.state.backfills import UNFINISHED, Backfill, BackfillStatus

INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class BackfillResult:
    """How far a backfill has come, and what this command did for it."""

    backfill: Backfill
    windows: Sequence[WindowResult] = ()
    """What this command looked at."""
    watermark: datetime | None = None
    error: SamewiseError | None = None
    asked: str | None = None
    """`pause` or `cancel` where a person stopped it, `interrupt` for Ctrl-C."""
    seconds: float = 0.0

    @property
    def is_done(self) -> bool:
        return self.backfill.status is BackfillStatus.DONE

    @property
    def rows_written(self) -> int:
        return sum(window.rows_written or 0 for window in self.windows if window.status is Status.SUCCEEDED)

    @property
    def exit_code(self) -> int:
        if self.error is not None:
            return self.error.exit_code
        return INTERRUPTED if self.asked == "interrupt" else 0

    @property
    def next_step(self) -> str | None:
        """The command that goes on; None where there is nothing to go on with."""
        if self.backfill.status not in UNFINISHED:
            return None
        return f"samewise backfill resume {self.backfill.backfill_id}"

    def to_json(self) -> dict[str, Any]:
        """What `samewise backfill --json` prints."""
        return {
            "schema_version": SCHEMA_VERSION,
            **backfill_json(self.backfill),
            "rows_written": self.rows_written,
            "seconds": round(self.seconds, 3),
            "windows": [window.to_json() for window in self.windows],
            "watermark": None if self.watermark is None else instant_text(self.watermark),
            "stopped_by": self.asked,
            "next": self.next_step,
            "error": None if self.error is None else error_json(self.error),
        }


def backfill_json(backfill: Backfill, *, live: bool | None = None) -> dict[str, Any]:
    """A backfill as every command tells it."""
    outcomes = list(backfill.done.values())
    status = backfill.status.value
    if live is False and backfill.status is BackfillStatus.RUNNING:
        status = "interrupted"
    return {
        "id": backfill.backfill_id,
        "pipeline": backfill.pipeline,
        "from": instant_text(backfill.start),
        "to": instant_text(backfill.end),
        "order": "newest" if backfill.newest_first else "oldest",
        "forced": backfill.forced,
        "status": status,
        "planned_windows": backfill.windows,
        "done_windows": len(outcomes),
        "outcomes": {name: outcomes.count(name) for name in sorted(set(outcomes))},
        "created_at": instant_text(backfill.created_at),
        "updated_at": instant_text(backfill.updated_at),
        "last_error": backfill.error,
    }
