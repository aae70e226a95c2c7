"""Notebooks: .ipynb cells and Databricks' .py form, as one Python text with the lines of the file."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_MAGIC_SQL = re.compile(r"^\s*%%?(sql|bigquery|sparksql)\b(.*)$")
_OTHER_LANGUAGE = re.compile(
    r"^\s*%%?(scala|r|md|sh|bash|html|javascript|writefile|fs|pip|latex|markdown|run|js|ruby|perl)\b"
)


@dataclass(frozen=True, slots=True)
class Notebook:
    """Python text, and for each of its lines (file line, cell)."""

    text: str
    places: list[tuple[int, int]]


def read_ipynb(text: str) -> Notebook:
    """Raises ValueError for what is not a notebook."""
    value = json.loads(text)
    cells = value.get("cells") if isinstance(value, dict) else None
    if not isinstance(cells, list):
        raise ValueError("no cells")
    lines: list[str] = []
    places: list[tuple[int, int]] = []
    at = 0
    for number, cell in enumerate(cells, start=1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", "")
        body = "".join(str(one) for one in source) if isinstance(source, list) else str(source)
        for line in _code(body.split("\n")):
            lines.append(line)
        for original in body.split("\n"):
            found = text.find(json.dumps(original, ensure_ascii=False)[1:-1], at) if original.strip() else -1
            if found < 0 and original.strip():
                found = text.find(json.dumps(original)[1:-1], at)
            at = found if found >= 0 else at
            places.append((text.count("\n", 0, at) + 1, number))
    return Notebook("\n".join(lines) + "\n", places)


def is_databricks(text: str) -> bool:
    return text.startswith("# Databricks notebook source")


def read_databricks(text: str) -> str:
    """The same lines, with `# MAGIC %sql` cells as calls of spark.sql."""
    found: list[str] = []
    magic: list[str] = []
    for line in [*text.split("\n"), "# COMMAND ----------"]:
        if line.startswith("# MAGIC"):
            magic.append(line[len("# MAGIC") :].removeprefix(" "))
            continue
        if magic:
            found.extend(_magic(magic))
            magic = []
        found.append(line)
    return "\n".join(found[:-1])


def _magic(lines: list[str]) -> list[str]:
    """A cell that names its language."""
    if _MAGIC_SQL.match(lines[0]):
        return _code(lines)
    if lines[0].strip() == "%python":
        return ["#", *_code(lines[1:])]
    return ["#"] * len(lines)


def _code(lines: list[str]) -> list[str]:
    """A cell as Python: SQL becomes a call, other languages and magics become comments."""
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is None:
        return lines
    sql = _MAGIC_SQL.match(lines[first])
    if sql:
        body = [line.replace('"""', "'''") for line in lines[first + 1 :]]
        rest = "" if lines[first].lstrip().startswith("%%") else sql[2].replace('"""', "'''")
        made = [*lines[:first], f'spark.sql(r"""{rest}', *body]
        made[-1] += '""")'
        return made
    if _OTHER_LANGUAGE.match(lines[first]) and lines[first].lstrip().startswith("%%"):
        return ["#"] * len(lines)
    return [_plain(line) for line in lines]


def _plain(line: str) -> str:
    stripped = line.lstrip()
    indent = line[: len(line) - len(stripped)]
    if stripped.startswith(("%", "!")):
        return f"{indent}pass"
    if stripped.startswith("?") or (
        stripped.endswith("?") and "#" not in stripped and "'" not in stripped and '"' not in stripped
    ):
        return f"{indent}pass"
    return line
