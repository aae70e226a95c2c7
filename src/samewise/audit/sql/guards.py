"""What keeps a second run of an INSERT from adding the rows again."""

from __future__ import annotations

import re
from collections.abc import Iterable

from samewise.audit.sql.statement import Statement, is_ledger, same_table
from samewise.audit.sql.template import is_hole
from samewise.audit.sql.words import bare

_STREAM = re.compile(r"(^|_)(stream|strm|cdc_stream)(_|$)")


def own_guard(statement: Statement, variables: Iterable[tuple[str, str]] = ()) -> str:
    """Why the statement itself can run twice: `key`, `check`, `maybe`; empty where nothing is seen.

    `variables` are names with the text that defined them.
    """
    if "ignore" in statement.modifiers or "overwrite" in statement.modifiers:
        return "key"
    flat = f" {statement.flat} "
    for phrase in (" ON CONFLICT ", " ON DUPLICATE KEY ", " REPLACE WHERE ", " REPLACE USING ", " REPLACE ON "):
        if phrase in flat:
            return "key"
    if re.search(r" WITH .*\bDELETE FROM\b.*\bRETURNING\b", flat) and " INSERT " in flat:
        return "check"
    target = statement.target
    spelt = re.escape(target.upper().replace(".", " . "))
    if statement.ctes and re.search(rf"\bUPDATE {spelt} .*\bRETURNING\b|\bDELETE FROM {spelt} ", flat):
        return "check"  # Rows that were updated are not inserted; those that were deleted are replaced.
    reads_target = any(same_table(target, source) for source in statement.sources)
    if reads_target and _asks_target(flat):
        return "check"
    if _asks_other(statement, flat):
        return "check"
    if "METADATA$" in flat:
        return "check"  # A stream of Snowflake moves on in the transaction that reads it.
    if any(_STREAM.search(source.rpartition(".")[2]) for source in statement.sources):
        return "maybe"
    conditional = statement.conditional
    if conditional and ("EXISTS" in conditional or "COUNT" in conditional):
        return "check"
    names = {bare(word) for word in statement.words if word.kind == "word"}
    for name, definition in variables:
        if name in names and _mentions(definition, target):
            return "check"
    if " NOT EXISTS " in flat or " NOT IN ( SELECT " in flat or " ANTI JOIN " in flat:
        # It asks something, though by another name: a view, a synonym, a table that is built from this one.
        return "maybe"
    if reads_target and " IS NULL " in flat and " JOIN " in flat:
        return "check"
    if is_hole(target) and reads_target:
        return "maybe"
    return ""


def _asks_target(flat: str) -> bool:
    """The statement reads the table it writes to, in a way that leaves out what is there."""
    return any(
        phrase in flat
        for phrase in (
            *(" NOT EXISTS ", " NOT IN ", " EXCEPT ", " MINUS ", " ANTI JOIN ", " MAX ("),
            *(" IS NULL ", " IS DISTINCT FROM ", " <> ", " != "),
        )
    )


def _asks_other(statement: Statement, flat: str) -> bool:
    """It leaves out what a ledger of loaded files or batches names."""
    if " NOT EXISTS " not in flat and " NOT IN " not in flat and " ANTI JOIN " not in flat:
        return False
    return any(is_ledger(source) for source in statement.sources if source not in statement.ctes)


def _mentions(definition: str, target: str) -> bool:
    last = target.rpartition(".")[2]
    return bool(last) and re.search(rf"(?<!\w){re.escape(last)}(?!\w)", definition, re.IGNORECASE) is not None
