"""A Delta log's own spelling of types, in Spark's words."""

from __future__ import annotations

import json
from typing import Any

from samewise.core.schema import Column, Schema

_SPARK_NAMES = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}


def read_schema(text: str) -> Schema:
    """The schema in the JSON that a Delta log keeps."""
    return Schema(
        tuple(
            Column(field["name"], spark_type(field["type"]), bool(field["nullable"]))
            for field in json.loads(text)["fields"]
        )
    )


def spark_type(delta_type: Any) -> str:
    """`{"type": "array", "elementType": "long", …}` is `array<bigint>`."""
    if isinstance(delta_type, str):
        return _SPARK_NAMES.get(delta_type, delta_type)
    match delta_type["type"]:
        case "struct":
            fields = (f"{field['name']}:{spark_type(field['type'])}" for field in delta_type["fields"])
            return f"struct<{','.join(fields)}>"
        case "array":
            return f"array<{spark_type(delta_type['elementType'])}>"
        case "map":
            return f"map<{spark_type(delta_type['keyType'])},{spark_type(delta_type['valueType'])}>"
        case other:
            raise ValueError(f"a Delta log has no type {other!r}")
