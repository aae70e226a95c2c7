"""Someone with psql looks at a view all the time while the table under it is published to."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.crash_postgres import DATABASE
from tests.support.crash_project import DAYS, ORDERS, Order, Project, Stage
from tests.support.postgres import PostgresServer

_SUMMARY = "SELECT coalesce(string_agg(line, ',' ORDER BY line), 'nothing') FROM public.seen;"
_LEVELS = {
    # Twice in one transaction, with a moment in between: what a report does.
    "repeatable read": f"BEGIN ISOLATION LEVEL REPEATABLE READ; {_SUMMARY} SELECT 'slept' FROM pg_sleep(0.03);"
    f" {_SUMMARY} COMMIT;",
    "read committed": f"BEGIN; {_SUMMARY} SELECT 'slept' FROM pg_sleep(0.001); COMMIT;",
}


class _Psql(threading.Thread):
    """A person who may read the view and nothing else, and looks as often as they can."""

    def __init__(self, port: int, level: str) -> None:
        super().__init__(name="psql", daemon=True)
        psql = shutil.which("psql")
        assert psql is not None
        words = [psql, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(port)]
        self._process = subprocess.Popen(
            [*words, "-U", "watcher", DATABASE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._level = level
        self._stop_asked = threading.Event()
        self.seen: list[str] = []
        self.looks = 0

    def run(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        while not self._stop_asked.is_set():
            if not self._look():
                return
        self._look()
        self._process.stdin.close()

    def _look(self) -> bool:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(f"{_LEVELS[self._level]}\n\\echo done\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return False
        found = []
        while (line := self._process.stdout.readline().strip()) != "done":
            if not line and self._process.poll() is not None:
                return False
            if line and line != "slept":
                found.append(line)
        assert len(set(found)) == 1, f"one transaction saw {found}"
        self.looks += 1
        if not self.seen or self.seen[-1] != found[0]:
            self.seen.append(found[0])
        return True

    def stop(self) -> str:
        self._stop_asked.set()
        self.join()
        assert self._process.stderr is not None
        complaints = self._process.stderr.read()
        self._process.wait()
        return complaints


@contextmanager
def _watching(project: Project, server: PostgresServer, table: str, level: str) -> Iterator[_Psql]:
    with server.connect() as session:
        session.execute("DROP ROLE IF EXISTS watcher")
        session.execute("CREATE ROLE watcher LOGIN")
    with server.connect(DATABASE) as session:
        columns = "currency || ':' || rate" if table in ("rates", "swapped") else "order_id || ':' || amount"
        session.execute(f"CREATE VIEW public.seen AS SELECT {columns} AS line FROM public.{table}".encode())
        session.execute("GRANT SELECT ON public.seen TO watcher")
    reader = _Psql(server.port, level)
    reader.start()
    try:
        yield reader
    finally:
        complaints = reader.stop()
        with server.connect(DATABASE) as session:
            session.execute("DROP VIEW public.seen")
    assert complaints == "", complaints
    del project


@pytest.mark.parametrize("level", _LEVELS)
def test_a_reader_of_a_refresh_sees_the_old_rows_or_the_new(
    postgres_stage: Stage, postgres_server: PostgresServer, level: str
) -> None:
    project = postgres_stage.set_back("loaded")
    published = [",".join(sorted(f"{currency}:{rate}" for currency, rate in _rates(project)))]
    with _watching(project, postgres_server, "rates", level) as reader:
        for number in range(1, 4):
            rates = [(f"C{place}", f"{number}.0000") for place in range(2 + number)]
            project.put_rates(rates)
            project.call("run", "rates").well()
            published.append(",".join(sorted(f"{currency}:{rate}" for currency, rate in rates)))
    assert reader.seen == published
    assert reader.looks > len(published)


@pytest.mark.parametrize("level", _LEVELS)
def test_a_reader_of_a_replaced_window_sees_the_old_rows_or_the_new(
    postgres_stage: Stage, postgres_server: PostgresServer, level: str
) -> None:
    project = postgres_stage.set_back("loaded")
    first = [f"{number}:{amount}" for number, amount, _ in ORDERS[DAYS[0]]]
    published = [",".join(sorted([*first, *(f"{n}:{amount}" for n, amount, _ in ORDERS[DAYS[1]])]))]
    with _watching(project, postgres_server, "plain", level) as reader:
        for number in range(1, 4):
            orders: list[Order] = [(200 + place, f"{number}.00", "paid") for place in range(2 + number)]
            project.put_orders(DAYS[1], orders)
            project.call("run", "plain", "--window", DAYS[1]).well()
            published.append(",".join(sorted([*first, *(f"{n}:{amount}" for n, amount, _ in orders)])))
    assert reader.seen == published
    assert reader.looks > len(published)


def test_a_reader_of_a_swapped_table_sees_the_old_rows_or_the_new(
    postgres_stage: Stage, postgres_server: PostgresServer
) -> None:
    project = postgres_stage.set_back("loaded")
    published = [",".join(sorted(f"{currency}:{rate}" for currency, rate in _rates(project)))]
    with _watching(project, postgres_server, "swapped", "read committed") as reader:
        for number in range(1, 4):
            rates = [(f"C{place}", f"{number}.0000") for place in range(2 + number)]
            project.put_rates(rates)
            project.call("run", "swapped").well()
            published.append(",".join(sorted(f"{currency}:{rate}" for currency, rate in rates)))
    # Each statement sees one whole table; the view is the same view throughout, with its grant.
    assert reader.seen == published


def _rates(project: Project) -> list[tuple[str, str]]:
    return [(str(row[0]), str(row[1])) for row in project.rows("rates")]
