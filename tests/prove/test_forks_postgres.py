"""Forks of a table in PostgreSQL: with the rows of other windows, as far as they are not too many."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import psycopg
import pytest

from samewise.core.sql import Span
from samewise.targets.postgres_fork import Others, Place, fork_table
from tests.support.postgres import PostgresServer

TABLE = """
CREATE TABLE {s}.orders (
    id bigint PRIMARY KEY, parent bigint REFERENCES {s}.orders, day date,
    twin bigint GENERATED ALWAYS AS (id * 2) STORED
);
INSERT INTO {s}.orders SELECT 10 * d + n, CASE WHEN n > 1 THEN 10 * d + 1 ELSE 11 END, DATE '2026-04-20' + d
FROM generate_series(1, 5) d, generate_series(1, 3) n;
INSERT INTO {s}.orders VALUES (1, NULL, NULL);
"""


def span(day: int) -> Span:
    return Span("day", date(2026, 4, day), date(2026, 4, day + 1))


class Table:
    """A real table of five days with three orders each, and one order that has no day."""

    def __init__(self, server: PostgresServer, session: psycopg.Connection[Any]) -> None:
        self.server, self.session, self.schema = server, session, server.new_schema()
        session.execute(TABLE.replace("{s}", self.schema))
        self._forks: list[str] = []

    def fork(self, most: int, *, of: str | None = None, column: str = "day") -> tuple[list[int], bool]:
        """A fork without the 23rd: the ids in it, and whether it holds all others."""
        schema = f"samewise_prove_test_{self.schema}_{len(self._forks)}"
        self._forks.append(schema)
        old, new = Place(of or self.schema, "orders", of or self.schema), Place(schema, "orders", schema)
        spans = [Span(column, one.lower, one.upper) for one in (span(23), span(22), span(24))]
        rows: bool | Others = Others(spans[:1], spans[1:], most) if of is None else True
        is_whole = fork_table(self.session, old, new, "{}", rows=rows)
        return [id_ for (id_,) in self.session.execute(f"SELECT id FROM {schema}.orders ORDER BY id")], is_whole

    @property
    def last(self) -> str:
        return self._forks[-1]

    def drop(self) -> None:
        for schema in self._forks:
            self.session.execute(f"DROP SCHEMA {schema} CASCADE")


@pytest.fixture
def table(postgres_server: PostgresServer) -> Iterator[Table]:
    with postgres_server.connect() as session:
        made = Table(postgres_server, session)
        yield made
        made.drop()


def test_a_fork_holds_the_rows_of_other_windows_and_a_key_that_one_of_them_has_is_refused(table: Table) -> None:
    others = [1, 11, 12, 13, 21, 22, 23, 41, 42, 43, 51, 52, 53]
    assert table.fork(most=len(others)) == (others, True)
    with pytest.raises(psycopg.errors.UniqueViolation):
        table.session.execute(f"INSERT INTO {table.last}.orders VALUES (11, NULL, '2026-04-23')")
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        table.session.execute(f"INSERT INTO {table.last}.orders VALUES (99, 98, '2026-04-23')")
    # A fork of the fork is all of it.
    assert table.fork(0, of=table.last) == (others, True)


def test_of_too_many_rows_a_fork_holds_those_of_the_windows_beside_and_never_more_than_it_may(table: Table) -> None:
    beside = [21, 22, 23, 41, 42, 43]
    # They refer to rows that are left out: that must not keep the fork from being made.
    assert table.fork(most=12) == (beside, False)
    some, is_whole = table.fork(most=4)
    assert (len(some), set(some) <= set(beside), is_whole) == (4, True, False)


def test_a_table_that_lacks_the_column_has_no_rows_of_the_window(table: Table) -> None:
    ids, is_whole = table.fork(most=100, column="_samewise_window")
    assert (len(ids), is_whole) == (16, True)


def test_whoever_writes_to_the_real_table_meanwhile_is_not_held_up(table: Table) -> None:
    with table.server.connect() as writer, table.session.transaction():
        table.fork(most=100)
        writer.execute("SET lock_timeout = '1s'")
        writer.execute(f"UPDATE {table.schema}.orders SET parent = NULL WHERE id = 23")
        writer.execute(f"DELETE FROM {table.schema}.orders WHERE id = 53")
        writer.execute(f"INSERT INTO {table.schema}.orders VALUES (54, 51, '2026-04-25')")
    found = table.session.execute(f"SELECT count(*) FROM {table.last}.orders WHERE id = 53").fetchone()
    assert found == (1,)
