"""What a run gives back: to Python as types, to machines as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from samewise.core.errors import Busy, Refused, SamewiseError, Superseded
from samewise.core.windows import Window, instant_text

SCHEMA_VERSION = 1


class Status(StrEnum):
    """From best to worst: a pipeline's status is the worst of its windows'."""

    UNCHANGED = "unchanged"
    PLANNED = "planned"
    SUCCEEDED = "succeeded"
    SUPERSEDED = "superseded"
    BUSY = "busy"
    REFUSED = "refused"
    FAILED = "failed"


_WORSE = {status: place for place, status in enumerate(Status)}


@dataclass(frozen=True, slots=True)
class WindowResult:
    """One task's window. A figure that does not apply is None."""

    task: str
    window: Window
    label: str
    status: Status
    reason: str | None = None
    """Why it ran, or that it did not have to."""
    run_id: str | None = None
    generation: int | None = None
    attempt: int | None = None
    batch_id: str | None = None
    started_at: datetime | None = None
    seconds: float | None = None
    rows_read: int | None = None
    rows_staged: int | None = None
    rows_written: int | None = None
    rows_inserted: int | None = None
    rows_updated: int | None = None
    rows_deleted: int | None = None
    rows_unchanged: int | None = None
    rows_quarantined: int | None = None
    content_hash: str | None = None
    sums: dict[str, str] = field(default_factory=dict)
    target_version: int | None = None
    error: SamewiseError | None = None

    def timed(self, started_at: datetime, seconds: float) -> WindowResult:
        return replace(self, started_at=started_at, seconds=round(seconds, 3))

    def to_json(self) -> dict[str, Any]:
        window = self.window
        return {
            "task": self.task,
            "window": self.label,
            "start": None if window.is_full else instant_text(window.start),
            "end": None if window.is_full else instant_text(window.end),
            "status": self.status.value,
            "reason": self.reason,
            "run_id": self.run_id,
            "generation": self.generation,
            "attempt": self.attempt,
            "batch_id": self.batch_id,
            "started_at": None if self.started_at is None else instant_text(self.started_at),
            "seconds": self.seconds,
            "rows_read": self.rows_read,
            "rows_staged": self.rows_staged,
            "rows_written": self.rows_written,
            "rows_inserted": self.rows_inserted,
            "rows_updated": self.rows_updated,
            "rows_deleted": self.rows_deleted,
            "rows_unchanged": self.rows_unchanged,
            "rows_quarantined": self.rows_quarantined,
            "content_hash": self.content_hash,
            "sums": dict(self.sums),
            "target_version": self.target_version,
            "error": None if self.error is None else error_json(self.error),
        }


@dataclass(frozen=True, slots=True)
class RunResult:
    """What `samewise run` did."""

    pipeline: str
    windows: Sequence[WindowResult] = ()
    watermark_before: datetime | None = None
    watermark_after: datetime | None = None

    @property
    def status(self) -> Status:
        """The worst of the windows'; `unchanged` where there was nothing to do."""
        statuses = [window.status for window in self.windows]
        return max(statuses, key=_WORSE.__getitem__, default=Status.UNCHANGED)

    @property
    def error(self) -> SamewiseError | None:
        """The error of the window that decides the status."""
        worst = [w for w in self.windows if w.status is self.status and w.error is not None]
        return worst[0].error if worst else None

    @property
    def exit_code(self) -> int:
        return 0 if self.error is None else self.error.exit_code

    def to_json(self) -> dict[str, Any]:
        before, after = self.watermark_before, self.watermark_after
        moved = {
            "before": None if before is None else instant_text(before),
            "after": None if after is None else instant_text(after),
        }
        return {
            "schema_version": SCHEMA_VERSION,
            "pipeline": self.pipeline,
            "status": self.status.value,
            "windows": [window.to_json() for window in self.windows],
            "watermark": None if before is None and after is None else moved,
            "error": None if self.error is None else error_json(self.error),
        }


def status_of(error: SamewiseError) -> Status:
    """How a window ended that ended with this error."""
    match error:
        case Superseded():
            return Status.SUPERSEDED
        case Busy():
            return Status.BUSY
        case Refused():
            return Status.REFUSED
        case _:
            return Status.FAILED


def worst_error(errors: Iterable[SamewiseError]) -> SamewiseError | None:
    """Of the errors of several windows the one that decides the exit code, as it does for a run."""
    return max(errors, key=lambda error: _WORSE[status_of(error)], default=None)


def error_json(error: SamewiseError) -> dict[str, Any]:
    """An error for machines."""
    return {
        "code": error.code,
        "message": error.message,
        "kept": error.kept,
        "next": error.next_step,
        "retryable": error.retryable,
    }
