"""Values in a form that can be hashed, grouped and compared, whatever their type; and as text for a person.

Two values that are the same value look the same here: 0.0 and -0.0, one NaN and another, a map and the same map with
its entries in another order. Two that are not never do: strings of a collation that ignores case are told apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from samewise.core.measures import exact_text
from samewise.core.schema import Column
from samewise.core.sql import quote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

_EPOCH = datetime(1970, 1, 1)
_LONGEST = 200
"""Of a value that is shown; a document in a column is not printed whole."""
_WHOLE = frozenset({"tinyint", "smallint", "int", "bigint"})


@dataclass(frozen=True, slots=True)
class Field:
    """One column of a frame, and the SQL that its value is compared by."""

    name: str
    type: str
    value: str
    nested: bool

    @property
    def quoted(self) -> str:
        return quote(self.name)

    @property
    def is_whole(self) -> bool:
        return self.type in _WHOLE

    @property
    def is_decimal(self) -> bool:
        return self.type.startswith("decimal")

    @property
    def is_float(self) -> bool:
        return self.type in ("float", "double")

    @property
    def is_instant(self) -> bool:
        return self.type == "timestamp"


def fields_of(frame: DataFrame) -> tuple[Field, ...]:
    """The columns of a frame, without running it."""
    return tuple(_field(field.name, field.dataType) for field in frame.schema.fields)


def _field(name: str, kind: DataType) -> Field:
    from pyspark.sql import types as t

    type_, quoted = kind.simpleString(), quote(name)
    if isinstance(kind, t.StringType):
        return Field(name, type_, quoted if type_ == "string" else f"collate({quoted}, 'UTF8_BINARY')", False)
    if isinstance(kind, t.DoubleType | t.FloatType):
        return Field(name, type_, _without_sign_of_zero(quoted, type_), False)
    if isinstance(kind, t.NullType):
        return Field(name, type_, f"CAST({quoted} AS STRING)", False)
    if isinstance(kind, t.ArrayType | t.StructType | t.MapType | t.VariantType | t.CalendarIntervalType):
        return Field(name, type_, exact_text(Column(name, type_), _sorted(quoted, kind)), True)
    return Field(name, type_, quoted, False)


def _without_sign_of_zero(value: str, type_: str) -> str:
    return f"({value} + CAST(0 AS {type_.upper()}))"


def _sorted(value: str, kind: DataType, depth: int = 0) -> str:
    """The same value with the entries of its maps in order and no negative zero."""
    from pyspark.sql import types as t

    item = f"x{depth}"
    if isinstance(kind, t.DoubleType | t.FloatType):
        return _without_sign_of_zero(value, kind.simpleString())
    if isinstance(kind, t.ArrayType):
        inner = _sorted(item, kind.elementType, depth + 1)
        return value if inner == item else f"transform({value}, {item} -> {inner})"
    if isinstance(kind, t.StructType):
        parts = [(f.name, f"{value}.{quote(f.name)}", f.dataType) for f in kind.fields]
        made = [(name, part, _sorted(part, inner, depth)) for name, part, inner in parts]
        if all(part == new for _, part, new in made):
            return value
        body = ", ".join(f"'{_escaped(name)}', {new}" for name, _, new in made)
        return f"IF({value} IS NULL, NULL, named_struct({body}))"
    if isinstance(kind, t.MapType):
        key = _sorted(f"{item}.key", kind.keyType, depth + 1)
        worth = _sorted(f"{item}.value", kind.valueType, depth + 1)
        entries = f"transform(map_entries({value}), {item} -> named_struct('key', {key}, 'value', {worth}))"
        # By the keys alone: a key is there once, and a value need not have an order.
        return f"array_sort({entries}, (a{depth}, b{depth}) -> {_by_key(depth)})"
    return value


def _by_key(depth: int) -> str:
    return f"CASE WHEN a{depth}.key < b{depth}.key THEN -1 WHEN a{depth}.key > b{depth}.key THEN 1 ELSE 0 END"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def plain_sql(field: Field, value: str) -> str:
    """SQL whose result `as_text` can show: independent of the session's time zone."""
    if field.is_instant:
        return f"CAST(unix_micros({value}) AS STRING)"
    if field.type == "binary":
        return f"hex({value})"
    return f"CAST({value} AS STRING)"


def as_text(field: Field, value: object) -> str | None:
    """What a person reads. An instant is in UTC."""
    if value is None:
        return None
    text = str(value)
    if field.nested:
        # As `exact_text` has packed it.
        text = text.removeprefix('{"v":').removesuffix("}")
    if field.is_instant:
        try:
            moment = (_EPOCH + timedelta(microseconds=int(text))).replace(tzinfo=UTC)
        except (OverflowError, ValueError):
            return text
        return moment.isoformat(sep=" ").replace("+00:00", "Z")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
