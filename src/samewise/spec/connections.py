"""`connections:` of a project, and how a table of one of them is named."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field, model_validator

from samewise.core.connections import PostgresConnection
from samewise.core.errors import ConfigError
from samewise.spec.fields import Model, Name, OptionValues, Part, Text, all_wrong, one_of, wrong
from samewise.spec.templates import is_template
from samewise.spec.times import Duration
from samewise.spec.words import closest, listed, shown, unknown

# What libpq takes (PostgreSQL 18), less what Samewise sets itself.
LIBPQ_OPTIONS = """
host hostaddr port dbname user password passfile require_auth channel_binding connect_timeout client_encoding
options keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout gssencmode sslmode
sslnegotiation sslcompression sslcert sslkey sslkeylogfile sslpassword sslcertmode sslrootcert sslcrl sslcrldir
sslsni requirepeer ssl_min_protocol_version ssl_max_protocol_version min_protocol_version max_protocol_version
krbsrvname gsslib gssdelegation scram_client_key scram_server_key target_session_attrs load_balance_hosts
""".split()  # noqa: SIM905
_OWN = ("application_name", "fallback_application_name", "replication", "service")
_PLAIN_PAIR = re.compile(r"([A-Za-z_]\w*)\.([A-Za-z_]\w*)")
_SCHEMES = ("postgresql://", "postgres://")


class ConnectionSpec(Model):
    """A PostgreSQL database: by URL, by a service of libpq's service file, or by nothing but the environment."""

    type: Annotated[Literal["postgres"], one_of("connection", "postgres")]
    url: Text | None = Field(default=None, repr=False)
    service: Text | None = None
    options: OptionValues = Field(default_factory=dict, repr=False)
    """Parameters of libpq by their own names: sslmode, sslrootcert, connect_timeout, …"""
    schema_name: Text = Field(default="public", alias="schema")
    """Where a table lies that is named without a schema."""
    bookkeeping: Text | None = None
    """The schema of Samewise's own tables; that of the tables without it."""
    lock_timeout: Duration = timedelta(seconds=30)

    @model_validator(mode="after")
    def _is_clear(self) -> ConnectionSpec:
        parts: list[Part] = []
        if self.url is not None and self.service is not None:
            parts.append((("service",), "excludes 'url': name one of the two"))
        if self.url is not None and not is_template(self.url) and not self.url.startswith(_SCHEMES):
            parts.append((("url",), url_problem()))
        for option in self.options:
            if option in _OWN:
                parts.append((("options", option), "belongs to Samewise or to a key of its own: drop it"))
            elif option not in LIBPQ_OPTIONS:
                meant = closest(option, LIBPQ_OPTIONS)
                hint = f", did you mean '{meant}'?" if meant else ""
                parts.append((("options", option), f"libpq has no parameter of this name{hint}"))
        if parts:
            raise all_wrong(parts)
        return self


def url_problem() -> str:
    """Without the text itself: it may hold a password."""
    return "must be a postgresql:// URL"


class PostgresRef(Model):
    """A table of a PostgreSQL database. Names are taken as they are written: `Orders` is not `orders`."""

    connection: Name | None = None
    """May be left out where the project has just one."""
    schema_name: Text | None = Field(default=None, alias="schema")
    table: Text

    @model_validator(mode="after")
    def _names_are_short(self) -> PostgresRef:
        for key, name in (("schema", self.schema_name), ("table", self.table)):
            if name is not None and not is_template(name) and len(name.encode()) > 63:
                raise wrong("is longer than 63 bytes, and PostgreSQL would cut it off", at=key)
        return self

    def names(self, default_schema: str) -> tuple[str, str]:
        """Schema and table. Two plain names with a dot between them are both; anything else is a table's name."""
        pair = _PLAIN_PAIR.fullmatch(self.table) if self.schema_name is None else None
        if pair is not None:
            return pair[1], pair[2]
        return self.schema_name or default_schema, self.table


def connection_problem(connections: Mapping[str, ConnectionSpec], name: str | None) -> str | None:
    """Why `connection: NAME` names none; None where it does."""
    if not connections:
        return "there are no connections: name one under connections: in samewise.yaml"
    if name is None and len(connections) > 1:
        return f"say which one: there are {listed(connections)}"
    if name is not None and name not in connections:
        return unknown("connection", name, connections)
    return None


def connect_as(
    connections: Mapping[str, ConnectionSpec], name: str | None, environ: Mapping[str, str]
) -> PostgresConnection:
    """The connection called `name`, or the only one. The specs are rendered. Raises ConfigError where there is none."""
    problem = connection_problem(connections, name)
    if problem is not None:
        raise ConfigError(f"connection {shown(name or '')}: {problem}", kept="nothing was run")
    chosen = name if name is not None else next(iter(connections))
    spec = connections[chosen]
    options = dict(spec.options) if spec.service is None else {"service": spec.service, **spec.options}
    return PostgresConnection(
        chosen,
        spec.url,
        options,
        schema=spec.schema_name,
        bookkeeping=spec.bookkeeping or spec.schema_name,
        lock_timeout=spec.lock_timeout,
        environ=environ,
    )
