"""A process that was frozen long enough to lose its lease, and wakes up when others have gone on."""

from __future__ import annotations

import pytest

from samewise.core.failpoints import Failpoint
from tests.support.crash import Command, thaw, wait_until_frozen
from tests.support.crash_project import (
    CHANGED,
    DAYS,
    ORDERS,
    Order,
    Project,
    Stage,
    assert_nothing_is_left,
    order_rows,
    sight,
)

NEWER: list[Order] = [(201, "6.00", "new"), (209, "1.23", "paid")]
RUN = ["--window", DAYS[1]]


def _frozen(project: Project, pipeline: str, failpoint: Failpoint) -> Command:
    """A run of the second day that has stopped itself. Nobody knows whether it is dead."""
    command = project.start("run", pipeline, *RUN, failpoint=f"{failpoint}:stop")
    wait_until_frozen(command)
    assert project.newest_run(pipeline)["point"] == failpoint.value
    return command


def _rows(pipeline: str, second_day: list[Order]) -> list[tuple[object, ...]]:
    orders = {DAYS[0]: ORDERS[DAYS[0]], DAYS[1]: second_day}
    return order_rows(orders, upper=pipeline == "orders")


@pytest.mark.parametrize("pipeline", ["orders", "plain"])
def test_a_zombie_gives_way_to_what_was_published_meanwhile(stage: Stage, pipeline: str) -> None:
    project = stage.set_back("changed", lease="2s")
    zombie = _frozen(project, pipeline, Failpoint.COMMITTING)
    old = project.newest_run(pipeline)
    project.put_orders(DAYS[1], NEWER)
    newer = project.call("run", pipeline, *RUN, "--force", "--wait").well()
    assert newer.status == "succeeded"
    assert newer.json["windows"][0]["generation"] == old["generation"] + 1
    published = sight(project, pipeline)

    thaw(zombie)
    late = zombie.wait()

    assert (late.code, late.status) == (0, "superseded"), late.told
    assert published.rows == _rows(pipeline, NEWER)
    assert sight(project, pipeline) == published
    assert project.landed(pipeline, old["run_id"]) == []
    assert_nothing_is_left(project)


@pytest.mark.parametrize("pipeline", ["orders", "plain"])
def test_a_zombie_whose_own_run_was_finished_by_another_adds_nothing(stage: Stage, pipeline: str) -> None:
    project = stage.set_back("changed", lease="2s")
    zombie = _frozen(project, pipeline, Failpoint.COMMITTING)
    run_id = project.newest_run(pipeline)["run_id"]
    resumed = project.call("run", pipeline, *RUN, "--wait").well()
    window = resumed.json["windows"][0]
    assert (window["status"], window["run_id"], window["attempt"]) == ("succeeded", run_id, 2)
    published = sight(project, pipeline)

    thaw(zombie)
    late = zombie.wait()

    assert (late.code, late.status) == (0, "superseded"), late.told
    assert published.rows == _rows(pipeline, CHANGED)
    assert sight(project, pipeline) == published
    assert len(project.landed(pipeline, run_id)) == 1
    assert_nothing_is_left(project)


@pytest.mark.parametrize("failpoint", [Failpoint.CHECKED, Failpoint.STAGED], ids=["is yet to stage", "has staged"])
def test_a_zombie_does_not_touch_the_staging_of_the_next_attempt(stage: Stage, failpoint: Failpoint) -> None:
    clean = stage.clean_run("changed", "run", "orders", *RUN)
    project = stage.set_back("changed", lease="2s")
    zombie = _frozen(project, "orders", failpoint)
    of_the_zombie = set(project.left_staged())
    following = project.start("run", "orders", *RUN, "--wait", failpoint="staged:stop")
    wait_until_frozen(following)
    both = set(project.left_staged())
    assert of_the_zombie < both, "each attempt stages in a place of its own"
    of_the_following = {path for path in both - of_the_zombie if path.endswith(".parquet")}
    assert of_the_following

    thaw(zombie)
    late = zombie.wait()

    assert (late.code, late.status) == (75, "busy"), late.told
    left = {path for path in project.left_staged() if path.endswith(".parquet")}
    assert left == of_the_following
    assert project.landed("orders", project.newest_run("orders")["run_id"]) == []

    thaw(following)
    assert following.wait().well().status == "succeeded"
    assert sight(project, "orders") == clean
    assert_nothing_is_left(project)


@pytest.mark.parametrize("failpoint", [Failpoint.CHECKED, Failpoint.STAGED, Failpoint.VERIFIED])
def test_a_zombie_that_wakes_up_after_the_next_attempt_leaves_nothing_behind(
    stage: Stage, failpoint: Failpoint
) -> None:
    clean = stage.clean_run("changed", "run", "orders", *RUN)
    project = stage.set_back("changed", lease="2s")
    zombie = _frozen(project, "orders", failpoint)
    assert project.call("run", "orders", *RUN, "--wait").well().status == "succeeded"

    thaw(zombie)
    late = zombie.wait()

    assert (late.code, late.status) == (0, "superseded"), late.told
    assert sight(project, "orders") == clean
    assert_nothing_is_left(project)
