"""Killed at every step, in every situation, and run again: as if nothing had happened."""

from __future__ import annotations

import re

import pytest
from deltalake import DeltaTable

from samewise.core.failpoints import Failpoint
from tests.support.crash_project import (
    CHANGED,
    CHANGED_RATES,
    DAYS,
    ORDERS,
    RATES,
    Project,
    Row,
    Stage,
    assert_nothing_is_left,
    order_rows,
    rate_rows,
    sight,
)

STAGING = [Failpoint.STAGED, Failpoint.VERIFIED]
SITUATIONS = ["new", "changed", "empty"]
_POINT_AFTER = {
    Failpoint.PLANNED: "planned",
    Failpoint.CHECKED: "checked",
    Failpoint.STAGED: "staged",
    Failpoint.VERIFIED: "verified",
    Failpoint.COMMITTING: "committing",
    # Landed, and nobody has written that down: that is what makes it interesting.
    Failpoint.COMMITTED: "committing",
    Failpoint.CHECKPOINTED: "checkpointed",
    Failpoint.DELIVERED: "delivered",
}
_LANDED = [Failpoint.COMMITTED, Failpoint.CHECKPOINTED, Failpoint.DELIVERED]


def _command(pipeline: str, situation: str) -> list[str]:
    if pipeline == "rates":
        return ["run", "rates"]
    return ["run", pipeline, "--window", DAYS[0] if situation == "new" else DAYS[1]]


def _expected(pipeline: str, situation: str) -> list[Row]:
    if pipeline == "rates":
        return rate_rows({"new": RATES, "changed": CHANGED_RATES, "empty": []}[situation])
    second = {"new": None, "changed": CHANGED, "empty": []}[situation]
    orders = {DAYS[0]: ORDERS[DAYS[0]]} | ({} if second is None else {DAYS[1]: second})
    return order_rows(orders, upper=pipeline == "orders")


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("pipeline", ["orders", "rates", "plain", "classic"])
def test_a_clean_run_gives_what_the_files_say(stage: Stage, pipeline: str, situation: str) -> None:
    assert stage.clean_run(situation, *_command(pipeline, situation)).rows == _expected(pipeline, situation)


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("failpoint", list(Failpoint))
@pytest.mark.parametrize("pipeline", ["orders", "rates"])
def test_killed_and_run_again_is_as_one_clean_run(
    stage: Stage, pipeline: str, failpoint: Failpoint, situation: str
) -> None:
    clean = stage.clean_run(situation, *_command(pipeline, situation))
    _kill_and_run_again(stage, pipeline, failpoint, situation)
    assert sight(stage.project, pipeline) == clean


@pytest.mark.parametrize(
    ("failpoint", "situation"),
    [(point, "changed") for point in Failpoint if point not in STAGING]
    # Where nothing was measured before the commit, the target is measured after it: also an empty one.
    + [(Failpoint.COMMITTED, "new"), (Failpoint.COMMITTED, "empty")],
)
@pytest.mark.parametrize("pipeline", ["plain", "classic"])
def test_killed_without_staging_and_run_again_is_as_one_clean_run(
    stage: Stage, pipeline: str, failpoint: Failpoint, situation: str
) -> None:
    clean = stage.clean_run(situation, *_command(pipeline, situation))
    _kill_and_run_again(stage, pipeline, failpoint, situation)
    assert sight(stage.project, pipeline) == clean
    engine = project_engine(stage.project, pipeline)
    assert engine == ("Apache-Spark" if pipeline == "classic" else "delta-rs")


def project_engine(project: Project, table: str) -> str:
    """Who wrote the last entry of the table's log."""
    (last,) = DeltaTable(project.table_path(table)).history(1)
    return re.split("[/:]", last["engineInfo"])[0]


def _kill_and_run_again(stage: Stage, pipeline: str, failpoint: Failpoint, situation: str) -> None:
    """Kill a command, make sure that it died where it should have, and run it again."""
    project, command = stage.set_back(situation), _command(pipeline, situation)
    before = project.rows(pipeline) if project.exists(pipeline) else []

    killed = project.call(*command, failpoint=failpoint)

    assert killed.code == -9, killed.told
    run = project.newest_run(pipeline)
    assert (run["status"], run["point"]) == ("open", _POINT_AFTER[failpoint])
    assert run["attempt"] == (0 if failpoint is Failpoint.PLANNED else 1)
    assert len(project.landed(pipeline, run["run_id"])) == (1 if failpoint in _LANDED else 0)
    now = project.rows(pipeline) if project.exists(pipeline) else []
    assert now == (_expected(pipeline, situation) if failpoint in _LANDED else before)

    again = project.call(*command).well()

    assert again.status == "succeeded"
    window = again.json["windows"][0]
    assert window["run_id"] == run["run_id"], "the second command planned a run of its own"
    assert len(project.landed(pipeline, run["run_id"])) == 1
    assert project.rows(pipeline) != before, "nothing was written: a token refused it"
    assert_nothing_is_left(project)
    assert project.call(*command).well().status == "unchanged"
