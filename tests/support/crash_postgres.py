"""The project to be killed in, with its targets in PostgreSQL."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
from psycopg import sql

from samewise.core.keyed import DELETED_AT
from samewise.core.records import Stamp
from tests.support.crash import Starter
from tests.support.crash_project import LogCommit, Look, Project, Row
from tests.support.postgres import PostgresServer

DATABASE = "crash"
_DELTA = re.compile(r"\{type: delta, table: (\w+)[^}]*\}")
_SWAPPED = """\
pipeline: swapped
source:
  type: files
  path: landing/rates/*.csv
  format: csv
  schema: {currency: string, rate: "decimal(12,4)"}
target: {type: postgres, table: swapped}
write: {strategy: refresh, refresh: swap}
"""


def postgres_project(server: PostgresServer) -> type[Project]:
    """A kind of project whose targets lie in a database of this server."""

    class PostgresProject(Project):
        """Its database is set back with its files."""

        refreshed = ("rates", "swapped")

        def __init__(self, folder: Path, starter: Starter, spark: str, *, lease: str = "60s") -> None:
            super().__init__(folder, starter, spark, lease=lease)
            url = server.plain_url(DATABASE)
            self._settings += f"connections: {{db: {{type: postgres, url: '{url}', bookkeeping: samewise}}}}\n"

        def _like(self, starter: Starter, spark: str, lease: str) -> Project:
            return PostgresProject(self.folder, starter, spark, lease=lease)

        def pipelines(self) -> dict[str, str]:
            delta = super().pipelines()
            wanted = ("orders", "plain", "entities", "events", "rates")
            own = {name: _DELTA.sub(r"{type: postgres, table: \1}", delta[name]) for name in wanted}
            return {**own, "swapped": _SWAPPED}

        def write(self) -> Project:
            _make(server, DATABASE, "template1")
            return super().write()

        def save(self, place: Path) -> None:
            super().save(place)
            _make(server, f"saved_{place.name}", DATABASE)

        def restore(self, place: Path) -> None:
            super().restore(place)
            _make(server, DATABASE, f"saved_{place.name}")

        def ask(self, statement: str, *values: object) -> list[Row]:
            with server.connect(DATABASE) as session:
                return list(session.execute(sql.SQL(statement), values).fetchall())

        def rows(self, table: str) -> list[Row]:
            found = self.ask(f"SELECT * FROM public.{table}")
            for tombs in self._tombstones(table):
                columns = [c for c in self._columns("samewise", tombs) if c != DELETED_AT]
                chosen = ", ".join(f'"{column}"' for column in columns)
                found += [("deleted", *row) for row in self.ask(f"SELECT {chosen} FROM samewise.{tombs}")]
            return sorted(found, key=repr)

        def exists(self, table: str) -> bool:
            return self.ask("SELECT to_regclass(%s)", f"public.{table}") != [(None,)]

        def look(self, table: str) -> Look:
            kept = (
                "SELECT version, pipeline, task, place, columns, forgotten FROM samewise.samewise_targets"
                " WHERE table_name = %s"
            )
            tokens = (
                "SELECT app_id, generation, kind, k.version FROM samewise.samewise_tokens k"
                " JOIN samewise.samewise_targets USING (table_id) WHERE table_name = %s ORDER BY app_id"
            )
            shape = self.ask(
                "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute"
                " WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
                f"public.{table}",
            )
            extras = self.ask(
                "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename = %s"
                " UNION ALL SELECT tgname::text || tgenabled::text FROM pg_trigger WHERE tgrelid = to_regclass(%s)"
                " ORDER BY 1",
                table,
                f"public.{table}",
            )
            return Look(
                self.rows(table),
                repr(shape),
                [str(extra) for extra in extras],
                {"target": repr(self.ask(kept, table)), "tokens": repr(self.ask(tokens, table))},
            )

        def commits(self, table: str) -> list[LogCommit]:
            if self.ask("SELECT to_regclass('samewise.samewise_commits')") == [(None,)]:
                return []
            found = self.ask(
                "SELECT c.version, operation, stamp FROM samewise.samewise_commits c"
                " JOIN samewise.samewise_targets t USING (table_id) WHERE table_name = %s ORDER BY c.version",
                table,
            )
            return [LogCommit(int(str(v)), str(o), Stamp.parse(None if s is None else str(s))) for v, o, s in found]

        def left_staged(self) -> list[str]:
            tables = self.ask("SELECT relname::text FROM pg_class WHERE relname ~ '^samewise_(stage|new|old)_'")
            return super().left_staged() + [str(name) for (name,) in tables]

        def _tombstones(self, table: str) -> list[str]:
            found = self.ask(
                "SELECT 'samewise_tombstones_' || substr(table_id, 1, 12) FROM samewise.samewise_targets t"
                " WHERE table_name = %s AND to_regclass('samewise.samewise_tombstones_' || substr(table_id, 1, 12))"
                " IS NOT NULL",
                table,
            )
            return [str(name) for (name,) in found]

        def _columns(self, schema: str, table: str) -> list[str]:
            found = self.ask(
                "SELECT column_name::text FROM information_schema.columns WHERE table_schema = %s AND table_name = %s"
                " ORDER BY ordinal_position",
                schema,
                table,
            )
            return [str(name) for (name,) in found]

    return PostgresProject


def _make(server: PostgresServer, database: str, template: str) -> None:
    """A database like another one, whatever was there before and whoever is connected to it."""
    with server.connect() as session:
        for name in {database, template} - {"template1"}:
            session.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
        session.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database)))
        for _ in range(50):
            try:
                session.execute(
                    sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(database), sql.Identifier(template))
                )
                return
            except psycopg.errors.ObjectInUse:
                session.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (template,)
                )
        raise AssertionError(f"someone keeps using {template}")
