"""Files as a source: CSV, JSON, Parquet, ORC. Read are the files that were pinned, and no others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from samewise.core.errors import ConfigError, PinsGone, Refused, SamewiseError
from samewise.core.ids import Json, stable_hash
from samewise.core.records import Pins
from samewise.core.schema import Column, Schema
from samewise.core.shapes import Fit, Shape, Taken
from samewise.core.sql import AT, quote
from samewise.core.windows import FULL, Window
from samewise.sources import fitting, malformed
from samewise.sources.csv_header import read_header
from samewise.sources.file_groups import Group, Grouping, footer_structs
from samewise.sources.file_windows import together
from samewise.sources.fitting import fitted, with_casts
from samewise.sources.manifest import Manifest, compare_checksums, compare_files, read_manifest
from samewise.sources.path_columns import PathColumns
from samewise.storage import files as storage
from samewise.storage.files import FileStat, spark_folder, spark_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader
    from pyspark.sql.types import StructType

    from samewise.core.ports import FoundFile, Spark

_TEXT = ("csv", "json")
_FORMATS = (*_TEXT, "parquet", "orc")


class FilesSource:
    """The files that a path finds for a window.

    `path` and `manifest` give the glob and the manifest's place for a window. Columns in the folders of
    a path (`order_date=2026-04-25/…`) are read only where they are declared and the files lack them.
    `on_malformed` is `refuse` (a malformed row fails the job) or `quarantine` (it is left out of `read`
    and given by `malformed`). `renames` maps declared names to the names that files may have instead.
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
        renames: Mapping[str, str] | None = None,
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
        self._grouping = Grouping(declared, dict(renames or {}))
        self._groups: dict[str, list[Group]] = {}
        self._footers: dict[str, StructType] = {}
        self._read: dict[str, list[tuple[DataFrame, Fit]]] = {}

    pins_without_spark = True

    def pin(self, window: Window) -> Pins:
        glob = self._path(window)
        manifest_path = None if self._manifest is None else self._manifest(window)
        ours = None if manifest_path is None else _stat(manifest_path)
        # A manifest may lie among the files that it speaks of, and match the same glob.
        found = [f for f in storage.list_files(glob) if ours is None or f.path != ours.path]
        if not found:
            raise _no_files(glob)
        manifest = None if manifest_path is None else read_manifest(manifest_path)
        if manifest is not None:
            compare_files(manifest, found)
        return _pins(found, manifest)

    @property
    def place(self) -> str:
        return self._path(FULL)

    def found(self) -> list[FoundFile]:
        from samewise.core.ports import FoundFile

        return [FoundFile(file.path, file.size_bytes, file.version) for file in storage.list_files(self.place)]

    def pin_files(self, files: Sequence[FoundFile]) -> Pins:
        if not files:
            raise _no_files(self.place)
        return _pins([FileStat(*file) for file in files], None)

    def check(self, pins: Pins) -> None:
        for file in _pinned(pins):
            now = storage.stat(file.path)
            if now is None:
                raise _gone(f"{file.path} has vanished since it was pinned")
            if (now.size_bytes, now.version) != (file.size_bytes, file.version):
                raise _gone(f"{file.path} has changed since it was pinned")

    def shapes(self, pins: Pins) -> list[Shape]:
        """What each file holds: the header of every CSV file, the footer of every Parquet and ORC file."""
        if pins.details["manifest"] is not None:
            compare_checksums(Manifest.from_json(pins.details["manifest"]), _pinned(pins))
        return [group.shape for group in self._grouped(pins)]

    def read(self, pins: Pins, window: Window, fits: Sequence[Fit] | None = None) -> DataFrame:
        groups = self._grouped(pins)
        if fits is None:
            fits = [group.fit(self._declared) for group in groups]
        read = [(self._rows(group, fit), fit) for group, fit in zip(groups, fits, strict=True)]
        self._read[pins.fingerprint] = with_casts(read)
        first, *others = (fitted(rows, fit) for rows, fit in read)
        for rows in others:
            first = first.unionByName(rows)
        return first

    def read_many(
        self, pins: Sequence[Pins], windows: Sequence[Window], fits: Sequence[Sequence[Fit] | None]
    ) -> DataFrame | None:
        """All files in one go, where all have the same columns and each says by its folder whose it is."""
        joint = together([self._grouped(each) for each in pins])
        if joint is None or self._quarantines or any(each is None or each != fits[0] for each in fits):
            return None
        assert fits[0] is not None
        (fit,) = fits[0]
        if any(taken.casts for taken in fit):
            return None  # A value that does not fit is told with its window.
        group, number = joint
        tag = Column(AT, "int")
        return fitted(self._rows(group, fit, number), (*fit, Taken(tag, tag)))

    def malformed(self, pins: Pins) -> DataFrame | None:
        """The raw rows that `read` leaves out (`line`), each with the file that it comes from (`file`)."""
        return self._malformed_rows(pins) if self._quarantines else None

    def release(self, pins: Pins) -> None:
        """Files are opened by whoever reads them."""

    def explain_failure(self, error: BaseException, pins: Pins) -> SamewiseError | None:
        """What a failure of a job that reads these pins really means; None if this source is not at fault.

        May read the files again, to count and show the rows that are malformed or do not fit.
        """
        try:
            self.check(pins)
        except PinsGone as gone:
            return gone
        if self._format in _TEXT and not self._quarantines and malformed.is_suspect(error):
            refusal = malformed.refusal(self._malformed_rows(pins))
            if refusal is not None:
                return refusal
        return malformed.unreadable(error, [file.path for file in _pinned(pins)]) or fitting.refusal(
            error, self._read.get(pins.fingerprint, [])
        )

    def _grouped(self, pins: Pins) -> list[Group]:
        if pins.fingerprint not in self._groups:
            self._groups[pins.fingerprint] = self._group([file.path for file in _pinned(pins)])
        return self._groups[pins.fingerprint]

    def _group(self, paths: Sequence[str]) -> list[Group]:
        if self._format not in _TEXT:
            return self._grouping.by_footer(footer_structs(paths, self._format, self._struct_in, self._footers))
        if not self._header:
            return self._grouping.unnamed(paths)
        return self._grouping.by_header({path: read_header(path, self._delimiter, self._options) for path in paths})

    def _struct_in(self, path: str) -> StructType:
        try:
            return self._reader(PathColumns()).load([spark_path(path)]).schema
        except Exception as error:
            refusal = malformed.unreadable(error, [path])
            if refusal is not None:
                raise refusal from error
            raise

    def _rows(self, group: Group, fit: Fit, number: str | None = None) -> DataFrame:
        """The rows of the group's files, with the columns that `fit` takes, and `number` as `AT` where it is given."""
        if self._format not in _TEXT:
            return self._load_footed(group, fit, number)
        if self._quarantines:
            rows = self._permissive(group).where(f"{quote(malformed.COLUMN)} IS NULL")
        else:
            rows = self._load(group, _text_schema(group), number, mode="FAILFAST")
        return rows.where(_every_column(group))

    def _malformed_rows(self, pins: Pins) -> DataFrame:
        first, *others = (
            self._permissive(group)
            .where(f"{quote(malformed.COLUMN)} IS NOT NULL")
            .where(_every_column(group))
            .selectExpr("_metadata.file_path AS file", f"{quote(malformed.COLUMN)} AS line")
            for group in self._grouped(pins)
        )
        for rows in others:
            first = first.union(rows)
        return first

    def _permissive(self, group: Group) -> DataFrame:
        wider = Schema((*_text_schema(group).columns, *Schema.of([(malformed.COLUMN, "string")]).columns))
        return self._load(group, wider, mode="PERMISSIVE", columnNameOfCorruptRecord=malformed.COLUMN)

    def _load(self, group: Group, schema: Schema, number: str | None = None, **options: str) -> DataFrame:
        reader = self._reader(group.path_columns).options(**options).schema(_ddl(schema))
        rows = reader.load([spark_path(path) for path in group.paths])
        # Spark adds every column that it finds in the folders; only the declared ones are wanted.
        return rows.selectExpr(*[quote(name) for name in schema.names], *_tagged(number))

    def _load_footed(self, group: Group, fit: Fit, number: str | None = None) -> DataFrame:
        from pyspark.sql.types import StructType

        assert group.struct is not None
        taken = {entry.found.name for entry in fit if entry.found is not None}
        fields = [field for field in group.struct if field.name in taken]
        in_path = Schema(tuple(column for column in group.shape.in_path if column.name in taken))
        if in_path.columns:
            fields += self._spark().createDataFrame([], _ddl(in_path)).schema.fields
        reader = self._reader(group.path_columns).schema(StructType(fields))
        rows = reader.load([spark_path(path) for path in group.paths])
        return rows.selectExpr(*[quote(field.name) for field in fields], *_tagged(number))

    def _reader(self, path_columns: PathColumns) -> DataFrameReader:
        reader = self._spark().read.format(self._format).options(**self._options)
        reader = reader.option("ignoreCorruptFiles", "false").option("ignoreMissingFiles", "false")
        if self._format == "csv":
            reader = reader.option("header", self._header).option("sep", self._delimiter)
        if path_columns.base is None:
            return reader.option("recursiveFileLookup", "true")
        return reader.option("basePath", spark_folder(path_columns.base))


def _tagged(number: str | None) -> list[str]:
    return [] if number is None else [f"{number} AS {quote(AT)}"]


def _text_schema(group: Group) -> Schema:
    """The columns of a text file by their places. One whose name was there before, or is none, gets another."""
    columns: list[Column] = []
    seen: set[str] = set()
    for at, column in enumerate(group.shape.schema):
        name = column.name.lower()
        is_plain = name.strip() and name not in seen and not name.startswith("_samewise_")
        columns.append(column if is_plain else replace(column, name=f"_samewise_column_{at}"))
        seen.add(name)
    return Schema((*columns, *group.shape.in_path.columns))


def _every_column(group: Group) -> str:
    """Always true, and never known to be: it makes Spark parse every column of every row.

    Spark parses only the columns that a query needs, so that without this a malformed value would
    pass wherever the transform does not look at it.
    """
    in_path = {column.name for column in group.shape.in_path}
    names = [name for name in _text_schema(group).names if name not in in_path]
    if not names:
        return "TRUE"
    return f"({' + '.join(f'INT({quote(name)} IS NULL)' for name in names)}) >= 0"


def _check_name(path: str) -> None:
    if ":" in path.rpartition("/")[2]:
        raise malformed.not_readable(path, "Spark cannot read a file with a colon in its name", "rename it")


def _no_files(glob: str) -> Refused:
    return Refused(
        f"no file matches {glob}",
        code="no_files",
        next_step=f"put the files there ({glob}), then run the same command again",
    )


def _pins(found: Sequence[FileStat], manifest: Manifest | None) -> Pins:
    for file in found:
        _check_name(file.path)
    listed: list[Json] = [[file.path, file.size_bytes, file.version] for file in found]
    promised = None if manifest is None else manifest.to_json()
    return Pins(
        kind="files",
        fingerprint=stable_hash(["files", listed, promised]),
        summary=f"{_files(len(found))}, {_size(sum(file.size_bytes for file in found))}",
        details={"files": listed, "manifest": promised},
    )


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
