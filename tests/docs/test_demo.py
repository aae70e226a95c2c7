"""`make demo` is the first thing that a visitor types: it is run here as it is, once."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "demo" / "demo.py"
WIDTH = 80
_ROW = re.compile(
    r"^(?P<name>\S.*?)  +(?P<rows>[\d,]+)  +(?P<revenue>[\d,.]+)  (?P<hash>[0-9a-f]{24})  +(?P<more>\S+ %)$"
)


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """What a visitor's temporary folder is like: the demo names places in it, and must still fit the terminal."""
    folder = Path(tempfile.mkdtemp(prefix="sw-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_the_demo_loads_the_same_week_with_kills_and_without_and_shows_what_an_append_leaves(
    short_folder: Path,
) -> None:
    environ = {**os.environ, "TMPDIR": str(short_folder), "SAMEWISE_FAST_JVM": "1"}
    done = subprocess.run(
        [sys.executable, str(DEMO)], capture_output=True, text=True, env=environ, timeout=900, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr

    rows = {found["name"]: found for line in done.stdout.splitlines() if (found := _ROW.match(line)) is not None}
    clean, killed, appended = rows["a clean backfill"], rows["killed twice, rerun"], rows["plain append, retried"]
    assert killed.groups()[1:] == clean.groups()[1:]
    assert clean["more"] == "+0.0 %"
    assert int(clean["rows"].replace(",", "")) > 10_000
    assert _number(appended["rows"]) > _number(clean["rows"])
    assert _number(appended["revenue"]) > _number(clean["revenue"])
    assert (appended["hash"] != clean["hash"], appended["more"].startswith("+")) == (True, True)
    assert done.stdout.count("SIGKILL after") == 2
    assert "Equal: killed twice and run again" in done.stdout

    # Where this repository lies is not the demo's doing.
    told = done.stdout.replace(str(Path(sys.executable).parent), ".venv/bin")
    assert [line for line in told.splitlines() if len(line) > WIDTH] == []


def _number(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))
