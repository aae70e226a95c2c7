"""What the footer of a Parquet file says, without Spark: above all, whether two files have the same columns.

Only this much of the format is known here: the footer is a struct in Thrift's compact protocol whose
second field lists the schema's elements, depth first; an element's fourth field is its name, its fifth
the number of its children, its ninth a number that some writers give it, and the others are its type.
"""

from __future__ import annotations

from typing import Any

from samewise.core.ids import Json, stable_hash
from samewise.storage.files import open_bytes
from samewise.storage.thrift import CompactReader

_MAGIC = b"PAR1"
_TAIL_BYTES = 8
_MOST_FOOTER_BYTES = 1 << 30

_SCHEMA = 2
_KEY_VALUES = 5
_FIELD_ID = 9


class NotParquet(Exception):
    """The file is cut off, or was never Parquet."""


def signature(path: str) -> str:
    """The same for two files only if they have the same columns, of the same types. Raises `NotParquet`."""
    # What follows describes every column of every row group, and nobody asks for it.
    elements = read_footer(path, until=_SCHEMA).get(_SCHEMA)
    try:
        if not isinstance(elements, list) or _end_of(elements, 0) != len(elements):
            raise ValueError("the elements are not one tree")
        return stable_hash([[_described(field) for field in element.items()] for element in elements[1:]])
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise NotParquet("its footer cannot be understood") from error


def noted(path: str, key: str) -> str | None:
    """What the writer of the file has noted in it under a name of its own. Raises `NotParquet`."""
    for pair in read_footer(path, until=_KEY_VALUES).get(_KEY_VALUES, []):
        if pair.get(1) == key.encode() and isinstance(pair.get(2), bytes):
            return str(pair[2].decode())
    return None


def read_footer(path: str, *, until: int | None = None) -> dict[int, Any]:
    """The footer's fields by number, no further than field `until`. Raises `NotParquet`."""
    with open_bytes(path) as file:
        head = file.read(len(_MAGIC))
        end = file.seek(0, 2)
        if head != _MAGIC or end < len(_MAGIC) + _TAIL_BYTES:
            raise NotParquet("it does not begin as a Parquet file does")
        file.seek(end - _TAIL_BYTES)
        tail = file.read(_TAIL_BYTES)
        if tail[4:] != _MAGIC:
            raise NotParquet("its end is missing")
        length = int.from_bytes(tail[:4], "little")
        if length > min(end - _TAIL_BYTES - len(_MAGIC), _MOST_FOOTER_BYTES):
            raise NotParquet("its footer is longer than the file")
        file.seek(end - _TAIL_BYTES - length)
        footer = file.read(length)
    try:
        return CompactReader(footer).struct(until=until)
    except (IndexError, ValueError) as error:
        raise NotParquet("its footer cannot be understood") from error


def _end_of(elements: list[dict[int, Any]], at: int) -> int:
    """Where the element and all below it end; they come depth first."""
    open_children = 1
    while open_children:
        open_children += elements[at].get(5, 0) - 1
        at += 1
    return at


def _described(field: tuple[int, Any]) -> Json:
    number, value = field
    return None if number == _FIELD_ID else f"{number}: {value!r}"
