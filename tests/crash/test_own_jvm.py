"""Every failpoint once with a JVM of its own, which is killed with the process that started it."""

from __future__ import annotations

import os
import signal

from samewise.core.failpoints import Failpoint
from tests.support.crash import OwnProcess, processes_of_group, wait_until_frozen
from tests.support.crash_project import DAYS, ORDERS, Project, Stage, assert_nothing_is_left, order_rows, sight

ALL_DAYS = ["run", "orders", "--from", DAYS[0], "--to", "2026-04-05"]

# A cold JVM spends most of a tiny query on compiling code for it.
_OWN_SPARK = (
    "master: 'local[2]', conf: {spark.sql.codegen.wholeStage: 'false', spark.sql.codegen.factoryMode: NO_CODEGEN,"
    " spark.databricks.delta.snapshotPartitions: '1', spark.sql.shuffle.partitions: '1'}"
)

# Each command goes on where the one before was killed, and is killed itself: at a step that the window which it
# finds unfinished does not come to again, so that it finishes that one first; or at an earlier step, in which
# case the same window dies once more.
DEATHS = [
    (Failpoint.PLANNED, DAYS[0], "planned", 0),
    (Failpoint.DELIVERED, DAYS[0], "delivered", 1),
    (Failpoint.CHECKPOINTED, DAYS[1], "checkpointed", 1),
    (Failpoint.COMMITTED, DAYS[2], "committing", 1),
    (Failpoint.COMMITTING, DAYS[3], "committing", 1),
    (Failpoint.VERIFIED, DAYS[3], "committing", 2),
    (Failpoint.STAGED, DAYS[3], "committing", 3),
    (Failpoint.CHECKED, DAYS[3], "committing", 4),
]


def test_every_failpoint_is_named_here() -> None:
    assert {death[0] for death in DEATHS} == set(Failpoint)


def test_killed_with_its_jvm_at_every_step_it_ends_as_one_clean_run(stage: Stage, own_process: OwnProcess) -> None:
    clean = stage.clean_run("new", *ALL_DAYS)
    stage.set_back("new")
    project = stage.project.with_settings(own_process, _OWN_SPARK, lease="60s")

    for failpoint, day, point, attempt in DEATHS:
        _kill_with_its_jvm(project, failpoint)
        run = project.newest_run("orders")
        # The window's last day begins at ten in the evening, UTC, of the day before.
        found = (run["window_end"][:10], run["point"], run["attempt"])
        assert found == (day, point, attempt)
        assert project.state("SELECT count(*) AS open FROM samewise_runs WHERE status = 'open'") == [{"open": 1}]
    assert project.call(*ALL_DAYS).well().status == "succeeded"

    assert project.rows("orders") == order_rows(ORDERS)
    assert sight(project, "orders") == clean
    assert_nothing_is_left(project)


def _kill_with_its_jvm(project: Project, failpoint: Failpoint) -> None:
    command = project.start(*ALL_DAYS, failpoint=f"{failpoint}:stop")
    wait_until_frozen(command)
    alive = processes_of_group(command.pid)
    assert "java" in alive.values() or failpoint is Failpoint.PLANNED, alive
    os.killpg(command.pid, signal.SIGKILL)
    assert command.wait().code == -signal.SIGKILL
