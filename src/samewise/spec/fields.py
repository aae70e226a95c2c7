"""The leaves of a spec: each refuses a wrong value in its own plain sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Annotated, Any, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from samewise.core.schema import Schema
from samewise.spec.column_types import parse_column_type
from samewise.spec.words import closest, shown, unknown

ERROR_TYPE = "samewise"
RESERVED_COLUMN_PREFIX = "_samewise"
WINDOW_COLUMN = "_samewise_window"

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_TABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*){0,3}")
Part: TypeAlias = tuple[tuple[str, ...], str]
"""What is wrong somewhere below: (keys that lead there, sentence)."""
Scalar: TypeAlias = bool | int | float | str | date


class Model(BaseModel):
    """A frozen part of a spec. An unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def wrong(sentence: str, *, at: str | None = None, meant: str | None = None) -> PydanticCustomError:
    """An error for a validator to raise. `at`: the key below to blame; `meant`: what to go on with."""
    return all_wrong([(() if at is None else (at,), sentence)], meant=meant)


def all_wrong(parts: Sequence[Part], *, meant: str | None = None) -> PydanticCustomError:
    """The same for several keys at once."""
    sentences = "; ".join(sentence for _, sentence in parts)
    return PydanticCustomError(ERROR_TYPE, "{text}", {"text": sentences, "parts": parts, "meant": meant})


def text_of(value: object) -> str:
    """Text that says something."""
    if isinstance(value, bool | int | float | date):
        raise wrong(f"must be text, not {shown(value)}: put it in quotes")
    if not isinstance(value, str):
        raise wrong(f"must be text, not {shown(value)}")
    if not value.strip():
        raise wrong("must not be blank")
    if "\x00" in value:
        raise wrong("must not hold a NUL character")
    return value


def one_of(noun: str, *known: str) -> BeforeValidator:
    """A word out of a fixed list."""

    def check(value: object) -> object:
        if value not in known or not isinstance(value, str):
            # Any known word will do to go on with, so that the rest of the file is checked too.
            meant = closest(value, known) if isinstance(value, str) else None
            raise wrong(unknown(noun, value, known), meant=meant or known[0])
        return value

    return BeforeValidator(check)


def whole_number(minimum: int) -> BeforeValidator:
    """A whole number of at least `minimum`."""

    def check(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value < 2**63:
            raise wrong(f"must be a whole number of at least {minimum}, not {shown(value)}")
        return value

    return BeforeValidator(check)


def _yes_or_no(value: object) -> bool:
    if not isinstance(value, bool):
        raise wrong(f"must be true or false, not {shown(value)}")
    return value


def _percent(value: object) -> float:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*%", value) if isinstance(value, str) else None
    if match is None or float(match[1]) == 0:
        raise wrong(f"must be a share such as 30%, not {shown(value)}")
    return float(match[1])


def _delimiter(value: object) -> str:
    if not isinstance(value, str) or len(value) != 1 or value in "\r\n\"'\x00":
        raise wrong(f"must be one character, and not a quote or a line end, not {shown(value)}")
    return value


def _matching(pattern: re.Pattern[str], sentence: str) -> Callable[[object], str]:
    def check(value: object) -> str:
        text = text_of(value)
        if not pattern.fullmatch(text):
            raise wrong(f"{sentence}, not {shown(value)}")
        return text

    return check


def _column(value: object) -> str:
    text = text_of(value)
    if text.lower().startswith(RESERVED_COLUMN_PREFIX) and text.lower() != WINDOW_COLUMN:
        raise wrong(f"column names that start with {RESERVED_COLUMN_PREFIX} belong to Samewise")
    return text


def _columns(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise wrong(f"must be a list of columns, not {shown(value)}")
    columns = tuple(_column(item) for item in value)
    if not columns:
        raise wrong("must name at least one column")
    for index, column in enumerate(columns):
        if column.lower() in [earlier.lower() for earlier in columns[:index]]:
            raise wrong(f"names the column '{column}' twice")
    return columns


def _schema(value: object) -> Schema:
    if isinstance(value, Schema):
        return value
    if not isinstance(value, Mapping) or not value:
        raise wrong(f"must be a mapping of columns to types, not {shown(value)}")
    names: set[str] = set()
    columns: list[tuple[str, str]] = []
    parts: list[Part] = []
    for name, written in value.items():
        try:
            columns.append((name, _column_type(name, written, names)))
        except ValueError as error:
            parts.append(((name,), str(error)))
        names.add(name.lower())
    if parts:
        raise all_wrong(parts)
    return Schema.of(columns)


def _column_type(name: str, written: object, names: set[str]) -> str:
    if name.lower().startswith(RESERVED_COLUMN_PREFIX):
        raise ValueError(f"column names that start with {RESERVED_COLUMN_PREFIX} belong to Samewise")
    if not name.strip():
        raise ValueError("a column needs a name")
    if name.lower() in names:
        raise ValueError("two columns have this name: Spark does not tell upper from lower case")
    if not isinstance(written, str):
        raise ValueError(f"must be a type such as bigint, not {shown(written)}")
    return parse_column_type(written)


def _option_values(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise wrong(f"must be a mapping, not {shown(value)}")
    parts: list[Part] = [
        ((key,), f"must be text, a number, true or false, not {shown(item)}")
        for key, item in value.items()
        if item is None or isinstance(item, list | tuple | Mapping)
    ]
    if parts:
        raise all_wrong(parts)
    return {key: str(item).lower() if isinstance(item, bool) else str(item) for key, item in value.items()}


def _schema_json(value: Schema) -> dict[str, str]:
    return {column.name: column.type for column in value}


_TEXT_JSON: dict[str, Any] = {"type": "string", "minLength": 1}
_VALUE_MAP_JSON: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {"type": ["string", "number", "boolean"]},
}

Text = Annotated[str, BeforeValidator(text_of), WithJsonSchema(_TEXT_JSON)]
Name = Annotated[
    str,
    BeforeValidator(_matching(_NAME, "must be a name of letters, digits, _ and -")),
    WithJsonSchema({"type": "string", "pattern": f"^{_NAME.pattern}$"}),
]
TableName = Annotated[
    str,
    BeforeValidator(_matching(_TABLE, "must be a table's name such as orders or sales.orders")),
    WithJsonSchema({"type": "string", "pattern": f"^{_TABLE.pattern}$"}),
]
ColumnName = Annotated[str, BeforeValidator(_column), WithJsonSchema(_TEXT_JSON)]
ColumnNames = Annotated[
    tuple[str, ...],
    BeforeValidator(_columns),
    WithJsonSchema({"type": "array", "minItems": 1, "items": _TEXT_JSON}),
]
Percent = Annotated[
    float,
    PlainValidator(_percent),
    PlainSerializer(lambda share: f"{share:g}%", return_type=str),
    WithJsonSchema({"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?\s*%$"}),
]
"""A share in percent, written `30%`."""
YesNo = Annotated[bool, BeforeValidator(_yes_or_no)]
Count = Annotated[int, Field(ge=0), whole_number(0)]
Attempts = Annotated[int, Field(ge=1), whole_number(1)]
Delimiter = Annotated[
    str, BeforeValidator(_delimiter), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 1})
]
ColumnTypes = Annotated[
    Schema,
    PlainValidator(_schema),
    PlainSerializer(_schema_json, return_type=dict[str, str]),
    WithJsonSchema({"type": "object", "additionalProperties": _TEXT_JSON, "minProperties": 1}),
]
OptionValues = Annotated[Mapping[str, str], BeforeValidator(_option_values), WithJsonSchema(_VALUE_MAP_JSON)]


def is_identifier(text: str) -> bool:
    """True for a name that SQL and templates take without quotes."""
    return _IDENTIFIER.fullmatch(text) is not None
