"""The state store is lost, or there are two of them: the target knows what it holds."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

import pytest

from samewise.core.failpoints import Failpoint
from tests.support.crash import thaw, wait_until_frozen
from tests.support.crash_project import (
    CHANGED,
    DAYS,
    ORDERS,
    Project,
    Row,
    Stage,
    assert_nothing_is_left,
    order_rows,
)

OTHER_STORE = "sqlite:///.samewise/other.db"


def _run(pipeline: str) -> list[str]:
    return ["run", pipeline, "--from", DAYS[0], "--to", DAYS[2]]


def _known(project: Project, pipeline: str) -> list[Row]:
    """What a recovered store must know again: everything that decides about later runs."""
    query = (
        "SELECT task, window_key, generation, target, target_version, definition, fingerprint, contract, measures"
        " FROM samewise_receipts WHERE pipeline = ? ORDER BY window_key, generation"
    )
    marks = "SELECT task, watermark, contracts FROM samewise_tasks WHERE pipeline = ?"
    found = project.state(query, pipeline) + project.state(marks, pipeline)
    return [tuple(row.values()) for row in found]


@pytest.mark.parametrize("pipeline", ["orders", "plain"])
def test_a_lost_store_is_noticed_and_recovered(stage: Stage, pipeline: str) -> None:
    project = stage.set_back("loaded")
    before = _known(project, pipeline)
    project.lose_state()

    refused = project.call(*_run(pipeline))
    assert refused.code == 2, refused.told
    assert "samewise recover" in refused.json["error"]["next"]

    project.call("recover", pipeline).well()
    assert _known(project, pipeline) == before
    assert project.call(*_run(pipeline)).well().status == "unchanged"


def test_generations_go_on_from_the_targets_after_a_recovery(stage: Stage) -> None:
    project = stage.set_back("changed")
    project.lose_state()
    project.call("recover", "orders").well()
    again = project.call("run", "orders", "--window", DAYS[1]).well()
    assert (again.status, again.json["windows"][0]["generation"]) == ("succeeded", 2)
    assert project.rows("orders") == order_rows({DAYS[0]: ORDERS[DAYS[0]], DAYS[1]: CHANGED})


def test_a_second_store_is_refused_until_it_adopts_the_target(stage: Stage) -> None:
    project = stage.set_back("loaded")
    project.put_state_at(OTHER_STORE)
    for command in (_run("orders"), ["recover", "orders"]):
        refused = project.call(*command)
        assert refused.code == 2, refused.told
        assert "--adopt" in refused.json["error"]["next"]

    project.call("recover", "orders", "--adopt").well()

    assert project.call(*_run("orders")).well().status == "unchanged"


def test_the_first_store_is_refused_after_a_second_one_adopted_the_target(stage: Stage) -> None:
    project = stage.set_back("loaded")
    project.put_state_at(OTHER_STORE)
    project.call("recover", "orders", "--adopt").well()
    project.put_state_at("sqlite:///.samewise/state.db")
    for command in (_run("orders"), [*_run("orders"), "--force"]):
        refused = project.call(*command)
        assert refused.code == 2, refused.told
        assert "--adopt" in refused.json["error"]["next"]


def test_a_commit_under_way_is_refused_when_another_store_adopts_the_target(stage: Stage) -> None:
    project = stage.set_back("changed")
    late = project.start("run", "orders", "--window", DAYS[1], failpoint="verified:stop")
    wait_until_frozen(late)
    project.put_state_at(OTHER_STORE)
    project.call("recover", "orders", "--adopt").well()
    before = project.rows("orders")

    thaw(late)
    refused = late.wait()

    assert refused.code == 2, refused.told
    assert project.rows("orders") == before


@pytest.mark.parametrize("pipeline", ["orders", "plain"])
def test_a_commit_whose_store_was_lost_before_it_was_recorded_lands_once(stage: Stage, pipeline: str) -> None:
    project = stage.set_back("changed")
    killed = project.call("run", pipeline, "--window", DAYS[1], failpoint=Failpoint.COMMITTED)
    assert killed.code == -9, killed.told
    run_id = project.newest_run(pipeline)["run_id"]
    project.lose_state()
    project.call("recover", pipeline).well()

    assert project.call(*_run(pipeline)).well().status == "unchanged"

    orders = {DAYS[0]: ORDERS[DAYS[0]], DAYS[1]: CHANGED}
    assert project.rows(pipeline) == order_rows(orders, upper=pipeline == "orders")
    assert len(project.landed(pipeline, run_id)) == 1


def test_a_recovery_that_was_killed_can_be_made_again(stage: Stage) -> None:
    project = stage.set_back("loaded")
    before = _known(project, "plain")
    project.lose_state()
    kills = 0
    # Later and later, until one gets through: the kills fall into every part of it.
    for delay_seconds in (0.02 * 1.5**number for number in range(40)):
        command = project.start("recover", "plain")
        time.sleep(delay_seconds)
        with suppress(ProcessLookupError):
            os.kill(command.pid, signal.SIGKILL)
        if command.wait().code == 0:
            break
        kills += 1
        # Half a store must not be taken for a whole one: a run is refused, or has nothing to do.
        between = project.call(*_run("plain"))
        assert between.code == 2 or between.status == "unchanged", between.told
    assert kills >= 3
    project.call("recover", "plain").well()
    assert _known(project, "plain") == before
    assert project.call(*_run("plain")).well().status == "unchanged"
    assert_nothing_is_left(project)
