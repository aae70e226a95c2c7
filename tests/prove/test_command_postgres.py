"""`samewise prove --command … --target postgres:TABLE`, with real processes that write a real table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from psycopg.conninfo import conninfo_to_dict

from samewise.prove.foreign.tables import urls
from tests.support.postgres import PostgresServer
from tests.support.project import Answer, samewise

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOB = """
import sys

import psycopg

how, day, url, table = sys.argv[1:5]
with psycopg.connect(url) as connection:
    if how == "replace":
        connection.execute(f"LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE")
        connection.execute(f"DELETE FROM {table} WHERE day = %s", (day,))
    for number in (1, 2, 3):
        connection.execute(f"INSERT INTO {table} VALUES (%s, %s)", (number, day))
"""


class Jobs:
    """A job, and the real table that it is made for, with a day in it."""

    def __init__(self, server: PostgresServer, folder: Path) -> None:
        self.server, self.schema = server, server.new_schema()
        self.script = folder / "job.py"
        self.script.write_text(JOB)
        self.scratch = folder / "scratch"
        with server.connect() as connection:
            connection.execute(f"CREATE TABLE {self.schema}.orders (order_id bigint, day date)")
            connection.execute(f"INSERT INTO {self.schema}.orders SELECT n, '2026-04-24' FROM generate_series(1, 3) n")

    def prove(self, how: str, *words: str, table: str = "orders", to: str = "{url}", target: str = "") -> Answer:
        command = f"{sys.executable} {self.script} {how} {{date}} {to} {table}"
        return samewise(
            *("prove", "--command", command, "--target", target or f"postgres:{self.schema}.orders"),
            *("--url", self.server.plain_url("postgres"), "--scratch", self.scratch, "--date", "2026-04-25", *words),
        )

    def rows(self) -> list[tuple[object, ...]]:
        with self.server.connect() as connection:
            return connection.execute(f"SELECT order_id, day::text FROM {self.schema}.orders ORDER BY 2, 1").fetchall()

    def scratch_schemas(self) -> list[tuple[object, ...]]:
        with self.server.connect() as connection:
            return connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'samewise_copy%'").fetchall()


@pytest.fixture
def jobs(postgres_server: PostgresServer, tmp_path: Path) -> Jobs:
    return Jobs(postgres_server, tmp_path)


def test_a_job_that_appends_is_caught_with_the_doubled_rows_and_the_real_table_is_untouched(
    jobs: Jobs, spark: SparkSession
) -> None:
    before = jobs.rows()
    answer = jobs.prove("append", "--only", "twice")
    assert answer.code == 3, answer.text
    assert "not the same, 1 of 1 experiment failed" in answer.stdout
    assert "twice, run again: 3 rows doubled" in answer.stdout
    assert "  doubled x2 order_id=1, day=2026-04-25" in answer.stdout
    assert "likely: the rows were added to what was there" in answer.stdout
    assert jobs.rows() == before
    assert jobs.scratch_schemas() == []


def test_a_job_that_replaces_its_day_in_one_transaction_passes(jobs: Jobs, spark: SparkSession) -> None:
    before = jobs.rows()
    answer = jobs.prove(
        *("replace", "--date", "2026-04-26", "--only", "twice,order,concurrent", "--key", "order_id,day", "--json"),
    )
    assert answer.code == 0, answer.text
    found = [(verdict["experiment"], verdict["outcome"]) for verdict in answer.json["verdicts"]]
    assert found == [("twice", "same"), ("out of order", "same"), ("concurrent", "same")]
    assert answer.json["clean"]["rows"] == 9
    assert jobs.rows() == before


def test_a_job_that_does_not_go_where_it_is_told_is_told_about_with_what_helps_in_postgresql(
    jobs: Jobs, spark: SparkSession
) -> None:
    answer = jobs.prove("append", "--only", "twice", "--json", table=f"{jobs.schema}.orders")
    assert (answer.code, answer.json["error"]["code"]) == (3, "real_target_written"), answer.text
    assert "PostgreSQL keeps no older version" in answer.json["error"]["next"]
    assert "RESTORE" not in answer.json["error"]["next"]


def test_what_cannot_be_proven_is_refused_before_anything_runs(jobs: Jobs) -> None:
    before = jobs.rows()
    absent = jobs.prove("append", target=f"postgres:{jobs.schema}.absent")
    assert absent.code == 2
    assert "there is no such table" in absent.stderr
    unled = jobs.prove("append", to=jobs.server.plain_url("postgres"))
    assert unled.code == 2
    assert "so it would write to the real one" in unled.stderr
    assert "{jdbc_url}" in unled.stderr
    assert jobs.rows() == before


def test_a_server_behind_a_socket_is_reached_by_its_folder_and_by_java_through_the_network() -> None:
    found = urls("copy", "me", "a/b", "/var/run/postgresql", 5433, "my base")
    told = conninfo_to_dict(found["url"])
    assert (told["host"], told["port"], told["dbname"], told["user"], told["password"]) == (
        *("/var/run/postgresql", "5433", "my base", "me", "a/b"),
    )
    assert told["options"] == "-c search_path=copy,public"
    assert found["jdbc_url"] == "jdbc:postgresql://localhost:5433/my%20base?currentSchema=copy&user=me&password=a%2Fb"
