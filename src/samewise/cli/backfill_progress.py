"""What a person sees while a backfill is under way, and how they stop it."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Sequence
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from samewise.cli.output import number, styled, tell
from samewise.core.windows import Window
from samewise.run.events import BackfillPlanned, Event, GroupBegan, GroupEnded, Note, WillRetry, WindowEnded

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from samewise.run.job import Job


class BackfillProgress:
    """A bar in a terminal; in a pipe a line for each group; with `events` a JSON line for each window.

    Ctrl-C, once, asks for a stop after the current commit; twice, it stops at once.
    """

    def __init__(self, jobs: Sequence[Job], *, quiet: bool, events: bool) -> None:
        self._jobs = {job.task: job for job in jobs}
        self._last = [job.task for job in jobs if job.grid is not None][-1:]
        self._quiet = quiet
        self._events = events
        self._bar: Progress | None = None
        self._at: TaskID | None = None
        self._group: list[WindowEnded] = []
        self._began = time.monotonic()
        self._rows = 0
        self._done = 0
        self._done_before = 0
        """By earlier processes, which took their own time for it."""
        self._planned = 0
        self._asked: str | None = None
        self._before: dict[int, Any] = {}
        self._lock = threading.Lock()

    def stop(self) -> str | None:
        """`interrupt` once a person has pressed Ctrl-C. Asked before each group."""
        self._arm()
        return self._asked

    def __enter__(self) -> BackfillProgress:
        self._arm()
        if sys.stderr.isatty() and not self._quiet and not self._events:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            self._bar = Progress(
                BarColumn(bar_width=20),
                MofNCompleteColumn(),
                # Not rich's own: it looks back half a minute, and a group may well take longer.
                TextColumn("{task.fields[left]}"),
                TextColumn("{task.fields[rate]}"),
                TextColumn("{task.description}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._at = self._bar.add_task("planning", total=None, rate="", left="")
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._tell_group()
        if self._bar is not None:
            self._bar.stop()
        for number_, handler in self._before.items():
            signal.signal(number_, handler)

    def __call__(self, event: Event) -> None:
        with self._lock:
            self._hear(event)

    def _hear(self, event: Event) -> None:
        match event:
            case BackfillPlanned(backfill_id, windows, done):
                self._planned, self._done, self._done_before = windows, done, done
                if self._bar is not None and self._at is not None:
                    self._bar.update(self._at, total=windows, completed=done)
                self._say(f"backfill {backfill_id}: {windows} windows, {done} of them done")
            case Note(text):
                self._say(text)
            case GroupBegan(task, first, last, windows):
                more = f" to {self._label(task, last)} ({windows})" if windows > 1 else ""
                self._describe(self._name(task, first) + more)
            case GroupEnded():
                self._tell_group()
            case WillRetry(task, window, cause, attempt, in_seconds):
                self._say(f"{self._name(task, window)}: attempt {attempt} failed: {cause}; again in {in_seconds:.0f} s")
            case WindowEnded():
                self._ended(event)
            case _:
                pass

    def _ended(self, event: WindowEnded) -> None:
        self._rows += event.rows_written or 0
        if event.task in self._last and event.status in ("succeeded", "unchanged", "superseded"):
            self._done += 1
        if self._events:
            job = self._jobs[event.task]
            body = {
                "task": event.task,
                "window": job.label(event.window),
                "status": event.status,
                "rows_written": event.rows_written,
                "seconds": round(event.seconds, 3),
                "done": self._done,
                "planned": self._planned,
            }
            print(json.dumps(body), file=sys.stderr, flush=True)
        self._group.append(event)
        if self._bar is not None and self._at is not None:
            rate = f"{number(round(self._rows / max(time.monotonic() - self._began, 0.1)))} rows/s"
            self._bar.update(self._at, completed=self._done, rate=rate, left=self._time_left() or "")

    def _tell_group(self) -> None:
        """One line for windows that ended together."""
        ended, self._group = self._group, []
        if not ended:
            return
        first, last = ended[0], ended[-1]
        seconds = sum(event.seconds for event in ended)
        rows = sum(event.rows_written or 0 for event in ended)
        good = first.status in ("succeeded", "unchanged", "superseded")
        mark = {"succeeded": "ok", "unchanged": "="}.get(first.status, "~" if good else "!!")
        name = self._name(first.task, first.window)
        if len(ended) > 1:
            name += f" to {self._label(last.task, last.window)}"
        # How many there were is told by the count of windows done: the line is to fit into 80 columns.
        loaded = first.status == "succeeded"
        what = f"{number(rows)} rows  {seconds:.1f} s" if loaded else f"{len(ended)} {first.status}"
        line = f"{mark:>2} {name}  {what}{self._outlook()}"
        self._say(styled(line, "good" if first.status == "succeeded" else "dim" if good else "bad", stream=sys.stderr))

    def _outlook(self) -> str:
        if not self._planned:
            return ""
        left = self._time_left()
        return f"  {self._done}/{self._planned}" + ("" if left is None else f", {left}")

    def _time_left(self) -> str | None:
        """None where nothing is left, or nothing that this process did tells how long it will take."""
        done, left = self._done - self._done_before, self._planned - self._done
        if done <= 0 or left <= 0:
            return None
        return f"about {_time(left * (time.monotonic() - self._began) / done)} left"

    def _say(self, text: str) -> None:
        if self._quiet or self._events:
            return
        if self._bar is not None:
            from rich.text import Text

            # Its colours are codes already, which would be counted as columns.
            self._bar.console.print(Text.from_ansi(text), markup=False, highlight=False, soft_wrap=True)
        else:
            tell(text)

    def _describe(self, text: str) -> None:
        if self._bar is not None and self._at is not None:
            self._bar.update(self._at, description=text)

    def _name(self, task: str, window: Window) -> str:
        return self._label(task, window) if len(self._jobs) == 1 else f"{task} {self._label(task, window)}"

    def _label(self, task: str, window: Window) -> str:
        return self._jobs[task].label(window)

    def _arm(self) -> None:
        """Take the signals; again after Spark has started, which takes Ctrl-C for itself."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number_ in (signal.SIGINT, signal.SIGTERM):
            current = signal.getsignal(number_)
            if current != self._interrupted:
                self._before.setdefault(number_, current)
                signal.signal(number_, self._interrupted)

    def _interrupted(self, signal_number: int, frame: FrameType | None) -> None:
        if self._asked is not None:
            raise KeyboardInterrupt
        self._asked = "interrupt"
        if not self._quiet and not self._events:
            tell("stopping after the current commit; once more stops at once")


def _time(seconds: float) -> str:
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {left} s" if minutes else f"{left} s"
