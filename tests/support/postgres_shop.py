"""The small shop with its target in PostgreSQL, and a person with psql beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psycopg import sql

from tests.support.postgres import PostgresServer
from tests.support.project import PIPELINE, Row, Shop

STRATEGIES: dict[str, dict[str, Any]] = {
    "replace_window": {},
    "marked": {"write": {"strategy": "replace_window"}},
    "merge": {"write": {"strategy": "merge", "key": ["order_id"], "version_by": ["order_date"]}},
    "insert_new": {"write": {"strategy": "insert_new", "key": ["order_id"]}},
    "refresh": {"write": {"strategy": "refresh"}, "schedule": None, "source.path": "landing/*/*.csv"},
    "swap": {
        "write": {"strategy": "refresh", "refresh": "swap"},
        "schedule": None,
        "source.path": "landing/*/*.csv",
    },
}
"""Changes to the base pipeline, by strategy."""


class PostgresShop(Shop):
    """A schema of its own for each test; bookkeeping and target both lie there."""

    def __init__(self, root: Path, server: PostgresServer, **connection: Any) -> None:
        self.server = server
        self.schema = server.new_schema()
        url = server.plain_url("postgres")
        settings = {"type": "postgres", "url": url, "schema": self.schema, "lock_timeout": "2s"}
        self._connections = {"db": {**settings, **connection}}
        super().__init__(root)

    def settings(self, **values: Any) -> None:
        super().settings(**{"connections": self._connections, **values})

    def pipeline(self, changes: Mapping[str, Any] | None = None, *, name: str = PIPELINE) -> None:
        super().pipeline({"target": {"type": "postgres", "table": "orders"}, **(changes or {})}, name=name)

    def strategy(self, name: str, changes: Mapping[str, Any] | None = None) -> None:
        self.pipeline({**STRATEGIES[name], **(changes or {})})

    def ask(self, statement: str, *values: object) -> list[Row]:
        """What psql would answer; `{s}` is the schema."""
        with self.server.connect() as session:
            found = session.execute(sql.SQL(statement.replace("{s}", self.schema)), values or None)
            return list(found.fetchall()) if found.description else []

    @property
    def order_ids(self) -> list[object]:
        return [row[0] for row in self.ask("SELECT order_id FROM {s}.orders ORDER BY 1")]

    def staged(self) -> list[object]:
        """Staging tables, and tables on their way into another's place, that are left behind."""
        query = (
            "SELECT relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace"
            " WHERE nspname = %s AND relname ~ '^samewise_(stage|new|old)_'"
        )
        return [name for (name,) in self.ask(query, self.schema)]
