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
from samewise.run.events import BackfillPlanned, GroupBegan


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _day(number: int) -> Window:
    start = datetime(2026, 4, number, tzinfo=UTC)
    return Window(start, start + timedelta(days=1))


@pytest.mark.parametrize(
    ("last", "windows", "named"), [(1, 1, "2026-04-01"), (3, 3, "2026-04-01 to 2026-04-03 (3)")], ids=["alone", "group"]
)
def test_the_bar_names_what_is_under_way(monkeypatch: pytest.MonkeyPatch, last: int, windows: int, named: str) -> None:
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    job: Any = SimpleNamespace(task="load", grid=object(), label=lambda window: f"{window.start:%Y-%m-%d}")

    with BackfillProgress([job], quiet=False, events=False) as progress:
        progress(BackfillPlanned("b1", 3, 0))
        progress(GroupBegan("load", _day(1), _day(last), windows))

    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())
    assert drawn.rstrip().endswith(named), drawn
