"""The calendar strip of `samewise status`, without a source to look at."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from samewise.cli.strip import Mark, marks_of, show_strip
from samewise.plan.grid import Every, Grid, Unit, due_windows

GRID = Grid(Every(Unit.DAY), datetime(2026, 4, 1, tzinfo=UTC), None, ZoneInfo("UTC"))
NOW = datetime(2026, 4, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("pins_without_spark", "fingerprint"), [(False, "as it was"), (True, "")], ids=["needs Spark", "receipt lost"]
)
def test_a_window_that_cannot_be_compared_with_its_source_is_counted_as_such(
    capsys: pytest.CaptureFixture[str], pins_without_spark: bool, fingerprint: str
) -> None:
    # As of a table in PostgreSQL or in a catalog: to pin it would take a connection or Spark.
    job: Any = SimpleNamespace(pins_without_spark=pins_without_spark)
    receipt: Any = SimpleNamespace(fingerprint=fingerprint, contract=None, generation=1)
    loaded = {window.key: receipt for window in due_windows(GRID, set(), now=NOW)[:2]}

    marks, skipped = marks_of(job, GRID, loaded, {}, None, now=NOW)
    show_strip(marks, GRID, skipped)

    assert (list(marks.values()), skipped) == ([Mark.DONE, Mark.DONE, Mark.MISSING], 2)
    assert "2 windows were not compared with their source" in capsys.readouterr().out
