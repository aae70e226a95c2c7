"""What may pass: retried as the pipeline says, told as exit code 75, and never half done."""

from __future__ import annotations

import os
import resource
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from samewise import open_project
from samewise.core.ports import Published
from samewise.run.events import Event, WillRetry
from samewise.state import leases
from samewise.state.holders import Holder
from samewise.state.store import Store
from samewise.targets.delta import DeltaTarget
from tests.support.project import DAY, Shop, told_in_three_parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

THREE = {"retries": {"attempts": 3, "backoff": "20ms"}}
WINDOW_KEY = "2026-04-25T00:00:00Z/2026-04-26T00:00:00Z"


def fails(times: int, error: Exception, publish: Callable[..., Published]) -> Callable[..., Published]:
    """`publish`, after it has raised `error` so many times."""
    left = [times]

    def once_more(*arguments: Any) -> Published:
        if left[0]:
            left[0] -= 1
            raise error
        return publish(*arguments)

    return once_more


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Exception], None]:
    def break_it(times: int, error: Exception) -> None:
        monkeypatch.setattr(DeltaTarget, "publish", fails(times, error, DeltaTarget.publish))

    return break_it


def test_a_connection_that_breaks_is_tried_again_and_each_attempt_is_in_the_history(
    shop: Shop, spark: SparkSession, broken: Callable[[int, Exception], None]
) -> None:
    shop.pipeline({**THREE, "transform": "orders.sql"})
    shop.write("pipelines/orders.sql", "SELECT *, :run_ts AS run_ts FROM source")
    shop.orders()
    broken(2, ConnectionResetError("connection reset by peer"))
    answer = shop.run()
    assert (answer.code, answer.window["attempt"], answer.window["generation"]) == (0, 3, 1)
    (run,) = shop.history()
    told = [(a["number"], a["status"], a["error_code"], a["error"]) for a in run["attempts"]]
    assert told == [
        (1, "failed", "transient", "connection reset by peer"),
        (2, "failed", "transient", "connection reset by peer"),
        (3, "succeeded", None, None),
    ]
    assert shop.ids(spark) == [1, 2]
    # The rows of the last attempt carry the time of the run, as it was when the first one began.
    with shop.state() as state:
        ((planned,),) = state.execute("SELECT run_ts FROM samewise_runs").fetchall()
    assert shop.rows(spark, f"run_ts = TIMESTAMP'{planned}'") == [(True,), (True,)]


def test_each_wait_is_longer_than_the_one_before(
    shop: Shop, spark: SparkSession, broken: Callable[[int, Exception], None]
) -> None:
    shop.pipeline({"retries": {"attempts": 3, "backoff": "100ms"}})
    shop.orders()
    broken(2, TimeoutError("timed out"))
    waits: list[float] = []

    def listen(event: Event) -> None:
        if isinstance(event, WillRetry):
            waits.append(event.in_seconds)

    with open_project(shop.root, spark=spark, listen=listen) as project:
        assert project.run("orders", window=DAY).exit_code == 0
    # 100 ms and 200 ms, each with up to 50 ms of jitter, and never without any: runners that failed together part.
    assert [0.1 < waits[0] <= 0.15, 0.2 < waits[1] <= 0.25] == [True, True]


def test_attempts_that_are_used_up_are_exit_code_75_and_the_next_run_is_fine(
    shop: Shop, spark: SparkSession, broken: Callable[[int, Exception], None]
) -> None:
    shop.pipeline(THREE)
    shop.orders()
    broken(3, ConnectionRefusedError("nobody there"))
    answer = shop.run()
    assert (answer.code, answer.json["status"], answer.json["error"]["code"]) == (75, "failed", "transient")
    assert answer.json["error"]["retryable"] is True
    assert told_in_three_parts(answer)
    assert shop.run().code == 0
    assert shop.ids(spark) == [1, 2]


def test_a_commit_that_broke_off_is_not_called_an_untouched_target(
    shop: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.orders()
    publish = DeltaTarget.publish

    def lands_and_breaks_off(*arguments: Any) -> Published:
        publish(*arguments)
        raise ConnectionResetError("connection reset by peer")

    with monkeypatch.context() as patched:
        patched.setattr(DeltaTarget, "publish", lands_and_breaks_off)
        answer = shop.run()
    assert (answer.code, answer.json["error"]["code"]) == (75, "transient")
    assert answer.json["error"]["kept"].startswith("the target holds either the old rows or the new ones, and the next")
    assert shop.run().code == 0
    assert shop.ids(spark) == [1, 2]


def test_an_error_that_nobody_knows_is_not_tried_again(
    shop: Shop, spark: SparkSession, broken: Callable[[int, Exception], None]
) -> None:
    shop.pipeline(THREE)
    shop.orders()
    broken(1, RuntimeError("never seen before"))
    answer = shop.run()
    assert (answer.code, answer.json["error"]["code"]) == (1, "unexpected")
    assert "either the old rows or the new ones" in answer.json["error"]["kept"], "it came during the commit"
    (run,) = shop.history()
    assert [a["number"] for a in run["attempts"]] == [1]


# Another runner


@contextmanager
def someone_else_runs(shop: Shop) -> Iterator[Callable[[], None]]:
    """Another runner has the window, until the given function is called."""
    url = f"sqlite:///{shop.root}/.samewise/state.db"
    with Store.open(url) as store:
        target = f"delta:{shop.root}/warehouse/orders"
        lease = leases.acquire(store, target, WINDOW_KEY, Holder.current(), 60)
        yield lambda: leases.release(store, lease)
        leases.release(store, lease)


def test_a_window_that_another_runner_has_is_busy(shop: Shop, spark: SparkSession) -> None:
    shop.orders()
    with someone_else_runs(shop):
        answer = shop.run()
    assert (answer.code, answer.json["status"], answer.json["error"]["code"]) == (75, "busy", "busy")
    assert answer.json["error"]["retryable"] is True
    assert f"process {os.getpid()} on " in answer.json["error"]["message"]
    assert told_in_three_parts(answer)
    assert shop.version() == -1


def test_with_wait_the_window_is_loaded_when_the_other_one_has_ended(shop: Shop, spark: SparkSession) -> None:
    shop.orders()
    with someone_else_runs(shop) as end:
        later = threading.Timer(1.0, end)
        later.start()
        answer = shop.run("--wait")
        later.join()
    assert answer.code == 0
    assert shop.ids(spark) == [1, 2]


# A full disk


@contextmanager
def no_file_larger_than(size_bytes: int) -> Iterator[None]:
    """For this process a file cannot grow any more, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_under_the_state_store_is_exit_code_75_and_the_next_run_is_fine(
    shop: Shop, spark: SparkSession
) -> None:
    shop.orders()
    with Store.open(f"sqlite:///{shop.root}/.samewise/state.db"):
        pass
    with no_file_larger_than(1024):
        answer = shop.run()
    assert (answer.code, answer.json["error"]["retryable"]) == (75, True)
    assert shop.ids(spark) == []
    assert shop.run().code == 0
    assert shop.ids(spark) == [1, 2]


def test_a_full_state_database_is_told_as_a_full_disk(
    shop: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.orders()
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorname = "SQLITE_FULL"

    def checkpoint(store: Store, *_: object, **__: object) -> None:
        with store.transaction():
            raise full

    monkeypatch.setattr("samewise.run.attempt.checkpoint", checkpoint)
    answer = shop.run()
    monkeypatch.undo()
    assert (answer.code, answer.json["error"]["code"]) == (75, "out_of_space")
    # The rows had landed; the next run finds that out and only writes it down.
    version = shop.version()
    answer = shop.run()
    assert (answer.code, answer.window["attempt"], shop.version()) == (0, 2, version)


_FULL_DISK = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (12_000_000, resource.RLIM_INFINITY))
from samewise.cli.main import main
main()
"""


def test_a_full_disk_under_spark_is_exit_code_75_and_the_next_run_is_fine(shop: Shop, spark: SparkSession) -> None:
    # Large enough for every jar and log, too small for this table.
    shop.pipeline({"transform": "orders.sql", **THREE})
    large = "SELECT /*+ COALESCE(1) */ n, sha2(CAST(n AS STRING), 512) AS text, order_date FROM"
    rows = "(SELECT order_date, explode(sequence(1, {})) AS n FROM source)"
    shop.write("pipelines/orders.sql", f"{large} {rows.format(250_000)}")
    shop.settings(spark={"master": "local[1]"})
    shop.orders([(1, "10.50", "new")])
    words = ["run", "orders", "--window", DAY, "--json", "--project", str(shop.root)]
    done = subprocess.run(
        [sys.executable, "-c", _FULL_DISK, *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "SAMEWISE_FAST_JVM": "1"},
    )
    assert done.returncode == 75, done.stdout + done.stderr
    assert '"code": "out_of_space"' in done.stdout
    assert shop.rows(spark) == []
    # Tried once: a full disk does not empty itself.
    assert len(shop.history()[0]["attempts"]) == 1
    shop.write("pipelines/orders.sql", f"{large} {rows.format(3)}")
    assert shop.run().window["rows_written"] == 3
    assert Path(shop.root / "warehouse" / "orders").is_dir()
