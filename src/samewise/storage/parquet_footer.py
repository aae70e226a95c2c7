"""Whether two Parquet files have the same columns, from their footers, without Spark.

Only this much of the format is known here: the footer is a struct in Thrift's compact protocol whose
second field lists the schema's elements, depth first; an element's fourth field is its name, its fifth
the number of its children, its ninth a number that some writers give it, and the others are its type.
"""

from __future__ import annotations

from typing import Any

from samewise.core.ids import Json, stable_hash
from samewise.storage.files import open_bytes

_MAGIC = b"PAR1"
_TAIL_BYTES = 8
_MOST_FOOTER_BYTES = 1 << 30

_FIELD_ID = 9
_BOOLEANS = (1, 2)
_INTEGERS = (4, 5, 6)


class NotParquet(Exception):
    """The file is cut off, or was never Parquet."""


def signature(path: str) -> str:
    """The same for two files only if they have the same columns, of the same types. Raises `NotParquet`."""
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
        elements = _Reader(footer).struct(depth=0)[2]
        if _end_of(elements, 0) != len(elements):
            raise ValueError("the elements are not one tree")
        return stable_hash([[_described(field) for field in element.items()] for element in elements[1:]])
    except (IndexError, KeyError, TypeError, ValueError) as error:
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


class _Reader:
    """Thrift's compact protocol, as far as a Parquet footer uses it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def struct(self, depth: int) -> dict[int, Any]:
        if depth > 32:
            raise ValueError("nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while header := self._byte():
            kind, step = header & 0x0F, header >> 4
            number = number + step if step else self._zigzag()
            fields[number] = kind == 1 if kind in _BOOLEANS else self._value(kind, depth)
            if depth == 0 and number == 2:
                # What follows describes every column of every row group, and nobody asks for it.
                break
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in _INTEGERS:
            return self._zigzag()
        match kind:
            case 1 | 2 | 3:
                return self._byte()
            case 7:
                return self._take(8)
            case 8:
                return self._take(self._varint())
            case 9 | 10:
                header = self._byte()
                size = header >> 4 if header >> 4 != 15 else self._varint()
                return [self._value(header & 0x0F, depth + 1) for _ in range(size)]
            case 11:
                size = self._varint()
                kinds = self._byte() if size else 0
                return [(self._value(kinds >> 4, depth + 1), self._value(kinds & 0x0F, depth + 1)) for _ in range(size)]
            case 12:
                return self.struct(depth + 1)
            case other:
                raise ValueError(f"no such type: {other}")

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _take(self, size: int) -> bytes:
        found = self._data[self._at : self._at + size]
        if len(found) < size:
            raise IndexError("cut off")
        self._at += size
        return found

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
