"""What a person sees while a run is under way."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from samewise.cli.output import number, styled, tell
from samewise.core.windows import Window
from samewise.run.events import (
    Event,
    ExperimentBegan,
    ExperimentEnded,
    Note,
    StepBegan,
    WillRetry,
    WindowBegan,
    WindowEnded,
)

if TYPE_CHECKING:
    from rich.status import Status

    from samewise.run.job import Job

_MARKS = {"succeeded": ("ok", "good"), "unchanged": ("=", "dim"), "superseded": ("~", "warn")}
_VERDICTS = {"done": ("ok", "good"), "same": ("ok", "good"), "skipped": ("=", "dim"), "void": ("?", "warn")}


class Progress:
    """Listens to a run: a line for each window that ends, and in a terminal one that moves until it does."""

    def __init__(self, jobs: Sequence[Job], *, quiet: bool = False) -> None:
        self._labels = {job.task: job for job in jobs}
        self._several = len(jobs) > 1
        self._quiet = quiet
        self._status: Status | None = None
        self._began = time.monotonic()
        self._place = ""

    def __enter__(self) -> Progress:
        if sys.stderr.isatty() and not self._quiet:
            from rich.console import Console

            self._status = Console(stderr=True).status("planning")
            self._status.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def __call__(self, event: Event) -> None:
        if self._quiet:
            return
        match event:
            case Note(text):
                self._show(text, always=True)
            case WindowBegan(task, window, at, of):
                self._place = f"{at}/{of} {self._name(task, window)}"
                self._show(self._place)
            case StepBegan(task, window, step, attempt):
                retry = f", attempt {attempt}" if attempt > 1 else ""
                self._show(f"{self._place}: {step.value.replace('_', ' ')}{retry}")
            case WillRetry(task, window, cause, attempt, in_seconds):
                tell(f"{self._name(task, window)}: attempt {attempt} failed: {cause}")
                tell(f"  next: attempt {attempt + 1} in {in_seconds:.0f} s")
            case ExperimentBegan(name, at, of):
                self._place = f"{at}/{of} {name}"
                self._show(self._place)
            case ExperimentEnded(name, outcome, seconds):
                mark, style = _VERDICTS.get(outcome, ("!!", "bad"))
                tell(styled(f"{mark:>2} {name}  {outcome}  {seconds:.1f} s", style, stream=sys.stderr))
            case WindowEnded(task, window, status, rows, seconds):
                mark, style = _MARKS.get(status, ("!!", "bad"))
                counted = "" if rows is None else f"  {number(rows)} rows"
                line = f"{mark:>2} {self._name(task, window)}  {status}{counted}  {seconds:.1f} s"
                tell(styled(line, style, stream=sys.stderr))

    def _name(self, task: str, window: Window) -> str:
        job = self._labels[task]
        return f"{task} {job.label(window)}" if self._several else job.label(window)

    def _show(self, text: str, *, always: bool = False) -> None:
        if self._status is not None:
            self._status.update(text)
        elif always:
            tell(text)
