"""How many rows were read, as far as it can still be known when the reader has died."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from samewise.core.measures import Measures
from samewise.core.records import Answer, Landed, Pins, RunRecord, Stamp, TargetCommit
from samewise.core.windows import FULL
from samewise.run.job import Job
from samewise.run.receipt import Gathered, landed_receipt

AT = datetime(2026, 4, 25, tzinfo=UTC)
RUN = RunRecord("r", "orders", "load", FULL, 1, "t", "d", AT, Pins("files", "f", ""))
STAMP = Stamp("s", "r", "dead", "orders", "load", FULL, 1, "d", "f", "c", AT)


def job(**how: Any) -> Job:
    """A task without staging whose target shows one row; no more of it is asked for."""
    target = SimpleNamespace(head=lambda: None, measure=lambda span, version: Measures(1, "h", {}))
    plain = {"passes_through": True, "keyed": None, "dedup": None, "sets_aside": False, "stages": False}
    return cast(Job, SimpleNamespace(target=target, span=lambda window, schema: None, **{**plain, **how}))


@pytest.mark.parametrize(
    ("how", "quarantined", "read"),
    [
        ({}, None, 1),
        ({"sets_aside": True}, 2, 3),
        ({"sets_aside": True}, None, None),
        ({"dedup": object()}, None, None),
        ({"passes_through": False}, None, None),
    ],
)
def test_rows_that_pass_through_were_read_whoever_wrote_them(
    how: dict[str, Any], quarantined: int | None, read: int | None
) -> None:
    stamp = replace(STAMP, rows_quarantined=quarantined)
    landed = Landed(Answer.MINE, TargetCommit(1, AT, "WRITE", True, stamp))
    receipt = landed_receipt(job(**how), RUN, landed, Gathered(), "another attempt")
    assert (receipt.rows_read, receipt.rows_quarantined) == (read, quarantined)
