"""Killed at every step, in every situation, and run again: as if nothing had happened."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from samewise.core.failpoints import Failpoint
from tests.support.crash import SparkServer, Zygote
from tests.support.crash_project import (
    CHANGED,
    CHANGED_RATES,
    DAYS,
    ORDERS,
    RATES,
    Project,
    Row,
    Sight,
    assert_nothing_is_left,
    order_rows,
    rate_rows,
    sight,
)

STAGING = [Failpoint.STAGED, Failpoint.VERIFIED]
SCENARIOS = ["first", "changed", "empty"]
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


def _command(pipeline: str, scenario: str) -> list[str]:
    if pipeline == "rates":
        return ["run", "rates"]
    return ["run", pipeline, "--window", DAYS[0] if scenario == "first" else DAYS[1]]


def _expected(pipeline: str, scenario: str) -> list[Row]:
    if pipeline == "rates":
        return rate_rows({"first": RATES, "changed": CHANGED_RATES, "empty": []}[scenario])
    second = {"first": None, "changed": CHANGED, "empty": []}[scenario]
    orders = {DAYS[0]: ORDERS[DAYS[0]]} | ({} if second is None else {DAYS[1]: second})
    return order_rows(orders, upper=pipeline == "orders")


@dataclass(frozen=True, slots=True)
class Stage:
    """One project, set back to the start of a scenario whenever a test asks for it."""

    project: Project
    server: SparkServer
    saved: Path
    clean: dict[tuple[str, str], Sight]

    def set_back(self, scenario: str) -> None:
        self.server.forget()
        self.project.restore(self.saved / scenario)

    def clean_run(self, pipeline: str, scenario: str) -> Sight:
        """What one undisturbed run leaves; made once."""
        key = (pipeline, scenario)
        if key not in self.clean:
            self.set_back(scenario)
            assert self.project.call(*_command(pipeline, scenario)).well().status == "succeeded"
            self.clean[key] = sight(self.project, pipeline)
        return self.clean[key]


@pytest.fixture(scope="module")
def stage(place: Path, server: SparkServer, zygote: Zygote) -> Stage:
    """Three situations: nothing loaded yet; loaded, and the input changed since; loaded, and now empty."""
    project = Project(place / "matrix" / "shop", zygote, f"remote: '{server.remote}'").write()
    saved = place / "matrix" / "saved"
    project.save(saved / "first")
    for pipeline in ("orders", "plain"):
        project.call("run", pipeline, "--from", DAYS[0], "--to", DAYS[2]).well()
    project.call("run", "rates").well()
    project.save(saved / "loaded")
    project.put_orders(DAYS[1], CHANGED)
    project.put_rates(CHANGED_RATES)
    project.save(saved / "changed")
    project.put_orders(DAYS[1], [])
    project.put_rates([])
    project.save(saved / "empty")
    return Stage(project, server, saved, {})


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("pipeline", ["orders", "rates", "plain"])
def test_a_clean_run_gives_what_the_files_say(stage: Stage, pipeline: str, scenario: str) -> None:
    assert stage.clean_run(pipeline, scenario).rows == _expected(pipeline, scenario)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("failpoint", list(Failpoint))
@pytest.mark.parametrize("pipeline", ["orders", "rates"])
def test_killed_and_run_again_is_as_one_clean_run(
    stage: Stage, pipeline: str, failpoint: Failpoint, scenario: str
) -> None:
    clean = stage.clean_run(pipeline, scenario)
    _kill_and_run_again(stage, pipeline, failpoint, scenario)
    assert sight(stage.project, pipeline) == clean


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("failpoint", [point for point in Failpoint if point not in STAGING])
def test_killed_without_staging_and_run_again_is_as_one_clean_run(
    stage: Stage, failpoint: Failpoint, scenario: str
) -> None:
    clean = stage.clean_run("plain", scenario)
    _kill_and_run_again(stage, "plain", failpoint, scenario)
    assert _comparable(sight(stage.project, "plain"), failpoint) == _comparable(clean, failpoint)


def _kill_and_run_again(stage: Stage, pipeline: str, failpoint: Failpoint, scenario: str) -> None:
    """Kill a command, make sure that it died where it should have, and run it again."""
    stage.set_back(scenario)
    project, command = stage.project, _command(pipeline, scenario)
    before = project.rows(pipeline) if project.exists(pipeline) else []

    killed = project.call(*command, failpoint=failpoint)

    assert killed.code == -9, killed.told
    run = project.newest_run(pipeline)
    assert (run["status"], run["point"]) == ("open", _POINT_AFTER[failpoint])
    assert run["attempt"] == (0 if failpoint is Failpoint.PLANNED else 1)
    assert len(project.landed(pipeline, run["run_id"])) == (1 if failpoint in _LANDED else 0)
    now = project.rows(pipeline) if project.exists(pipeline) else []
    assert now == (_expected(pipeline, scenario) if failpoint in _LANDED else before)

    again = project.call(*command).well()

    assert again.status == "succeeded"
    window = again.json["windows"][0]
    assert window["run_id"] == run["run_id"], "the second command planned a run of its own"
    assert len(project.landed(pipeline, run["run_id"])) == 1
    assert project.rows(pipeline) != before, "nothing was written: a token refused it"
    assert_nothing_is_left(project)
    assert project.call(*command).well().status == "unchanged"


def _comparable(found: Sight, failpoint: Failpoint) -> Sight:
    """How many rows were read is measured while they are written: where the process dies right after, nobody knows."""
    if failpoint is not Failpoint.COMMITTED:
        return found
    return replace(found, receipts=[_without_rows_read(receipt) for receipt in found.receipts])


def _without_rows_read(receipt: Row) -> Row:
    return receipt[:9] + receipt[10:]
