"""Several runners at once: one for each window, and as many windows as there are."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy import Connection, Inspector, inspect

from samewise.state.store import Store
from tests.support.crash import thaw_until_they_end, wait_until_frozen
from tests.support.crash_project import (
    DAYS,
    ORDERS,
    RATES,
    Project,
    Stage,
    assert_nothing_is_left,
    order_rows,
    rate_rows,
    sight,
)


def _start_together(project: Project, *command: str) -> tuple[list[int], list[str]]:
    """Two runners of one window: their exit codes and what they say they did, in no order."""
    runners = [project.start(*command) for _ in range(2)]
    ended = [runner.wait() for runner in runners]
    return sorted(one.code for one in ended), sorted(one.status for one in ended)


def test_of_two_runners_of_one_window_one_is_busy(stage: Stage) -> None:
    project = stage.set_back("new")
    codes, statuses = _start_together(project, "run", "orders", "--window", DAYS[0])
    assert (codes, statuses) == ([0, 75], ["busy", "succeeded"])
    assert project.rows("orders") == order_rows({DAYS[0]: ORDERS[DAYS[0]]})
    assert_nothing_is_left(project)


def test_of_two_runners_that_wait_the_second_finds_nothing_to_do(stage: Stage) -> None:
    project = stage.set_back("new")
    codes, statuses = _start_together(project, "run", "rates", "--wait")
    assert (codes, statuses) == ([0, 0], ["succeeded", "unchanged"])
    assert project.rows("rates") == rate_rows(RATES)
    assert len(project.landed("rates", project.newest_run("rates")["run_id"])) == 1
    assert_nothing_is_left(project)


@pytest.mark.parametrize("pipeline", ["orders", "plain"])
def test_different_windows_are_loaded_side_by_side(stage: Stage, pipeline: str) -> None:
    clean = stage.clean_run("new", "run", pipeline, "--from", DAYS[0], "--to", "2026-04-05")
    project = stage.set_back("new")
    runners = [project.start("run", pipeline, "--window", day) for day in DAYS]
    for runner in runners:
        assert runner.wait().well().status == "succeeded"
    assert project.rows(pipeline) == order_rows(ORDERS, upper=pipeline == "orders")
    assert _per_window(project, pipeline) == _figures(clean.receipts)
    assert [row[1] for row in sight(project, pipeline).task] == [row[1] for row in clean.task]
    assert_nothing_is_left(project)


@pytest.mark.parametrize("pipeline", ["classic", "plain"])
def test_commits_that_collide_are_made_again(stage: Stage, pipeline: str) -> None:
    project = stage.set_back("loaded")
    # Not partitioned, so that Delta's writer takes every commit for a change of what the others have read; without it,
    # each comes after the others. Each runner stops before each try, so that a stop more than there are runners is a
    # try that had failed.
    runners = [project.start("run", pipeline, "--window", day, "--force", failpoint="committing:stop") for day in DAYS]
    for runner in runners:
        wait_until_frozen(runner)

    stops = thaw_until_they_end(runners)

    for runner in runners:
        assert runner.wait().well().status == "succeeded"
    if pipeline == "classic":
        assert stops > len(runners), "no commit met another one: nothing was shown"
    else:
        assert stops == len(runners), "a commit of another window is no reason to write the rows again"
    assert project.rows(pipeline) == order_rows(ORDERS, upper=False)
    assert_nothing_is_left(project)


def _per_window(project: Project, pipeline: str) -> list[tuple[object, ...]]:
    return _figures(sight(project, pipeline).receipts)


def _figures(receipts: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Receipts without the target's version: which window came first is for chance to decide."""
    return [receipt[:4] + receipt[5:] for receipt in receipts]


def test_a_store_that_another_process_makes_at_this_very_moment_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/state.db"
    looked = []

    def look_too_late(connection: Connection) -> Inspector:
        looked.append(connection)
        # The tables were not there when they were read, and are there now that someone looks why.
        monkeypatch.setattr(sqlalchemy, "inspect", inspect)
        Store.open(url).close()
        return inspect(connection)

    monkeypatch.setattr(sqlalchemy, "inspect", look_too_late)
    with Store.open(url) as opened, Store.open(url) as again:
        assert opened.store_id == again.store_id
    assert looked, "nobody looked: the moment that this is about never came"
