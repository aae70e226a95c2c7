"""A standby of PostgreSQL as a source: it can be read like its primary, and never written."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from samewise.core.connections import PostgresConnection
from samewise.storage.postgres import ask_server
from tests.support.postgres import PostgresServer, running_server, running_standby
from tests.support.project import BASE, DAY, Shop, changed, told_in_three_parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 20_000
BY_KEY = {
    "schedule": None,
    "write": {"strategy": "merge", "key": ["order_id"], "version_by": ["updated_at"]},
}


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[PostgresServer, PostgresServer]]:
    with running_server() as primary:
        with primary.connect() as session:
            session.execute(
                "CREATE TABLE orders (order_id bigint PRIMARY KEY, amount numeric(12,2), status text, order_date date,"
                " updated_at timestamptz NOT NULL)"
            )
            session.execute(
                "INSERT INTO orders SELECT n, 1, 'new', %s, '2026-04-25T10:00Z' FROM generate_series(1, %s) n",
                (DAY, ROWS),
            )
            session.execute("ANALYZE orders")
        with running_standby(primary) as standby:
            yield primary, standby


class StandbyShop(Shop):
    def __init__(self, root: Path, server: PostgresServer) -> None:
        self.server = server
        super().__init__(root)

    def settings(self, **values: Any) -> None:
        shop = {"type": "postgres", "url": self.server.plain_url("postgres")}
        super().settings(connections={"shop": shop}, **values)

    def from_orders(self, source: dict[str, Any], changes: dict[str, Any] | None = None) -> None:
        body = changed(BASE, {"source": {"type": "postgres", "table": "orders", **source}, **(changes or {})})
        self.write("pipelines/orders.yaml", yaml.safe_dump(body, sort_keys=False))


@pytest.fixture
def shop(tmp_path: Path, pair: tuple[PostgresServer, PostgresServer], spark: SparkSession) -> StandbyShop:
    return StandbyShop(tmp_path, pair[1])


def test_all_readers_of_a_standby_see_one_snapshot(shop: StandbyShop) -> None:
    shop.from_orders({"window_column": "order_date", "readers": 2})
    answer = shop.run()
    assert answer.code == 0, answer.text
    assert answer.json["windows"][0]["rows_written"] == ROWS


def test_open_transactions_of_the_primary_cannot_be_seen_from_a_standby(shop: StandbyShop) -> None:
    shop.from_orders({"incremental": {"column": "updated_at"}}, BY_KEY)
    answer = shop.run(window=None)
    assert answer.code == 2, answer.text
    assert told_in_three_parts(answer)
    assert "this server is a standby" in answer.text


def test_with_a_lag_a_standby_is_read_up_to_what_it_has_replayed(
    shop: StandbyShop, pair: tuple[PostgresServer, PostgresServer]
) -> None:
    primary, standby = pair
    shop.from_orders({"incremental": {"column": "updated_at", "lag": "1s"}}, BY_KEY)
    with primary.connect() as session:
        session.execute("UPDATE orders SET amount = 2, updated_at = now() - interval '1 hour' WHERE order_id = 1")
        position = session.execute("SELECT pg_current_wal_lsn()::text").fetchone()
    assert position is not None
    _wait_until_replayed(standby, str(position[0]))
    answer = shop.run(window=None)
    assert answer.code == 0, answer.text
    assert answer.json["windows"][0]["rows_written"] == ROWS


def test_the_doctor_knows_a_standby_and_minds_only_where_it_is_written(
    shop: StandbyShop, pair: tuple[PostgresServer, PostgresServer]
) -> None:
    primary, standby = pair
    servers = [ask_server(PostgresConnection("it", server.plain_url("postgres"))) for server in (primary, standby)]
    assert [server.read_only for server in servers] == [None, "it is a standby"]
    shop.from_orders({"window_column": "order_date"})
    assert _connection(shop)["ok"]
    shop.from_orders({"window_column": "order_date"}, {"target": {"type": "postgres", "table": "copy"}})
    found = _connection(shop)
    assert not found["ok"]
    assert "it is a standby, and a pipeline writes there" in found["detail"]


def test_the_doctor_finds_a_server_that_is_away(shop: StandbyShop) -> None:
    shop.from_orders({"window_column": "order_date"})
    shop.server = PostgresServer(shop.root, shop.root, None)  # Its port is free: nobody answers there.
    shop.settings()
    assert not _connection(shop)["ok"]


def _connection(shop: StandbyShop) -> dict[str, Any]:
    checks: list[dict[str, Any]] = shop.do("doctor", "--json").json["checks"]
    return next(check for check in checks if check["name"] == "connection shop")


def _wait_until_replayed(standby: PostgresServer, position: str) -> None:
    give_up_at = time.monotonic() + 60
    with standby.connect() as session:
        while session.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", (position,)).fetchone() != (True,):
            assert time.monotonic() < give_up_at, "the standby does not follow"
            time.sleep(0.05)
