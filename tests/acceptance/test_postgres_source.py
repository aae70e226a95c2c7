"""A pipeline that reads PostgreSQL, by the command line: windows, watermarks, drift, lost servers, secrets."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from samewise.sources.postgres import PostgresSource
from samewise.targets.delta import DeltaTarget
from tests.support.postgres import GUARDED, PASSWORD, PostgresServer, running_server
from tests.support.project import BASE, DAY, NEXT_DAY, PIPELINE, Shop, changed, told_in_three_parts

if TYPE_CHECKING:
    import psycopg
    from pyspark.sql import SparkSession

SOURCE = {"type": "postgres", "table": "orders", "window_column": "order_date"}
BY_KEY = {
    "schedule": None,
    "source": {"type": "postgres", "table": "orders", "incremental": {"column": "updated_at"}},
    "write": {"strategy": "merge", "key": ["order_id"], "version_by": ["updated_at"]},
}


class PgShop(Shop):
    """A project whose orders lie in a schema of its own."""

    def __init__(self, root: Path, server: PostgresServer) -> None:
        self.server = server
        self.schema = server.new_schema()
        super().__init__(root)
        self.sql(
            "CREATE TABLE orders (order_id bigint PRIMARY KEY, amount numeric(12,2), status text, order_date date,"
            " updated_at timestamptz NOT NULL DEFAULT now())"
        )
        self.pipeline()

    def settings(self, **values: Any) -> None:
        url = f"postgresql://postgres@127.0.0.1:{self.server.port}/postgres"
        shop = {"type": "postgres", "url": url, "schema": self.schema, **values.pop("connection", {})}
        super().settings(connections={"shop": shop}, **values)

    def pipeline(self, changes: Mapping[str, Any] | None = None, *, name: str = PIPELINE) -> None:
        body = changed(BASE, {"pipeline": name, "source": SOURCE, **(changes or {})})
        self.write(f"pipelines/{name}.yaml", yaml.safe_dump(body, sort_keys=False))

    def connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        connection = self.server.connect()
        connection.execute(f"SET search_path = {self.schema}")
        return connection

    def sql(self, *statements: str) -> None:
        with self.connect() as connection:
            for statement in statements:
                connection.execute(statement)

    def order(self, number: int, *, day: str = DAY, amount: str = "1.00", at: str = "2026-04-25T10:00Z") -> None:
        self.sql(f"INSERT INTO orders VALUES ({number}, {amount}, 'new', '{day}', '{at}')")

    def readers(self) -> int:
        with self.connect() as connection:
            row = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'samewise read'"
            ).fetchone()
        assert row is not None
        return int(row[0])


@pytest.fixture
def shop(tmp_path: Path, postgres_server: PostgresServer) -> PgShop:
    return PgShop(tmp_path, postgres_server)


# Windows


def test_a_window_is_loaded_and_nothing_is_left_open(shop: PgShop, spark: SparkSession) -> None:
    shop.order(1)
    shop.order(2, day=NEXT_DAY)
    answer = shop.run()
    assert (answer.code, answer.window["rows_read"], answer.window["rows_written"]) == (0, 1, 1)
    assert (shop.ids(spark), shop.readers()) == ([1], 0)


@pytest.mark.parametrize(
    ("column", "expression"),
    [
        ("timestamptz", "timestamptz '{}'"),
        ("timestamp", "timestamptz '{}' AT TIME ZONE 'Europe/Berlin'"),
        ("date", "(timestamptz '{}' AT TIME ZONE 'Europe/Berlin')::date"),
    ],
)
def test_a_day_in_berlin_is_a_day_in_berlin(shop: PgShop, spark: SparkSession, column: str, expression: str) -> None:
    instants = ["2026-04-24T21:59:59.999999Z", "2026-04-24T22:00Z", "2026-04-25T21:59:59.999999Z", "2026-04-25T22:00Z"]
    shop.sql(f"CREATE TABLE visits (order_id bigint, at {column})")
    for number, instant in enumerate(instants):
        shop.sql(f"INSERT INTO visits VALUES ({number}, {expression.format(instant)})")
    source = {"type": "postgres", "table": "visits", "window_column": "at"}
    shop.pipeline(
        {"source": source, "schedule.timezone": "Europe/Berlin", "target.table": "visits", "write.window_column": "at"}
    )
    assert shop.run().code == 0
    assert shop.ids(spark, "visits") == [1, 2]


def test_a_second_run_reads_again_because_nobody_can_know(shop: PgShop, spark: SparkSession) -> None:
    shop.order(1)
    shop.run()
    shop.sql("UPDATE orders SET status = 'paid'")
    plan = shop.do("run", PIPELINE, "--window", DAY, "--dry-run", "--json").json["windows"][0]
    assert plan["reason"] == "the source cannot tell whether it changed"
    assert shop.run().json["status"] == "succeeded"
    assert shop.rows(spark, "status") == [("paid",)]


def test_with_a_fingerprint_a_second_run_has_nothing_to_do(shop: PgShop, spark: SparkSession) -> None:
    fingerprint = "SELECT count(*), max(updated_at) FROM orders WHERE order_date = :window_start_date"
    shop.pipeline({"source.fingerprint": fingerprint})
    shop.order(1)
    statuses = [shop.run().json["status"], shop.run().json["status"]]
    shop.order(2, day=NEXT_DAY)
    statuses.append(shop.run().json["status"])
    shop.order(3)
    statuses.append(shop.run().json["status"])
    assert statuses == ["succeeded", "unchanged", "unchanged", "succeeded"]
    assert shop.ids(spark) == [1, 3]


def test_a_query_is_loaded_window_by_window(shop: PgShop, spark: SparkSession) -> None:
    query = "SELECT order_id, amount, order_date FROM orders WHERE order_date = :window_start_date"
    shop.pipeline({"source": {"type": "postgres", "query": query}})
    shop.order(1)
    shop.order(2, day=NEXT_DAY)
    assert shop.run("--from", DAY, "--to", "2026-04-27", window=None).code == 0
    assert shop.ids(spark) == [1, 2]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ({"type": "postgres"}, "needs either 'table' or 'query'"),
        ({"type": "postgres", "table": "orders", "query": "SELECT 1"}, "not both"),
        ({"type": "postgres", "query": "SELECT now() AS n"}, "now() would give another answer"),
        ({"type": "postgres", "query": "SELECT :window_strat AS n"}, "unknown parameter :window_strat"),
        ({"type": "postgres", "query": "SELECT '{{ env.X }}' AS n"}, "is no template"),
        ({"type": "postgres", "table": "orders", "connection": "elsewhere"}, "unknown connection 'elsewhere'"),
        ({"type": "postgres", "table": "orders", "readers": 0}, "readers"),
    ],
)
def test_a_wrong_setting_is_told_with_its_place(shop: PgShop, source: dict[str, Any], sentence: str) -> None:
    shop.pipeline({"source": source, "write": {"strategy": "replace_window"}})
    answer = shop.do("validate")
    assert answer.code == 2
    told = " ".join(answer.text.split())
    assert "pipelines/orders.yaml:" in told
    assert sentence in told


def test_a_changed_column_is_refused_before_a_row_is_read(shop: PgShop, spark: SparkSession) -> None:
    shop.order(1)
    shop.run()
    shop.sql("ALTER TABLE orders ALTER COLUMN amount TYPE numeric(14,2)")
    answer = shop.run()
    assert (answer.code, answer.json["error"]["code"]) == (3, "drift")
    assert "decimal(14,2)" in answer.json["error"]["message"]
    assert "decimal(14,2)" in shop.do("contract", PIPELINE).text
    assert (shop.ids(spark), shop.readers()) == ([1], 0)


def test_an_infinite_date_is_refused_by_name(shop: PgShop) -> None:
    shop.sql(
        "ALTER TABLE orders ADD COLUMN ends date",
        "INSERT INTO orders VALUES (1, 1, 'x', '2026-04-25', now(), 'infinity')",
    )
    answer = shop.run()
    assert (answer.code, answer.json["error"]["code"]) == (3, "unsupported_value")
    assert "ends holds infinity" in answer.json["error"]["message"]
    assert shop.readers() == 0


def test_a_diff_reads_and_lets_go(shop: PgShop) -> None:
    shop.order(1)
    shop.run()
    shop.sql("UPDATE orders SET amount = 2")
    found = shop.do("diff", PIPELINE, "--window", DAY, "--json").json["windows"][0]
    assert (found["rows_inserted"], found["rows_deleted"]) == (1, 1)
    assert shop.readers() == 0


# Watermarks


def test_a_row_that_commits_late_at_the_source_is_loaded_by_the_next_run(shop: PgShop, spark: SparkSession) -> None:
    shop.pipeline(BY_KEY)
    with shop.connect() as slow:
        slow.execute("BEGIN")
        slow.execute("INSERT INTO orders VALUES (1, 1, 'slow', '2026-04-25')")
        time.sleep(0.2)
        # Stamped later, and committed at once.
        shop.sql("INSERT INTO orders VALUES (2, 1, 'quick', '2026-04-25')")
        time.sleep(1.2)
        first = shop.run(window=None)
        early = shop.ids(spark)
        slow.execute("COMMIT")
    time.sleep(1.2)
    second = shop.run(window=None)
    assert (first.code, second.code) == (0, 0)
    # Not the quick one either: it is stamped after the bound, and will come when the bound has passed it.
    assert (early, shop.ids(spark)) == ([], [1, 2])
    assert first.json["watermark"]["after"] < second.json["watermark"]["after"]


def test_a_retry_of_a_run_reads_the_span_that_was_pinned(
    shop: PgShop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.pipeline({**BY_KEY, "retries": {"attempts": 2, "backoff": "10ms"}})
    shop.order(1, at="2026-04-25T10:00Z")
    spans: list[tuple[object, object]] = []
    read, publish = PostgresSource.read, DeltaTarget.publish
    failed: list[bool] = []

    def spy(self: PostgresSource, pins: Any, *rest: Any) -> Any:
        spans.append((pins.details["from"], pins.details["to"]))
        return read(self, pins, *rest)

    def fail_once(self: DeltaTarget, *rest: Any) -> Any:
        if not failed:
            failed.append(True)
            # Stamped after the bound: it belongs to the next run, not to the second attempt.
            shop.sql("INSERT INTO orders VALUES (2, 1, 'new', '2026-04-25')")
            raise ConnectionResetError("connection reset by peer")
        return publish(self, *rest)

    monkeypatch.setattr(PostgresSource, "read", spy)
    monkeypatch.setattr(DeltaTarget, "publish", fail_once)
    answer = shop.run(window=None)
    assert (answer.code, answer.window["attempt"], shop.ids(spark)) == (0, 2, [1])
    assert (len(spans), len(set(spans))) == (2, 1)


def test_the_watermark_can_be_looked_at_and_moved(shop: PgShop, spark: SparkSession) -> None:
    shop.pipeline(BY_KEY)
    shop.order(1, at="2026-04-25T10:00Z")
    shop.order(2, at="2026-04-26T10:00Z")
    shop.run(window=None)
    shop.sql("UPDATE orders SET status = 'behind our back'")
    assert shop.do("watermark", PIPELINE, "--set", "2026-04-26T00:00Z", "--reason", "a mended day").code == 0
    assert "2026-04-26T00:00" in shop.do("watermark", PIPELINE).text
    assert shop.run(window=None).window["rows_read"] == 1


# Servers that go away


def test_a_snapshot_that_is_lost_in_the_middle_is_read_again_in_a_new_one(
    shop: PgShop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.pipeline({"retries": {"attempts": 2, "backoff": "10ms"}})
    shop.order(1)
    read = PostgresSource.read
    lost: list[bool] = []

    def lose_it(self: PostgresSource, *rest: Any) -> Any:
        rows = read(self, *rest)
        if not lost:
            lost.append(True)
            shop.sql(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'samewise read'"
            )
        return rows

    monkeypatch.setattr(PostgresSource, "read", lose_it)
    answer = shop.run()
    assert (answer.code, answer.window["attempt"], shop.ids(spark), shop.readers()) == (0, 2, [1], 0)
    first, second = shop.history()[0]["attempts"]
    assert ("snapshot is gone" in first["error"], second["status"]) == (True, "succeeded")


def test_a_server_that_is_down_is_exit_code_75_with_a_way_on(shop: PgShop) -> None:
    shop.settings(connection={"url": "postgresql://postgres@127.0.0.1:1/postgres"})
    answer = shop.run()
    assert (answer.code, answer.json["error"]["retryable"]) == (75, True)
    assert told_in_three_parts(answer)
    assert "127.0.0.1:1/postgres" in answer.json["error"]["message"]
    assert "Connection refused" in answer.json["error"]["message"]
    assert shop.do("run", PIPELINE, "--window", DAY, "--dry-run").code == 75


def test_a_dry_run_needs_no_spark(shop: PgShop) -> None:
    shop.order(1)
    script = (
        "import sys\n"
        "from samewise.cli.app import app\n"
        "try: app(sys.argv[1:])\n"
        "except SystemExit as left: code = left.code\n"
        "print(code, 'pyspark' in sys.modules, file=sys.stderr)"
    )
    words = ["run", PIPELINE, "--window", DAY, "--dry-run", "--json", "--project", str(shop.root)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, env=env, check=False)
    assert done.stderr.split()[-2:] == ["0", "False"]
    assert len(json.loads(done.stdout)["windows"]) == 1


# Secrets


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[PgShop]:
    """A server and a project of its own, read by a role that needs a password."""
    with running_server() as server:
        shop = PgShop(tmp_path, server)
        shop.sql(f"GRANT USAGE ON SCHEMA {shop.schema} TO {GUARDED}", f"GRANT SELECT ON orders TO {GUARDED}")
        yield shop


def test_the_password_appears_nowhere(guarded: PgShop, monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", PASSWORD)
    url = f"postgresql://{GUARDED}@127.0.0.1:{guarded.server.port}/postgres"
    guarded.settings(connection={"url": url, "options": {"password": "{{ env.SHOP_PASSWORD }}"}})
    guarded.pipeline({"retries": {"attempts": 1}})
    guarded.order(1)
    told = [guarded.run().text, guarded.do("run", PIPELINE, "--window", DAY, "--dry-run", "--json").text]
    # In the middle of things the table may no longer be read, then there is no such role, then no such password.
    guarded.sql(f"REVOKE SELECT ON orders FROM {GUARDED}")
    told.append(guarded.run("--force").text)
    guarded.sql(f"ALTER ROLE {GUARDED} NOLOGIN")
    told.append(guarded.run("--force").text)
    guarded.sql(f"ALTER ROLE {GUARDED} LOGIN PASSWORD 'another'")
    told.append(guarded.run("--force").text)
    for command in (("status",), ("history", PIPELINE), ("contract", PIPELINE), ("doctor",), ("diff", PIPELINE)):
        told.append(guarded.do(*command).text)
    told += [file.read_text(errors="replace") for file in guarded.root.rglob("*") if file.is_file()]
    with guarded.state() as connection:
        told.append("\n".join(connection.iterdump()))
    found = re.compile("|".join(re.escape(word) for word in (PASSWORD, json.dumps(PASSWORD)[1:-1], "wort")))
    assert guarded.ids(spark) == [1]
    assert not [text for text in told if found.search(text)]
    assert [json.loads(text.partition("\n")[0])["error"]["code"] for text in told[2:5]] == ["connection"] * 3
