"""A table of PostgreSQL as the target, from the command line: what a user sees, and what a DBA finds."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.support.postgres import PostgresServer
from tests.support.postgres_shop import STRATEGIES, PostgresShop
from tests.support.project import DAY, NEXT_DAY, told_in_three_parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REFRESHES = ("refresh", "swap")


@pytest.fixture
def db(tmp_path: Path, postgres_server: PostgresServer, spark: SparkSession) -> PostgresShop:
    del spark  # The commands find the tests' own session.
    return PostgresShop(tmp_path, postgres_server)


def window(strategy: str) -> str | None:
    return None if strategy in REFRESHES else DAY


# Every strategy


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_first_run_makes_the_table_and_a_second_one_changes_nothing(db: PostgresShop, strategy: str) -> None:
    db.strategy(strategy)
    db.orders()
    first = db.run(window=window(strategy))
    assert (first.code, first.json["status"]) == (0, "succeeded"), first.text
    assert db.order_ids == [1, 2]
    assert db.run(window=window(strategy)).json["status"] == "unchanged"
    forced = db.run("--force", window=window(strategy))
    assert forced.json["status"] == "succeeded", forced.text
    assert db.order_ids == [1, 2]
    assert db.staged() == []


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_changed_files_are_published(db: PostgresShop, strategy: str) -> None:
    db.strategy(strategy, {"write.version_by": ["amount"]} if strategy == "merge" else {})
    db.orders()
    db.run(window=window(strategy))
    db.orders([(2, "9.00", "sent"), (3, "1.00", "new")])
    again = db.run(window=window(strategy))
    assert again.code == 0, again.text
    rows = db.ask("SELECT order_id, amount, status FROM {s}.orders ORDER BY 1")
    two, three = (2, Decimal("9.00"), "sent"), (3, Decimal("1.00"), "new")
    old = {"merge": [(1, Decimal("10.50"), "new"), two, three]}
    old["insert_new"] = [(1, Decimal("10.50"), "new"), (2, Decimal("0.25"), "paid"), three]
    assert rows == old.get(strategy, [two, three])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_receipt_measures_what_spark_would_measure(db: PostgresShop, strategy: str) -> None:
    db.strategy(strategy)
    db.orders()
    db.run(window=window(strategy))
    with db.state() as state:
        (measures,) = state.execute("SELECT measures FROM samewise_receipts").fetchone()
    db.pipeline({**STRATEGIES[strategy], "target": {"type": "delta", "table": "beside"}}, name="beside")
    path = db.root / "pipelines" / "beside.yaml"
    path.write_text(path.read_text().replace("refresh: swap", "on_empty: clear"))
    assert db.run(window=window(strategy), pipeline="beside").code == 0
    with db.state() as state:
        (other,) = state.execute("SELECT measures FROM samewise_receipts WHERE pipeline = 'beside'").fetchone()
    assert measures == other


def test_a_window_that_became_empty_is_cleared_and_no_other(db: PostgresShop) -> None:
    db.pipeline()
    db.orders()
    db.orders([(7, "1.00", "new")], day=NEXT_DAY)
    db.run()
    db.run(window=NEXT_DAY)
    db.orders([])
    assert db.run().code == 0
    assert db.order_ids == [7]


def test_a_row_outside_its_window_is_refused_and_nothing_lands(db: PostgresShop) -> None:
    db.pipeline()
    db.orders([(1, "1.00", "new"), (2, "1.00", "new", NEXT_DAY)])
    refused = db.run()
    assert (refused.code, refused.json["error"]["code"]) == (3, "outside_window")
    assert db.order_ids == []
    assert db.staged() == []


def test_deletes_leave_the_table_and_stay_deleted(db: PostgresShop) -> None:
    db.strategy("merge", {"write.delete_when": "status = 'gone'"})
    db.orders([(1, "1.00", "new"), (2, "2.00", "new")])
    db.orders([(2, "2.00", "gone")], day=NEXT_DAY)
    db.run()
    deleted = db.run(window=NEXT_DAY)
    assert deleted.window["rows_deleted"] == 1
    assert db.order_ids == [1]
    # The older day again: its row of a deleted key must not come back.
    assert db.run("--force").window["rows_written"] == 0
    assert db.order_ids == [1]
    # A newer row of the key does.
    db.orders([(2, "3.00", "back")], day="2026-04-27")
    assert db.run(window="2026-04-27").window["rows_inserted"] == 1
    assert db.order_ids == [1, 2]


def test_deletes_come_in_any_order(db: PostgresShop) -> None:
    db.strategy("merge", {"write.delete_when": "status = 'gone'"})
    db.orders([(1, "1.00", "new"), (2, "2.00", "new")])
    db.orders([(2, "2.00", "gone")], day=NEXT_DAY)
    db.run(window=NEXT_DAY)
    db.run()
    assert db.order_ids == [1]


def test_a_forgotten_delete_refuses_what_may_have_been_deleted(db: PostgresShop) -> None:
    db.strategy("merge", {"write.delete_when": "status = 'gone'", "write.tombstones": "1ms"})
    db.orders([(2, "2.00", "gone")], day=NEXT_DAY)
    db.run(window=NEXT_DAY)
    db.orders([(3, "2.00", "new")], day="2026-04-27")
    db.run(window="2026-04-27")  # Its end drops what the run before has remembered.
    db.orders([(2, "2.00", "new")])
    refused = db.run()
    assert (refused.code, refused.json["error"]["code"]) == (3, "older_than_tombstones"), refused.text
    assert '"order_id": 2' in refused.json["error"]["message"]


def test_nothing_to_change_makes_no_commit(db: PostgresShop) -> None:
    db.strategy("merge")
    db.orders()
    db.run()
    before = db.ask("SELECT count(*) FROM {s}.samewise_commits")
    again = db.run("--force")
    assert (again.window["rows_written"], again.window["rows_unchanged"]) == (0, 2)
    assert db.ask("SELECT count(*) FROM {s}.samewise_commits") == before
    assert db.run().json["status"] == "unchanged"


def test_a_null_key_can_be_a_value(db: PostgresShop) -> None:
    db.strategy("merge", {"write.null_keys": "match", "write.version_by": ["amount"]})
    db.orders([("", "1.00", "new"), (2, "2.00", "new")])
    db.run()
    db.orders([("", "5.00", "newer"), (2, "2.00", "new")])
    again = db.run()
    assert (again.window["rows_updated"], again.window["rows_unchanged"]) == (1, 1), again.text
    assert db.ask("SELECT status FROM {s}.orders WHERE order_id IS NULL") == [("newer",)]


def test_diff_says_what_a_run_does(db: PostgresShop) -> None:
    db.strategy("merge", {"write.version_by": ["amount"], "write.delete_when": "status = 'gone'"})
    db.orders([(1, "1.00", "a"), (2, "2.00", "b"), (3, "3.00", "c")])
    db.run()
    db.orders([(1, "1.00", "a"), (2, "2.50", "B"), (3, "3.50", "gone"), (4, "4.00", "d")])
    answer = db.do("diff", "orders", "--window", DAY, "--json")
    (found,) = answer.json["windows"] if "windows" in answer.json else answer.json["differences"]
    ran = db.run().window
    for kind in ("inserted", "updated", "deleted", "unchanged"):
        assert found[f"rows_{kind}"] == ran[f"rows_{kind}"] == 1, (kind, found, ran)


def test_diff_of_a_window_reads_the_table(db: PostgresShop) -> None:
    db.pipeline({"expect": [{"unique": ["order_id"]}]})
    db.orders()
    db.run()
    db.orders([(2, "9.00", "sent"), (3, "1.00", "new")])
    answer = db.do("diff", "orders", "--window", DAY, "--json")
    (found,) = answer.json["windows"] if "windows" in answer.json else answer.json["differences"]
    assert [found[f"rows_{kind}"] for kind in ("inserted", "updated", "deleted", "unchanged")] == [1, 1, 1, 0]


# What others do to the table


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM {s}.orders WHERE order_id = 1",
        "UPDATE {s}.orders SET amount = 0 WHERE order_id = 1",
        "TRUNCATE {s}.orders",
    ],
)
def test_a_change_by_hand_is_noticed_and_mended(db: PostgresShop, strategy: str, statement: str) -> None:
    db.strategy(strategy)
    db.orders()
    db.run(window=window(strategy))
    before = db.ask("SELECT order_id, amount FROM {s}.orders ORDER BY 1")
    db.ask(statement)
    again = db.run(window=window(strategy))
    assert again.json["status"] == "succeeded", again.text
    if strategy == "insert_new" and statement.startswith("UPDATE"):
        assert db.order_ids == [1, 2]  # It never changes a row that is there.
    elif strategy == "merge" and statement.startswith("UPDATE"):
        # Of two rows of one version the greater stands, whoever wrote it; the run looked, and says so.
        assert again.window["rows_updated"] + again.window["rows_unchanged"] == 2
    else:
        assert db.ask("SELECT order_id, amount FROM {s}.orders ORDER BY 1") == before
    assert db.run(window=window(strategy)).json["status"] == "unchanged"


def test_who_changed_the_table_can_be_read_in_the_log(db: PostgresShop) -> None:
    db.pipeline()
    db.orders()
    db.run()
    db.ask("DELETE FROM {s}.orders WHERE order_id = 1")
    db.run()
    operations = [row[0] for row in db.ask("SELECT operation FROM {s}.samewise_commits ORDER BY version")]
    assert operations == ["CREATE", "REPLACE", "DELETE by postgres", "REPLACE"]


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE {s}.orders DISABLE TRIGGER samewise_notes",
        "DROP TRIGGER samewise_notes ON {s}.orders",
        "DELETE FROM {s}.samewise_commits WHERE version = 1",
    ],
)
def test_where_nobody_was_looking_the_window_is_loaded_again(db: PostgresShop, statement: str) -> None:
    db.pipeline()
    db.orders()
    db.run()
    db.ask(statement)
    db.ask("DELETE FROM {s}.orders")
    assert db.run().json["status"] == "succeeded"
    assert db.order_ids == [1, 2]
    assert db.run().json["status"] == "unchanged"


def test_a_table_that_was_dropped_or_made_again_is_loaded_again(db: PostgresShop) -> None:
    db.pipeline()
    db.orders()
    db.run()
    db.ask("DROP TABLE {s}.orders")
    assert db.run().json["status"] == "succeeded"
    db.ask("ALTER TABLE {s}.orders RENAME TO old")
    db.ask("CREATE TABLE {s}.orders (LIKE {s}.old)")
    assert db.run().json["status"] == "succeeded"
    assert db.order_ids == [1, 2]


# Tables that someone else made


def test_a_table_of_ones_own_keeps_what_is_not_ours(db: PostgresShop) -> None:
    db.ask(
        "CREATE TYPE {s}.state AS ENUM ('new', 'paid');"
        "CREATE TABLE {s}.orders (id bigserial PRIMARY KEY, order_id numeric(20) NOT NULL, amount numeric,"
        " status {s}.state, order_date date, loaded_at timestamptz DEFAULT now(), twice numeric GENERATED ALWAYS AS"
        " (amount * 2) STORED)"
    )
    db.pipeline()
    db.orders()
    assert db.run().code == 0
    rows = db.ask("SELECT id, order_id, amount, status::text, twice, loaded_at IS NOT NULL FROM {s}.orders ORDER BY 2")
    assert rows == [
        (1, Decimal(1), Decimal("10.50"), "new", Decimal("21.00"), True),
        (2, Decimal(2), Decimal("0.25"), "paid", Decimal("0.50"), True),
    ]
    db.orders([(1, "1.00", "lost")])
    refused = db.run()
    assert (refused.code, refused.json["error"]["code"]) == (3, "target_constraint"), refused.text
    assert told_in_three_parts(refused)
    assert "lost" in refused.json["error"]["message"]
    assert db.order_ids == [1, 2]


def test_a_table_without_a_unique_index_is_refused_with_the_statement_to_run(db: PostgresShop) -> None:
    db.ask("CREATE TABLE {s}.orders (order_id bigint, amount numeric(12,2), status text, order_date date)")
    db.strategy("merge")
    db.orders()
    refused = db.run()
    assert (refused.code, refused.json["error"]["code"]) == (2, "no_unique_index"), refused.text
    statement = refused.json["error"]["next"].removeprefix("run: ")
    assert statement == f'CREATE UNIQUE INDEX CONCURRENTLY ON "{db.schema}"."orders" ("order_id")'
    db.ask(statement)
    assert db.run().code == 0
    assert db.order_ids == [1, 2]


@pytest.mark.parametrize(
    ("make", "word"),
    [
        ("CREATE VIEW {s}.orders AS SELECT 1 AS order_id", "a view"),
        ("CREATE TABLE {s}.orders (order_date date) PARTITION BY RANGE (order_date)", "partitioned"),
    ],
)
def test_what_is_no_plain_table_is_refused_by_name(db: PostgresShop, make: str, word: str) -> None:
    db.ask(make)
    db.pipeline()
    db.orders()
    refused = db.run()
    assert refused.code == 2
    assert word in refused.json["error"]["message"]


def test_two_places_of_bookkeeping_for_one_table_are_refused(db: PostgresShop) -> None:
    db.pipeline()
    db.orders()
    db.run()
    other = db.server.new_schema()
    db.settings(connections={"db": {**db._connections["db"], "bookkeeping": other}})
    refused = db.run("--force")
    assert (refused.code, refused.json["error"]["code"]) == (2, "foreign_target"), refused.text
    assert f"bookkeeping: {db.schema}" in refused.json["error"]["next"]


# Refresh


def dressed(db: PostgresShop) -> None:
    """Everything that people hang on a table."""
    db.ask(
        "DROP ROLE IF EXISTS reader_{s}; CREATE ROLE reader_{s};"
        "CREATE VIEW {s}.totals AS SELECT status, sum(amount) AS total FROM {s}.orders GROUP BY status;"
        "CREATE VIEW {s}.above AS SELECT * FROM {s}.totals WHERE total > 1;"
        "GRANT SELECT ON {s}.orders, {s}.totals TO reader_{s};"
        "GRANT UPDATE (status) ON {s}.orders TO reader_{s};"
        "CREATE INDEX by_status ON {s}.orders (status);"
        "ALTER TABLE {s}.orders ADD CONSTRAINT positive CHECK (amount >= 0);"
        "COMMENT ON TABLE {s}.orders IS 'ours';"
    )


def finery(db: PostgresShop) -> list[Any]:
    return [
        db.ask("SELECT * FROM {s}.totals ORDER BY 1"),
        db.ask("SELECT * FROM {s}.above ORDER BY 1"),
        db.ask("SELECT relacl::text FROM pg_class WHERE oid = '{s}.orders'::regclass"),
        db.ask("SELECT relacl::text FROM pg_class WHERE oid = '{s}.totals'::regclass"),
        db.ask("SELECT attacl::text FROM pg_attribute WHERE attrelid = '{s}.orders'::regclass AND attname = 'status'"),
        db.ask("SELECT indexdef FROM pg_indexes WHERE schemaname = '{s}' AND tablename = 'orders' ORDER BY 1"),
        db.ask("SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = '{s}.orders'::regclass"),
        db.ask("SELECT obj_description('{s}.orders'::regclass)"),
        db.ask("SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = '{s}.orders'::regclass"),
    ]


@pytest.mark.parametrize("strategy", REFRESHES)
def test_what_hangs_on_a_table_stays_when_it_is_refreshed(db: PostgresShop, strategy: str) -> None:
    db.strategy(strategy)
    db.orders([(1, "5.00", "new")])
    db.run(window=None)
    dressed(db)
    before = finery(db)
    db.orders([(1, "5.00", "new")], file="part-2.csv")
    (db.root / "landing" / DAY / "part-1.csv").unlink()
    assert db.run("--force", window=None).code == 0
    assert finery(db) == before
    db.orders([(1, "7.00", "new"), (2, "1.00", "low")])
    db.run(window=None)
    assert db.ask("SELECT total FROM {s}.above") == [(Decimal("12.00"),)]
    assert db.staged() == []


def test_rows_that_break_a_constraint_are_refused_and_the_table_stays(db: PostgresShop) -> None:
    for strategy in REFRESHES:
        db.strategy(strategy)
        db.orders([(1, "5.00", "new")])
        assert db.run("--force", window=None).code == 0
        db.ask("ALTER TABLE {s}.orders DROP CONSTRAINT IF EXISTS positive")
        db.ask("ALTER TABLE {s}.orders ADD CONSTRAINT positive CHECK (amount >= 0)")
        db.orders([(1, "-5.00", "new")])
        refused = db.run(window=None)
        assert (refused.code, refused.json["error"]["code"]) == (3, "target_constraint"), refused.text
        assert db.ask("SELECT amount FROM {s}.orders") == [(Decimal("5.00"),)]


@pytest.mark.parametrize("strategy", ["refresh", "replace_window"])
def test_a_foreign_key_to_the_table_stays_and_is_checked_against_the_new_rows(db: PostgresShop, strategy: str) -> None:
    db.strategy(strategy)
    db.orders()
    db.run(window=window(strategy))
    db.ask(
        "ALTER TABLE {s}.orders ADD PRIMARY KEY (order_id);"
        "CREATE TABLE {s}.lines (order_id bigint REFERENCES {s}.orders); INSERT INTO {s}.lines VALUES (1)"
    )
    assert db.run("--force", window=window(strategy)).code == 0
    assert db.order_ids == [1, 2]
    db.orders([(2, "0.25", "paid")])
    refused = db.run(window=window(strategy))
    assert (refused.code, refused.json["error"]["code"]) == (3, "target_constraint"), refused.text
    assert db.order_ids == [1, 2]


def test_a_cascade_is_refused_by_name_and_loses_nothing(db: PostgresShop) -> None:
    db.strategy("refresh")
    db.orders()
    db.run(window=None)
    db.ask(
        "ALTER TABLE {s}.orders ADD PRIMARY KEY (order_id);"
        "CREATE TABLE {s}.lines (order_id bigint CONSTRAINT of_order REFERENCES {s}.orders ON DELETE CASCADE);"
        "INSERT INTO {s}.lines VALUES (1)"
    )
    refused = db.run("--force", window=None)
    assert refused.code == 3
    assert "of_order" in refused.json["error"]["message"]
    assert db.ask("SELECT * FROM {s}.lines") == [(1,)]


def test_a_refresh_replaces_its_own_columns_and_no_others(db: PostgresShop) -> None:
    db.strategy("refresh", {"transform": "orders.sql"})
    db.write("pipelines/orders.sql", "SELECT order_id, amount FROM source")
    db.orders()
    db.run(window=None)
    db.ask("ALTER TABLE {s}.orders ADD COLUMN note text")
    db.write("pipelines/orders.sql", "SELECT order_id, status FROM source")
    assert db.run(window=None).code == 0
    columns = db.ask(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = '{s}'"
        " AND table_name = 'orders' ORDER BY 1"
    )
    assert [name for (name,) in columns] == ["note", "order_id", "status"]


def test_a_column_that_a_view_needs_is_not_dropped(db: PostgresShop) -> None:
    db.strategy("refresh", {"transform": "orders.sql"})
    db.write("pipelines/orders.sql", "SELECT order_id, amount FROM source")
    db.orders()
    db.run(window=None)
    db.ask("CREATE VIEW {s}.amounts AS SELECT amount FROM {s}.orders")
    db.write("pipelines/orders.sql", "SELECT order_id FROM source")
    refused = db.run(window=None)
    assert refused.code == 3
    assert "amounts" in refused.text
    assert db.ask("SELECT count(*) FROM {s}.amounts") == [(2,)]


# Swap


def test_a_swap_carries_sequences_triggers_and_foreign_keys_over(db: PostgresShop) -> None:
    db.ask(
        "CREATE TABLE {s}.states (status text PRIMARY KEY); INSERT INTO {s}.states VALUES ('new'), ('paid');"
        "CREATE TABLE {s}.orders (serial_id bigserial, identity_id int GENERATED BY DEFAULT AS IDENTITY,"
        " order_id bigint PRIMARY KEY, amount numeric(12,2), status text CONSTRAINT known REFERENCES {s}.states,"
        " order_date date);"
        "CREATE FUNCTION {s}.touch() RETURNS trigger LANGUAGE plpgsql AS"
        " $$BEGIN NEW.status := lower(NEW.status); RETURN NEW; END$$;"
        "CREATE TRIGGER touch BEFORE INSERT ON {s}.orders FOR EACH ROW EXECUTE FUNCTION {s}.touch();"
    )
    db.strategy("swap")
    db.orders()
    for _ in range(2):
        answer = db.run("--force", window=None)
        assert answer.code == 0, answer.text
    rows = db.ask("SELECT serial_id, identity_id FROM {s}.orders ORDER BY 1")
    assert [row[0] for row in rows] == [3, 4], "the sequence began anew"
    assert len({row[1] for row in rows}) == 2
    assert db.ask("SELECT conname FROM pg_constraint WHERE conrelid = '{s}.orders'::regclass AND contype = 'f'")
    assert db.ask("SELECT tgname FROM pg_trigger WHERE tgrelid = '{s}.orders'::regclass AND tgname = 'touch'")
    db.ask("INSERT INTO {s}.orders (order_id, status) VALUES (99, 'PAID')")
    assert db.ask("SELECT status, serial_id FROM {s}.orders WHERE order_id = 99") == [("paid", 5)]
    assert db.ask("SELECT indexname FROM pg_indexes WHERE schemaname = '{s}' AND tablename = 'orders'") == [
        ("orders_pkey",)
    ]


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("CREATE MATERIALIZED VIEW {s}.cube AS SELECT count(*) FROM {s}.orders", "cube"),
        (
            (
                "ALTER TABLE {s}.orders ADD PRIMARY KEY (order_id);"
                "CREATE TABLE {s}.lines (order_id bigint CONSTRAINT of_order REFERENCES {s}.orders)"
            ),
            "of_order",
        ),
        ("CREATE POLICY mine ON {s}.orders USING (true)", "mine"),
        ("CREATE RULE quiet AS ON DELETE TO {s}.orders DO INSTEAD NOTHING", "quiet"),
        ("CREATE TABLE {s}.child () INHERITS ({s}.orders)", "child"),
        ("CREATE TABLE {s}.boxes (content {s}.orders)", "boxes"),
        (
            "CREATE FUNCTION {s}.total() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM {s}.orders; END",
            "total",
        ),
    ],
)
def test_what_cannot_be_carried_over_is_named_before_anything_moves(
    db: PostgresShop, statement: str, named: str
) -> None:
    db.strategy("swap")
    db.orders()
    db.run(window=None)
    db.ask(statement)
    oid = db.ask("SELECT '{s}.orders'::regclass::oid")
    refused = db.run("--force", window=None)
    assert (refused.code, refused.json["error"]["code"]) == (3, "cannot_swap"), refused.text
    assert named in refused.json["error"]["message"]
    assert db.ask("SELECT '{s}.orders'::regclass::oid") == oid
    assert db.staged() == []


def test_a_swap_changes_the_types_of_columns(db: PostgresShop) -> None:
    db.strategy("swap", {"transform": "orders.sql"})
    db.write("pipelines/orders.sql", "SELECT order_id, amount FROM source")
    db.orders()
    db.run(window=None)
    db.write("pipelines/orders.sql", "SELECT CAST(order_id AS STRING) AS order_id, status FROM source")
    answer = db.run(window=None)
    assert answer.code == 0, answer.text
    assert db.ask("SELECT order_id, status FROM {s}.orders ORDER BY 1") == [("1", "new"), ("2", "paid")]


# Locks and readers


@pytest.mark.parametrize("strategy", ["replace_window", "merge", "refresh", "swap"])
def test_a_lock_that_does_not_come_is_transient_and_nothing_lands(db: PostgresShop, strategy: str) -> None:
    db.strategy(strategy)
    db.orders()
    db.run(window=window(strategy))
    before = db.ask("SELECT max(version) FROM {s}.samewise_commits")
    with db.server.connect() as other:
        other.autocommit = False
        # A reader for swap, which needs the table for itself for a moment; a writer for the others.
        mode = "ACCESS SHARE" if strategy == "swap" else "ROW EXCLUSIVE"
        other.execute(f"LOCK TABLE {db.schema}.orders IN {mode} MODE".encode())
        busy = db.run("--force", window=window(strategy))
        other.rollback()
    assert (busy.code, busy.json["error"]["retryable"]) == (75, True), busy.text
    assert "lock timeout" in busy.json["error"]["message"]
    assert db.ask("SELECT max(version) FROM {s}.samewise_commits") == before
    assert db.staged() == []
    assert db.run("--force", window=window(strategy)).code == 0


@pytest.mark.parametrize("strategy", ["replace_window", "marked", "merge", "refresh"])
def test_a_reader_that_began_earlier_goes_on_seeing_what_it_saw(db: PostgresShop, strategy: str) -> None:
    db.strategy(strategy)
    db.orders()
    db.run(window=window(strategy))
    with db.server.connect() as reader:
        reader.autocommit = False
        reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        reader.execute("SELECT 1")
        db.orders([(2, "9.00", "sent"), (3, "1.00", "new")])
        assert db.run(window=window(strategy)).code == 0
        seen = reader.execute(f"SELECT order_id FROM {db.schema}.orders ORDER BY 1".encode()).fetchall()
    assert seen == [(1,), (2,)]


# Names and types


def test_a_column_may_have_any_name(db: PostgresShop) -> None:
    db.strategy("merge", {"transform": "orders.sql", "write.key": ['a"b'], "write.version_by": ["per%cent"]})
    sql = 'SELECT order_id AS `a"b`, amount AS `per%cent`, status AS `{}`, order_date AS `Größe; --` FROM source'
    db.write("pipelines/orders.sql", sql)
    db.orders()
    answer = db.run()
    assert answer.code == 0, answer.text
    db.orders([(2, "9.00", "sent")])
    assert db.run().window["rows_updated"] == 1


def test_a_window_may_be_found_by_a_column_of_any_name(db: PostgresShop) -> None:
    day = 'the "%day" of {it}'
    db.pipeline({"transform": "orders.sql", "write.window_column": day})
    db.write("pipelines/orders.sql", f"SELECT order_id, order_date AS `{day}` FROM source")
    db.orders()
    assert db.run().code == 0
    db.orders([(3, "1.00", "new")])
    assert db.run().code == 0
    assert db.order_ids == [3]


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("named_struct('x', 1)", "struct"),
        ("map('x', 1)", "map"),
        ("array(array(1))", "array"),
        ("make_dt_interval(1)", "interval"),
        ("array(TIMESTAMP'2026-01-01 00:00:00')", "array<timestamp>"),
    ],
)
def test_a_type_without_an_equal_is_refused_by_name(db: PostgresShop, expression: str, named: str) -> None:
    db.pipeline({"transform": "orders.sql"})
    db.write("pipelines/orders.sql", f"SELECT *, {expression} AS odd FROM source")
    db.orders()
    refused = db.run()
    assert (refused.code, refused.json["error"]["code"]) == (3, "target_schema"), refused.text
    assert "odd" in refused.json["error"]["message"]
    assert named in refused.json["error"]["message"]
    assert not db.ask("SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = '{s}'")


def test_a_name_that_postgresql_would_cut_off_is_refused(db: PostgresShop) -> None:
    db.pipeline({"transform": "orders.sql"})
    db.write("pipelines/orders.sql", f"SELECT *, 1 AS {'x' * 64} FROM source")
    db.orders()
    refused = db.run()
    assert (refused.code, refused.json["error"]["code"]) == (3, "target_schema"), refused.text


def test_text_that_postgresql_cannot_hold_is_refused_with_its_reason(db: PostgresShop) -> None:
    db.pipeline({"transform": "orders.sql"})
    db.write("pipelines/orders.sql", "SELECT *, concat('a', char(0)) AS note FROM source")
    db.orders()
    refused = db.run()
    assert (refused.code, refused.json["error"]["code"]) == (3, "target_constraint"), refused.text
    assert "0x00" in refused.json["error"]["message"]
    assert db.staged() == []
