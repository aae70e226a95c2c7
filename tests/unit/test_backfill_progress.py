"""What a terminal shows of a backfill, without one that runs."""

from __future__ import annotations

import io
import re
import sys
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from samewise.cli.backfill_progress import BackfillProgress
from samewise.core.windows import Window
from samewise.run.events import BackfillPlanned, GroupBegan, GroupEnded, WindowEnded

JOB: Any = SimpleNamespace(task="load", grid=object(), label=lambda window: f"{window.start:%Y-%m-%d}")


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _day(number: int) -> Window:
    start = datetime(2026, 4, number, tzinfo=UTC)
    return Window(start, start + timedelta(days=1))


def _drawn(terminal: io.StringIO) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())


@pytest.mark.parametrize("stream", [io.StringIO, _Terminal], ids=["lines", "bar"])
def test_after_a_resume_the_time_left_is_told_by_what_this_process_has_done(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO]
) -> None:
    told, now = stream(), [0.0]
    monkeypatch.setattr(sys, "stderr", told)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr("samewise.cli.backfill_progress.time", SimpleNamespace(monotonic=lambda: now[0]))

    with BackfillProgress([JOB], quiet=False, events=False) as progress:
        progress(BackfillPlanned("b1", 1000, 900))
        now[0] = 60.0  # A group a minute: longer than the half a minute that rich would look back.
        for number in (1, 2):
            progress(WindowEnded("load", _day(number), "succeeded", 5, 30.0))
        in_bar = _drawn(told) if progress._bar is None else progress._bar.tasks[0].fields["left"]
        progress(GroupEnded("load"))

    assert "902/1000, about 49 min 0 s left" in _drawn(told), "98 windows, half a minute each"
    if stream is _Terminal:
        assert in_bar == "about 49 min 0 s left"


def test_before_this_process_has_done_a_window_no_time_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told = io.StringIO()
    monkeypatch.setattr(sys, "stderr", told)
    with BackfillProgress([JOB], quiet=False, events=False) as progress:
        progress(BackfillPlanned("b1", 1000, 900))
        progress(WindowEnded("load", _day(1), "refused", None, 1.0))
        progress(GroupEnded("load"))
    assert "900/1000" in told.getvalue()
    assert "left" not in told.getvalue()


@pytest.mark.parametrize(
    ("last", "windows", "named"), [(1, 1, "2026-04-01"), (3, 3, "2026-04-01 to 2026-04-03 (3)")], ids=["alone", "group"]
)
def test_the_bar_names_what_is_under_way(monkeypatch: pytest.MonkeyPatch, last: int, windows: int, named: str) -> None:
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")

    with BackfillProgress([JOB], quiet=False, events=False) as progress:
        progress(BackfillPlanned("b1", 3, 0))
        progress(GroupBegan("load", _day(1), _day(last), windows))

    drawn = _drawn(terminal)
    assert drawn.rstrip().endswith(named), drawn
