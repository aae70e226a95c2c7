"""A table in PostgreSQL, and copies of it in scratch schemas: with its rows, indexes, constraints and defaults."""

from __future__ import annotations

import json
import shutil
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from samewise.core.connections import PostgresConnection
from samewise.core.errors import UsageError
from samewise.prove.foreign.places import Copy, Named
from samewise.storage.postgres import connect, name, spark_type, text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from samewise.storage.postgres import Session

_PREFIX = "samewise_copy_"
"""Not the prefix of a pipeline's forks: whoever sweeps these knows nothing of those."""
_CHUNK = 5_000
_SETTLE_SECONDS = 30.0
_COLUMNS = """
SELECT a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a
WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_SEQUENCES = """
SELECT a.attname, pg_get_serial_sequence(%s, a.attname) FROM pg_attribute a
WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped
AND pg_get_serial_sequence(%s, a.attname) IS NOT NULL
"""


class TablePlace:
    """A real table; the connection holds a lock on the name of each scratch schema while it lives."""

    def __init__(self, named: Named, connection: PostgresConnection, scratch: Path) -> None:
        self._named = named
        self._connection = connection
        self._scratch = scratch
        self._session = connect(connection, purpose="prove")
        schema, _, table = named.name.rpartition(".")
        self._table = _unquoted(table)
        self._schema = _unquoted(schema) or self._find_schema()
        self._copies: list[TableCopy] = []
        self._sweep()
        if not self._columns(self._schema):
            raise UsageError(
                f"{named}: there is no such table in {connection.place}",
                kept="nothing was run",
                next_step="create it, or name it with its schema: postgres:SCHEMA.TABLE",
            )
        # What was there when prove began; every copy is one of this.
        self._before = self._new_schema()
        self._copy_table(self._schema, self._before)

    @property
    def name(self) -> str:
        return str(self._named)

    def snapshot(self, copy: Copy) -> TableCopy:
        return self.copy("snapshot", copy)

    def copy(self, label: str, of: Copy | None = None) -> TableCopy:
        schema = self._new_schema()
        self._copy_table(self._before if of is None else of.words["schema"], schema)
        made = TableCopy(self._session, self._connection, schema, self._table, self._scratch / schema)
        self._copies.append(made)
        return made

    def fingerprint(self) -> str:
        """How many rows there are, and a sum over all of them that does not depend on their order."""
        place = name(self._schema, self._table)
        row = self._session.execute(
            text("SELECT count(*), sum(hashtextextended(t::text, 7)::numeric) FROM {} AS t").format(place)
        ).fetchone()
        return repr(row)

    def close(self) -> None:
        if self._session.closed:
            return
        for made in self._copies:
            made.drop()
        _drop(self._session, self._before)
        self._session.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _find_schema(self) -> str:
        row = self._session.execute(
            "SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE c.oid = to_regclass(%s)",
            (name(self._table).as_string(self._session),),
        ).fetchone()
        return self._connection.schema if row is None else str(row[0])

    def _columns(self, schema: str) -> list[tuple[str, str]]:
        return _columns(self._session, schema, self._table)

    def _new_schema(self) -> str:
        schema = f"{_PREFIX}{uuid.uuid4().hex[:12]}"
        # Held by this session until it ends, however it ends: what nobody holds, the next prove removes.
        self._session.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", (schema,))
        self._session.execute(text("CREATE SCHEMA {}").format(name(schema)))
        return schema

    def _copy_table(self, source: str, schema: str) -> None:
        old, new = name(source, self._table), name(schema, self._table)
        with self._session.transaction():
            self._session.execute(text("CREATE TABLE {} (LIKE {} INCLUDING ALL)").format(new, old))
            columns = [one for one, _ in self._insertable(schema)]
            names = text(", ").join(name(one) for one in columns)
            self._session.execute(
                text("INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE SELECT {} FROM {}").format(new, names, names, old)
            )
            self._own_sequences(source, schema)

    def _insertable(self, schema: str) -> list[tuple[str, str]]:
        """All but generated columns, which PostgreSQL computes again."""
        rows = self._session.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attgenerated <> ''",
            (_regclass(self._session, schema, self._table),),
        ).fetchall()
        generated = {str(row[0]) for row in rows}
        return [one for one in self._columns(schema) if one[0] not in generated]

    def _own_sequences(self, source: str, schema: str) -> None:
        """A serial column's default names the real table's sequence: the copy gets one of its own, as far on."""
        place = _regclass(self._session, source, self._table)
        for column, sequence in self._session.execute(_SEQUENCES, (place, place, place)).fetchall():
            row = self._session.execute(
                "SELECT attidentity FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = %s",
                (_regclass(self._session, schema, self._table), column),
            ).fetchone()
            last = self._session.execute(f"SELECT last_value, is_called FROM {sequence}").fetchone()
            assert last is not None
            if row is not None and row[0]:
                mine = self._session.execute(
                    "SELECT pg_get_serial_sequence(%s, %s)", (_regclass(self._session, schema, self._table), column)
                ).fetchone()
                assert mine is not None
                own = mine[0]
            else:
                own = name(schema, f"{column}_seq").as_string(self._session)
                self._session.execute(text("CREATE SEQUENCE {}").format(name(schema, f"{column}_seq")))
                self._session.execute(
                    text("ALTER TABLE {} ALTER COLUMN {} SET DEFAULT nextval({})").format(
                        name(schema, self._table), name(str(column)), _literal(own)
                    )
                )
            self._session.execute("SELECT setval(%s::regclass, %s, %s)", (own, last[0], last[1]))

    def _sweep(self) -> None:
        """Remove scratch schemas whose maker is gone."""
        rows = self._session.execute(
            "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, %s)", (_PREFIX,)
        ).fetchall()
        for (schema,) in rows:
            held = self._session.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", (schema,)).fetchone()
            if held is not None and held[0]:
                _drop(self._session, str(schema))


class TableCopy:
    """A table in a scratch schema."""

    def __init__(self, session: Session, connection: PostgresConnection, schema: str, table: str, folder: Path) -> None:
        self._session = session
        self._connection = connection
        self._schema = schema
        self._table = table
        self._folder = folder
        self._reads = 0

    @property
    def words(self) -> Mapping[str, str]:
        info = self._session.info
        table = name(self._table).as_string(self._session) if _is_odd(self._table) else self._table
        own = {"target": f"{self._schema}.{table}", "schema": self._schema}
        return own | urls(self._schema, info.user, info.password, info.host, info.port, info.dbname)

    @property
    def environment(self) -> Mapping[str, str]:
        return {"PGOPTIONS": f"-c search_path={self._schema},public"}

    def mark(self) -> object:
        # Only what has been committed is seen here; a row's xmin is the transaction that wrote it.
        row = self._session.execute(
            text("SELECT count(*), max(xmin::text::bigint), max(ctid) FROM {}").format(name(self._schema, self._table))
        ).fetchone()
        return repr(row)

    def rows(self, spark: SparkSession) -> DataFrame | None:
        """A snapshot of the rows, written to a file as text and read with the types that Spark has for them."""
        from pyspark.sql import types as t

        columns = _columns(self._session, self._schema, self._table)
        if not columns:
            return None
        self._folder.mkdir(parents=True, exist_ok=True)
        self._reads += 1
        path = self._folder / f"rows-{self._reads}.json"
        self._unload(path, [one for one, _ in columns])
        schema = t.StructType([t.StructField(f"c{at}", t.StringType()) for at in range(len(columns))])
        frame = spark.read.schema(schema).json(str(path))
        wanted = [spark_type(kind) or "string" for _, kind in columns]
        # A value that Spark has no room for (infinity, NaN in a numeric) leaves its column as text.
        checks = [
            f"count_if(c{at} IS NOT NULL AND try_cast(c{at} AS {kind}) IS NULL) AS c{at}"
            for at, kind in enumerate(wanted)
        ]
        bad = frame.selectExpr(*checks).collect()[0]
        kinds = ["string" if kind == "binary" or bad[f"c{at}"] else kind for at, kind in enumerate(wanted)]
        cast = [f"CAST(c{at} AS {kind}) AS c{at}" for at, kind in enumerate(kinds)]
        return frame.selectExpr(*cast).toDF(*[one for one, _ in columns])

    def _unload(self, path: Path, columns: list[str]) -> None:
        wanted = text(", ").join(text("{}::text").format(name(one)) for one in columns)
        query = text("SELECT {} FROM {}").format(wanted, name(self._schema, self._table))
        with (
            self._session.transaction(),
            path.open("w", encoding="utf-8") as file,
            self._session.cursor(name="samewise_prove") as cursor,
        ):
            cursor.itersize = _CHUNK
            cursor.execute(query)
            for row in cursor:
                values = {f"c{at}": value for at, value in enumerate(row) if value is not None}
                file.write(json.dumps(values, ensure_ascii=True) + "\n")

    def settle(self) -> None:
        """A server goes on with the statement of a client that was killed, until it wants to answer."""
        query = "SELECT count(*) FROM pg_locks WHERE relation = to_regclass(%s) AND pid <> pg_backend_pid()"
        give_up_at = time.monotonic() + _SETTLE_SECONDS
        while time.monotonic() < give_up_at:
            row = self._session.execute(query, (_regclass(self._session, self._schema, self._table),)).fetchone()
            if row is None or not row[0]:
                return
            time.sleep(0.05)

    def drop(self) -> None:
        _drop(self._session, self._schema)
        shutil.rmtree(self._folder, ignore_errors=True)


def urls(schema: str, user: str, password: str, host: str, port: int, database: str) -> dict[str, str]:
    """What leads a program to a schema: by libpq, and by JDBC."""
    login = quote(user, safe="") + (f":{quote(password, safe='')}" if password else "")
    options = {"options": f"-c search_path={schema},public"}
    place = f"{host}:{port}"
    if host.startswith("/"):
        # A socket: libpq is told its folder, and Java, which knows none, goes through the network.
        place, options = "", {"host": host, "port": str(port), **options}
    java_place = place or f"localhost:{port}"
    java = {"currentSchema": schema, "user": user, **({"password": password} if password else {})}
    base = quote(database, safe="")
    return {
        "url": f"postgresql://{login}@{place}/{base}?{urlencode(options, quote_via=quote)}",
        "jdbc_url": f"jdbc:postgresql://{java_place}/{base}?{urlencode(java)}",
    }


def _drop(session: Session, schema: str) -> None:
    assert schema.startswith(_PREFIX), schema
    session.execute(text("DROP SCHEMA IF EXISTS {} CASCADE").format(name(schema)))
    session.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", (schema,))


def _columns(session: Session, schema: str, table: str) -> list[tuple[str, str]]:
    rows = session.execute(_COLUMNS, (_regclass(session, schema, table),)).fetchall()
    return [(str(column), str(kind)) for column, kind in rows]


def _regclass(session: Session, schema: str, table: str) -> str:
    return name(schema, table).as_string(session)


def _literal(value: str) -> object:
    from psycopg import sql

    return sql.Literal(value)


def _unquoted(part: str) -> str:
    """`"Orders"` is Orders; a plain name is in lower case, as PostgreSQL reads it."""
    if part.startswith('"') and part.endswith('"') and len(part) > 1:
        return part[1:-1].replace('""', '"')
    return part.lower()


def _is_odd(table: str) -> bool:
    return not (table.isidentifier() and table == table.lower() and table.isascii())
