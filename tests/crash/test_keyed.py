"""Writing by key, killed at every step: no row is missing, doubled or stale, and neither watermark nor ledger lies."""

from __future__ import annotations

import pytest

from samewise.core.failpoints import Failpoint
from tests.support.crash import thaw, wait_until_frozen
from tests.support.crash_project import DAYS, Stage, assert_nothing_is_left, sight

SITUATIONS = [
    ("entities", "new"),
    ("entities", "deleting"),
    ("events", "new"),
    ("events", "changed"),
    ("feed", "new"),
    ("copy", "loaded"),
]
# A ledger that is there already, and rows that a MERGE meets, differ where the commit is.
_AT_THE_COMMIT = [Failpoint.COMMITTING, Failpoint.COMMITTED, Failpoint.CHECKPOINTED]
CASES = [(*situation, point) for situation in SITUATIONS for point in Failpoint] + [
    (pipeline, "more", point) for pipeline in ("merged", "feed") for point in _AT_THE_COMMIT
]
_NOT_YET = [Failpoint.PLANNED, Failpoint.CHECKED, Failpoint.STAGED, Failpoint.VERIFIED, Failpoint.COMMITTING]


def _command(pipeline: str, situation: str) -> list[str]:
    if pipeline in ("feed", "copy"):
        return ["run", pipeline]
    return ["run", pipeline, "--window", {"new": DAYS[0], "more": DAYS[2]}.get(situation, DAYS[1])]


@pytest.mark.parametrize(("pipeline", "situation", "failpoint"), CASES)
def test_killed_and_run_again_is_as_one_clean_run(
    stage: Stage, pipeline: str, situation: str, failpoint: Failpoint
) -> None:
    command = _command(pipeline, situation)
    clean = stage.clean_run(situation, *command)
    project = stage.set_back(situation)
    before = project.rows(pipeline) if project.exists(pipeline) else []

    killed = project.call(*command, failpoint=failpoint)

    assert killed.code == -9, killed.told
    run = project.newest_run(pipeline)
    assert run["status"] == "open"
    assert len(project.landed(pipeline, run["run_id"])) == (0 if failpoint in _NOT_YET else 1)

    again = project.call(*command).well()

    assert again.status == "succeeded"
    assert again.json["windows"][0]["run_id"] == run["run_id"], "the second command planned a run of its own"
    assert len(project.landed(pipeline, run["run_id"])) == 1
    assert project.rows(pipeline) != before, "nothing was written: a token refused it"
    assert sight(project, pipeline) == clean
    assert_nothing_is_left(project)
    assert project.call(*command).well().status == "unchanged"


@pytest.mark.parametrize("failpoint", _AT_THE_COMMIT)
def test_killed_with_nothing_to_write_and_run_again_is_as_one_clean_run(stage: Stage, failpoint: Failpoint) -> None:
    command = _command("events", "empty")
    clean = stage.clean_run("empty", *command)
    project = stage.set_back("empty")
    versions = len(project.commits("events"))
    assert project.call(*command, failpoint=failpoint).code == -9
    assert project.call(*command).well().status == "succeeded"
    assert sight(project, "events") == clean
    assert len(project.commits("events")) == versions, "nothing to write means no commit"


def test_two_windows_that_share_a_key_and_run_at_once_do_not_both_insert_it(stage: Stage) -> None:
    project = stage.set_back("new")
    for day in DAYS[:2]:
        project.put_orders(day, [(number, "1.00", day) for number in range(50)])
    first = project.start("run", "events", "--window", DAYS[0], failpoint="committing:stop")
    wait_until_frozen(first)

    second = project.call("run", "events", "--window", DAYS[1]).well()
    assert second.json["windows"][0]["rows_inserted"] == 50
    thaw(first)
    ended = first.wait().well()

    # It had compared its rows with an empty table. The MERGE compares again, or the conflict makes it.
    numbers = [row[0] for row in project.rows("events")]
    assert sorted(map(str, numbers)) == sorted(map(str, range(50))), ended.told


def test_a_zombie_of_an_older_merge_leaves_the_newer_rows(stage: Stage) -> None:
    project = stage.set_back("new", lease="2s")
    command = ["run", "entities", "--window", DAYS[0]]
    zombie = project.start(*command, failpoint="committing:stop")
    wait_until_frozen(zombie)
    project.put_orders(DAYS[0], [(101, "77.00", "paid")])
    project.call(*command, "--force", "--wait").well()
    newer = project.rows("entities")
    thaw(zombie)
    late = zombie.wait()
    assert (late.code, late.status) == (0, "superseded"), late.told
    assert project.rows("entities") == newer
