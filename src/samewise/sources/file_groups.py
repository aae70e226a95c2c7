"""Files of a window, in groups that hold the same columns: each group is read in its own way."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from samewise.core.schema import Column, Schema
from samewise.core.shapes import Fit, Shape, Taken, as_it_is
from samewise.sources import malformed
from samewise.sources.path_columns import PathColumns, find_path_columns
from samewise.storage import files as storage
from samewise.storage.parquet_footer import NotParquet, noted, signature

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_ORC_MAGIC = b"ORC"
_SPARKS_SCHEMA = "org.apache.spark.sql.parquet.row.metadata"


@dataclass(frozen=True, slots=True)
class Group:
    """Files with the same columns."""

    shape: Shape
    path_columns: PathColumns
    struct: StructType | None = None
    """Spark's own description of what Parquet and ORC files hold: a type in words cannot say everything."""

    @property
    def paths(self) -> tuple[str, ...]:
        return self.shape.places

    def fit(self, declared: Schema | None) -> Fit:
        """How rows are read where nobody has decided otherwise: as declared, or as they are."""
        if declared is None:
            return as_it_is(self.shape)
        columns = self.shape.columns
        missing = [column.name for column in declared if columns.get(column.name) is None]
        if missing:
            raise ValueError(f"{self.paths[0]} has no column {missing[0]}, and nobody says what to read instead")
        return tuple(Taken(column, columns.get(column.name)) for column in declared)


@dataclass(frozen=True, slots=True)
class Grouping:
    """What is known about columns before a file is looked at. `renames` maps declared names to those in files."""

    declared: Schema | None
    renames: Mapping[str, str]

    def by_header(self, headers: Mapping[str, Sequence[str] | None]) -> list[Group]:
        """Groups of CSV files by their headers; a file without any record joins the first."""
        assert self.declared is not None
        named: dict[tuple[str, ...], list[str]] = {}
        for path, header in headers.items():
            if header is not None:
                named.setdefault(tuple(header), []).append(path)
        empty = [path for path, header in headers.items() if header is None]
        if not named:
            return self.unnamed(empty)
        next(iter(named.values())).extend(empty)
        return [self._header_group(header, paths) for header, paths in named.items()]

    def unnamed(self, paths: Sequence[str]) -> list[Group]:
        """One group of files that do not say what they hold: what is declared."""
        assert self.declared is not None
        path_columns = find_path_columns(paths, self.declared.names, None)
        own, in_path = self._split(path_columns)
        return [Group(Shape(own, tuple(paths), in_path), path_columns)]

    def by_footer(self, structs: Mapping[str, StructType]) -> list[Group]:
        """Groups of Parquet or ORC files by the schemas that Spark sees in them."""
        alike: dict[str, list[str]] = {}
        for path, struct in structs.items():
            alike.setdefault(struct.json(), []).append(path)
        return [self._footer_group(structs[paths[0]], paths) for paths in alike.values()]

    def _header_group(self, header: tuple[str, ...], paths: Sequence[str]) -> Group:
        path_columns = self._path_columns(paths, header)
        own = Schema(tuple(Column(name, self._type_of(name)) for name in header))
        return Group(Shape(own, tuple(paths), self._split(path_columns)[1], is_header=True), path_columns)

    def _footer_group(self, struct: StructType, paths: Sequence[str]) -> Group:
        own = Schema(tuple(Column(field.name, field.dataType.simpleString(), field.nullable) for field in struct))
        if self.declared is None:
            return Group(Shape(own, tuple(paths)), PathColumns(), struct)
        path_columns = self._path_columns(paths, own.names)
        return Group(Shape(own, tuple(paths), self._split(path_columns)[1]), path_columns, struct)

    def _path_columns(self, paths: Sequence[str], names: Sequence[str]) -> PathColumns:
        assert self.declared is not None
        lower = {name.lower() for name in names}
        renamed = [old for old, new in self.renames.items() if new.lower() in lower]
        return find_path_columns(paths, self.declared.names, [*names, *renamed])

    def _split(self, path_columns: PathColumns) -> tuple[Schema, Schema]:
        """The declared columns of the files and those of the folders."""
        assert self.declared is not None
        own = {name.lower() for name in path_columns.without(self.declared.names)}
        return (
            Schema(tuple(column for column in self.declared if column.name.lower() in own)),
            Schema(tuple(column for column in self.declared if column.name.lower() not in own)),
        )

    def _type_of(self, name: str) -> str:
        """The type to parse a CSV column as: a column that nobody declared is text."""
        assert self.declared is not None
        olds = {new.lower(): old for old, new in self.renames.items()}
        column = self.declared.get(name) or self.declared.get(olds.get(name.lower(), name))
        return "string" if column is None else column.type


def footer_structs(
    paths: Sequence[str], format: str, ask_spark: Callable[[str], StructType], asked: dict[str, StructType]
) -> dict[str, StructType]:
    """What each Parquet or ORC file holds. Spark is asked once for all Parquet files with the same footer: `asked`
    remembers its answers, also from one window to the next.

    Raises `Refused` for a file that is damaged.
    """
    found: dict[str, StructType] = {}
    for path in paths:
        if format == "orc":
            _check_orc(path)
        if format != "parquet":
            found[path] = ask_spark(path)
            continue
        kind = _parquet_signature(path)
        if kind not in asked:
            asked[kind] = _noted_by_spark(path) or ask_spark(path)
        found[path] = asked[kind]
    return found


def _noted_by_spark(path: str) -> StructType | None:
    """What Spark would answer, where it was Spark that wrote the file: it reads what it has noted there itself.

    None where it did not, or where a column is more than its type says. Asking would cost a job.
    """
    from pyspark.sql.types import StructType

    try:
        text = noted(path, _SPARKS_SCHEMA)
        struct = None if text is None else StructType.fromJson(_nullable(json.loads(text)))
    except (NotParquet, ValueError, KeyError, TypeError):
        return None
    return None if struct is None or any(field.metadata for field in struct) else struct


def _nullable(type: Any) -> Any:
    """A type in Spark's JSON, as a file is read: any value may be missing."""
    if isinstance(type, list):
        return [_nullable(part) for part in type]
    if not isinstance(type, dict):
        return type
    found = {key: value if key == "metadata" else _nullable(value) for key, value in type.items()}
    return found | {key: True for key in ("nullable", "containsNull", "valueContainsNull") if key in found}


def _parquet_signature(path: str) -> str:
    try:
        return signature(path)
    except NotParquet as error:
        raise malformed.not_readable(path, f"not a whole Parquet file, {error}") from error


def _check_orc(path: str) -> None:
    if storage.read_head(path, len(_ORC_MAGIC)) != _ORC_MAGIC or _ORC_MAGIC not in storage.read_tail(path, 4):
        raise malformed.not_readable(path, "not a whole ORC file")
