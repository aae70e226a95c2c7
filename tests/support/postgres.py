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
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest

_START_SECONDS = 30
_SETTINGS = (
    *("fsync=off", "full_page_writes=off", "max_connections=100", "shared_buffers=32MB", "ssl=on"),
    "max_prepared_transactions=8",
)

GUARDED = "guarded"
"""The one role that needs a password."""
PASSWORD = "geheim/&'%+ wort"
"""With everything in it that a URL, a shell and a service file may take for something else."""


class PostgresServer:
    """A server on a loopback port. Everyone but `GUARDED` may connect, and nothing in it outlives the tests."""

    def __init__(self, folder: Path, binaries: Path, user: str | None) -> None:
        self.port = _free_port()
        self._folder = folder
        self._binaries = binaries
        self._user = user
        self._numbers = count(1)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def certificate(self) -> Path:
        """What a client trusts that checks who the server is."""
        return self._folder / "server.crt"

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{database}"

    def plain_url(self, database: str) -> str:
        """As libpq reads it."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def connect(self, database: str = "postgres") -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(host="127.0.0.1", port=self.port, user="postgres", dbname=database, autocommit=True)

    def new_schema(self) -> str:
        """An empty schema, which is much quicker to make than a database and looks like one."""
        name = f"test_{next(self._numbers)}"
        with self.connect() as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return name

    def new_database(self) -> str:
        """An empty database."""
        name = f"base_{next(self._numbers)}"
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return name

    def environment(self, database: str) -> dict[str, str]:
        """What tells libpq where it is."""
        return {"PGHOST": "127.0.0.1", "PGPORT": str(self.port), "PGUSER": "postgres", "PGDATABASE": database}

    def new_url(self) -> str:
        """The URL of an empty schema."""
        return f"{self.url('postgres')}?options=-csearch_path%3D{self.new_schema()}"

    def start(self) -> None:
        """Start, and wait until it answers."""
        words = [str(self._binaries / "postgres"), "-D", str(self._data), "-k", str(self._folder), "-h", "127.0.0.1"]
        for setting in (f"port={self.port}", *_SETTINGS):
            words += ["-c", setting]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                words,
                stdout=log,
                stderr=log,
                cwd=self._folder,
                user=self._user,
                group=self._user,
                extra_groups=None if self._user is None else [],
            )
        self._wait_until_it_answers(self._process)

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """SIGQUIT is the immediate shutdown, as after a power cut; SIGINT the fast one, which cuts every client."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(timeout=_START_SECONDS)
            self._process = None

    def stop_now(self) -> None:
        """What `pg_ctl stop -m immediate` does: every session is cut off, and nothing is written any more."""
        self.stop(signal.SIGQUIT)

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def prepare(self) -> None:
        """Make the database's files."""
        self._command([self._binaries / "initdb", "-D", self._data, *_INITDB])
        key, certificate = self._data / "server.key", self._data / "server.crt"
        self._command(["openssl", *_CERTIFICATE, "-keyout", key, "-out", certificate])
        shutil.copy(certificate, self.certificate)
        self.certificate.chmod(0o644)
        rules = self._data / "pg_hba.conf"
        rules.write_text(f"host all {GUARDED} all scram-sha-256\n" + rules.read_text())

    def follow(self, primary: PostgresServer) -> None:
        """Make the files of a standby of `primary`, which must be running."""
        place = ("-h", "127.0.0.1", "-p", str(primary.port), "-U", "postgres")
        self._command([self._binaries / "pg_basebackup", *place, "-D", self._data, "-R", "-X", "stream", "-c", "fast"])

    def make_guarded(self) -> None:
        """Make the role that needs a password."""
        with self.connect() as connection:
            secret = PASSWORD.replace("'", "''")
            connection.execute(f"CREATE ROLE {GUARDED} LOGIN PASSWORD '{secret}'")
            connection.execute(f"GRANT CREATE ON DATABASE postgres TO {GUARDED}")

    def _command(self, words: list[str | Path]) -> None:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            cwd=self._folder,
            user=self._user,
            group=self._user,
            extra_groups=None if self._user is None else [],
            check=False,
        )
        if done.returncode != 0:
            pytest.fail(f"{words[0]} failed:\n{done.stdout}{done.stderr}")

    def _wait_until_it_answers(self, process: subprocess.Popen[bytes]) -> None:
        give_up_at = time.monotonic() + _START_SECONDS
        while True:
            try:
                self.connect().close()
                return
            except psycopg.OperationalError:
                if process.poll() is not None or time.monotonic() > give_up_at:
                    pytest.fail(f"PostgreSQL did not start:\n{(self._folder / 'log').read_text()}")
                time.sleep(0.05)


_INITDB = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "-N")
_CERTIFICATE = (
    *("req", "-new", "-x509", "-days", "2", "-nodes", "-subj", "/CN=localhost"),
    *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
)


@contextmanager
def _new_server() -> Iterator[PostgresServer]:
    """A server that has no files yet."""
    binaries = _binaries()
    # Not pytest's own folder: that one belongs to root, and the server's user could not enter it.
    folder = Path(tempfile.mkdtemp(prefix="samewise-pg-"))
    # For the certificate, which a client of another user must be able to read.
    folder.chmod(0o755)
    # PostgreSQL refuses to run as root.
    user = "postgres" if os.geteuid() == 0 else None
    if user is not None:
        account = pwd.getpwnam(user)
        os.chown(folder, account.pw_uid, account.pw_gid)
    server = PostgresServer(folder, binaries, user)
    try:
        yield server
    finally:
        # The immediate shutdown: the data is thrown away anyway.
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """A server that a test may stop and start as it likes."""
    with _new_server() as server:
        server.prepare()
        server.start()
        server.make_guarded()
        yield server


@contextmanager
def running_standby(primary: PostgresServer) -> Iterator[PostgresServer]:
    """A hot standby of `primary`."""
    with _new_server() as server:
        server.follow(primary)
        server.start()
        yield server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for all tests that leave it running."""
    with running_server() as server:
        yield server


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """One that the tests of a module may stop; it runs again for the next test."""
    with running_server() as server:
        yield server


def _binaries() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda file: int(file.parent.parent.name))
    on_path = shutil.which("postgres")
    if on_path is not None:
        found.append(Path(on_path))
    if not found:
        pytest.fail("these tests need PostgreSQL: apt-get install postgresql (`make test` does it as root)")
    return found[-1].resolve().parent


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
