"""What a commit carries comes back from it as it was."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from samewise.core.records import Stamp
from samewise.core.windows import FULL

STAMP = Stamp("s", "r", "a", "orders", "load", FULL, 1, "d", "f", "c", datetime(2026, 4, 25, tzinfo=UTC))


@pytest.mark.parametrize(
    "stamp",
    [
        STAMP,
        replace(STAMP, rows_quarantined=2),
        replace(STAMP, files=(("landing/a.csv", 12, "v1"),)),
        replace(STAMP, kind="watermark", moved={"by": "ann@host", "reason": "rows came late"}),
    ],
)
def test_a_stamp_survives_being_written_down(stamp: Stamp) -> None:
    assert Stamp.parse(stamp.text) == stamp


def test_a_stamp_of_an_older_version_is_read() -> None:
    older = STAMP.text.replace('"rows_quarantined":null,', "")
    assert "rows_quarantined" not in older
    assert Stamp.parse(older) == STAMP
