"""What only a SQLite store can meet: files that are no databases, locks, full disks."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Boolean, Table

from samewise.core.errors import ConfigError, OutOfSpace, Transient
from samewise.state import engine, plain, watermarks
from samewise.state.failures import translate, translated
from samewise.state.migrate import statements
from samewise.state.store import Store
from samewise.state.tables import Instant, JsonText, metadata


def url(file: Path) -> str:
    return f"sqlite:///{file}"


@pytest.mark.parametrize("opens", [Store.open, Store.exists])
def test_a_file_that_is_not_a_database_is_named(tmp_path: Path, opens: object) -> None:
    file = tmp_path / "state.db"
    file.write_text("order_id,amount\n" * 100)
    with pytest.raises(ConfigError, match=r"state\.db: file is not a database") as caught:
        opens(url(file))  # type: ignore[operator]
    assert "samewise recover" in (caught.value.next_step or "")


def test_a_file_that_is_not_a_database_is_left_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    file.write_text("precious")
    with pytest.raises(ConfigError):
        Store.open(url(file))
    assert [entry.name for entry in tmp_path.iterdir()] == ["state.db"]
    assert file.read_text() == "precious"


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "state.db").touch()
    assert not Store.exists(url(tmp_path / "state.db"))
    Store.open(url(tmp_path / "state.db")).close()


def test_a_folder_in_place_of_the_file_is_a_wrong_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be used"):
        Store.open(url(tmp_path))


def test_a_file_in_place_of_the_folder_is_a_wrong_setting(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="folder of the state store"):
        Store.open(url(tmp_path / "file" / "state.db"))


@pytest.mark.parametrize(
    ("setting", "expected"),
    [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1), ("busy_timeout", 15_000)],
)
def test_a_connection_is_set_up_for_safety(tmp_path: Path, setting: str, expected: object) -> None:
    with Store.open(url(tmp_path / "state.db")) as store, store.reading() as connection:
        assert connection.exec_driver_sql(f"PRAGMA {setting}").scalar() == expected


def test_a_write_takes_the_lock_before_it_reads(tmp_path: Path) -> None:
    with Store.open(url(tmp_path / "state.db")) as store, store.transaction():
        other = sqlite3.connect(tmp_path / "state.db", timeout=0)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        other.close()


def test_a_new_store_waits_for_whoever_is_making_it(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "state.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.2, other.close)
    release.start()
    Store.open(url(tmp_path / "state.db")).close()
    release.join()


def test_a_reader_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    with Store.open(url(tmp_path / "state.db")) as store, store.transaction():
        assert store.now() is not None


def test_a_lock_that_is_never_given_free_is_transient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "LOCK_WAIT_SECONDS", 0.1)
    with Store.open(url(tmp_path / "state.db")) as store:
        other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Transient, match="database is locked"), store.transaction():
            pass
        other.close()


def test_a_full_disk_is_out_of_space(tmp_path: Path) -> None:
    def fill(store: Store) -> None:
        with store.transaction() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count = 1")
            connection.exec_driver_sql("CREATE TABLE big AS SELECT randomblob(100000000)")

    with Store.open(url(tmp_path / "state.db")) as store, pytest.raises(OutOfSpace):
        fill(store)


def test_a_database_that_may_not_be_written_is_a_wrong_setting(tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    Store.open(url(file)).close()
    with pytest.raises(ConfigError, match="readonly"), translated(str(file)):
        sqlite3.connect(f"file:{file}?mode=ro", uri=True).execute("DELETE FROM samewise_runs")


def test_an_error_that_only_a_bug_can_cause_is_not_translated() -> None:
    with pytest.raises(sqlite3.IntegrityError) as caught:
        sqlite3.connect(":memory:").execute("CREATE TABLE t (a NOT NULL)").execute("INSERT INTO t VALUES (NULL)")
    assert translate(caught.value, "state.db") is None


@pytest.mark.parametrize(
    "bad",
    ["sqlite://", "sqlite:///:memory:", "mysql://host/db", "no url at all", "postgresql+psycopg2://h/d"],
)
def test_a_url_that_cannot_hold_a_state_store_is_refused(bad: str) -> None:
    with pytest.raises(ConfigError):
        Store.open(bad)


@pytest.mark.parametrize("short", ["postgresql://h/d", "postgres://h/d"])
def test_a_short_postgresql_url_gets_its_driver(short: str) -> None:
    assert engine.read_url(short).drivername == "postgresql+psycopg"


def test_a_migration_is_split_into_its_statements() -> None:
    script = "-- a; b;\nCREATE TABLE a (\n  b TEXT\n);\n\n-- c\nINSERT INTO a VALUES (';x');\n"
    assert statements(script) == ["CREATE TABLE a (\n  b TEXT\n)", "INSERT INTO a VALUES (';x')"]


def test_opening_a_store_needs_neither_spark_nor_the_orm(tmp_path: Path) -> None:
    Store.open(url(tmp_path / "state.db")).close()
    script = (
        "import sys\nfrom samewise.state.store import Store\nStore.open(sys.argv[1])\n"
        "print([m for m in ('pyspark', 'sqlalchemy.orm', 'psycopg', 'samewise.spec') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, url(tmp_path / "state.db")],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_looking_at_a_store_does_without_sqlalchemy(tmp_path: Path) -> None:
    Store.open(url(tmp_path / "state.db")).close()
    script = (
        "import sys\nfrom samewise.state import contracts, files, receipts, runs, watermarks\n"
        "from samewise.state.store import Store\n"
        "with Store.open(sys.argv[1]) as store:\n"
        "    print(runs.history(store, 'orders'), store.now().tzinfo, 'sqlalchemy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, url(tmp_path / "state.db")],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[] UTC False\n"


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=lambda table: table.name)
def test_a_plain_query_reads_every_column_as_sqlalchemy_does(table: Table) -> None:
    kinds = {Instant: plain.INSTANTS, JsonText: plain.JSON_TEXTS, Boolean: plain.BOOLEANS}
    for column in table.columns:
        known = [names for kind, names in kinds.items() if isinstance(column.type, kind)]
        assert [names for names in kinds.values() if column.name in names] == known, column.name


@pytest.mark.parametrize("written", ["state.db", "sta%74e.db", "state.db?timeout=3", "../here/state.db"])
def test_both_ways_to_a_file_lead_to_the_same_one(tmp_path: Path, written: str) -> None:
    (tmp_path / "here").mkdir()
    with Store.open(f"sqlite:///{tmp_path}/here/{written}") as store, store.transaction() as connection:
        watermarks.move(connection, "orders", "load", datetime(2026, 4, 25, tzinfo=UTC), run_id=None, reason="test")
    assert (tmp_path / "here" / "state.db").exists()
    with Store.open(f"sqlite:///{tmp_path}/here/{written}", create=False) as store:
        assert watermarks.current(store, "orders", "load") == datetime(2026, 4, 25, tzinfo=UTC)


def test_a_store_that_was_closed_can_be_read_again(tmp_path: Path) -> None:
    store = Store.open(url(tmp_path / "state.db"))
    store.close()
    store.close()
    assert watermarks.current(store, "orders", "load") is None
    store.close()


def test_threads_may_look_side_by_side(tmp_path: Path) -> None:
    with Store.open(url(tmp_path / "state.db")) as store, ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: watermarks.current(store, "orders", "load"), range(200))) == [None] * 200


def test_finding_that_there_is_no_store_does_without_sqlalchemy(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom samewise.state.store import Store\n"
        "print(Store.find(sys.argv[1]), 'sqlalchemy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, url(tmp_path / "state.db")],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "None False\n"
    assert list(tmp_path.iterdir()) == []
