"""Backfills that are killed again and again, and groups of windows that wake up when others have gone on."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import time
from contextlib import suppress
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from samewise.core.failpoints import Failpoint
from samewise.core.windows import Window
from tests.support.crash import Command, SparkServer, Zygote, thaw, thaw_until_they_end, wait_until_frozen
from tests.support.crash_project import DAYS, ORDERS, Order, Project, Stage, assert_nothing_is_left, order_rows

SPAN = ["--from", DAYS[0], "--to", "2026-04-05"]
NEWER: list[Order] = [(201, "6.00", "new"), (209, "1.23", "paid")]
FIRST = date(2025, 1, 1)
MANY = 60
GROUP = 2
KILLS = 20
"""Fewer than there are groups: it must not come to its end before it was killed that often."""
_DAILY = """\
pipeline: daily
schedule: {{every: day, start: 2025-01-01, end: 2025-03-02, timezone: UTC}}
source:
  type: files
  path: landing/daily/{{{{ window.start | date }}}}/*.csv
  format: csv
  schema: {{id: bigint, amount: "decimal(12,2)", day: date}}
target: {{type: delta, table: daily}}
write: {{strategy: replace_window, window_column: day}}
{rest}"""


def _rows(pipeline: str, **days: list[Order]) -> list[tuple[object, ...]]:
    orders = ORDERS | {day.replace("_", "-").removeprefix("d"): rows for day, rows in days.items()}
    return order_rows(orders, upper=pipeline == "orders")


def _many(place: Path, server: SparkServer, zygote: Zygote, rest: str) -> Project:
    project = Project(place, zygote, f"remote: '{server.remote}'").write()
    project.put("pipelines/daily.yaml", _DAILY.format(rest=rest))
    with (place / "samewise.yaml").open("a") as settings:
        settings.write(f"backfill: {{windows: {GROUP}}}\n")
    for at in range(MANY):
        day = (FIRST + timedelta(days=at)).isoformat()
        lines = [f"{at * 10 + n},{n}.25,{day}" for n in range(at % 3 + 1)]
        project.put(f"landing/daily/{day}/part.csv", "\n".join(["id,amount,day", *lines, ""]))
    return project


def _expected() -> list[tuple[object, ...]]:
    days = [FIRST + timedelta(days=at) for at in range(MANY)]
    rows = [(at * 10 + n, Decimal(f"{n}.25"), day) for at, day in enumerate(days) for n in range(at % 3 + 1)]
    return sorted(rows, key=repr)


@pytest.mark.parametrize("rest", ["", "expect: [id is not null]\n"], ids=["in one pass", "staged"])
def test_a_backfill_that_is_killed_twenty_times_is_as_one_clean_run(
    tmp_path: Path, server: SparkServer, zygote: Zygote, rest: str
) -> None:
    project = _many(tmp_path / "shop", server, zygote, rest)
    command = ["backfill", "daily", "--from", FIRST.isoformat(), "--to", "2025-03-02"]
    chance = random.Random(20261116)
    may_be_repeated = 0
    points = [point.value for point in Failpoint if rest or point not in (Failpoint.STAGED, Failpoint.VERIFIED)]
    for kills in range(KILLS):
        by_point = chance.random() < 0.5
        running = project.start(*command, failpoint=chance.choice(points) if by_point else "")
        if not by_point:
            _kill_soon(project, running, chance)
        ended = running.wait()
        assert ended.code == -signal.SIGKILL, f"it came to its end after {kills} kills: {ended.told}"
        may_be_repeated += _rows_of_what_was_cut_off(project)
    assert len(_landed(project)) < MANY, "the last kill, too, was in the middle of it"
    assert project.call(*command).well().json["status"] == "done"

    assert project.rows("daily") == _expected()
    receipts = project.state("SELECT window_key, measures, target_version FROM samewise_receipts ORDER BY window_key")
    assert len(receipts) == MANY, "every window landed once, and no commit was written down twice"
    assert [json.loads(row["measures"])["rows"] for row in receipts] == [at % 3 + 1 for at in range(MANY)]
    repeated = _source_rows_read(project) - len(_expected())
    assert 0 <= repeated <= may_be_repeated, "at most the rows of one group are read again for each kill"
    assert project.call("backfill", "verify").well().json["right"] is True
    assert_nothing_is_left(project, but_leases=True)
    assert {w["status"] for w in project.call("run", "daily").well().json["windows"]} <= {"unchanged"}


def _kill_soon(project: Project, running: Command, chance: random.Random) -> None:
    """SIGKILL at a random moment, which is sooner once a group has landed: there must be some left for later kills."""
    before, kill_at = len(_landed(project)), time.monotonic() + chance.uniform(0.3, 4.0)
    while time.monotonic() < kill_at and len(_landed(project)) == before:
        time.sleep(0.02)
    time.sleep(chance.uniform(0.0, 0.1))
    with suppress(ProcessLookupError):
        os.kill(running.pid, signal.SIGKILL)


def _source_rows(run: dict[str, Any]) -> int:
    """How many rows the source has for a run's window."""
    day = Window.from_key(run["window_key"]).start.date()
    return (day - FIRST).days % 3 + 1


def _rows_of_what_was_cut_off(project: Project) -> int:
    """The source rows of the one group, or the one window, that was under way when the process was killed."""
    if not project.state_file.exists():
        return 0
    with suppress(sqlite3.OperationalError):
        left = project.state("SELECT window_key, group_id, run_id FROM samewise_runs WHERE status = 'open'")
        assert len({run["group_id"] or run["run_id"] for run in left}) <= 1, left
        assert len(left) <= GROUP
        return sum(_source_rows(run) for run in left)
    return 0


def _source_rows_read(project: Project) -> int:
    """The rows that every attempt ever made may have read: those of its window, or of its whole group."""
    planned = project.state("SELECT window_key, group_id, run_id FROM samewise_runs")
    by_run = {run["run_id"]: run for run in planned}
    read = 0
    for attempt in project.state("SELECT run_id FROM samewise_attempts"):
        run = by_run[attempt["run_id"]]
        group = run["group_id"]
        read += sum(_source_rows(each) for each in planned if each["group_id"] == group) if group else _source_rows(run)
    return read


def test_ctrl_c_stops_after_the_current_commit_and_says_how_to_go_on(
    tmp_path: Path, server: SparkServer, zygote: Zygote
) -> None:
    project = _many(tmp_path / "shop", server, zygote, "")
    command = ["backfill", "daily", "--from", FIRST.isoformat(), "--to", "2025-01-21"]
    running = project.start(*command)
    give_up_at = time.monotonic() + 200
    while not project.state_file.exists() or not _landed(project):
        assert time.monotonic() < give_up_at
        time.sleep(0.05)
    os.kill(running.pid, signal.SIGINT)

    stopped = running.wait()

    assert (stopped.code, stopped.json["status"]) == (130, "paused"), stopped.told
    done = stopped.json["done_windows"]
    assert 0 < done < 20
    assert len(_landed(project)) == done
    assert_nothing_is_left(project)
    assert project.call("backfill", "resume").well().json["done_windows"] == 20


def _landed(project: Project) -> list[dict[str, object]]:
    with suppress(sqlite3.OperationalError):
        return project.state("SELECT window_key FROM samewise_receipts")
    return []


def _frozen_group(project: Project, pipeline: str, failpoint: Failpoint) -> Command:
    command = project.start("backfill", pipeline, *SPAN, failpoint=f"{failpoint}:stop")
    wait_until_frozen(command)
    open_runs = project.state("SELECT point FROM samewise_runs WHERE status = 'open' AND pipeline = ?", pipeline)
    assert [run["point"] for run in open_runs] == [failpoint.value] * 4
    return command


@pytest.mark.parametrize("pipeline", ["orders", "plain"])
def test_a_zombie_group_does_not_overwrite_a_newer_run_of_one_of_its_windows(stage: Stage, pipeline: str) -> None:
    project = stage.set_back("new", lease="2s")
    zombie = _frozen_group(project, pipeline, Failpoint.COMMITTING)
    project.put_orders(DAYS[1], NEWER)
    newer = project.call("run", pipeline, "--window", DAYS[1], "--wait").well()
    assert newer.status == "succeeded"
    version = newer.json["windows"][0]["target_version"]

    # It finds that its token was burned, and goes on with what is left: it stops itself before each commit.
    thaw_until_they_end([zombie])
    late = zombie.wait().well()

    assert late.json["status"] == "done"
    assert project.rows(pipeline) == _rows(pipeline, d2026_04_02=NEWER)
    query = "SELECT target_version FROM samewise_receipts WHERE pipeline = ? AND window_key LIKE '2026-04-01T22%'"
    assert [row["target_version"] for row in project.state(query, pipeline)] == [version]
    assert_nothing_is_left(project)


def test_a_zombie_of_a_single_window_does_not_overwrite_a_newer_group(stage: Stage) -> None:
    project = stage.set_back("new", lease="2s")
    zombie = project.start("run", "plain", "--window", DAYS[1], failpoint="committing:stop")
    wait_until_frozen(zombie)
    project.put_orders(DAYS[1], NEWER)
    time.sleep(2.5)
    assert project.call("backfill", "plain", *SPAN).well().json["status"] == "done"
    assert project.call("backfill", "plain", *SPAN, "--force").well().json["status"] == "done"
    groups = project.state("SELECT DISTINCT group_id FROM samewise_runs WHERE window_key LIKE '2026-04-01T22%'")
    assert any(row["group_id"] is not None for row in groups), "the second time it was part of a group"

    thaw(zombie)
    late = zombie.wait()

    assert (late.code, late.status) == (0, "superseded"), late.told
    assert project.rows("plain") == _rows("plain", d2026_04_02=NEWER)
    assert_nothing_is_left(project)


def test_a_group_that_landed_and_was_killed_is_recorded_by_a_run_of_one_of_its_windows(stage: Stage) -> None:
    project = stage.set_back("new")
    assert project.call("backfill", "plain", *SPAN, failpoint=Failpoint.COMMITTED).code == -9
    assert project.state("SELECT run_id FROM samewise_receipts WHERE pipeline = 'plain'") == []

    single = project.call("run", "plain", "--window", DAYS[2]).well()

    assert single.status == "unchanged"
    assert len(project.state("SELECT run_id FROM samewise_receipts WHERE pipeline = 'plain'")) == 4
    assert project.rows("plain") == _rows("plain")
    assert project.call("backfill", "plain", *SPAN).well().json["status"] == "done"
    assert len(project.state("SELECT run_id FROM samewise_runs WHERE pipeline = 'plain'")) == 4


@pytest.mark.parametrize("pipeline", ["orders", "plain"])
def test_a_lost_state_store_is_rebuilt_from_the_commit_of_a_group(stage: Stage, pipeline: str) -> None:
    project = stage.set_back("new")
    project.call("backfill", pipeline, *SPAN).well()
    query = (
        "SELECT window_key, generation, target_version, definition, fingerprint, contract, measures, run_id"
        f" FROM samewise_receipts WHERE pipeline = '{pipeline}' ORDER BY window_key"
    )
    before = project.state(query)
    mark = project.state("SELECT watermark FROM samewise_tasks WHERE pipeline = ?", pipeline)
    project.lose_state()

    project.call("recover", pipeline).well()

    assert project.state(query) == before
    assert project.state("SELECT watermark FROM samewise_tasks WHERE pipeline = ?", pipeline) == mark
    # Nobody knows which runs the lost store had planned: until a window has run again, it goes alone.
    again = project.call("backfill", pipeline, *SPAN, "--force").well()
    assert again.json["status"] == "done"
    assert project.state("SELECT run_id FROM samewise_runs WHERE group_id IS NOT NULL") == []
    assert project.rows(pipeline) == _rows(pipeline)
