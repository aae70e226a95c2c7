"""The `source:` of a task, and how a table is named."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

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
from samewise.spec.words import closest

SOURCE_TYPES = ("files", "delta")

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


class TableRef(Model):
    """A Delta table, by its name in the catalog (or warehouse) or by its place."""

    table: TableName | None = None
    path: Text | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> TableRef:
        if (self.table is None) == (self.path is None):
            raise wrong("needs either 'table' or 'path'" + (", not both" if self.table is not None else ""))
        return self


class DeltaSource(TableRef):
    """Rows of a Delta table: all of them, or those of the window."""

    type: Literal["delta"]
    window_column: ColumnName | None = None


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
        known = READER_OPTIONS[self.format]
        for option in self.options:
            if option not in known:
                meant = closest(option, known)
                hint = f", did you mean '{meant}'?" if meant else ""
                parts.append((("options", option), f"not an option for {self.format} files here{hint}"))
        if parts:
            raise all_wrong(parts)
        return self
