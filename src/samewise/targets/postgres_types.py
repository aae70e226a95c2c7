"""Spark's types in PostgreSQL: each value exactly, or the column is refused by name."""

from __future__ import annotations

import re

from samewise.core.errors import Refused
from samewise.core.schema import Column, Schema
from samewise.core.sql import quote
from samewise.storage.postgres import Attribute, Relation

_MADE = {
    "boolean": "boolean",
    "tinyint": "smallint",
    "smallint": "smallint",
    "int": "integer",
    "bigint": "bigint",
    "float": "real",
    "double": "double precision",
    "string": "text",
    "binary": "bytea",
    "date": "date",
    "timestamp": "timestamp with time zone",
    "timestamp_ntz": "timestamp without time zone",
}
_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
_WIDER = {
    "smallint": ("tinyint", "smallint"),
    "integer": ("tinyint", "smallint", "int"),
    "bigint": ("tinyint", "smallint", "int", "bigint"),
    "real": ("float",),
    "double precision": ("float", "double"),
    "uuid": ("string",),
    "jsonb": ("string",),
}
"""Columns of a table that someone else made, and what they can take without a loss."""
_IN_ARRAYS = ("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "date")
_LONGEST_NAME = 63


def made_type(column: Column) -> str:
    """The type of a column that is made for these values. Raises `Refused` for a type without an equal."""
    type_ = _plain(column.type)
    if type_ in _MADE:
        return _MADE[type_]
    sized = re.fullmatch(r"decimal\((\d+),(\d+)\)", type_)
    if sized is not None:
        return f"numeric({sized[1]},{sized[2]})"
    element = _element(type_)
    if element in _IN_ARRAYS or (element or "").startswith("decimal("):
        return made_type(Column(column.name, str(element))) + "[]"
    hint = "CAST it to STRING, or write it as JSON with to_json, in the transform"
    raise _refused(f"the column {column.name} is {column.type}, for which PostgreSQL has no equal", hint)


def takes(attribute: Attribute, column: Column) -> bool:
    """Whether a column of a table keeps every value of this one exactly, or refuses it itself."""
    type_, there = _plain(column.type), attribute.type
    if attribute.generated:
        return False
    if there in _WIDER or attribute.is_enum:
        return type_ in _WIDER.get(there, ("string",))
    if there.startswith("character varying"):
        return type_ == "string"
    if there.startswith("numeric") and not there.endswith("[]"):
        return _fits(there, type_)
    try:
        return made_type(column) == there
    except Refused:
        return False


def fitted_schema(result: Schema, there: Relation | None) -> Schema:
    """`result` in the types that `there` shows, where its columns take the values; in those of new columns elsewhere.

    Raises `Refused` with the name of the first column that cannot be kept exactly.
    """
    columns = []
    for column in result:
        _check_name(column.name)
        attribute = None if there is None else there.attribute(column.name)
        if attribute is None:
            made_type(column)
            columns.append(column)
        elif takes(attribute, column):
            columns.append(Column(column.name, attribute.spark_type or attribute.type, column.nullable))
        else:
            why = "PostgreSQL computes it itself" if attribute.generated else f"it is {attribute.type} there"
            raise _refused(
                f"the column {column.name} is {column.type}, and the target cannot take that: {why}",
                "cast it in the transform, or change the table first (ALTER TABLE)",
            )
    if there is not None:
        _check_case(there)
    return Schema(tuple(columns))


def text_expression(column: Column) -> str:
    """Spark SQL that makes a value ready for COPY: as it is, where Arrow writes it in a way that PostgreSQL reads."""
    name, type_ = quote(column.name), _plain(column.type)
    if type_ == "binary":
        return f"concat('\\\\x', hex({name}))"
    element = _element(type_)
    if element is None:
        return name
    text = "CAST(x AS STRING)"
    if element == "string":
        text = "concat('\"', replace(replace(x, '\\\\', '\\\\\\\\'), '\"', '\\\\\"'), '\"')"
    # A NULL inside is a word without quotes; that the whole array is NULL stays so, as concat gives NULL.
    return f"concat('{{', array_join(transform({name}, x -> coalesce({text}, 'NULL')), ','), '}}')"


def is_ordered(column: Column) -> bool:
    """Whether PostgreSQL puts values in the same order as Spark does: what a version needs."""
    type_ = _plain(column.type)
    return (type_ in _MADE and type_ != "binary") or type_.startswith("decimal(")


def _fits(there: str, type_: str) -> bool:
    sized = re.fullmatch(r"decimal\((\d+),(\d+)\)", type_)
    if sized is not None:
        digits, scale = int(sized[1]), int(sized[2])
    elif type_ in _DIGITS:
        digits, scale = _DIGITS[type_], 0
    else:
        return False
    limit = re.fullmatch(r"numeric\((\d+),(-?\d+)\)", there)
    if limit is None:
        return True
    return scale <= int(limit[2]) and digits - scale <= int(limit[1]) - int(limit[2])


def _plain(type_: str) -> str:
    """Without a length or a collation: those are the table's own business."""
    return re.sub(r"^(varchar|char)\(\d+\)$|^string collate \w+$", "string", type_.lower())


def _element(type_: str) -> str | None:
    found = re.fullmatch(r"array<([^<>]+)>", type_)
    return None if found is None else found[1]


def _check_name(name: str) -> None:
    if len(name.encode()) > _LONGEST_NAME:
        raise _refused(
            f"the column {name} has a name of more than {_LONGEST_NAME} bytes, which PostgreSQL would cut off",
            "give it a shorter name in the transform",
        )
    if "\x00" in name:
        raise _refused("a column has a NUL character in its name", "give it another name in the transform")


def _check_case(there: Relation) -> None:
    seen: dict[str, str] = {}
    for attribute in there.attributes:
        other = seen.setdefault(attribute.name.lower(), attribute.name)
        if other != attribute.name:
            raise _refused(
                f"the target has the columns {other} and {attribute.name}, which Spark does not tell apart",
                "rename one of them (ALTER TABLE … RENAME COLUMN)",
            )


def _refused(message: str, next_step: str) -> Refused:
    return Refused(message, code="target_schema", kept="the target is untouched", next_step=next_step)
