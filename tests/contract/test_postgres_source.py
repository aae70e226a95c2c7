"""PostgreSQL as a source: its snapshot, its types, its readers, and how far it may be read."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import psycopg
import pytest

from samewise.core.connections import PostgresConnection
from samewise.core.errors import ConfigError, PinsGone, Refused, Transient
from samewise.core.pg_sql import impure_names, parameters
from samewise.core.ports import Bounds
from samewise.core.shapes import Taken
from samewise.core.sql import Span
from samewise.core.windows import FULL, Window
from samewise.plan.since import SinceColumn
from samewise.sources import postgres_split
from samewise.sources.postgres import Asked, PostgresSource, Split, Ways
from tests.support.connect import connect_server
from tests.support.postgres import GUARDED, PASSWORD, PostgresServer
from tests.support.spark import ReadySpark
from tests.support.state import outputs, start_python

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DAY = Window(datetime(2026, 4, 25, tzinfo=UTC), datetime(2026, 4, 26, tzinfo=UTC))


class Database:
    """A schema of its own, and sources that read it."""

    def __init__(self, server: PostgresServer, spark: SparkSession) -> None:
        self.server = server
        self.schema = server.new_schema()
        self.spark = spark
        self._opened: list[tuple[PostgresSource, Any]] = []

    def do(self, *statements: str) -> None:
        with self.connect() as connection:
            for statement in statements:
                connection.execute(statement)

    def connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        connection = self.server.connect()
        connection.execute(f"SET search_path = {self.schema}")
        return connection

    def place(self, user: str = "postgres", password: str | None = None) -> PostgresConnection:
        options = {} if password is None else {"password": password}
        url = f"postgresql://{user}@127.0.0.1:{self.server.port}/postgres"
        return PostgresConnection("shop", url, options, schema=self.schema)

    def source(
        self, table: str | None = None, query: str | None = None, place: PostgresConnection | None = None, **ways: Any
    ) -> PostgresSource:
        named = None if table is None else (self.schema, table)
        asked = Asked(self.schema, named, query)
        return PostgresSource(place or self.place(), asked, ReadySpark(self.spark), Ways(**ways))

    def read(self, source: PostgresSource, window: Window = FULL) -> DataFrame:
        pins = source.pin(window)
        self._opened.append((source, pins))
        return source.read(pins, window)

    def sessions(self, application: str = "samewise read") -> int:
        with self.connect() as connection:
            row = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", (application,)
            ).fetchone()
        assert row is not None
        return int(row[0])

    def close(self) -> None:
        for source, pins in self._opened:
            source.release(pins)


@pytest.fixture
def database(postgres_server: PostgresServer, spark: SparkSession) -> Iterator[Database]:
    made = Database(postgres_server, spark)
    yield made
    made.close()


# One snapshot


@contextmanager
def transfers(database: Database) -> Iterator[threading.Event]:
    """Someone who moves money between accounts all the time, adds some and takes some away, in pairs."""
    stop, moved = threading.Event(), threading.Event()

    def move() -> None:
        with database.connect() as connection:
            number = 0
            while not stop.is_set():
                number += 1
                with connection.transaction():
                    connection.execute(
                        "UPDATE accounts SET amount = amount + CASE WHEN id <= 20000 THEN 1 ELSE -1 END"
                        " WHERE id IN (%s, %s)",
                        (number % 20000 + 1, 40001 - (number % 20000 + 1)),
                    )
                    connection.execute("INSERT INTO accounts VALUES (%s, 5), (%s, -5)", (-number, 10**9 + number))
                moved.set()

    thread = threading.Thread(target=move)
    thread.start()
    try:
        yield moved
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("split", [Split(4), Split(4, "id"), Split(1)], ids=["pages", "column", "one"])
def test_a_table_that_is_written_during_the_read_adds_up(database: Database, split: Split) -> None:
    database.do(
        "CREATE TABLE accounts AS SELECT g::bigint AS id, 100::bigint AS amount FROM generate_series(1, 40000) g",
        "CREATE INDEX ON accounts (id)",
        "ANALYZE accounts",
    )
    with transfers(database) as moved:
        assert moved.wait(30)
        rows = database.read(database.source("accounts", split=split))
        moved.clear()
        # Written between the snapshot and the readers, and while they read.
        assert moved.wait(30)
        found = rows.selectExpr("sum(amount)", "count(*) % 2", "count(DISTINCT id) = count(*)").first()
    assert found is not None
    assert tuple(found) == (4_000_000, 0, True)


def test_every_read_of_one_frame_sees_the_same_rows(database: Database) -> None:
    database.do("CREATE TABLE t AS SELECT g AS id FROM generate_series(1, 1000) g")
    rows = database.read(database.source("t", split=Split(2)))
    before = rows.count()
    database.do("DELETE FROM t WHERE id > 10")
    assert (before, rows.count()) == (1000, 1000)


def test_a_table_cannot_be_emptied_or_altered_while_it_is_read(database: Database) -> None:
    database.do("CREATE TABLE t AS SELECT 1 AS id")
    database.read(database.source("t"))
    with database.connect() as connection:
        connection.execute("SET lock_timeout = '100ms'")
        for statement in ("TRUNCATE t", "ALTER TABLE t ADD COLUMN x int", "DROP TABLE t"):
            with pytest.raises(psycopg.errors.LockNotAvailable):
                connection.execute(statement)


def test_a_table_that_is_being_emptied_and_filled_again_is_never_read_empty(database: Database) -> None:
    database.do("CREATE TABLE t AS SELECT 1 AS id")
    with database.connect() as other:
        other.execute("BEGIN")
        other.execute("TRUNCATE t")
        other.execute("INSERT INTO t VALUES (2), (3)")
        # The read begins before this, and TRUNCATE does not keep to snapshots.
        soon = threading.Timer(1.0, lambda: other.execute("COMMIT"))
        soon.start()
        rows = database.read(database.source("t"))
        soon.join()
    assert sorted(row["id"] for row in rows.collect()) == [2, 3]


def test_a_snapshot_that_is_let_go_of_holds_nothing_open(database: Database) -> None:
    database.do("CREATE TABLE t AS SELECT 1 AS id")
    source = database.source("t")
    pins = source.pin(FULL)
    source.read(pins, FULL).count()
    assert database.sessions() == 1
    source.release(pins)
    _until(lambda: database.sessions() == 0)


def test_a_snapshot_that_was_lost_is_transient_and_the_next_read_is_fine(database: Database) -> None:
    database.do("CREATE TABLE t AS SELECT 1 AS id")
    source = database.source("t")
    pins = source.pin(FULL)
    rows = source.read(pins, FULL)
    with database.connect() as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'samewise read'"
        )
    with pytest.raises(Exception) as failed:  # noqa: PT011
        rows.count()
    explained = source.explain_failure(failed.value, pins)
    assert isinstance(explained, Transient)
    assert "snapshot is gone" in explained.message
    source.release(pins)
    assert source.read(pins, FULL).count() == 1
    source.release(pins)


def test_a_reader_that_is_cut_off_is_transient(database: Database) -> None:
    database.do("CREATE TABLE t AS SELECT 1 AS id", "CREATE VIEW slow AS SELECT id, pg_sleep(60)::text AS s FROM t")
    source = database.source("slow")
    pins = source.pin(FULL)
    rows = source.read(pins, FULL)
    cutter = threading.Thread(target=_cut_the_reader, args=(database,))
    cutter.start()
    with pytest.raises(Exception) as failed:  # noqa: PT011
        rows.collect()
    cutter.join()
    explained = source.explain_failure(failed.value, pins)
    source.release(pins)
    assert isinstance(explained, Transient)
    assert "terminating connection" in explained.message


def test_a_column_that_changed_its_type_since_it_was_looked_at_is_planned_again(database: Database) -> None:
    database.do("CREATE TABLE t AS SELECT 1 AS id")
    source = database.source("t")
    pins = source.pin(FULL)
    (shape,) = source.shapes(pins)
    database.do("ALTER TABLE t ALTER COLUMN id TYPE bigint")
    with pytest.raises(PinsGone, match="id was changed"):
        source.read(pins, FULL, [tuple(Taken(column, column) for column in shape.columns)])
    source.release(pins)


# Readers


def _make_orders(database: Database) -> None:
    database.do(
        "CREATE TABLE plain AS SELECT g::bigint AS id, g % 5 AS k, CASE WHEN g % 10 > 0 THEN 'x' || g END AS name"
        " FROM generate_series(1, 5000) g",
        "CREATE INDEX ON plain (k)",
        "ANALYZE plain",
        # What the statistics do not know yet.
        "INSERT INTO plain SELECT g, g % 5, NULL FROM generate_series(5001, 20000) g",
        "CREATE TABLE parted (id bigint, k int, name text) PARTITION BY LIST (k)",
        *[f"CREATE TABLE part_{k} PARTITION OF parted FOR VALUES IN ({k})" for k in range(5)],
        "INSERT INTO parted SELECT * FROM plain",
        "CREATE VIEW seen AS SELECT * FROM plain",
        "CREATE MATERIALIZED VIEW kept AS SELECT * FROM plain",
        "CREATE TABLE of_nothing (id bigint, k int, name text)",
    )


def one_fifth(_: object, __: object) -> Span:
    return Span("name", "x7")


@pytest.mark.parametrize("readers", [1, 2, 3, 7])
@pytest.mark.parametrize(
    "how",
    [
        {"table": "plain"},
        {"table": "parted"},
        {"table": "kept"},
        {"table": "seen"},
        {"table": "plain", "by": "id"},
        {"table": "plain", "by": "name"},
        {"table": "seen", "by": "id"},
        {"query": "SELECT * FROM plain", "by": "k"},
        {"query": "SELECT * FROM plain"},
    ],
    ids=str,
)
def test_readers_together_read_every_row_once(database: Database, how: dict[str, str], readers: int) -> None:
    _make_orders(database)
    split = Split(readers, how.get("by"))
    rows = database.read(database.source(how.get("table"), how.get("query"), split=split))
    found = rows.selectExpr("count(*)", "count(DISTINCT id)", "sum(id)", "count(name)").first()
    assert found is not None
    assert tuple(found) == (20000, 20000, 200010000, 4500)


def test_readers_of_a_window_that_an_index_finds_share_it_evenly(database: Database) -> None:
    database.do(
        "CREATE TABLE orders AS SELECT g::bigint AS id, date '2026-01-01' + g / 2000 AS day"
        " FROM generate_series(0, 399999) g",
        "CREATE INDEX ON orders (day)",
        "ANALYZE orders",
    )
    day = Span("day", datetime(2026, 4, 25).date(), datetime(2026, 4, 26).date())
    rows = database.read(database.source("orders", span=lambda _, __: day, split=Split(2)), DAY)
    shares = [row["n"] for row in rows.groupBy(_partition()).count().toDF("p", "n").collect()]
    assert (sum(shares), len(shares), min(shares) > 800) == (2000, 2, True)


def test_a_few_rows_have_one_reader_and_many_have_as_many_as_are_worth_while(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    _make_orders(database)
    few = database.read(database.source("plain"))
    monkeypatch.setattr(postgres_split, "ROWS_A_READER", 2000)
    many = database.read(database.source("plain"))
    assert [_readers(few), _readers(many)] == [1, 4]


def test_an_empty_table_has_no_rows_and_its_schema(database: Database) -> None:
    _make_orders(database)
    rows = database.read(database.source("of_nothing", split=Split(3)))
    assert (rows.count(), rows.columns) == (0, ["id", "k", "name"])


# Types


LONG = "1234567890123456789012345678.0123456789"
CARRIED: Sequence[tuple[str, str, str, str]] = [
    ("boolean", "true", "boolean", "true"),
    ("smallint", "-32768", "smallint", "-32768"),
    ("integer", "2147483647", "int", "2147483647"),
    ("bigint", "-9223372036854775808", "bigint", "-9223372036854775808"),
    ("real", "0.1", "float", "0.1"),
    ("real", "'NaN'", "float", "NaN"),
    ("double precision", "0.1", "double", "0.1"),
    ("double precision", "'-Infinity'", "double", "-Infinity"),
    ("numeric(12,2)", "-0.10", "decimal(12,2)", "-0.10"),
    (
        "numeric(38,10)",
        "1234567890123456789012345678.0123456789",
        "decimal(38,10)",
        "1234567890123456789012345678.0123456789",
    ),
    ("text", "''", "string", ""),
    ("text", "E'a\\n\\t\"\\\\,ä€𝄞'", "string", 'a\n\t"\\,ä€𝄞'),
    ("varchar(5)", "'ab '", "string", "ab "),
    ("char(5)", "'ab'", "string", "ab"),
    ("date", "'0001-01-01'", "date", "0001-01-01"),
    ("date", "'9999-12-31'", "date", "9999-12-31"),
    ("timestamp", "'2026-04-25 02:30:00.000001'", "timestamp_ntz", "2026-04-25 02:30:00.000001"),
    ("timestamp", "'0001-01-01'", "timestamp_ntz", "0001-01-01 00:00:00"),
    ("timestamptz", "'2026-04-25 02:30:00.5+02'", "timestamp", "2026-04-25 00:30:00.5"),
    ("timestamptz", "'9999-12-31 23:59:59.999999+00'", "timestamp", "9999-12-31 23:59:59.999999"),
    ("json", '\'{"b":  1, "a": 2}\'', "string", '{"b":  1, "a": 2}'),
    ("jsonb", '\'{"b":  1, "a": 2}\'', "string", '{"a": 2, "b": 1}'),
    ("uuid", "'6F1F1C6E-0000-4000-8000-000000000001'", "string", "6f1f1c6e-0000-4000-8000-000000000001"),
    ("bytea", "'\\x00ff'", "binary", "00FF"),
    ("mood", "'so so'", "string", "so so"),
    ("positive", "7", "int", "7"),
    ("inet", "'10.0.0.1'", "string", "10.0.0.1/32"),
    ("integer[]", "'{1,NULL,3}'", "array<int>", "[1, null, 3]"),
    ("integer[]", "'{}'", "array<int>", "[]"),
    ("text[]", '\'{"a,b",NULL,""}\'', "array<string>", "[a,b, null, ]"),
    ("numeric(5,2)[]", "'{1.5,NULL}'", "array<decimal(5,2)>", "[1.50, null]"),
    ("mood[]", "'{fine}'", "array<string>", "[fine]"),
    ("date[]", "'{2026-04-25,NULL}'", "array<date>", "[2026-04-25, null]"),
    ("timestamptz[]", "'{2026-04-25 00:00+02}'", "array<timestamp>", "[2026-04-24 22:00:00]"),
    ("uuid[]", "'{6f1f1c6e-0000-4000-8000-000000000001}'", "array<string>", "[6f1f1c6e-0000-4000-8000-000000000001]"),
    ("bytea[]", "ARRAY['\\x00ff'::bytea]", "array<binary>", "00FF"),
]


def _make_types(database: Database) -> None:
    database.do(
        "CREATE TYPE mood AS ENUM ('fine', 'so so')",
        "CREATE DOMAIN positive AS int CHECK (VALUE > 0)",
        "CREATE TYPE pair AS (a int, b int)",
    )


def test_each_type_is_carried_exactly(database: Database) -> None:
    _make_types(database)
    columns = [f"c{number}" for number in range(len(CARRIED))]
    definition = ", ".join(f"{column} {kind[0]}" for column, kind in zip(columns, CARRIED, strict=True))
    values = ", ".join(kind[1] for kind in CARRIED)
    database.do(f"CREATE TABLE t ({definition})", f"INSERT INTO t VALUES ({values})", "INSERT INTO t DEFAULT VALUES")
    source = database.source("t")
    rows = database.read(source)
    (shape,) = source.shapes(source.pin(FULL))
    assert [column.type for column in shape.columns] == [kind[2] for kind in CARRIED]
    shown = [_shown(column, kind[2]) for column, kind in zip(columns, CARRIED, strict=True)]
    by_first = {row[0] is None: list(row) for row in rows.selectExpr(*shown).collect()}
    assert by_first[False] == [kind[3] for kind in CARRIED]
    assert by_first[True] == [None] * len(CARRIED)


@pytest.mark.parametrize(
    "type",
    [
        *("numeric", "numeric(39,2)", "numeric(3,-2)", "numeric(2,4)", "numeric[]", "time", "timetz", "interval"),
        *("money", "point", "int4range", "bit(3)", "tsvector", "oid", "pair", "pair[]"),
    ],
)
def test_a_type_that_spark_has_no_equal_for_is_refused_by_name_before_a_row_is_read(
    database: Database, type: str
) -> None:
    _make_types(database)
    database.do(f"CREATE TABLE t (id int, odd {type})")
    with pytest.raises(Refused, match="odd is ") as caught:
        database.source("t").pin(FULL)
    assert (caught.value.code, "query:" in (caught.value.next_step or "")) == ("unsupported_type", True)
    query = database.source(query="SELECT id, odd::text AS odd FROM t")
    assert [c.type for c in query.shapes(query.pin(FULL))[0].columns] == ["int", "string"]


@pytest.mark.parametrize(
    ("type", "value"),
    [
        ("date", "infinity"),
        ("date", "-infinity"),
        ("date", "0044-03-15 BC"),
        ("date", "10000-01-01"),
        ("timestamp", "infinity"),
        ("timestamp", "0044-03-15 00:00:00 BC"),
        ("timestamptz", "-infinity"),
        ("timestamptz", "10000-01-01 00:00:00+00"),
        ("numeric(12,2)", "NaN"),
        ("numeric(12,2)[]", "{1.00,NaN}"),
        ("integer[]", "{{1,2},{3,4}}"),
        ("integer[]", "[0:1]={1,2}"),
        ("text[]", "{{a},{b}}"),
        ("date[]", "{NULL,infinity}"),
        ("timestamptz[]", "{-infinity}"),
    ],
)
def test_a_value_that_spark_cannot_hold_is_refused_by_name(database: Database, type: str, value: str) -> None:
    database.do(f"CREATE TABLE t (id int, odd {type})", f"INSERT INTO t VALUES (1, NULL), (2, '{value}')")
    source = database.source("t")
    pins = source.pin(FULL)
    rows = source.read(pins, FULL)
    with pytest.raises(Exception) as failed:  # noqa: PT011
        rows.write.format("noop").mode("overwrite").save()
    explained = source.explain_failure(failed.value, pins)
    source.release(pins)
    assert isinstance(explained, Refused)
    known = value.split(",")[-1].strip("{}") if "NaN" in value else value.split(" 00:")[0]
    assert (explained.code, "odd holds" in explained.message) == ("unsupported_value", True)
    assert known in explained.message


def test_two_columns_that_differ_only_in_case_are_refused(database: Database) -> None:
    database.do('CREATE TABLE t (id int, "ID" int)')
    with pytest.raises(Refused, match="two columns, id and ID"):
        database.source("t").pin(FULL)


def test_strange_names_are_just_names(database: Database) -> None:
    table, column = 'orders"; drop table x; --', 'per cent % {x} "q" \'s'
    quoted = ['"' + word.replace('"', '""') + '"' for word in (table, column)]
    database.do(f'CREATE TABLE {quoted[0]} AS SELECT 1 AS {quoted[1]}, 2 AS "select"')
    rows = database.read(database.source(table, split=Split(2, column)))
    assert [row.asDict() for row in rows.collect()] == [{column: 1, "select": 2}]


# Queries


def test_a_query_is_described_without_being_run(database: Database) -> None:
    database.do("CREATE TABLE t AS SELECT 1 AS id", "CREATE SEQUENCE s")
    source = database.source(query="SELECT nextval('s') AS n, t.id::numeric(5,1) AS d FROM t -- the end\n ;")
    (shape,) = source.shapes(source.pin(FULL))
    assert [(c.name, c.type) for c in shape.columns] == [("n", "bigint"), ("d", "decimal(5,1)")]
    with database.connect() as connection:
        assert connection.execute("SELECT is_called FROM s").fetchone() == (False,)


def test_what_a_query_asks_about_the_window_is_filled_in(database: Database) -> None:
    times = "timestamptz '2026-04-25' + g * interval '8h'"
    database.do(f"CREATE TABLE t AS SELECT g AS id, {times} AS at FROM generate_series(-1, 4) g")
    query = "SELECT id FROM t WHERE at >= :window_start AND at < :window_end AND ':x' <> :word"
    values = {"window_start": DAY.start, "window_end": DAY.end, "word": "it's :window_start"}
    rows = database.read(database.source(query=query, values=lambda _: values), DAY)
    assert sorted(row["id"] for row in rows.collect()) == [0, 1, 2]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT FROM",
        "SELECT * FROM nowhere",
        "SELECT 1 AS a; SELECT 2 AS a",
        "DELETE FROM t RETURNING id",
        "WITH gone AS (DELETE FROM t RETURNING id) SELECT * FROM gone",
        "SELECT nope FROM t",
        "VACUUM",
    ],
)
def test_a_query_that_postgresql_does_not_take_is_a_wrong_setting(database: Database, query: str) -> None:
    database.do("CREATE TABLE t AS SELECT 1 AS id")
    with pytest.raises(ConfigError, match=r"source.query"):
        database.source(query=query).pin(FULL)
    assert database.read(database.source("t")).count() == 1


def test_a_query_that_fails_on_the_data_is_refused(database: Database) -> None:
    database.do("CREATE TABLE t AS SELECT 0 AS id")
    source = database.source(query="SELECT 1 / id AS x FROM t")
    pins = source.pin(FULL)
    with pytest.raises(Exception) as failed:  # noqa: PT011
        source.read(pins, FULL).collect()
    explained = source.explain_failure(failed.value, pins)
    source.release(pins)
    assert isinstance(explained, Refused)
    assert "division by zero" in explained.message


def test_parameters_are_not_looked_for_in_texts_and_casts() -> None:
    query = """SELECT :a, ':b', "c:d", x::text, $$ :e $$, $t$ :f $t$, E'\\' :g', y[1:2] -- :h
    /* :i /* :j */ :k */ FROM t WHERE z = :window_start"""
    assert parameters(query) == {"a", "window_start"}


def test_clocks_and_random_values_are_found_in_a_query() -> None:
    query = "SELECT now(), age(a), age(a, b), 'now()', current_date, now, random ( ) FROM t -- clock_timestamp()"
    assert impure_names(query) == ["now()", "age()", "current_date", "random()"]


# How far


def since(schema: Any) -> SinceColumn:
    return SinceColumn.of(schema, "at", ZoneInfo("UTC"))


@pytest.fixture
def changes(database: Database) -> PostgresSource:
    database.do("CREATE TABLE t (id int, at timestamptz DEFAULT now())")
    return database.source("t", since=since)


def test_the_bound_is_the_servers_clock_and_not_ours(database: Database, changes: PostgresSource) -> None:
    with database.connect() as connection:
        before = connection.execute("SELECT clock_timestamp()").fetchone()
        horizon = changes.horizon()
    assert before is not None
    assert horizon is not None
    assert timedelta(0) <= before[0] - horizon + timedelta(seconds=1) < timedelta(seconds=5)


@pytest.mark.parametrize("wrote", [True, False], ids=["that wrote", "that may still write"])
def test_the_bound_stays_behind_the_oldest_open_transaction(
    database: Database, changes: PostgresSource, wrote: bool
) -> None:
    with database.connect() as other:
        other.execute("BEGIN")
        if wrote:
            other.execute("INSERT INTO t (id) VALUES (1)")
        began = other.execute("SELECT now(), pg_sleep(1.5)").fetchone()
        assert began is not None
        assert changes.horizon() == began[0]
        other.execute("COMMIT")
        later = changes.horizon()
        assert later is not None
        assert later > began[0]


def test_our_own_readers_hold_nobody_back(database: Database, changes: PostgresSource) -> None:
    pins = changes.pin(FULL)
    changes.read(pins, FULL)
    with database.connect() as other:
        began = other.execute("SELECT clock_timestamp(), pg_sleep(1.5)").fetchone()
    horizon = changes.horizon()
    changes.release(pins)
    assert began is not None
    assert horizon is not None
    assert horizon > began[0]


def test_a_role_that_cannot_see_other_transactions_is_told_so(database: Database, changes: PostgresSource) -> None:
    del changes
    database.do(f"GRANT USAGE ON SCHEMA {database.schema} TO {GUARDED}", f"GRANT SELECT ON t TO {GUARDED}")
    place = database.place(GUARDED, PASSWORD)
    with database.connect() as someone:
        someone.execute("SELECT 1")
        with pytest.raises(ConfigError, match="cannot see") as caught:
            database.source("t", place=place, since=since).horizon()
        assert "pg_read_all_stats" in (caught.value.next_step or "")
        assert database.source("t", place=place, since=since, has_lag=True).horizon() is not None
        database.do(f"GRANT pg_read_all_stats TO {GUARDED}")
        try:
            assert database.source("t", place=place, since=since).horizon() is not None
        finally:
            database.do(f"REVOKE pg_read_all_stats FROM {GUARDED}")


def test_a_prepared_transaction_holds_the_bound_back(database: Database, changes: PostgresSource) -> None:
    with database.connect() as other:
        other.execute("BEGIN")
        other.execute("INSERT INTO t (id) VALUES (1)")
        other.execute(f"PREPARE TRANSACTION '{database.schema}'")
        try:
            with pytest.raises(Transient, match="prepared"):
                changes.horizon()
            prepared = other.execute("SELECT prepared FROM pg_prepared_xacts").fetchone()
            other.execute("SELECT pg_sleep(1.2)")
            late = database.source("t", since=since, has_lag=True).horizon()
            assert prepared is not None
            assert late == prepared[0]
        finally:
            other.execute(f"ROLLBACK PREPARED '{database.schema}'")


def test_rows_are_read_from_the_lower_bound_up_to_before_the_upper_one(
    database: Database, changes: PostgresSource
) -> None:
    database.do("INSERT INTO t SELECT g, timestamptz '2026-04-25' + g * interval '1h' FROM generate_series(0, 9) g")
    lower, upper = (datetime(2026, 4, 25, hour, tzinfo=UTC) for hour in (2, 5))
    found = []
    for bounds in (Bounds(lower, upper), Bounds(None, upper)):
        pins = changes.pin_since(bounds, None)
        found.append(sorted(row["id"] for row in changes.read(pins, FULL).collect()))
        changes.release(pins)
    assert found == [[2, 3, 4], [0, 1, 2, 3, 4]]


# Secrets


def test_the_password_is_in_no_plan_and_no_text(database: Database) -> None:
    database.do("CREATE TABLE t AS SELECT 1 AS id", f"GRANT USAGE ON SCHEMA {database.schema} TO {GUARDED}")
    database.do(f"GRANT SELECT ON t TO {GUARDED}")
    source = database.source("t", place=database.place(GUARDED, PASSWORD))
    pins = source.pin(FULL)
    rows = source.read(pins, FULL)
    rows.createOrReplaceTempView("secretive")
    plan = database.spark.sql("EXPLAIN EXTENDED SELECT * FROM secretive").first()
    told = f"{plan}{pins}{source.name}{source.shapes(pins)}{dict(database.spark.conf.getAll)}"
    assert rows.count() == 1
    source.release(pins)
    assert PASSWORD not in told


def _shown(column: str, type: str) -> str:
    if type == "binary":
        return f"hex({column})"
    return f"hex({column}[0])" if type == "array<binary>" else f"CAST({column} AS STRING)"


def _partition() -> Any:
    from pyspark.sql import functions as f

    return f.spark_partition_id()


def _readers(rows: DataFrame) -> int:
    return rows.rdd.getNumPartitions()


def _cut_the_reader(database: Database) -> None:
    found = (
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE application_name = 'samewise read' AND query LIKE 'COPY%%' AND state = 'active'"
    )
    with database.connect() as connection:
        _until(lambda: bool(connection.execute(found).fetchall()))


def _until(reached: Any, seconds: float = 30) -> None:
    import time

    give_up_at = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < give_up_at
        time.sleep(0.05)


_OVER_CONNECT = """
import json, sys
from pyspark.sql import SparkSession
from samewise.core.connections import PostgresConnection
from samewise.core.errors import Transient
from samewise.core.windows import FULL
from samewise.sources.postgres import Asked, PostgresSource, Split, Ways
from tests.support.spark import ReadySpark
address, url, password, schema = sys.argv[1:]
spark = SparkSession.builder.remote(address).create()
place = PostgresConnection("shop", url, {"password": password}, schema=schema)
source = PostgresSource(place, Asked(schema, (schema, "t")), ReadySpark(spark), Ways(split=Split(3)))
pins = source.pin(FULL)
rows = source.read(pins, FULL)
found = list(rows.selectExpr("count(*)", "sum(id)").first())
source.release(pins)
try:
    rows.count()
except Exception as error:
    found.append(isinstance(source.explain_failure(error, pins), Transient))
spark.stop()
print(json.dumps(found))
"""


def test_the_same_rows_come_over_spark_connect(database: Database, tmp_path: Path) -> None:
    database.do(
        "CREATE TABLE t AS SELECT g::bigint AS id, 'x' || g AS s FROM generate_series(1, 1000) g",
        f"GRANT USAGE ON SCHEMA {database.schema} TO {GUARDED}",
        f"GRANT SELECT ON t TO {GUARDED}",
    )
    url = str(database.place(GUARDED).url)
    with connect_server(tmp_path) as address:
        # In a process of its own: a client of Connect and a session of the old kind do not go together.
        (printed,) = outputs([start_python(_OVER_CONNECT, address, url, PASSWORD, database.schema)], seconds=120)
    # The last one: of a snapshot that is gone, the next attempt may have a new one.
    assert json.loads(printed) == [1000, 500500, True]
    assert PASSWORD not in (tmp_path / "connect.log").read_text(errors="replace")
