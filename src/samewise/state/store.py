"""The state store: where it is, whose it is, what time it is there, and its transactions."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from samewise.core.errors import ConfigError
from samewise.core.windows import parse_instant
from samewise.state import engine as engines
from samewise.state import migrate, plain
from samewise.state.failures import StoreAway, translated

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

RIDE_OUT_SECONDS = 60.0
"""How long a run that is under way waits for a server that restarts, or for its standby to take over."""
_PAUSE_SECONDS = 0.25
_NO_STATE = "no_state"

P = ParamSpec("P")
R = TypeVar("R")


def rides_out(function: Callable[Concatenate[Store, P], R]) -> Callable[Concatenate[Store, P], R]:
    """For a read, or a write that can be repeated: one whose connection is lost half-way is made again."""

    @wraps(function)
    def patient(store: Store, /, *args: P.args, **kwargs: P.kwargs) -> R:
        give_up_at = time.monotonic() + RIDE_OUT_SECONDS
        while True:
            try:
                return function(store, *args, **kwargs)
            except StoreAway:
                if store.gave_up or time.monotonic() >= give_up_at:
                    raise
                time.sleep(_PAUSE_SECONDS)

    return patient


class Store:
    """An open state store. Threads may share it; each transaction has a connection of its own."""

    def __init__(self, url: str, *, place: str, store_id: str, engine: Engine | None = None) -> None:
        self._url = url
        self._made_engine = engine
        self._making = threading.Lock()
        file = plain.file_of(url)
        self._reader = None if file is None else plain.SqliteReader(file, engines.LOCK_WAIT_SECONDS)
        self.place = place
        """The store's name to a user; no password in it."""
        self.store_id = store_id
        """Random, made with the store: the identity that targets remember."""
        self.gave_up = False
        """True once the server was waited for in vain, until it answers again: nobody waits a second time."""

    @classmethod
    def open(cls, url: str, *, create: bool = True) -> Store:
        """Open the store at `url`, migrated to this version; with `create`, made if it is not there.

        A second call, also from another process at the same time, opens the same store. Raises
        `ConfigError` for a place that cannot hold one, `Transient` where it cannot be reached now.
        """
        as_it_is = cls._open_as_it_is(url, create=create)
        if as_it_is is not None:
            return as_it_is
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
        return cls(url, place=place, store_id=found.store_id, engine=engine)

    @classmethod
    def _open_as_it_is(cls, url: str, *, create: bool) -> Store | None:
        """The store in a SQLite file that needs no migration, opened without SQLAlchemy; None for any other."""
        file = plain.file_of(url)
        if file is None:
            return None
        # The name as it is written, as SQLAlchemy would say it.
        place = url.partition(":///")[2]
        if not file.exists():
            if create:
                return None
            raise _absent(place)
        engines.refuse_network_file_system(file)
        store = cls(url, place=place, store_id="")
        try:
            found = migrate.meta_of(store.rows(migrate.READ_META))
        except sqlite3.OperationalError:
            # There is no such table. Anything else has been translated, and is told here as it would be later.
            found = None
        except BaseException:
            store.close()
            raise
        if found is None or found.level != migrate.newest_level():
            store.close()
            return None
        store.store_id = found.store_id
        return store

    @classmethod
    def find(cls, url: str) -> Store | None:
        """The store at `url`, opened; None, and nothing is made, where there is none."""
        try:
            return cls.open(url, create=False)
        except ConfigError as error:
            if error.code != _NO_STATE:
                raise
            return None

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

    @rides_out
    def now(self) -> datetime:
        """The store's own clock, in UTC."""
        if self._reader is not None:
            now: datetime = parse_instant(self.rows(plain.NOW)[0]["now"])
            return now
        with self.reading() as connection:
            return engines.now(connection)

    def rows(self, sql: str, **values: Any) -> list[plain.Row]:
        """Every row that a query finds, written in SQL that both databases understand, with `:name` for a value.

        Needs no SQLAlchemy for a SQLite file. Raises as `reading` does.
        """
        if self._reader is not None:
            with translated(self.place):
                return self._reader.rows(sql, values)
        from sqlalchemy import text

        with self.reading() as connection:
            found = connection.execute(text(sql), plain.bound(values))
            names = list(found.keys())
            return [plain.read(names, row) for row in found]

    @contextmanager
    def transaction(self, *, patient: bool = True) -> Iterator[Connection]:
        """A transaction that writes: all of it or, if anything raises inside, nothing.

        A server that is away when it begins is waited for, unless told otherwise. Raises `StoreAway` for a
        connection that is lost inside, `OutOfSpace` for a full disk. After one that was lost during the commit
        itself the write may be there; every write of this package can be repeated.
        """
        with translated(self.place), self._connected(patient, begins=True) as connection:
            yield connection
            # Whatever raises before this line ends with the connection's close, which rolls back.
            connection.commit()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads; it never waits for a writer on SQLite."""
        with translated(self.place), self._connected(True, begins=False) as connection:
            yield connection

    def _connected(self, patient: bool, *, begins: bool) -> Connection:
        give_up_at = time.monotonic() + RIDE_OUT_SECONDS
        waited = False
        while True:
            try:
                with translated(self.place):
                    connection = self._connect(begins)
            except StoreAway as error:
                if not patient or self.gave_up or time.monotonic() >= give_up_at:
                    self.gave_up = self.gave_up or patient
                    raise
                if not waited:
                    logging.getLogger("samewise").warning("waiting for the state store: %s", error.message)
                waited = True
                time.sleep(_PAUSE_SECONDS)
            else:
                self.gave_up = False
                return connection

    @property
    def _engine(self) -> Engine:
        """Made when it is first needed: a command that only looks at a SQLite file does without."""
        with self._making:
            if self._made_engine is None:
                self._made_engine = engines.connect(engines.read_url(self._url))
            return self._made_engine

    def _connect(self, begins: bool) -> Connection:
        connection = self._engine.connect()
        if not begins:
            return connection
        try:
            connection = connection.execution_options(**{engines.WRITES: True})
            connection.begin()
        except BaseException:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        """Close every connection. A second call does nothing."""
        if self._reader is not None:
            self._reader.close()
        if self._made_engine is not None:
            self._made_engine.dispose()

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
        code=_NO_STATE,
    )
