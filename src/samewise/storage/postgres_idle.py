"""A session for questions that is kept between them."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from samewise.core.connections import PostgresConnection
from samewise.storage.postgres import connect

if TYPE_CHECKING:
    from samewise.storage.postgres import Session

Result = TypeVar("Result")


class IdleSession:
    """One session for questions, opened when it is needed and opened again when it was lost."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection
        self._held: list[Session] = []
        self._lock = threading.Lock()
        weakref.finalize(self, _close, self._held)

    def use(self, ask: Callable[[Session], Result]) -> Result:
        import psycopg

        with self._lock:
            fresh = not self._held or self._held[0].closed
            if fresh:
                self._held[:] = [connect(self._connection, purpose="ask")]
            try:
                return ask(self._held[0])
            except psycopg.OperationalError:
                if fresh or not self._held[0].closed:
                    raise
            # It was lost while nobody used it.
            self._held[:] = [connect(self._connection, purpose="ask")]
            return ask(self._held[0])


def _close(held: list[Session]) -> None:
    for session in held:
        with suppress(Exception):
            session.close()
