"""Reading in plain SQL: for a SQLite file the standard library will do.

To load SQLAlchemy takes longer than everything else that `status` does. So what a command that only looks asks for
is written in SQL that both databases understand, and `Store.rows` sends it: to a SQLite file through `SqliteReader`,
to anything else through SQLAlchemy. Whatever writes uses SQLAlchemy, and the tables in `tables.py`.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from samewise.core.windows import parse_instant

NOW = "SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now') AS now"
"""SQLite's clock."""

INSTANTS = (
    "accepted_at", "acquired_at", "closed_at", "created_at", "done_at", "ended_at", "expires_at", "landed_at",
    "loaded_at", "moved_at", "planned_at", "run_ts", "span_end", "span_start", "started_at", "updated_at",
    "window_end", "window_start",
)  # fmt: skip
JSON_TEXTS = ("error", "holder", "inputs", "measures", "pins", "schema", "source", "upstream")
BOOLEANS = ("forced", "newest_first", "recovered", "staging_dropped", "wrote")
"""What the columns of these names hold, in every table; a test holds them to `tables.py`."""


class Row(Protocol):
    """A row's values by the names of its columns: plain ones, and SQLAlchemy's."""

    def __getitem__(self, name: str, /) -> Any: ...


_READ: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(INSTANTS, parse_instant),
    **dict.fromkeys(JSON_TEXTS, json.loads),
    **dict.fromkeys(BOOLEANS, bool),
}


def fixed_text(instant: datetime) -> str:
    """`2026-04-24T22:00:00.000000Z`. Raises ValueError for a datetime that is not UTC."""
    offset = instant.utcoffset()
    if offset is None or offset.total_seconds() != 0:
        raise ValueError(f"the state store keeps UTC instants, not {instant!r}")
    return instant.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def bound(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a query as the database keeps them."""
    return {name: fixed_text(value) if isinstance(value, datetime) else value for name, value in values.items()}


def read(names: Iterable[str], values: Iterable[Any]) -> Row:
    """A row as Python sees it, by the names of its columns."""
    return {
        name: value if value is None or name not in _READ else _READ[name](value)
        for name, value in zip(names, values, strict=True)
    }


def file_of(url: str) -> Path | None:
    """The SQLite file that `url` names; None where it is another database, or the URL says more than that."""
    scheme, _, file = url.partition(":///")
    is_plain = scheme in ("sqlite", "sqlite+pysqlite") and file and not set("?%").intersection(file)
    if not is_plain or file.startswith((":memory:", "file:")):
        return None
    # As SQLAlchemy finds it, which does not follow a link before a `..`.
    return Path(os.path.abspath(file))


class SqliteReader:
    """One connection to a SQLite file, opened when it is first needed. Threads take turns on it."""

    def __init__(self, file: Path, wait_seconds: float) -> None:
        self._file = file
        self._wait_seconds = wait_seconds
        self._turn = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def rows(self, sql: str, values: Mapping[str, Any]) -> list[Row]:
        """Every row that the query finds. No transaction stays open: a second call sees what has come since."""
        with self._turn:
            if self._connection is None:
                self._connection = sqlite3.connect(
                    self._file, timeout=self._wait_seconds, isolation_level=None, check_same_thread=False
                )
            cursor = self._connection.execute(sql, bound(values))
            names = [column[0] for column in cursor.description]
            return [read(names, row) for row in cursor.fetchall()]

    def close(self) -> None:
        """Close the connection. A second call does nothing; another query opens it again."""
        with self._turn:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
