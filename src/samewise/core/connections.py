"""A database as a project names it: enough to reach it, and a name for it that holds no secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import parse_qsl, unquote, urlsplit

_DEFAULT_PORT = "5432"


@dataclass(frozen=True, slots=True)
class PostgresConnection:
    """How to reach a PostgreSQL database. What is not said here libpq takes from its environment and service file."""

    name: str
    url: str | None = field(default=None, repr=False)
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Parameters of libpq by their own names; they win over the URL's."""
    schema: str = "public"
    """Where a table lies that is named without a schema. Never the search path: that differs from user to user."""
    bookkeeping: str = "public"
    """The schema of Samewise's own tables."""
    lock_timeout: timedelta = timedelta(seconds=30)
    environ: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """Only to know which database is meant; libpq reads its own."""

    @property
    def place(self) -> str:
        """`host:port/database`, without user and password: the same for everyone who means this database."""
        told = {**_parts(self.url), **self.options}
        if "service" in told:
            return f"service {told['service']}"
        if not told.keys() & {"host", "hostaddr", "dbname"} and "PGSERVICE" in self.environ:
            return f"service {self.environ['PGSERVICE']}"
        host = told.get("host") or told.get("hostaddr") or self.environ.get("PGHOST") or "localhost"
        port = told.get("port") or self.environ.get("PGPORT") or _DEFAULT_PORT
        user = told.get("user") or self.environ.get("PGUSER") or ""
        database = told.get("dbname") or self.environ.get("PGDATABASE") or user
        return f"{host}:{port}/{database}" if port != _DEFAULT_PORT else f"{host}/{database}"

    @property
    def password(self) -> str | None:
        """The password, where it is written down here, so that it can be kept out of every text."""
        return self.options.get("password") or _parts(self.url).get("password")


def _parts(url: str | None) -> dict[str, str]:
    """The parameters in a URL, by libpq's names. Several hosts stay one text."""
    if url is None:
        return {}
    split = urlsplit(url)
    login, _, address = split.netloc.rpartition("@")
    user, _, password = login.partition(":")
    hosts = [_host_and_port(one) for one in address.split(",")]
    found = {
        "user": unquote(user),
        "password": unquote(password),
        "host": ",".join(host for host, _ in hosts),
        "port": ",".join(port for _, port in hosts if port),
        "dbname": unquote(split.path.lstrip("/")),
        **dict(parse_qsl(split.query)),
    }
    return {name: value for name, value in found.items() if value}


def _host_and_port(address: str) -> tuple[str, str]:
    host, colon, port = address.rpartition(":")
    if not colon or address.endswith("]"):
        return unquote(address), ""
    return unquote(host), port
