"""Files as a source: CSV, JSON, Parquet, ORC. Read are the files that were pinned, and no others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from samewise.core.errors import ConfigError, PinsGone, Refused, SamewiseError
from samewise.core.ids import Json, stable_hash
from samewise.core.ports import Spark
from samewise.core.records import Pins
from samewise.core.schema import Schema
from samewise.core.sql import quote
from samewise.core.windows import Window
from samewise.sources import malformed
from samewise.sources.columns import check_names, check_order, check_types
from samewise.sources.csv_header import read_header
from samewise.sources.manifest import Manifest, compare_checksums, compare_files, read_manifest
from samewise.sources.path_columns import PathColumns, find_path_columns
from samewise.storage import files as storage
from samewise.storage.files import FileStat, spark_folder, spark_path
from samewise.storage.frames import schema_of
from samewise.storage.parquet_footer import NotParquet, column_names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader

_TEXT = ("csv", "json")
_FORMATS = (*_TEXT, "parquet", "orc")
_ORC_MAGIC = b"ORC"


class FilesSource:
    """The files that a path finds for a window.

    `path` and `manifest` give the glob and the manifest's place for a window. Columns in the folders of
    a path (`order_date=2026-04-25/…`) are read only where they are declared and the files lack them.
    `on_malformed` is `refuse` (a malformed row fails the job) or `quarantine` (it is left out of `read`
    and given by `malformed`).
    """

    def __init__(
        self,
        path: Callable[[Window], str],
        format: str,
        spark: Spark,
        *,
        declared: Schema | None = None,
        header: bool = True,
        delimiter: str = ",",
        options: Mapping[str, str] | None = None,
        on_malformed: str = "refuse",
        manifest: Callable[[Window], str] | None = None,
    ) -> None:
        if format not in _FORMATS:
            raise ConfigError(f"no such file format: {format}", next_step=f"use one of {', '.join(_FORMATS)}")
        if format in _TEXT and declared is None:
            raise ConfigError(f"{format} files need a declared schema", next_step="declare `schema:`")
        if on_malformed not in ("refuse", "quarantine"):
            raise ConfigError(f"no such answer to malformed rows: {on_malformed}")
        self._path = path
        self._format = format
        self._spark = spark
        self._declared = declared
        self._header = header and format == "csv"
        self._delimiter = delimiter
        self._options = dict(options or {})
        self._quarantines = on_malformed == "quarantine" and format in _TEXT
        self._manifest = manifest
        self._in_files: dict[str, list[str] | None] = {}
        self._footers: dict[str, Schema] = {}

    def pin(self, window: Window) -> Pins:
        glob = self._path(window)
        manifest_path = None if self._manifest is None else self._manifest(window)
        ours = None if manifest_path is None else _stat(manifest_path)
        # A manifest may lie among the files that it speaks of, and match the same glob.
        found = [f for f in storage.list_files(glob) if ours is None or f.path != ours.path]
        if not found:
            raise Refused(
                f"no file matches {glob}",
                code="no_files",
                next_step=f"put the files there ({glob}), then run the same command again",
            )
        for file in found:
            _check_name(file.path)
        manifest = None if manifest_path is None else read_manifest(manifest_path)
        if manifest is not None:
            compare_files(manifest, found)
        listed: list[Json] = [[file.path, file.size_bytes, file.version] for file in found]
        promised = None if manifest is None else manifest.to_json()
        return Pins(
            kind="files",
            fingerprint=stable_hash(["files", listed, promised]),
            summary=f"{_files(len(found))}, {_size(sum(file.size_bytes for file in found))}",
            details={"files": listed, "manifest": promised},
        )

    def check(self, pins: Pins) -> None:
        for file in _pinned(pins):
            now = storage.stat(file.path)
            if now is None:
                raise _gone(f"{file.path} has vanished since it was pinned")
            if (now.size_bytes, now.version) != (file.size_bytes, file.version):
                raise _gone(f"{file.path} has changed since it was pinned")

    def schema(self, pins: Pins) -> Schema:
        found = _pinned(pins)
        if pins.details["manifest"] is not None:
            compare_checksums(Manifest.from_json(pins.details["manifest"]), found)
        path_columns = self._path_columns(pins)
        if self._format == "csv" and self._header:
            self._check_headers(found, path_columns)
        if self._format in _TEXT:
            assert self._declared is not None
            return self._declared
        schema = self._footer_schema(found, path_columns)
        if not any("<" in column.type for column in schema):
            # Names inside a struct cannot always be written down as DDL; those Spark reads again by itself.
            self._footers[pins.fingerprint] = schema
        return schema

    def read(self, pins: Pins, window: Window) -> DataFrame:
        if self._format not in _TEXT:
            return self._load(pins, self._declared or self._footers.get(pins.fingerprint))
        assert self._declared is not None
        if self._quarantines:
            rows = self._permissive(pins).where(f"{quote(malformed.COLUMN)} IS NULL")
        else:
            rows = self._load(pins, self._declared, mode="FAILFAST")
        return rows.where(self._every_column(pins)).select(*[quote(name) for name in self._declared.names])

    def malformed(self, pins: Pins) -> DataFrame | None:
        """The raw rows that `read` leaves out (`line`), each with the file that it comes from (`file`)."""
        return self._malformed_rows(pins) if self._quarantines else None

    def explain_failure(self, error: BaseException, pins: Pins) -> SamewiseError | None:
        """What a failure of a job that reads these pins really means; None if this source is not at fault.

        May read the files again, to count and show the rows that are malformed.
        """
        try:
            self.check(pins)
        except PinsGone as gone:
            return gone
        if self._format in _TEXT and not self._quarantines and malformed.is_suspect(error):
            refusal = malformed.refusal(self._malformed_rows(pins))
            if refusal is not None:
                return refusal
        return malformed.unreadable(error, [file.path for file in _pinned(pins)])

    def _malformed_rows(self, pins: Pins) -> DataFrame:
        bad = self._permissive(pins).where(f"{quote(malformed.COLUMN)} IS NOT NULL")
        return bad.where(self._every_column(pins)).selectExpr(
            "_metadata.file_path AS file", f"{quote(malformed.COLUMN)} AS line"
        )

    def _permissive(self, pins: Pins) -> DataFrame:
        assert self._declared is not None
        wider = Schema((*self._declared.columns, *Schema.of([(malformed.COLUMN, "string")]).columns))
        return self._load(pins, wider, mode="PERMISSIVE", columnNameOfCorruptRecord=malformed.COLUMN)

    def _every_column(self, pins: Pins) -> str:
        """Always true, and never known to be: it makes Spark parse every column of every row.

        Spark parses only the columns that a query needs, so that without this a malformed value would
        pass wherever the transform does not look at it.
        """
        assert self._declared is not None
        names = self._path_columns(pins).without(self._declared.names)
        if not names:
            return "TRUE"
        return f"({' + '.join(f'INT({quote(name)} IS NULL)' for name in names)}) >= 0"

    def _load(self, pins: Pins, schema: Schema | None, **options: str) -> DataFrame:
        path_columns = self._path_columns(pins)
        reader = self._reader(path_columns).options(**options)
        reader = reader.option("mergeSchema", "true") if schema is None else reader.schema(_ddl(schema))
        rows = reader.load([spark_path(file.path) for file in _pinned(pins)])
        # Spark adds every column that it finds in the folders; only the declared ones are wanted.
        return rows if schema is None else rows.select(*[quote(name) for name in schema.names])

    def _reader(self, path_columns: PathColumns) -> DataFrameReader:
        reader = self._spark().read.format(self._format).options(**self._options)
        reader = reader.option("ignoreCorruptFiles", "false").option("ignoreMissingFiles", "false")
        if self._format == "csv":
            reader = reader.option("header", self._header).option("sep", self._delimiter)
        if path_columns.base is None:
            return reader.option("recursiveFileLookup", "true")
        return reader.option("basePath", spark_folder(path_columns.base))

    def _path_columns(self, pins: Pins) -> PathColumns:
        if self._declared is None:
            return PathColumns()
        paths = [file.path for file in _pinned(pins)]
        if pins.fingerprint not in self._in_files:
            self._in_files[pins.fingerprint] = self._columns_in_files(paths)
        return find_path_columns(paths, self._declared.names, self._in_files[pins.fingerprint])

    def _columns_in_files(self, paths: Sequence[str]) -> list[str] | None:
        """The columns of the first file that has any; None where files of this format do not say."""
        if self._format == "parquet":
            return _parquet_names(paths[0])
        if self._format == "orc":
            _check_orc(paths[0])
            return list(schema_of(self._spark().read.orc(spark_path(paths[0]), recursiveFileLookup=True)).names)
        if self._header:
            headers = (read_header(path, self._delimiter, self._options) for path in paths)
            return next((header for header in headers if header is not None), None)
        return None

    def _check_headers(self, found: Sequence[FileStat], path_columns: PathColumns) -> None:
        assert self._declared is not None
        wanted = path_columns.without(self._declared.names)
        for file in found:
            header = read_header(file.path, self._delimiter, self._options)
            if header is not None:
                check_order(file.path, wanted, header)

    def _footer_schema(self, found: Sequence[FileStat], path_columns: PathColumns) -> Schema:
        paths = [file.path for file in found]
        names = [_parquet_names(path) if self._format == "parquet" else self._orc_names(path) for path in paths]
        if self._declared is not None:
            wanted = path_columns.without(self._declared.names)
            for path, own in zip(paths, names, strict=True):
                check_names(path, wanted, own)
        merged = self._merged_schema(paths)
        if self._declared is None:
            return merged
        declared = schema_of(self._spark().createDataFrame([], _ddl(self._declared)))
        check_types(_files(len(paths)), declared, merged)
        return declared

    def _orc_names(self, path: str) -> list[str]:
        _check_orc(path)
        return list(self._merged_schema([path]).names)

    def _merged_schema(self, paths: Sequence[str]) -> Schema:
        reader = self._reader(PathColumns()).option("mergeSchema", len(paths) > 1)
        try:
            return schema_of(reader.load([spark_path(path) for path in paths]))
        except Exception as error:
            refusal = malformed.unreadable(error, paths)
            if refusal is not None:
                raise refusal from error
            raise


def _parquet_names(path: str) -> list[str]:
    try:
        return column_names(path)
    except NotParquet as error:
        raise malformed.not_readable(path, f"not a whole Parquet file, {error}") from error


def _check_orc(path: str) -> None:
    if storage.read_head(path, len(_ORC_MAGIC)) != _ORC_MAGIC or _ORC_MAGIC not in storage.read_tail(path, 4):
        raise malformed.not_readable(path, "not a whole ORC file")


def _check_name(path: str) -> None:
    if ":" in path.rpartition("/")[2]:
        raise malformed.not_readable(path, "Spark cannot read a file with a colon in its name", "rename it")


def _pinned(pins: Pins) -> list[FileStat]:
    return [FileStat(path, size, version) for path, size, version in pins.details["files"]]


def _stat(path: str) -> FileStat | None:
    return storage.stat(storage.absolute(path))


def _ddl(schema: Schema) -> str:
    return ", ".join(f"{quote(column.name)} {column.type}" for column in schema)


def _gone(message: str) -> PinsGone:
    return PinsGone(message, next_step="run the same command again: it takes the files as they are then")


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _size(size_bytes: int) -> str:
    size, unit = float(size_bytes), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
