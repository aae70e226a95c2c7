"""What runs on Spark's workers: one binary COPY out of PostgreSQL, inside the driver's snapshot, as Arrow batches.

This module travels to the workers by value, so that they need pyarrow and the ADBC driver and no Samewise: it
imports nothing of ours. A failure is told as text that begins with `MARK` and says of what kind it is: Spark
carries nothing else back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

MARK = "samewise-postgres"
REFUSED, GONE, TRANSIENT, SETTINGS = "refused", "gone", "transient", "settings"
HINT = "cast or leave out such values in a query:"
_BATCH_BYTES = "4194304"
_BATCH_OPTION = "adbc.postgresql.batch_size_hint_bytes"


@dataclass(frozen=True)
class Told:
    """A column as it comes: its name, and Spark's type for it."""

    name: str
    type: str


@dataclass(frozen=True)
class Reading:
    """All that a worker needs. The conninfo may hold a password: it travels in a task's closure and nowhere else."""

    conninfo: str
    snapshot: str
    statements: tuple[str, ...]
    """One SELECT a reader; together every row once."""
    columns: tuple[Told, ...]
    search_path: str = "pg_catalog"
    """Quoted: where a query's plain names are looked for."""
    checks_text: bool = False
    """True where the database does not know which encoding its texts are in."""

    def __repr__(self) -> str:
        return f"Reading({len(self.statements)} readers)"


def as_function(reading: Reading) -> Callable[[Iterable[Any]], Iterable[Any]]:
    """For `mapInArrow` over numbers: each is a reader's."""

    def read_postgres(batches: Iterable[Any]) -> Iterable[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from _read(reading, reading.statements[number])

    return read_postgres


def _read(reading: Reading, statement: str) -> Iterator[Any]:
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        missing = "Spark's workers have no adbc_driver_postgresql: pip install 'samewise[postgres]' there"
        raise RuntimeError(told(SETTINGS, missing)) from None
    try:
        with dbapi.connect(reading.conninfo, autocommit=True) as session, session.cursor() as cursor:
            cursor.execute(f"SET search_path = {reading.search_path}")
            # One transaction: it must begin with the snapshot, before any other statement.
            cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            cursor.execute(_snapshot(reading.snapshot))
            cursor.adbc_statement.set_options(**{_BATCH_OPTION: _BATCH_BYTES})
            cursor.execute(statement)
            for batch in cursor.fetch_record_batch():
                yield finished(batch, reading.columns, checks_text=reading.checks_text)
    except (dbapi.Error, OSError) as error:
        raise RuntimeError(explained(str(error), getattr(error, "sqlstate", None))) from None


def _snapshot(name: str) -> str:
    assert re.fullmatch(r"[0-9A-F-]+", name), name
    return f"SET TRANSACTION SNAPSHOT '{name}'"


def finished(batch: Any, columns: Sequence[Told], *, checks_text: bool = False) -> Any:
    """The batch with the names and types that Spark expects. Raises for a value that its type cannot hold."""
    import pyarrow as pa

    if checks_text:
        try:
            batch.validate(full=True)
        except pa.ArrowInvalid as error:
            sentence = f"a text is not UTF-8, and the database does not say what it is: {error}; {HINT}"
            raise ValueError(told(REFUSED, sentence)) from None
    arrays = [_cast(batch.column(at), column) for at, column in enumerate(columns)]
    return pa.RecordBatch.from_arrays(arrays, names=[column.name for column in columns])


def _cast(values: Any, column: Told) -> Any:
    import pyarrow as pa

    wanted = arrow_type(column.type)
    if values.type == wanted:
        return values
    try:
        return values.cast(wanted)
    except pa.ArrowInvalid:
        bad = next((value for value in values if not _fits(value, wanted)), None)
        shown = "a value" if bad is None else _short(str(bad.as_py()))
        sentence = f"{column.name} holds {shown}, which Spark's {column.type} cannot: {HINT}"
        raise ValueError(told(REFUSED, sentence)) from None


def _fits(value: Any, wanted: Any) -> bool:
    import pyarrow as pa

    try:
        value.cast(wanted)
    except pa.ArrowInvalid:
        return False
    return True


def arrow_type(type: str) -> Any:
    """Arrow's type for one of Spark's."""
    import pyarrow as pa

    if type.startswith("array<"):
        return pa.list_(arrow_type(type[len("array<") : -1]))
    sized = re.fullmatch(r"decimal\((\d+),(\d+)\)", type)
    if sized is not None:
        return pa.decimal128(int(sized[1]), int(sized[2]))
    return {
        "boolean": pa.bool_(),
        "smallint": pa.int16(),
        "int": pa.int32(),
        "bigint": pa.int64(),
        "float": pa.float32(),
        "double": pa.float64(),
        "string": pa.string(),
        "binary": pa.binary(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us", tz="UTC"),
        "timestamp_ntz": pa.timestamp("us"),
    }[type]


def explained(said: str, state: str | None) -> str:
    """What the driver is to think of a failure: by PostgreSQL's code where there is one, else by its words."""
    if MARK in said:
        return said[said.index(MARK) :]
    reason = re.search(r"(?:ERROR|FATAL):\s+([^\n]*)", said)
    words = _short((reason[1] if reason else said.strip().partition("\n")[0]).partition(". SQLSTATE")[0], 300)
    if "snapshot" in words or state in ("42P01", "42703"):
        return told(GONE, words)
    login = ("authentication failed", "no pg_hba.conf entry", "certificate", "permission denied", "does not exist")
    if state == "42501" or any(phrase in words for phrase in login):
        return told(SETTINGS, words)
    passing = ("terminating", "canceling", "connect", "server closed", "SSL", "starting up", "shutting down", "memory")
    by_code = state is not None and state.startswith(("08", "40", "53", "55", "57", "58"))
    if by_code or "ERROR" not in said or any(phrase in words for phrase in passing):
        return told(TRANSIENT, words)
    return told(REFUSED, f"PostgreSQL cannot answer the query: {words}")


def told(kind: str, sentence: str) -> str:
    """A failure as one line that survives Spark."""
    line = " ".join(sentence.split())
    return f"{MARK}[{kind}] {line} {MARK}."


def _short(text: str, longest: int = 80) -> str:
    return text if len(text) <= longest else text[:longest] + "…"
