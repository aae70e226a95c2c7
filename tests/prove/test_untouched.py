"""The real target and the real state are byte for byte untouched, also when prove itself is killed."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import samewise
from samewise.core.errors import Refused
from samewise.state.holders import Holder
from tests.support.postgres import PostgresServer
from tests.support.postgres_shop import PostgresShop
from tests.support.project import DAY, NEXT_DAY, Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def everything(shop: Shop) -> dict[str, str]:
    """Every file that is not scratch or a log, with its contents."""
    return {
        str(path.relative_to(shop.root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in shop.root.rglob("*")
        if path.is_file() and not {"logs", "prove", "cache"} & set(path.relative_to(shop.root).parts)
    }


def _dead() -> str:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return json.dumps({"samewise prove": replace(Holder.current(), pid=process.pid, started=1).to_json()})


def scratch(shop: Shop) -> list[Path]:
    folder = shop.root / ".samewise" / "prove"
    return sorted(folder.iterdir()) if folder.exists() else []


def test_after_a_proof_every_file_of_target_state_and_staging_is_as_it_was(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({"write": {"strategy": "merge", "key": ["order_id"], "version_by": ["order_date"]}})
    shop.orders()
    shop.orders(day=NEXT_DAY)
    assert shop.run(window=DAY).code == 0
    before = everything(shop)
    with samewise.open_project(shop.root, spark=spark) as project:
        proof = project.prove("orders", only=["twice", "order"])
    assert proof.holds
    assert everything(shop) == before
    assert scratch(shop) == []


def test_a_proof_without_a_state_store_makes_none(shop: Shop, spark: SparkSession) -> None:
    shop.orders()
    with samewise.open_project(shop.root, spark=spark) as project:
        assert project.prove("orders", only=["twice"], keep=True).holds
    assert not (shop.root / ".samewise" / "state.db").exists()
    assert not (shop.root / "warehouse").exists()
    (kept,) = scratch(shop)
    assert list(kept.glob("fork-*/tables/load/_delta_log"))


def _kill_a_proof(shop: Shop, is_under_way: Callable[[], bool]) -> None:
    """Start `samewise prove` as a process, and kill it as soon as it has come so far."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "SAMEWISE_FAST_JVM": "1"}
    words = [sys.executable, "-m", "samewise", "prove", "orders", "--project", str(shop.root)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environ)
    try:
        give_up_at = time.monotonic() + 600
        while not is_under_way():
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < give_up_at
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()


def test_a_killed_proof_touched_nothing_and_the_next_one_removes_what_it_left(shop: Shop, spark: SparkSession) -> None:
    shop.settings(spark={"master": "local[1]"})
    shop.orders()
    assert shop.run().code == 0
    before = everything(shop)
    _kill_a_proof(
        shop, lambda: any(list(folder.glob("fork-5/tables/load/_delta_log/*1.json")) for folder in scratch(shop))
    )
    assert everything(shop) == before
    (left,) = scratch(shop)
    with samewise.open_project(shop.root, spark=spark) as project:
        assert project.prove("orders", only=["twice"]).holds
    assert scratch(shop) == [], left
    assert everything(shop) == before


def test_a_killed_proof_touched_no_table_of_postgresql_and_the_next_one_drops_its_schemas(
    tmp_path: Path, postgres_server: PostgresServer, spark: SparkSession
) -> None:
    shop = PostgresShop(tmp_path / "shop", postgres_server)
    shop.settings(spark={"master": "local[1]"})
    shop.strategy("merge")
    shop.orders()
    shop.orders([(2, "5.00", "new"), (3, "1.00", "paid")], day=NEXT_DAY)
    assert shop.run(window=DAY).code == 0

    def looked_at() -> list[object]:
        tables = "orders", "samewise_commits", "samewise_targets", "samewise_tokens"
        return [
            *(shop.ask(f"SELECT xmin::text, ctid::text, t.* FROM {{s}}.{table} t ORDER BY 2") for table in tables),
            shop.ask("SELECT nspname::text FROM pg_namespace WHERE nspname = '{s}'"),
            shop.ask(
                "SELECT relname::text, relfilenode::bigint, relhastriggers FROM pg_class"
                " WHERE relnamespace = '{s}'::regnamespace ORDER BY 1"
            ),
            everything(shop),
        ]

    def forks() -> list[str]:
        """The scratch schemas of this shop's proofs."""
        names = [folder.name for folder in scratch(shop)]
        found = shop.ask("SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'samewise\\_prove\\_%'")
        return [str(schema) for (schema,) in found if any(name in str(schema) for name in names)]

    before = looked_at()
    # The first experiment has its fork: there is one with rows, and something is written on another.
    _kill_a_proof(shop, lambda: len(forks()) >= 5)
    assert looked_at() == before
    left = forks()
    assert len(left) >= 5
    with samewise.open_project(shop.root, spark=spark) as project:
        assert project.prove("orders", only=["twice"]).holds
    assert shop.ask("SELECT nspname::text FROM pg_namespace WHERE nspname = ANY(%s)", left) == []
    assert scratch(shop) == []
    assert looked_at() == before


def test_a_real_table_of_postgresql_its_bookkeeping_and_its_sequences_are_not_touched(
    tmp_path: Path, postgres_server: PostgresServer, spark: SparkSession
) -> None:
    shop = PostgresShop(tmp_path / "shop", postgres_server)
    shop.strategy("merge")
    shop.ask("CREATE TABLE {s}.statuses (status text PRIMARY KEY)")
    shop.ask("INSERT INTO {s}.statuses VALUES ('new'), ('paid')")
    shop.ask(
        "CREATE TABLE {s}.orders (order_id bigint PRIMARY KEY, amount numeric(12,2), order_date date,"
        " status text REFERENCES {s}.statuses, number bigserial,"
        " doubled numeric GENERATED ALWAYS AS (amount * 2) STORED)"
    )
    shop.orders()
    shop.orders([(2, "5.00", "new"), (3, "1.00", "paid")], day=NEXT_DAY)
    assert shop.run(window=DAY).code == 0, shop.run(window=DAY).text

    def looked_at() -> list[object]:
        return [
            shop.ask("SELECT xmin::text, ctid::text, o.* FROM {s}.orders o ORDER BY order_id"),
            shop.ask("SELECT xmin::text, c.* FROM {s}.samewise_commits c ORDER BY version"),
            shop.ask("SELECT xmin::text, t.* FROM {s}.samewise_targets t"),
            shop.ask("SELECT last_value FROM {s}.orders_number_seq"),
            shop.ask(
                "SELECT relname::text, relfilenode::bigint, reltuples, relhastriggers FROM pg_class"
                " WHERE relnamespace = '{s}'::regnamespace ORDER BY 1"
            ),
            shop.ask("SELECT count(*) FROM {s}.samewise_changes"),
        ]

    # What a process left that is dead, and what a live one owns.
    shop.ask("CREATE SCHEMA samewise_prove_dead_1_0")
    shop.ask(f"COMMENT ON SCHEMA samewise_prove_dead_1_0 IS '{_dead()}'")
    shop.ask("CREATE SCHEMA samewise_prove_foreign_1_0")
    before = looked_at()
    with samewise.open_project(shop.root, spark=spark) as project:
        proof = project.prove("orders", last=2, only=["twice", "killed"])
    assert proof.holds, [f"{one.experiment} {one.detail}: {one.message}" for one in proof.verdicts]
    assert looked_at() == before
    left = shop.ask("SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'samewise\\_prove%'")
    assert left == [("samewise_prove_foreign_1_0",)]
    shop.ask("DROP SCHEMA samewise_prove_foreign_1_0")


def test_a_key_that_another_window_of_a_table_in_postgresql_holds_is_found_by_prove(
    tmp_path: Path, postgres_server: PostgresServer, spark: SparkSession
) -> None:
    shop = PostgresShop(tmp_path / "shop", postgres_server)
    shop.strategy("replace_window")
    shop.ask(
        "CREATE TABLE {s}.orders (order_id bigint PRIMARY KEY, amount numeric(12,2), status text, order_date date)"
    )
    shop.orders()
    shop.orders([(3, "1.00", "paid")], day=NEXT_DAY)
    for day in (DAY, NEXT_DAY):
        assert shop.run(window=day).code == 0
    before = shop.ask("SELECT xmin::text, ctid::text, o.* FROM {s}.orders o ORDER BY order_id")
    with samewise.open_project(shop.root, spark=spark) as project:
        proof = project.prove("orders", window=NEXT_DAY, only=["twice", "empty"])
        assert proof.holds, [f"{one.experiment} {one.detail}: {one.message}" for one in proof.verdicts]
        # The rows of the other day are there, and counted; those of this one are not there until it has run.
        assert [one.counts for one in proof.verdicts] == [(3, 3), (3, 2, 3)]
        assert proof.notes == ()
        shop.orders([(2, "1.00", "paid")], day=NEXT_DAY)
        with pytest.raises(Refused, match="duplicate key"):
            project.prove("orders", window=NEXT_DAY, only=["twice"])
    assert shop.ask("SELECT xmin::text, ctid::text, o.* FROM {s}.orders o ORDER BY order_id") == before
