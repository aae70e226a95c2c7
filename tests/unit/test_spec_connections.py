"""`connections:` in samewise.yaml: named, overlaid by an environment, and tight-lipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from samewise.core.connections import PostgresConnection
from samewise.core.errors import ConfigError
from tests.support.spec import ORDERS, load, problems

PROJECT = """\
project: shop
connections:
  warehouse:
    type: postgres
    url: "postgresql://loader:{{ env.PG_PASSWORD }}@db.example:5433/shop"
    options: {sslmode: verify-full, sslrootcert: /etc/ca.pem}
    schema: sales
envs:
  test:
    connections:
      warehouse: {type: postgres, service: shop_test}
"""
POSTGRES = ORDERS.replace("{type: delta, table: orders}", "{type: postgres, table: orders}")
FILES = {"samewise.yaml": PROJECT, "pipelines/orders.yaml": POSTGRES}


def test_a_connection_is_rendered_and_its_options_pass_through(tmp_path: Path) -> None:
    found = load(tmp_path, FILES, PG_PASSWORD="p@ss").connection("warehouse")
    assert found.url == "postgresql://loader:p@ss@db.example:5433/shop"
    assert found.options == {"sslmode": "verify-full", "sslrootcert": "/etc/ca.pem"}
    assert (found.schema, found.bookkeeping) == ("sales", "sales")
    assert found.place == "db.example:5433/shop"


def test_the_only_connection_needs_no_name(tmp_path: Path) -> None:
    loaded = load(tmp_path, FILES, PG_PASSWORD="x")
    pipeline = loaded.pipelines["orders_daily"]
    location = loaded.location(pipeline.tasks[0].target, pipeline)
    assert location.key == "postgres:db.example:5433/shop/sales.orders"


def test_an_environment_takes_the_place_of_a_connection(tmp_path: Path) -> None:
    found = load(tmp_path, FILES, "test").connection("warehouse")
    assert (found.url, found.options, found.place) == (None, {"service": "shop_test"}, "service shop_test")


def test_nothing_but_the_environment_is_a_connection(tmp_path: Path) -> None:
    files = {**FILES, "samewise.yaml": "project: shop\nconnections: {here: {type: postgres}}\n"}
    found = load(tmp_path, files, PGHOST="db", PGDATABASE="shop", PGPASSWORD="hush").connection(None)
    assert found.place == "db/shop"


@pytest.mark.parametrize("environ", [{"PG_PASSWORD": "hush-hush"}, {"PG_PASSWORD": "x", "PGPASSWORD": "hush-hush"}])
def test_a_password_is_a_secret_wherever_it_comes_from(tmp_path: Path, environ: dict[str, str]) -> None:
    loaded = load(tmp_path, FILES, **environ)
    assert loaded.secrets.redact("it is hush-hush") == "it is ***"
    assert "hush" not in repr(loaded) + repr(loaded.connection("warehouse"))


def test_a_password_that_is_written_out_is_a_secret_too(tmp_path: Path) -> None:
    text = PROJECT.replace("{{ env.PG_PASSWORD }}", "hush%20hush")
    loaded = load(tmp_path, {**FILES, "samewise.yaml": text})
    assert loaded.secrets.redact("hush hush, hush%20hush") == "***, ***"


def test_neither_password_nor_host_reaches_the_definition(tmp_path: Path) -> None:
    loaded = load(tmp_path, FILES, PG_PASSWORD="hush-hush")
    pipeline = loaded.pipelines["orders_daily"]
    text = pipeline.definition_json(pipeline.tasks[0])
    assert "hush" not in text
    assert "db.example" not in text


@pytest.mark.parametrize(
    ("connection", "sentence"),
    [
        ("{type: mysql}", "connections.a.type: unknown connection 'mysql'"),
        ("{type: postgres, url: 'mysql://h/d'}", "connections.a.url: must be a postgresql:// URL"),
        ("{type: postgres, url: 'postgresql://h/d', service: s}", "connections.a.service: excludes 'url'"),
        ("{type: postgres, options: {sslmod: require}}", "did you mean 'sslmode'?"),
        ("{type: postgres, options: {application_name: x}}", "belongs to Samewise"),
        ("{type: postgres, pasword: x}", "unknown key"),
    ],
)
def test_a_wrong_connection_is_told_with_its_place(tmp_path: Path, connection: str, sentence: str) -> None:
    text = f"project: shop\nconnections:\n  a: {connection}\n"
    found = problems(tmp_path, {**FILES, "samewise.yaml": text})
    assert any(line.startswith("samewise.yaml:3: ") and sentence in line for line in found), found


@pytest.mark.parametrize(
    ("connections", "target", "sentence"),
    [
        ("", "{type: postgres, table: orders}", "there are no connections"),
        ("connections: {a: {type: postgres}, b: {type: postgres}}\n", "{type: postgres, table: o}", "say which one"),
        ("connections: {shop: {type: postgres}}\n", "{type: postgres, connection: shp, table: o}", "did you mean"),
    ],
)
def test_a_target_without_its_connection_is_told(tmp_path: Path, connections: str, target: str, sentence: str) -> None:
    pipeline = ORDERS.replace("{type: delta, table: orders}", target)
    files = {"samewise.yaml": f"project: shop\n{connections}", "pipelines/orders.yaml": pipeline}
    found = problems(tmp_path, files)
    assert any("target.connection" in line and sentence in line for line in found), found


def test_two_tasks_with_one_table_of_one_database_are_told(tmp_path: Path) -> None:
    other = POSTGRES.replace("orders_daily", "again").replace("table: orders}", "schema: sales, table: orders}")
    found = problems(tmp_path, {**FILES, "pipelines/again.yaml": other}, PG_PASSWORD="x")
    assert any("owns this table already" in line for line in found), found


@pytest.mark.parametrize(
    ("table", "names"),
    [
        ("orders", ("public", "orders")),
        ("sales.orders", ("sales", "orders")),
        ('orders"; drop table x; --', ("public", 'orders"; drop table x; --')),
        ("a.b.c", ("public", "a.b.c")),
    ],
)
def test_a_name_is_taken_as_it_is_written(table: str, names: tuple[str, str]) -> None:
    from samewise.spec.connections import PostgresRef

    assert PostgresRef.model_validate({"table": table}).names("public") == names


def test_an_unknown_connection_is_a_wrong_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        load(tmp_path, FILES, PG_PASSWORD="x").connection("other")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("postgresql://u:p@h/d", "h/d"),
        ("postgresql://h:5432/d", "h/d"),
        ("postgresql:///d?host=/run/pg", "/run/pg/d"),
        ("postgresql://u@h1:1,h2:2/d", "h1,h2:1,2/d"),
        ("postgresql://[::1]:5433/d?sslmode=require", "[::1]:5433/d"),
        ("postgresql://joe@h", "h/joe"),
    ],
)
def test_a_place_is_host_and_database_and_no_login(url: str, place: str) -> None:
    assert PostgresConnection("x", url).place == place
