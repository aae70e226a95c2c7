"""The password of a connection is nowhere where it could be read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.postgres import PostgresServer
from tests.support.postgres_shop import PostgresShop
from tests.support.project import DAY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PASSWORD = "correct-horse-battery"


@pytest.fixture
def db(tmp_path: Path, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> PostgresShop:
    """A role that must give its password: the server asks for it."""
    monkeypatch.setenv("PG_PASSWORD", PASSWORD)
    with postgres_server.connect() as session:
        session.execute(f"CREATE ROLE {tmp_path.name} LOGIN PASSWORD '{PASSWORD}'".encode())
    url = f"postgresql://{tmp_path.name}:{{{{ env.PG_PASSWORD }}}}@127.0.0.1:{postgres_server.port}/postgres"
    shop = PostgresShop(tmp_path / "shop", postgres_server, url=url)
    shop.ask(f"GRANT ALL ON SCHEMA {{s}} TO {tmp_path.name}")
    return shop


def everything_below(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("strategy", ["replace_window", "merge", "swap"])
def test_no_file_answer_or_table_holds_the_password(db: PostgresShop, spark: SparkSession, strategy: str) -> None:
    del spark
    db.strategy(strategy)
    db.orders()
    words = ["--window", DAY] if strategy != "swap" else []
    answers: list[Any] = [db.do("run", "orders", *words, "--json")]
    assert answers[0].code == 0, answers[0].text
    for command in (["run", "orders", *words], ["run", "orders", *words, "--dry-run", "--json"], ["status", "--json"]):
        answers.append(db.do(*command))
    answers.append(db.do("history", "orders", "--json"))
    answers.append(db.do("diff", "orders", *words, "--json"))
    answers.append(db.do("doctor", "--json"))
    db.orders([(1, "1.00", "a")])
    db.ask("ALTER TABLE {s}.orders ADD CONSTRAINT no CHECK (status <> 'a')" if strategy != "swap" else "SELECT 1")
    answers.append(db.do("run", "orders", *words, "--json"))
    for answer in answers:
        assert PASSWORD not in answer.text
    found = everything_below(db.root)
    assert any(name.endswith("state.db") for name in found)
    assert [name for name, content in found.items() if PASSWORD.encode() in content] == []
    for table in ("targets", "tokens", "commits", "changes"):
        rows = db.ask(f"SELECT t::text FROM {{s}}.samewise_{table} t")
        assert PASSWORD not in str(rows)


def test_a_wrong_password_is_a_wrong_setting_and_is_not_shown(
    db: PostgresShop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    del spark
    db.pipeline()
    db.orders()
    monkeypatch.setenv("PG_PASSWORD", "another-horse")
    with db.server.connect() as session:
        session.execute(f"ALTER ROLE {tmp_path.name} NOLOGIN".encode())
    refused = db.run()
    assert (refused.code, refused.json["error"]["code"]) == (2, "connection"), refused.text
    assert "another-horse" not in refused.text + str(everything_below(db.root))


SCRIPT = """
import sys
from samewise.core.connections import PostgresConnection
from samewise.core.ports import Write
from samewise.storage.frames import schema_of
from samewise.targets.postgres import PostgresTarget
from tests.support.retried_tasks import _stamp
from samewise.core.records import Owner
from tests.support.spark import ReadySpark
from pyspark.sql import SparkSession
import os, io, contextlib
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
url, schema, folder = sys.argv[1:]
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.eventLog.enabled", "true").config("spark.eventLog.dir", folder)
builder = builder.config("spark.eventLog.compress", "false").config("spark.driver.bindAddress", "127.0.0.1")
spark = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
spark.sparkContext.setLogLevel("DEBUG")
rows = spark.sql("SELECT 1 AS a")
target = PostgresTarget(PostgresConnection("t", url, schema=schema, bookkeeping=schema), schema, "t", ReadySpark(spark))
target.prepare(schema_of(rows), Owner("store", "orders", "load", "here"), ())
target.publish(rows, Write(None, ()), _stamp())
back = target.rows(None)
back.explain(extended=True)
print(back.collect())
spark.stop()
"""


def test_neither_plan_nor_event_log_nor_debug_log_of_spark_holds_the_password(db: PostgresShop, tmp_path: Path) -> None:
    events = tmp_path / "events"
    events.mkdir()
    url = f"postgresql://{tmp_path.name}:{PASSWORD}@127.0.0.1:{db.server.port}/postgres"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, url, db.schema, str(events)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "MapInArrow" in done.stdout
    assert PASSWORD not in done.stdout
    # The debug log of py4j shows the pickled function's bytes in no readable form; everything else is text.
    assert PASSWORD not in done.stderr
    logged = everything_below(events)
    assert any(b"SparkListenerJobStart" in content for content in logged.values())
    assert [name for name, content in logged.items() if PASSWORD.encode() in content] == []
