"""Copies of a table in PostgreSQL: whole, apart from the real one, and gone when their maker is."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from samewise.core.connections import PostgresConnection
from samewise.core.errors import UsageError
from samewise.prove.foreign.places import named
from samewise.prove.foreign.tables import TablePlace
from tests.support.postgres import PostgresServer

TABLE = """
CREATE TABLE {schema}.orders (
    id serial PRIMARY KEY, twin bigint GENERATED ALWAYS AS (id * 2) STORED, no bigint GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL CHECK (name <> ''), amount numeric(10,2)
);
INSERT INTO {schema}.orders (name, amount) VALUES ('a', 1.5), ('b', NULL);
"""


def _place(server: PostgresServer, schema: str, folder: Path) -> TablePlace:
    return TablePlace(named(f"postgres:{schema}.orders"), PostgresConnection("t", server.plain_url("postgres")), folder)


def test_a_copy_has_rows_keys_checks_and_numbers_of_its_own(postgres_server: PostgresServer, tmp_path: Path) -> None:
    schema = postgres_server.new_schema()
    with postgres_server.connect() as connection:
        connection.execute(TABLE.format(schema=schema))
        place = _place(postgres_server, schema, tmp_path)
        before = place.fingerprint()
        copy = place.copy("x")
        mark = copy.mark()
        with psycopg.connect(copy.words["url"]) as other:
            other.execute("INSERT INTO orders (name) VALUES ('c')")
            with pytest.raises(psycopg.errors.CheckViolation), other.transaction():
                other.execute("INSERT INTO orders (name) VALUES ('')")
            with pytest.raises(psycopg.errors.UniqueViolation), other.transaction():
                other.execute("INSERT INTO orders (id, name) VALUES (1, 'd')")
        rows = connection.execute(f"SELECT id, twin, no, name FROM {copy.words['target']} ORDER BY id").fetchall()
        assert rows == [(1, 2, 1, "a"), (2, 4, 2, "b"), (3, 6, 3, "c")]
        assert copy.mark() != mark
        # The real table and its sequence are where they were.
        assert place.fingerprint() == before
        assert connection.execute(f"SELECT last_value FROM {schema}.orders_id_seq").fetchone() == (2,)
        place.close()
        assert _scratch_schemas(connection) == []


def test_scratch_of_a_dead_prove_is_removed_by_the_next_and_that_of_a_live_one_is_not(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    schema = postgres_server.new_schema()
    with postgres_server.connect() as connection:
        connection.execute(TABLE.format(schema=schema))
        live = _place(postgres_server, schema, tmp_path / "live")
        held = _scratch_schemas(connection)
        connection.execute("CREATE SCHEMA samewise_copy_dead")
        other = _place(postgres_server, schema, tmp_path / "other")
        assert "samewise_copy_dead" not in _scratch_schemas(connection)
        assert set(held) <= set(_scratch_schemas(connection))
        other.close()
        live.close()


def test_a_table_that_is_not_there_is_refused(postgres_server: PostgresServer, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such table"):
        _place(postgres_server, postgres_server.new_schema(), tmp_path)


def _scratch_schemas(connection: psycopg.Connection[tuple[object, ...]]) -> list[str]:
    query = "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, 'samewise_copy_') ORDER BY 1"
    return [str(row[0]) for row in connection.execute(query).fetchall()]
