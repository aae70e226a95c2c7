"""What the SQL checks found, remembered by the text they looked at.

Parsing SQL takes a parser that takes a sixth of a second to import: longer than the rest of a command
that needs no Spark. A text that was checked once is not parsed again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from samewise.core.ids import stable_hash

if TYPE_CHECKING:
    from samewise.plan.sql_check import Finding

_RULES = 1
"""Raised when the checks change, so that old findings are not believed."""


def transform_findings(
    root: Path, sql: str, tables: set[str], parameters: set[str], *, incremental: bool
) -> Sequence[Finding]:
    """Problems of a transform's SELECT, parameters that nobody binds among them."""

    def look() -> list[Finding]:
        from samewise.plan import sql_check

        found = sql_check.check_transform(sql, tables=tables)
        if not found and incremental:
            found = sql_check.check_incremental(sql)
        if found:
            return found
        unknown = sorted(sql_check.parameters(sql) - parameters)
        return [
            sql_check.Finding(1, f":{name} is not a parameter here; there are {_listed(parameters)}", "parameter")
            for name in unknown
        ]

    return _remembered(root, stable_hash(["transform", sql, sorted(tables), sorted(parameters), incremental]), look)


def key_findings(
    root: Path,
    sql: str,
    key: Sequence[str],
    version_by: Sequence[str],
    source_kind: str,
    source_columns: Sequence[str] | None,
) -> Sequence[Finding]:
    """Keys and versions that a transform makes while it runs."""

    def look() -> list[Finding]:
        from samewise.plan.key_check import check_keys

        return check_keys(sql, key=key, version_by=version_by, source_kind=source_kind, source_columns=source_columns)

    columns = None if source_columns is None else list(source_columns)
    return _remembered(root, stable_hash(["keys", sql, list(key), list(version_by), source_kind, columns]), look)


def condition_findings(root: Path, condition: str) -> Sequence[Finding]:
    """Problems of one expectation."""

    def look() -> list[Finding]:
        from samewise.plan.sql_check import check_condition

        return check_condition(condition)

    return _remembered(root, stable_hash(["condition", condition]), look)


def _remembered(root: Path, key: str, look: Callable[[], list[Finding]]) -> Sequence[Finding]:
    """Only a clean bill is remembered: a text with problems is about to change anyway."""
    file = root / ".samewise" / "cache" / "sql_checked.json"
    clean = _read(file)
    if key in clean:
        return []
    found = look()
    if not found:
        _write(file, [*clean, key][-1000:])
    return found


def _read(file: Path) -> list[str]:
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []  # A cache that cannot be read is an empty one.
    return list(known["clean"]) if isinstance(known, dict) and known.get("rules") == _RULES else []


def _write(file: Path, clean: list[str]) -> None:
    half = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        half.write_text(json.dumps({"rules": _RULES, "clean": clean}), encoding="utf-8")
        half.replace(file)
    except OSError:
        return  # A project that cannot be written to is checked each time.


def _listed(names: set[str]) -> str:
    return ", ".join(f":{name}" for name in sorted(names))
