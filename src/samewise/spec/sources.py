"""The `source:` of a task, and how a table is named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from samewise.spec.column_types import is_nested
from samewise.spec.fields import (
    ColumnName,
    ColumnTypes,
    Delimiter,
    Model,
    OptionValues,
    Part,
    TableName,
    Text,
    YesNo,
    all_wrong,
    one_of,
    wrong,
)
from samewise.spec.times import Duration, Lag, Moment, ZoneName
from samewise.spec.words import closest, shown

SOURCE_TYPES = ("files", "delta", "postgres")

_TEXT_OPTIONS = (
    "encoding",
    "dateFormat",
    "timestampFormat",
    "timestampNTZFormat",
    "multiLine",
    "lineSep",
    "locale",
)
# Only what says how to read a value. What would change which rows or columns are read (mode,
# inferSchema, pathGlobFilter, columnNameOfCorruptRecord, …) is the engine's business.
READER_OPTIONS: dict[str, tuple[str, ...]] = {
    "csv": (
        *_TEXT_OPTIONS,
        "quote",
        "escape",
        "charToEscapeQuoteEscaping",
        "comment",
        "nullValue",
        "emptyValue",
        "nanValue",
        "positiveInf",
        "negativeInf",
        "ignoreLeadingWhiteSpace",
        "ignoreTrailingWhiteSpace",
        "maxColumns",
        "maxCharsPerColumn",
        "unescapedQuoteHandling",
    ),
    "json": (
        *_TEXT_OPTIONS,
        "allowComments",
        "allowUnquotedFieldNames",
        "allowSingleQuotes",
        "allowNumericLeadingZeros",
        "allowBackslashEscapingAnyCharacter",
        "allowUnquotedControlChars",
        "allowNonNumericNumbers",
    ),
    "parquet": ("datetimeRebaseMode", "int96RebaseMode"),
    "orc": (),
}


def _only_true(value: object) -> object:
    if value is not True:
        raise wrong(f"must be true, not {shown(value)}")
    return value


class TableRef(Model):
    """A Delta table, by its name in the catalog (or warehouse) or by its place."""

    table: TableName | None = None
    path: Text | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> TableRef:
        if (self.table is None) == (self.path is None):
            raise wrong("needs either 'table' or 'path'" + (", not both" if self.table is not None else ""))
        return self


class Drift(Model):
    """What is done when the source has another shape than the accepted one, by kind of change."""

    added: Annotated[Literal["fail", "add", "ignore"], one_of("way to treat a new column", "fail", "add", "ignore")] = (
        "fail"
    )
    removed: Annotated[Literal["fail", "ignore"], one_of("way to treat a missing column", "fail", "ignore")] = "fail"
    """`ignore`: the column is read as NULL."""
    type: Annotated[Literal["fail", "ignore"], one_of("way to treat a changed type", "fail", "ignore")] = "fail"
    """`ignore`: values are cast to the accepted type, and one that does not fit fails the run."""
    nullability: Annotated[
        Literal["fail", "ignore"], one_of("way to treat a column that may now be NULL", "fail", "ignore")
    ] = "fail"
    order: Annotated[Literal["fail", "ignore"], one_of("way to treat moved columns", "fail", "ignore")] = "fail"
    """For CSV. `ignore`: columns are found by their names in each file's header."""
    rename: Mapping[ColumnName, ColumnName] = Field(default_factory=dict)
    """`{old: new}`: the source now calls `new` what was accepted as `old`; it is read as `old`."""

    @model_validator(mode="after")
    def _names_each_column_once(self) -> Drift:
        parts: list[Part] = []
        olds = {old.lower() for old in self.rename}
        seen: dict[str, str] = {}
        for old, new in self.rename.items():
            if new.lower() in seen:
                parts.append((("rename", old), f"'{new}' is the new name of '{seen[new.lower()]}' already"))
            elif new.lower() in olds:
                parts.append((("rename", old), f"'{new}' is an old name here too"))
            seen.setdefault(new.lower(), old)
        if len(olds) < len(self.rename):
            parts.append((("rename",), "two old names differ only in upper and lower case"))
        if parts:
            raise all_wrong(parts)
        return self


class Since(Model):
    """Rows whose `column` lies after the watermark, and the `overlap` before it."""

    column: ColumnName
    overlap: Duration | None = None
    lag: Lag | None = None
    """How far behind the source's clock a run reads, for rows whose transaction is open; `0s` if there are none."""
    start: Moment | None = None
    """Where the first run begins; at the oldest row without it."""
    timezone: ZoneName | None = None
    """Whose days a DATE, and whose wall time a TIMESTAMP_NTZ is in; the schedule's, or UTC, without it."""


class NewFiles(Model):
    """Files that no run has loaded yet."""

    new_files: Annotated[Literal[True], BeforeValidator(_only_true)]
    on_changed: Annotated[
        Literal["refuse", "reload", "ignore"],
        one_of("way to treat a file that was overwritten", "refuse", "reload", "ignore"),
    ] = "refuse"


def _new_files(value: object) -> object:
    return {"new_files": True} if value == "new_files" else value


class DeltaSource(TableRef):
    """Rows of a Delta table: all of them, those of the window, or those since the watermark."""

    type: Literal["delta"]
    window_column: ColumnName | None = None
    incremental: Since | None = None
    drift: Drift = Field(default_factory=Drift)

    @model_validator(mode="after")
    def _reads_by_name(self) -> DeltaSource:
        if self.drift.order != "fail":
            sentence = "a Delta table is read by name: the order of columns makes no difference"
            raise all_wrong([(("drift", "order"), sentence)])
        return self


class FilesSource(Model):
    """Files that a glob finds for a window."""

    type: Literal["files"]
    path: Text
    format: Annotated[Literal["csv", "json", "parquet", "orc"], one_of("format", "csv", "json", "parquet", "orc")]
    columns: ColumnTypes | None = Field(default=None, alias="schema")
    header: YesNo = True
    delimiter: Delimiter = ","
    options: OptionValues = Field(default_factory=dict)
    on_malformed: Annotated[
        Literal["refuse", "quarantine"], one_of("way to treat malformed rows", "refuse", "quarantine")
    ] = "refuse"
    manifest: Text | None = None
    incremental: Annotated[
        NewFiles | None,
        BeforeValidator(_new_files, json_schema_input_type=Literal["new_files"] | NewFiles | None),
    ] = None
    drift: Drift = Field(default_factory=Drift)

    @model_validator(mode="after")
    def _fits_the_format(self) -> FilesSource:
        parts: list[Part] = []
        text = self.format in ("csv", "json")
        if text and self.columns is None:
            parts.append(((), f"needs a 'schema': {self.format} files do not say what types their values have"))
        if self.format == "csv" and self.columns is not None:
            parts.extend(
                (("schema", column.name), f"CSV cannot hold {column.type}")
                for column in self.columns
                if is_nested(column.type)
            )
        if self.format != "csv" and not self.header:
            parts.append((("header",), f"only CSV has a header, not {self.format}"))
        if self.format != "csv" and self.delimiter != ",":
            parts.append((("delimiter",), f"only CSV has a delimiter, not {self.format}"))
        if self.on_malformed == "quarantine" and not text:
            parts.append((("on_malformed",), f"{self.format} files have no malformed rows: one is readable or not"))
        parts.extend(self._drift_problems())
        known = READER_OPTIONS[self.format]
        for option in self.options:
            if option not in known:
                meant = closest(option, known)
                hint = f", did you mean '{meant}'?" if meant else ""
                parts.append((("options", option), f"not an option for {self.format} files here{hint}"))
        if parts:
            raise all_wrong(parts)
        return self

    def _drift_problems(self) -> Iterator[Part]:
        """Policies for changes that files of this kind cannot show."""
        drift = self.drift
        if self.format == "json" or not self.header:
            if drift != Drift():
                kind = "JSON files do" if self.format == "json" else "CSV without a header does"
                yield ("drift",), f"{kind} not say what columns a file has, so no change can be seen"
            return
        if drift.order != "fail" and self.format != "csv":
            yield ("drift", "order"), f"{self.format} files are read by name: the order of columns makes no difference"
        if drift.type != "fail" and self.format == "csv":
            yield ("drift", "type"), "CSV files do not say what types their values have"
        if drift.nullability != "fail":
            yield ("drift", "nullability"), f"every column of {self.format} files may be NULL"
        for old, new in drift.rename.items():
            if self.columns is None:
                continue
            if self.columns.get(old) is None:
                meant = closest(old, self.columns.names)
                hint = f", did you mean '{meant}'?" if meant else ""
                yield ("drift", "rename", old), f"the schema has no column '{old}'{hint}"
            if self.columns.get(new) is not None:
                yield ("drift", "rename", old), f"'{new}' is a column of the schema itself"
