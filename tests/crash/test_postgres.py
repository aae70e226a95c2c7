"""PostgreSQL as the target: killed at every step, in every strategy, and run again, as if nothing had happened."""

from __future__ import annotations

import pytest

from samewise.core.failpoints import Failpoint
from tests.support.crash import thaw, wait_until_frozen
from tests.support.crash_project import (
    CHANGED,
    DAYS,
    ORDERS,
    Order,
    Stage,
    assert_nothing_is_left,
    order_rows,
    sight,
)

_ONE_PASS = ("plain", "swapped")
_STAGING = (Failpoint.STAGED, Failpoint.VERIFIED)
_LANDED = (Failpoint.COMMITTED, Failpoint.CHECKPOINTED, Failpoint.DELIVERED)
SITUATIONS = [
    ("orders", "new"),
    ("orders", "changed"),
    ("orders", "empty"),
    ("plain", "new"),
    ("plain", "changed"),
    ("plain", "empty"),
    ("entities", "new"),
    ("entities", "deleting"),
    ("events", "new"),
    ("events", "changed"),
    ("rates", "new"),
    ("rates", "changed"),
    ("rates", "empty"),
    ("swapped", "new"),
    ("swapped", "changed"),
]
# Every step of every strategy once; a first load and an empty one differ where the transaction is.
_EVERY_STEP = ("changed", "deleting")
_AT_THE_COMMIT = (Failpoint.COMMITTING, Failpoint.COMMITTED)
CASES = [
    (pipeline, situation, point)
    for pipeline, situation in SITUATIONS
    for point in (Failpoint if situation in _EVERY_STEP else _AT_THE_COMMIT)
    if pipeline not in _ONE_PASS or point not in _STAGING
]


def _command(pipeline: str, situation: str) -> list[str]:
    if pipeline in ("rates", "swapped"):
        return ["run", pipeline]
    return ["run", pipeline, "--window", DAYS[0] if situation == "new" else DAYS[1]]


@pytest.mark.parametrize(("pipeline", "situation", "failpoint"), CASES)
def test_killed_and_run_again_is_as_one_clean_run(
    postgres_stage: Stage, pipeline: str, situation: str, failpoint: Failpoint
) -> None:
    command = _command(pipeline, situation)
    clean = postgres_stage.clean_run(situation, *command)
    project = postgres_stage.set_back(situation)
    before = project.rows(pipeline) if project.exists(pipeline) else []

    killed = project.call(*command, failpoint=failpoint)

    assert killed.code == -9, killed.told
    run = project.newest_run(pipeline)
    assert run["status"] == "open"
    landed = len(project.landed(pipeline, run["run_id"]))
    assert landed == (1 if failpoint in _LANDED else 0)
    now = project.rows(pipeline) if project.exists(pipeline) else []
    assert (now == before) is (failpoint not in _LANDED)

    again = project.call(*command).well()

    assert again.status == "succeeded"
    assert again.json["windows"][0]["run_id"] == run["run_id"], "the second command planned a run of its own"
    assert len(project.landed(pipeline, run["run_id"])) == 1
    found = sight(project, pipeline)
    if failpoint is Failpoint.COMMITTED:
        # How many rows were read is known to the process that read them, and to nobody after its death.
        found, clean = found.without_rows_read(), clean.without_rows_read()
    assert found == clean
    assert_nothing_is_left(project)
    assert project.call(*command).well().status == "unchanged"


NEWER: list[Order] = [(201, "6.00", "new"), (209, "1.23", "paid")]


@pytest.mark.parametrize("pipeline", ["orders", "plain", "entities"])
def test_a_zombie_gives_way_to_what_was_published_meanwhile(postgres_stage: Stage, pipeline: str) -> None:
    project = postgres_stage.set_back("changed", lease="2s")
    command = ["run", pipeline, "--window", DAYS[1]]
    zombie = project.start(*command, failpoint="committing:stop")
    wait_until_frozen(zombie)
    old = project.newest_run(pipeline)
    project.put_orders(DAYS[1], NEWER)
    newer = project.call(*command, "--force", "--wait").well()
    assert newer.json["windows"][0]["generation"] == old["generation"] + 1
    published = sight(project, pipeline)

    thaw(zombie)
    late = zombie.wait()

    assert (late.code, late.status) == (0, "superseded"), late.told
    assert sight(project, pipeline) == published
    assert project.landed(pipeline, old["run_id"]) == []
    assert_nothing_is_left(project)


def test_two_windows_that_share_a_key_and_run_at_once_do_not_both_insert_it(postgres_stage: Stage) -> None:
    project = postgres_stage.set_back("new")
    for day in DAYS[:2]:
        project.put_orders(day, [(number, "1.00", day) for number in range(50)])
    first = project.start("run", "events", "--window", DAYS[0], failpoint="committing:stop")
    wait_until_frozen(first)
    second = project.call("run", "events", "--window", DAYS[1]).well()
    assert second.json["windows"][0]["rows_inserted"] == 50
    thaw(first)
    first.wait().well()
    assert len(project.rows("events")) == 50


@pytest.mark.parametrize("pipeline", ["orders", "plain", "entities"])
def test_different_windows_are_loaded_side_by_side(postgres_stage: Stage, pipeline: str) -> None:
    clean = postgres_stage.clean_run("new", "run", pipeline, "--from", DAYS[0], "--to", "2026-04-05")
    project = postgres_stage.set_back("new")
    runners = [project.start("run", pipeline, "--window", day) for day in DAYS]
    for runner in runners:
        assert runner.wait().well().status == "succeeded"
    assert project.rows(pipeline) == clean.rows
    assert_nothing_is_left(project)


def test_a_lost_store_is_noticed_and_recovered(postgres_stage: Stage) -> None:
    project = postgres_stage.set_back("loaded")
    both = ["run", "plain", "--from", DAYS[0], "--to", DAYS[2]]
    project.lose_state()
    refused = project.call(*both)
    assert refused.code == 2, refused.told
    assert "samewise recover" in refused.json["error"]["next"]
    project.call("recover", "plain").well()
    assert project.call(*both).well().status == "unchanged"


def test_a_commit_under_way_is_refused_when_another_store_adopts_the_target(postgres_stage: Stage) -> None:
    project = postgres_stage.set_back("changed")
    late = project.start("run", "orders", "--window", DAYS[1], failpoint="committing:stop")
    wait_until_frozen(late)
    project.put_state_at("sqlite:///.samewise/other.db")
    project.call("recover", "orders", "--adopt").well()
    before = project.rows("orders")
    thaw(late)
    refused = late.wait()
    assert refused.code == 2, refused.told
    assert project.rows("orders") == before


def test_the_files_say_what_the_tables_hold(postgres_stage: Stage) -> None:
    clean = postgres_stage.clean_run("changed", "run", "orders", "--window", DAYS[1])
    assert clean.rows == order_rows({DAYS[0]: ORDERS[DAYS[0]], DAYS[1]: CHANGED})
