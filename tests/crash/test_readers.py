"""A reader that looks all the time sees one whole publication after another."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from deltalake import DeltaTable

from tests.support.crash_project import DAYS, ORDERS, Order, Row, Stage, order_rows, rate_rows, rows_of


class _Reader(threading.Thread):
    """Reads a table as fast as it can and keeps each thing that it saw, once for each time it changed."""

    def __init__(self, path: str) -> None:
        super().__init__(name="reader", daemon=True)
        self._path = path
        self._stop_asked = threading.Event()
        self.seen: list[list[Row]] = []
        self.looks = 0
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            while not self._stop_asked.is_set():
                self._look()
            self._look()
        except Exception as error:
            self.failure = error

    def stop(self) -> None:
        self._stop_asked.set()
        self.join()

    def _look(self) -> None:
        found = rows_of(DeltaTable(self._path))
        self.looks += 1
        if not self.seen or self.seen[-1] != found:
            self.seen.append(found)


@contextmanager
def _reading(path: str) -> Iterator[_Reader]:
    reader = _Reader(path)
    reader.start()
    try:
        yield reader
    finally:
        reader.stop()
    assert reader.failure is None, reader.failure


def test_a_reader_of_a_refresh_sees_the_old_rows_or_the_new(stage: Stage) -> None:
    project = stage.set_back("loaded")
    published = [project.rows("rates")]
    with _reading(project.table_path("rates")) as reader:
        for number in range(1, 4):
            rates = [(f"C{place}", f"{number}.0000") for place in range(2 + number)]
            project.put_rates(rates)
            project.call("run", "rates").well()
            published.append(rate_rows(rates))
    # As it saw each of them, in order and nothing else, there was no moment of a mix or of nothing.
    assert reader.seen == published
    assert reader.looks > len(published)


def test_a_reader_of_a_replaced_window_sees_the_old_rows_or_the_new(stage: Stage) -> None:
    project = stage.set_back("loaded")
    published = [project.rows("plain")]
    with _reading(project.table_path("plain")) as reader:
        for number in range(1, 4):
            orders: list[Order] = [(200 + place, f"{number}.00", "paid") for place in range(2 + number)]
            project.put_orders(DAYS[1], orders)
            project.call("run", "plain", "--window", DAYS[1]).well()
            published.append(order_rows({DAYS[0]: ORDERS[DAYS[0]], DAYS[1]: orders}, upper=False))
    assert reader.seen == published
    assert reader.looks > len(published)
