"""Thrift's compact protocol, as far as the footer of a Parquet file uses it."""

from __future__ import annotations

from typing import Any

_BOOLEANS = (1, 2)
_INTEGERS = (4, 5, 6)
_DEEPEST = 32


class CompactReader:
    """Structs as dictionaries, by the numbers of their fields. Raises IndexError or ValueError for what is none."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def struct(self, *, until: int | None = None, depth: int = 0) -> dict[int, Any]:
        """The next struct; no further than field `until`, where the caller asks for nothing beyond it."""
        if depth > _DEEPEST:
            raise ValueError("nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while header := self._byte():
            kind, step = header & 0x0F, header >> 4
            number = number + step if step else self._zigzag()
            fields[number] = kind == 1 if kind in _BOOLEANS else self._value(kind, depth)
            if number == until:
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
                return self.struct(depth=depth + 1)
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
