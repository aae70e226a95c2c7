"""PostgreSQL dies, or cuts a session off, in the middle of a run: the next run ends as one clean run would."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from samewise.targets import postgres_copy, postgres_stage
from samewise.targets.postgres_book import Book
from tests.support.postgres import PostgresServer
from tests.support.postgres_shop import STRATEGIES, PostgresShop
from tests.support.project import DAY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BEFORE = [(1, "10.50", "new"), (2, "0.25", "paid")]
AFTER = [(2, "9.00", "sent"), (3, "1.00", "new")]
HOW = ["terminated", "stopped"]


@pytest.fixture
def db(tmp_path: Path, postgres_server: PostgresServer, spark: SparkSession) -> PostgresShop:
    del spark
    return PostgresShop(tmp_path, postgres_server)


def load(db: PostgresShop, strategy: str) -> list[str]:
    """A loaded table, and files that have changed since; the words of the command that is to be disturbed."""
    db.strategy(strategy, {"write.version_by": ["amount"]} if strategy == "merge" else {})
    db.orders(BEFORE)
    words = [] if strategy in ("refresh", "swap") else ["--window", DAY]
    assert db.do("run", "orders", *words, "--json").code == 0
    db.orders(AFTER)
    return words


def run(db: PostgresShop, words: list[str]) -> Any:
    return db.do("run", "orders", *words, "--json")


def contents(db: PostgresShop) -> list[Any]:
    return db.ask("SELECT order_id, amount::text, status FROM {s}.orders ORDER BY 1")


def expected(strategy: str) -> list[Any]:
    rows = {number: (number, amount, status) for number, amount, status in AFTER}
    if strategy in ("merge", "insert_new"):
        old = {number: (number, amount, status) for number, amount, status in BEFORE}
        rows = {**old, **rows} if strategy == "merge" else {**rows, **old}
    return [rows[number] for number in sorted(rows)]


def cut_off(server: PostgresServer, how: str, application: str) -> None:
    if how == "stopped":
        server.stop_now()
        server.start()
        return
    with server.connect() as session:
        found = session.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE %s", (application,)
        ).fetchall()
    assert found, f"no session called {application}"


def assert_recovers(db: PostgresShop, strategy: str, words: list[str], disturbed: Any, before: list[Any]) -> None:
    assert (disturbed.code, disturbed.json["error"]["retryable"]) == (75, True), disturbed.text
    assert contents(db) == before, "a part of the rows can be seen"
    again = run(db, words)
    assert again.code == 0, again.text
    assert contents(db) == expected(strategy)
    assert db.staged() == []
    assert run(db, words).json["status"] == "unchanged"


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "marked"])
def test_cut_off_in_the_middle_of_the_copy(
    db: PostgresShop, strategy: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = load(db, strategy)
    before = contents(db)
    copying, go_on = str(tmp_path / "copying"), str(tmp_path / "go on")

    def reached(point: str) -> None:
        import os
        import time

        if point != "copying" or os.path.exists(go_on):
            return
        with open(copying, "w"):
            pass
        for _ in range(1500):
            if os.path.exists(go_on):
                return
            time.sleep(0.02)

    monkeypatch.setattr(postgres_copy, "_reached", reached)

    def cut_off_then() -> None:
        try:
            await_file(Path(copying))
            cut_off(db.server, how, "samewise stage %")
        finally:
            Path(go_on).touch()

    # The command itself runs here: it wants the main thread, for signals.
    elsewhere = threading.Thread(target=cut_off_then)
    elsewhere.start()
    disturbed = run(db, words)
    elsewhere.join()
    assert_recovers(db, strategy, words, disturbed, before)


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "marked"])
def test_a_crash_that_empties_what_was_staged_is_found_before_anything_is_published(
    db: PostgresShop, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = load(db, strategy)
    before = contents(db)
    after(monkeypatch, postgres_stage, "fill", lambda: cut_off(db.server, "stopped", ""))
    disturbed = run(db, words)
    assert "not all there any more" in disturbed.json["error"]["message"]
    assert_recovers(db, strategy, words, disturbed, before)


@pytest.mark.parametrize("statement", ["TRUNCATE", "DELETE FROM"])
def test_staged_rows_that_someone_takes_away_are_missed(
    db: PostgresShop, statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = load(db, "replace_window")
    before = contents(db)
    after(monkeypatch, postgres_stage, "fill", lambda: db.ask(f"{statement} {{s}}.{db.staged()[0]}"))
    assert_recovers(db, "replace_window", words, run(db, words), before)


def test_staged_rows_that_someone_adds_are_not_published(db: PostgresShop, monkeypatch: pytest.MonkeyPatch) -> None:
    words = load(db, "replace_window")
    doubled = (
        "INSERT INTO {{s}}.{0} (order_id, order_date, _samewise_tag) SELECT order_id, order_date, -1 FROM {{s}}.{0}"
    )
    after(monkeypatch, postgres_stage, "fill", lambda: db.ask(doubled.format(db.staged()[0])))
    assert run(db, words).code == 0
    assert contents(db) == expected("replace_window")


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "marked"])
def test_a_copy_that_ends_when_everything_was_checked_is_not_published(
    db: PostgresShop, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = load(db, strategy)
    # A task that nobody waits for any more, and that Spark could not stop in time.
    late = (
        "INSERT INTO {{s}}.{0} (order_id, order_date, _samewise_hash, _samewise_tag)"
        " SELECT order_id + n, order_date, 0, -1 FROM {{s}}.{0}, generate_series(0, 5) AS n"
    )
    after(monkeypatch, postgres_stage, "check", lambda: db.ask(late.format(db.staged()[0])))
    assert run(db, words).code == 0
    assert contents(db) == expected(strategy)


def test_staged_rows_that_someone_changes_are_noticed(db: PostgresShop, monkeypatch: pytest.MonkeyPatch) -> None:
    words = load(db, "replace_window")
    before = contents(db)
    change = "UPDATE {{s}}.{0} SET _samewise_hash = _samewise_hash + 1 WHERE order_id = 2"
    after(monkeypatch, postgres_stage, "fill", lambda: db.ask(change.format(db.staged()[0])))
    assert_recovers(db, "replace_window", words, run(db, words), before)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "marked"])
def test_cut_off_in_the_middle_of_the_publishing_transaction(
    db: PostgresShop, strategy: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = load(db, strategy)
    before = contents(db)
    after(monkeypatch, Book, "record", lambda: cut_off(db.server, how, "samewise publish %"))
    assert_recovers(db, strategy, words, run(db, words), before)


@pytest.mark.parametrize("strategy", ["replace_window", "merge", "swap"])
def test_a_lost_answer_to_a_commit_is_asked_for_again(
    db: PostgresShop, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = load(db, strategy)
    committed = int(str(db.ask("SELECT count(*) FROM {s}.samewise_commits WHERE changes_data")[0][0]))
    real = psycopg.Connection.commit

    def lose_the_answer(session: Any) -> None:
        real(session)
        if session.info.get_parameters().get("application_name", "").startswith("samewise publish"):
            monkeypatch.setattr(psycopg.Connection, "commit", real)
            session.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(psycopg.Connection, "commit", lose_the_answer)
    answer = run(db, words)
    assert answer.code == 0, answer.text
    assert contents(db) == expected(strategy)
    assert db.ask("SELECT count(*) FROM {s}.samewise_commits WHERE changes_data") == [(committed + 1,)]


@pytest.mark.parametrize("strategy", ["replace_window", "insert_new"])
def test_a_commit_whose_server_does_not_answer_may_have_landed_and_is_asked_for_by_the_next_run(
    db: PostgresShop, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = load(db, strategy)
    real = psycopg.Connection.commit

    def die_after(session: Any) -> None:
        real(session)
        if session.info.get_parameters().get("application_name", "").startswith("samewise publish"):
            monkeypatch.setattr(psycopg.Connection, "commit", real)
            db.server.stop_now()
            raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(psycopg.Connection, "commit", die_after)
    lost = run(db, words)
    assert (lost.code, lost.json["error"]["code"]) == (75, "may_have_landed"), lost.text
    db.server.start()
    landed = db.ask("SELECT max(version) FROM {s}.samewise_commits")
    again = run(db, words)
    assert (again.code, again.json["status"]) == (0, "succeeded"), again.text
    assert contents(db) == expected(strategy)
    assert db.ask("SELECT max(version) FROM {s}.samewise_commits") == landed, "it was published a second time"
    assert db.staged() == []


def test_a_server_that_comes_back_in_time_is_used_by_the_next_attempt(
    db: PostgresShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = load(db, "replace_window")
    db.strategy("replace_window", {"retries": {"attempts": 3, "backoff": "100ms"}})
    after(monkeypatch, Book, "record", lambda: cut_off(db.server, "stopped", ""))
    answer = run(db, words)
    assert (answer.code, answer.window["attempt"]) == (0, 2), answer.text
    assert contents(db) == expected("replace_window")


def test_a_server_that_is_not_there_is_transient_and_says_where(db: PostgresShop) -> None:
    words = load(db, "replace_window")
    db.server.stop_now()
    try:
        answer = run(db, words)
    finally:
        db.server.start()
    assert (answer.code, answer.json["error"]["code"]) == (75, "transient"), answer.text
    assert f"127.0.0.1:{db.server.port}/postgres" in answer.json["error"]["message"]


def after(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, then: Callable[[], object]) -> None:
    """Let `then` happen after the next call of a function, once."""
    real = getattr(owner, name)

    def wrapped(*arguments: Any, **named: Any) -> Any:
        result = real(*arguments, **named)
        monkeypatch.setattr(owner, name, real)
        then()
        return result

    monkeypatch.setattr(owner, name, wrapped)


def await_file(file: Path) -> None:
    give_up_at = time.monotonic() + 30
    while not file.exists():
        assert time.monotonic() < give_up_at, f"{file} never came"
        time.sleep(0.02)
