"""What a state store promises, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, create_engine, func, inspect, select, text

from samewise.core.errors import ConfigError, Transient
from samewise.state import engine, epochs, migrate, watermarks
from samewise.state.store import Store
from samewise.state.tables import meta, metadata
from tests.support.postgres import PostgresServer
from tests.support.state import outputs, start_python


def test_a_store_that_is_opened_again_is_the_same_one(state_url: str) -> None:
    with Store.open(state_url) as first, Store.open(state_url) as second:
        assert first.store_id == second.store_id


def test_looking_for_a_store_does_not_make_one(state_url: str) -> None:
    assert not Store.exists(state_url)
    assert not Store.exists(state_url)


def test_finding_a_store_does_not_make_one(state_url: str) -> None:
    assert Store.find(state_url) is None
    assert not Store.exists(state_url)


def test_a_store_that_is_found_is_the_one_that_was_opened(state_url: str) -> None:
    with Store.open(state_url) as opened:
        found = Store.find(state_url)
        assert found is not None
        with found:
            assert found.store_id == opened.store_id


def test_a_store_that_was_opened_exists(state_url: str) -> None:
    Store.open(state_url).close()
    assert Store.exists(state_url)


def test_opening_without_creating_refuses_an_absent_store(state_url: str) -> None:
    with pytest.raises(ConfigError, match="nothing has run yet"):
        Store.open(state_url, create=False)
    assert not Store.exists(state_url)


def test_the_clock_is_the_databases_own_and_in_utc(store: Store) -> None:
    now = store.now()
    assert now.tzinfo is UTC
    assert abs(now - datetime.now(UTC)) < timedelta(seconds=5)


def test_the_clock_moves_within_a_transaction(store: Store) -> None:
    with store.transaction() as connection:
        before = engine.now(connection)
        while engine.now(connection) == before:
            pass
        assert engine.now(connection) > before


def test_a_transaction_that_fails_leaves_nothing(store: Store) -> None:
    def write_and_fail() -> None:
        with store.transaction() as connection:
            connection.execute(meta.insert().values(store_id="x", level=1, created_at=store.now()))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_fail()
    with store.reading() as connection:
        assert connection.execute(select(func.count()).select_from(meta)).scalar() == 1


def test_the_migrations_give_exactly_the_tables_that_the_queries_expect(
    state_url: str, request: pytest.FixtureRequest, tmp_path: Any
) -> None:
    Store.open(state_url).close()
    if state_url.startswith("sqlite"):
        fresh_url = f"sqlite:///{tmp_path}/fresh.db"
    else:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        fresh_url = server.new_url()
    migrated, fresh = create_engine(state_url), create_engine(fresh_url)
    metadata.create_all(fresh)
    assert _shape(migrated) == _shape(fresh)
    migrated.dispose()
    fresh.dispose()


def test_a_store_of_a_newer_version_is_refused(state_url: str) -> None:
    Store.open(state_url).close()
    direct = create_engine(state_url)
    with direct.begin() as connection:
        connection.execute(text("UPDATE samewise_meta SET level = 999"))
    direct.dispose()
    with pytest.raises(ConfigError, match="newer Samewise"):
        Store.open(state_url)


def test_a_migration_that_is_missing_is_applied_when_the_store_is_opened(
    state_url: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Store.open(state_url)
    first.close()
    after = migrate.newest_level() + 1
    next_step = tmp_path / f"{after:04}_more.sql"
    next_step.write_text("CREATE TABLE samewise_more (a TEXT);\n")
    steps = {**migrate._migrations(), after: next_step}
    monkeypatch.setattr(migrate, "_migrations", lambda: steps)
    with Store.open(state_url) as again, again.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM samewise_more")).scalar() == 0
        assert connection.execute(select(meta.c.level)).scalar() == after
        assert again.store_id == first.store_id


def test_a_store_of_the_first_version_keeps_what_it_knows(state_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = migrate._migrations()
    with monkeypatch.context() as patched:
        patched.setattr(migrate, "_migrations", lambda: {1: steps[1]})
        Store.open(state_url).close()
    direct = create_engine(state_url)
    with direct.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO samewise_tasks (pipeline, task, watermark, watermark_moves, contracts)"
                " VALUES ('orders', 'load', '2026-04-25T00:00:00.000000Z', 3, 1)"
            )
        )
    direct.dispose()
    with Store.open(state_url) as store:
        assert watermarks.current(store, "orders", "load") == datetime(2026, 4, 25, tzinfo=UTC)
        assert epochs.current(store, "orders", "load") == (0, 0)


def test_a_migration_that_fails_leaves_the_store_as_it_was(
    state_url: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store.open(state_url).close()
    after = migrate.newest_level() + 1
    broken = tmp_path / f"{after:04}_broken.sql"
    broken.write_text("CREATE TABLE samewise_half (a TEXT);\nCREATE TABLE samewise_half (a TEXT);\n")
    steps = {**migrate._migrations(), after: broken}
    with monkeypatch.context() as patched:
        patched.setattr(migrate, "_migrations", lambda: steps)
        with pytest.raises(Exception, match="samewise_half"):
            Store.open(state_url)
    direct = create_engine(state_url)
    assert not inspect(direct).has_table("samewise_half")
    direct.dispose()
    Store.open(state_url).close()


def test_processes_that_open_a_new_store_together_open_the_same_one(state_url: str) -> None:
    script = (
        "import sys, time; from samewise.state.store import Store\n"
        "time.sleep(max(0, float(sys.argv[2]) - time.time()))\n"
        "print(Store.open(sys.argv[1]).store_id)"
    )
    together = str(datetime.now(UTC).timestamp() + 2.5)
    ids = outputs([start_python(script, state_url, together) for _ in range(4)])
    assert len(set(ids)) == 1


def test_a_lost_connection_is_transient(postgres_server: PostgresServer) -> None:
    def lose_the_connection(store: Store) -> None:
        with store.transaction() as connection:
            _cut(postgres_server, _server_process(connection))
            connection.execute(text("SELECT 1"))

    with (
        Store.open(postgres_server.new_url()) as store,
        pytest.raises(Transient, match="could not be reached"),
    ):
        lose_the_connection(store)


def test_a_connection_that_was_cut_while_idle_is_replaced(postgres_server: PostgresServer) -> None:
    with Store.open(postgres_server.new_url()) as store:
        with store.reading() as connection:
            pid = _server_process(connection)
        _cut(postgres_server, pid)
        assert store.now() is not None


def test_a_server_that_is_not_there_is_transient() -> None:
    with pytest.raises(Transient):
        Store.open("postgresql://postgres:geheim@127.0.0.1:1/nowhere")


def test_a_database_that_does_not_exist_is_a_wrong_setting(postgres_server: PostgresServer) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        Store.open(postgres_server.url("no_such_database"))


def test_an_error_never_shows_the_password(postgres_server: PostgresServer) -> None:
    url = postgres_server.url("no_such_database").replace("postgres@", "postgres:geheim@")
    with pytest.raises(ConfigError) as caught:
        Store.open(url)
    assert "geheim" not in str(caught.value)


def _server_process(connection: Connection) -> int:
    return int(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())


def _cut(server: PostgresServer, pid: int) -> None:
    with server.connect() as other:
        other.execute(f"SELECT pg_terminate_backend({pid}, 5000)")


def _shape(of: Engine) -> dict[str, Any]:
    inspector = inspect(of)
    return {
        table: {
            "columns": [(c["name"], str(c["type"]), c["nullable"]) for c in inspector.get_columns(table)],
            "primary key": inspector.get_pk_constraint(table)["constrained_columns"],
            "unique": sorted(u["column_names"] for u in inspector.get_unique_constraints(table)),
            "references": sorted(
                (f["constrained_columns"], f["referred_table"], f["referred_columns"])
                for f in inspector.get_foreign_keys(table)
            ),
            "indexes": sorted((i["name"] or "", i["column_names"]) for i in inspector.get_indexes(table)),
        }
        for table in inspector.get_table_names()
    }
