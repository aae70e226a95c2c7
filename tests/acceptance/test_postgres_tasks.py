"""Spark runs tasks again: no row is doubled, and none is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.postgres import PostgresServer
from tests.support.retried_tasks import ROWS


@pytest.mark.parametrize("scenario", ["undisturbed", "killed", "refetch"])
def test_tasks_that_are_run_again_leave_each_row_once(
    tmp_path: Path, postgres_server: PostgresServer, scenario: str
) -> None:
    schema = postgres_server.new_schema()
    answer = publish(postgres_server, schema, scenario, tmp_path)
    assert "error" not in answer, answer
    assert answer["happened"] == ([] if scenario == "undisturbed" else [scenario])
    with postgres_server.connect() as session:
        found = session.execute(f"SELECT count(*), count(DISTINCT order_id) FROM {schema}.orders".encode()).fetchone()
        stages = "SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename LIKE 'samewise_stage_%%'"
        left = session.execute(stages, [schema]).fetchall()
    assert found == (ROWS, ROWS)
    assert answer["measures"]["rows"] == ROWS
    assert left == []


def publish(server: PostgresServer, schema: str, scenario: str, folder: Path) -> dict[str, Any]:
    (folder / "happened").mkdir()
    words = [scenario, server.plain_url("postgres"), schema, str(folder)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.retried_tasks", *words],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found
