"""The state store: where it is, whose it is, what time it is there, and its transactions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from types import TracebackType

from sqlalchemy import Connection, Engine

from samewise.core.errors import ConfigError
from samewise.state import engine as engines
from samewise.state import migrate
from samewise.state.failures import translated


class Store:
    """An open state store. Threads may share it; each transaction has a connection of its own."""

    def __init__(self, engine: Engine, *, place: str, store_id: str) -> None:
        self._engine = engine
        self.place = place
        """The store's name to a user; no password in it."""
        self.store_id = store_id
        """Random, made with the store: the identity that targets remember."""

    @classmethod
    def open(cls, url: str, *, create: bool = True) -> Store:
        """Open the store at `url`, migrated to this version; with `create`, made if it is not there.

        A second call, also from another process at the same time, opens the same store. Raises
        `ConfigError` for a place that cannot hold one, `Transient` where it cannot be reached now.
        """
        parsed = engines.read_url(url)
        place = engines.place_of(parsed)
        file = engines.sqlite_file(parsed)
        if file is not None:
            if not create and not file.exists():
                raise _absent(place)
            engines.prepare_folder(file)
        engine = engines.connect(parsed)
        try:
            with translated(place):
                found = migrate.read_meta(engine)
                migrate.refuse_newer(found, place)
                if found is None and not create:
                    raise _absent(place)
                if found is None or found.level < migrate.newest_level():
                    found = migrate.upgrade(engine, place)
        except BaseException:
            engine.dispose()
            raise
        return cls(engine, place=place, store_id=found.store_id)

    @staticmethod
    def exists(url: str) -> bool:
        """Whether there is a state store at `url`. Makes nothing."""
        parsed = engines.read_url(url)
        file = engines.sqlite_file(parsed)
        if file is not None and not file.exists():
            return False
        engine = engines.connect(parsed)
        try:
            with translated(engines.place_of(parsed)):
                return migrate.read_meta(engine) is not None
        finally:
            engine.dispose()

    def now(self) -> datetime:
        """The store's own clock, in UTC."""
        with self.reading() as connection:
            return engines.now(connection)

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A transaction that writes: all of it or, if anything raises inside, nothing.

        Raises `Transient` for a lost connection, `OutOfSpace` for a full disk. After a connection
        that was lost during the commit itself the write may be there; every write of this package
        can be repeated.
        """
        with (
            translated(self.place),
            self._engine.connect().execution_options(**{engines.WRITES: True}) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads; it never waits for a writer on SQLite."""
        with translated(self.place), self._engine.connect() as connection:
            yield connection

    def close(self) -> None:
        """Close every connection. A second call does nothing."""
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _absent(place: str) -> ConfigError:
    return ConfigError(
        f"there is no state store at {place}: nothing has run yet",
        kept="nothing was run",
        next_step="`samewise run PIPELINE`, or `samewise recover` if the store was lost",
        code="no_state",
    )
