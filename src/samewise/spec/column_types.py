"""The column types that a `schema:` may name: Spark's grammar, in Spark's own lower-case spelling."""

from __future__ import annotations

import re

from samewise.spec.words import closest

_SPELLINGS = {
    "boolean": "boolean",
    "tinyint": "tinyint",
    "byte": "tinyint",
    "smallint": "smallint",
    "short": "smallint",
    "int": "int",
    "integer": "int",
    "bigint": "bigint",
    "long": "bigint",
    "float": "float",
    "real": "float",
    "double": "double",
    "string": "string",
    "binary": "binary",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ltz": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
    "variant": "variant",
}
_DECIMALS = ("decimal", "dec", "numeric")
_NESTED = ("array", "map", "struct")
_MAX_PRECISION = 38
_MAX_DEPTH = 30
_TOKEN = re.compile(r"\s*(?:(`(?:[^`]|``)+`)|([A-Za-z_][A-Za-z0-9_]*)|([0-9]+)|([<>(),:]))")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def parse_column_type(text: str) -> str:
    """The type in Spark's spelling: `DEC(12, 2)` is `decimal(12,2)`. ValueError says what is wrong."""
    parser = _Parser(text)
    result = parser.type_(0)
    if parser.here is not None:
        raise ValueError(f"'{parser.here}' is too much in the type '{text}'")
    return result


def is_nested(column_type: str) -> bool:
    """True for array, map and struct."""
    return column_type.startswith(_NESTED)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.position = 0

    @property
    def here(self) -> str | None:
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def take(self) -> str:
        token = self.here
        if token is None:
            raise ValueError(f"the type '{self.text}' is not finished")
        self.position += 1
        return token

    def expect(self, token: str) -> None:
        if self.here != token:
            found = f"'{self.here}'" if self.here is not None else "the end"
            raise ValueError(f"expected '{token}', found {found} in the type '{self.text}'")
        self.position += 1

    def type_(self, depth: int) -> str:
        if depth > _MAX_DEPTH:
            raise ValueError("the type is nested too deeply")
        word = self.take().lower()
        if word in _DECIMALS:
            return self.decimal()
        if word == "array":
            self.expect("<")
            element = self.type_(depth + 1)
            self.expect(">")
            return f"array<{element}>"
        if word == "map":
            self.expect("<")
            key = self.type_(depth + 1)
            if key.startswith("map") or "map<" in key:
                raise ValueError("the key of a map cannot be a map")
            self.expect(",")
            value = self.type_(depth + 1)
            self.expect(">")
            return f"map<{key},{value}>"
        if word == "struct":
            return self.struct(depth)
        if word in ("char", "varchar", "character"):
            raise ValueError(f"Spark does not read files as {word}: use string")
        if word in _SPELLINGS:
            return _SPELLINGS[word]
        meant = closest(word, [*_SPELLINGS, *_DECIMALS, *_NESTED])
        hint = f", did you mean '{meant}'?" if meant else ""
        raise ValueError(f"unknown column type '{word}'{hint}")

    def decimal(self) -> str:
        if self.here != "(":
            return "decimal(10,0)"
        self.expect("(")
        precision = self.number()
        scale = 0
        if self.here == ",":
            self.expect(",")
            scale = self.number()
        self.expect(")")
        if not 1 <= precision <= _MAX_PRECISION:
            raise ValueError(f"a decimal has 1 to {_MAX_PRECISION} digits, not {precision}")
        if scale > precision:
            raise ValueError(f"decimal({precision},{scale}) has more decimals than digits")
        return f"decimal({precision},{scale})"

    def number(self) -> int:
        token = self.take()
        if not token.isdigit():
            raise ValueError(f"expected a number, found '{token}' in the type '{self.text}'")
        return int(token[:9])

    def struct(self, depth: int) -> str:
        fields: list[str] = []
        names: set[str] = set()
        self.expect("<")
        while True:
            token = self.take()
            name = token[1:-1].replace("``", "`") if token.startswith("`") else token
            if not token.startswith("`") and not _PLAIN_NAME.fullmatch(token):
                raise ValueError(f"expected a field's name, found '{token}' in the type '{self.text}'")
            if name.lower() in names:
                raise ValueError(f"the field '{name}' is twice in the type '{self.text}'")
            names.add(name.lower())
            if self.here == ":":
                self.expect(":")
            written = name if _PLAIN_NAME.fullmatch(name) else token
            fields.append(f"{written}:{self.type_(depth + 1)}")
            if self.here != ",":
                break
            self.expect(",")
        self.expect(">")
        return f"struct<{','.join(fields)}>"


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    position = 0
    end = len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"'{text[position:].strip()[:10]}' is not part of a type")
        tokens.append(match.group().strip())
        position = match.end()
    return tokens
