"""A real PostgreSQL for the tests, started from Debian's binaries and stopped afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest

_START_SECONDS = 30


class PostgresServer:
    """A server on a loopback port. Everyone may connect, and nothing in it outlives the tests."""

    def __init__(self, port: int, words: list[str], folder: Path, user: str | None) -> None:
        self.port = port
        self._words = words
        self._folder = folder
        self._user = user
        self._numbers = count(1)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, or start it again: after a crash it recovers, and unlogged tables are empty."""
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._words,
                stdout=log,
                stderr=log,
                cwd=self._folder,
                user=self._user,
                group=self._user,
                extra_groups=None if self._user is None else [],
            )
        self._wait_until_it_answers()

    def stop_now(self) -> None:
        """What `pg_ctl stop -m immediate` does: every session is cut off, and nothing is written any more."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(timeout=_START_SECONDS)
            self._process = None

    def _wait_until_it_answers(self) -> None:
        give_up_at = time.monotonic() + _START_SECONDS
        while True:
            try:
                self.connect().close()
                return
            except psycopg.OperationalError:
                gone = self._process is None or self._process.poll() is not None
                if gone or time.monotonic() > give_up_at:
                    pytest.fail(f"PostgreSQL did not start:\n{(self._folder / 'log').read_text()}")
                time.sleep(0.05)

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{database}"

    def plain_url(self, database: str) -> str:
        """As libpq reads it."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def connect(self, database: str = "postgres") -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(host="127.0.0.1", port=self.port, user="postgres", dbname=database, autocommit=True)

    def new_schema(self) -> str:
        """An empty schema."""
        name = f"test_{next(self._numbers)}"
        with self.connect() as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return name

    def new_url(self) -> str:
        """The URL of an empty schema, which is much quicker to make than a database and looks like one."""
        name = self.new_schema()
        return f"{self.url('postgres')}?options=-csearch_path%3D{name}"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for all tests."""
    binaries = _binaries()
    # Not pytest's own folder: that one belongs to root, and the server's user could not enter it.
    folder = Path(tempfile.mkdtemp(prefix="samewise-pg-"))
    # PostgreSQL refuses to run as root.
    user = "postgres" if os.geteuid() == 0 else None
    if user is not None:
        account = pwd.getpwnam(user)
        os.chown(folder, account.pw_uid, account.pw_gid)
    data = folder / "data"
    port = _free_port()
    try:
        initdb: list[str | Path] = [
            binaries / "initdb",
            "-D",
            data,
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-locale",
            "-N",
        ]
        _command(initdb, user, folder)
        words = [str(binaries / "postgres"), "-D", str(data), "-k", str(folder), "-h", "127.0.0.1"]
        for setting in (f"port={port}", *_SETTINGS):
            words += ["-c", setting]
        server = PostgresServer(port, words, folder, user)
        server.start()
        try:
            yield server
        finally:
            # The data is thrown away anyway.
            server.stop_now()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_SETTINGS = ("fsync=off", "full_page_writes=off", "max_connections=100", "shared_buffers=32MB")


def _binaries() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda file: int(file.parent.parent.name))
    on_path = shutil.which("postgres")
    if on_path is not None:
        found.append(Path(on_path))
    if not found:
        pytest.fail("these tests need PostgreSQL: apt-get install postgresql (`make test` does it as root)")
    return found[-1].resolve().parent


def _command(words: list[str | Path], user: str | None, folder: Path) -> None:
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        cwd=folder,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        check=False,
    )
    if done.returncode != 0:
        pytest.fail(f"{words[0]} failed:\n{done.stdout}{done.stderr}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
