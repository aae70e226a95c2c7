"""State stores of both kinds, and records to put into them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from samewise.core.ids import new_run_id
from samewise.core.measures import Measures
from samewise.core.records import Pins, Receipt, RunRecord
from samewise.core.windows import Window
from samewise.state import leases
from samewise.state.holders import Holder
from samewise.state.leases import Lease
from samewise.state.store import Store
from tests.support.postgres import PostgresServer

TARGET = "delta:/warehouse/orders"


@pytest.fixture(params=["sqlite", "postgresql"])
def state_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place where no state store is yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/state/state.db"
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return server.new_url()


@pytest.fixture
def store(state_url: str) -> Iterator[Store]:
    with Store.open(state_url) as opened:
        yield opened


def day(number: int) -> Window:
    """The window of a day in April 2026."""
    start = datetime(2026, 4, 1, tzinfo=UTC) + timedelta(days=number - 1)
    return Window(start, start + timedelta(days=1))


def a_run(window: Window | None = None, generation: int = 1, **changes: Any) -> RunRecord:
    values: dict[str, Any] = {
        "run_id": new_run_id(),
        "pipeline": "orders_daily",
        "task": "load",
        "window": window or day(25),
        "generation": generation,
        "target": TARGET,
        "definition": "d1",
        "run_ts": datetime(2026, 4, 26, 3, 0, 0, 123456, tzinfo=UTC),
        "source": Pins("files", "f1", "1 file", {"files": [{"path": "größe/\udce4.csv", "size": 2**40}]}),
        "inputs": {"rates": Pins("delta", "f2", "version 7", {"version": 7})},
    }
    return RunRecord(**{**values, **changes})


def a_receipt(run: RunRecord, **changes: Any) -> Receipt:
    values: dict[str, Any] = {
        "run_id": run.run_id,
        "pipeline": run.pipeline,
        "task": run.task,
        "window": run.window,
        "generation": run.generation,
        "target": run.target,
        "target_version": 3,
        "definition": run.definition,
        "fingerprint": run.fingerprint,
        "contract": "c1",
        "measures": Measures(3_000_000_000, "00ff", {"amount": "12.50"}),
        "rows_read": 3_000_000_001,
    }
    return Receipt(**{**values, **changes})


def take(store: Store, window: Window | None = None, *, ttl_seconds: float = 60) -> Lease:
    """The lease of a window, for this process."""
    return leases.acquire(store, TARGET, (window or day(25)).key, Holder.current(), ttl_seconds)


def take_over(store: Store, lease: Lease) -> Lease:
    """What another runner gets once `lease` has been given free."""
    leases.release(store, lease)
    return leases.acquire(store, lease.target, lease.window_key, Holder.current(), 60)


def start_python(script: str, *arguments: str) -> subprocess.Popen[str]:
    """A process of its own that runs `script` with this one's import path."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def outputs(processes: list[subprocess.Popen[str]], seconds: float = 60) -> list[str]:
    """What each one printed; fails with the traceback of one that failed."""
    answers = [process.communicate(timeout=seconds) for process in processes]
    for process, (_, errors) in zip(processes, answers, strict=True):
        assert process.returncode == 0, errors
    return [printed for printed, _ in answers]
