"""What runs in Spark's Python workers: rows into a staging table by COPY, and rows of a query out of it.

Sent to the workers by value: they need psycopg and pyarrow, not Samewise. The connection travels inside the function
and nowhere else, so that neither a plan nor a log shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

MARK = "SAMEWISE_PG"
"""Begins what a worker says about a failure, with PostgreSQL's code: `[SAMEWISE_PG 57P01] …`."""
RESULT = "part INT, tag BIGINT, rows BIGINT, hash STRING"
_MISSING = "XX_EXECUTOR"


def copier(conninfo: str, statement: str, hash_column: str) -> Callable[[Iterable[Any]], Iterable[Any]]:
    """A function for `mapInArrow`: one COPY, one transaction a task. Its result says what it wrote, and under what tag.

    A task that is run again, or twice at once, writes under another tag. Only those tags count that come back as
    results: whatever else lies in the table is nobody's.
    """

    def copy_rows(batches: Iterable[Any]) -> Iterator[Any]:
        try:
            import psycopg
            import pyarrow as pa
            from pyarrow import csv
        except ImportError as error:
            raise RuntimeError(f"[{MARK} {_MISSING}] {error.name} is not installed where Spark's workers run") from None
        from itertools import chain

        from pyspark import TaskContext

        # Most tasks of a small result have no rows: they need no connection.
        rest = iter(batches)
        first = next((batch for batch in rest if batch.num_rows), None)
        if first is None:
            return
        task = TaskContext.get()
        assert task is not None
        tag, count, total = task.taskAttemptId(), 0, 0
        try:
            with psycopg.connect(conninfo) as session:
                with session.cursor().copy(statement) as copy:
                    for batch in chain([first], rest):
                        if batch.num_rows == 0:
                            continue
                        hashes = batch.column(batch.schema.get_field_index(hash_column))
                        count, total = count + batch.num_rows, total + _sum(hashes)
                        buffer = pa.BufferOutputStream()
                        csv.write_csv(_plain(batch, tag), buffer, csv.WriteOptions(include_header=False))
                        copy.write(buffer.getvalue())
                        _reached("copying")
                session.commit()
        except psycopg.Error as error:
            raise RuntimeError(_told(error)) from None
        _reached("committed")
        names = ["part", "tag", "rows", "hash"]
        values: list[list[Any]] = [[task.partitionId()], [tag], [count], [str(total)]]
        types = [pa.int32(), pa.int64(), pa.int64(), pa.string()]
        arrays = [pa.array(value, type_) for value, type_ in zip(values, types, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names=names)

    return copy_rows


def reader(conninfo: str, query: str, types: Sequence[tuple[str, str]]) -> Callable[[Iterable[Any]], Iterable[Any]]:
    """A function for `mapInArrow` over one row: the rows of `query`. `types` are Arrow's, by column, as sent."""

    def read_rows(batches: Iterable[Any]) -> Iterator[Any]:
        try:
            import psycopg
            import pyarrow as pa
            from pyarrow import csv
        except ImportError as error:
            raise RuntimeError(f"[{MARK} {_MISSING}] {error.name} is not installed where Spark's workers run") from None
        for _ in batches:
            pass
        arrow = {name: pa.type_for_alias(type_) for name, type_ in types}
        convert = csv.ConvertOptions(
            column_types=arrow,
            null_values=[""],
            true_values=["t"],
            false_values=["f"],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        read = csv.ReadOptions(column_names=list(arrow), use_threads=False)
        parse = csv.ParseOptions(newlines_in_values=True)
        try:
            with psycopg.connect(conninfo) as session:
                yield from _rows_of(session, query, pa, csv, (read, parse, convert))
        except psycopg.Error as error:
            raise RuntimeError(_told(error)) from None

    return read_rows


def _rows_of(session: Any, query: str, pa: Any, csv: Any, options: tuple[Any, Any, Any]) -> Iterator[Any]:
    import io

    class Pipe(io.RawIOBase):
        """What COPY sends, as a file."""

        def __init__(self, copy: Any) -> None:
            self._pieces, self._rest = iter(copy), b""

        def readable(self) -> bool:
            return True

        def readinto(self, into: Any) -> int:
            while not self._rest:
                piece = next(self._pieces, None)
                if piece is None:
                    return 0
                self._rest = bytes(piece)
            size = min(len(into), len(self._rest))
            into[:size], self._rest = self._rest[:size], self._rest[size:]
            return size

    read, parse, convert = options
    with session.cursor().copy(query) as copy:
        pipe = io.BufferedReader(Pipe(copy), 1 << 20)
        if not pipe.peek(1):
            return
        yield from csv.open_csv(pa.PythonFile(pipe, mode="r"), read, parse, convert)


def _plain(batch: Any, tag: int) -> Any:
    """The batch with its tag, and its times as any reader of CSV reads them. Raises for a year without four digits."""
    import pyarrow as pa
    import pyarrow.compute as pc

    arrays, names = [], []
    for field, array in zip(batch.schema, batch.columns, strict=True):
        if pa.types.is_temporal(field.type):
            if pa.types.is_timestamp(field.type):
                array = array.cast(pa.timestamp("us", None if field.type.tz is None else "UTC"))
            _check_years(field.name, array, pc)
        arrays.append(array)
        names.append(field.name)
    return pa.RecordBatch.from_arrays([*arrays, pa.repeat(tag, batch.num_rows)], names=[*names, "tag"])


def _check_years(name: str, array: Any, pc: Any) -> None:
    import pyarrow as pa

    seen = pc.min_max(array)
    low, high = seen["min"], seen["max"]
    if not low.is_valid:
        return
    days = 1 if pa.types.is_date(array.type) else 86_400_000_000
    # 0001-01-01 and 9999-12-31, as days since 1970.
    if low.value < -719_162 * days or high.value >= 2_932_897 * days:
        raise RuntimeError(f"[{MARK} 22008] the column {name} holds a time outside the years 1 to 9999")


def _sum(hashes: Any) -> int:
    """The sum of 64-bit numbers, which need not fit into one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    low = pc.sum(pc.bit_wise_and(hashes, pa.scalar(0xFFFFFFFF, pa.int64()))).as_py()
    high = pc.sum(pc.shift_right(hashes, pa.scalar(32, pa.int64()))).as_py()
    return (int(high) << 32) + int(low)


def _told(error: Any) -> str:
    """One line for the driver: PostgreSQL's code, its sentence, and the row where it knows it."""
    diagnosis = error.diag
    sentence = diagnosis.message_primary or str(error).strip().partition("\n")[0]
    more = [text for text in (diagnosis.message_detail, diagnosis.context) if text]
    text = " ".join([sentence, *(f"({part})" for part in more)]).replace("\n", " ")
    return f"[{MARK} {error.sqlstate or '08000'}] {text[:400]}"


def _reached(point: str) -> None:
    """Where a test kills a worker or a server: `copying`, in the middle of a COPY, and `committed`, right after it."""
