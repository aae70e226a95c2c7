"""What others do to a table between two runs: `unchanged` must not hide it, nor see it where it is not."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from tests.support.crash_project import DAYS, ORDERS, Project, Stage, assert_nothing_is_left, order_rows

BOTH_DAYS = ["run", "orders", "--from", DAYS[0], "--to", DAYS[2]]
LOADED = order_rows({day: ORDERS[day] for day in DAYS[:2]})


def _delete(stage: Stage, table: str) -> None:
    stage.server.sql(f"DELETE FROM {table} WHERE order_id = 201")


def _update(stage: Stage, table: str) -> None:
    stage.server.sql(f"UPDATE {table} SET amount = 0 WHERE order_id = 201")


def _append(stage: Stage, table: str) -> None:
    stage.server.sql(f"INSERT INTO {table} SELECT * FROM {table} WHERE order_id = 201")


def _restore(stage: Stage, table: str) -> None:
    stage.server.sql(f"RESTORE TABLE {table} TO VERSION AS OF 1")


def _make_again(stage: Stage, table: str) -> None:
    kept = "delta.`" + stage.project.table_path("kept") + "`"
    stage.server.sql(f"CREATE TABLE {kept} USING DELTA AS SELECT * FROM {table} WHERE order_id <> 201")
    shutil.rmtree(stage.project.table_path("orders"))
    stage.server.forget()
    stage.server.sql(f"CREATE TABLE {table} USING DELTA PARTITIONED BY (order_date) AS SELECT * FROM {kept}")


def _drop(stage: Stage, table: str) -> None:
    shutil.rmtree(stage.project.table_path("orders"))
    stage.server.forget()


@pytest.mark.parametrize("tamper", [_delete, _update, _append, _restore, _make_again, _drop])
def test_a_table_that_someone_else_changed_is_loaded_again(stage: Stage, tamper: Callable[[Stage, str], None]) -> None:
    project = stage.set_back("loaded")
    tamper(stage, _table(project))
    assert not project.exists("orders") or project.rows("orders") != LOADED

    again = project.call(*BOTH_DAYS).well()

    assert again.status == "succeeded"
    assert project.rows("orders") == LOADED
    assert_nothing_is_left(project)
    assert project.call(*BOTH_DAYS).well().status == "unchanged"


def test_a_table_that_was_only_rearranged_is_unchanged(stage: Stage) -> None:
    project = stage.set_back("loaded")
    stage.server.sql(f"OPTIMIZE {_table(project)} ZORDER BY (order_id)")
    assert [commit.operation for commit in project.commits("orders")][-1] == "OPTIMIZE"
    assert project.call(*BOTH_DAYS).well().status == "unchanged"


def _table(project: Project) -> str:
    return f"delta.`{project.table_path('orders')}`"
