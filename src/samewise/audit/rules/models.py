"""dbt: SW801."""

from __future__ import annotations

import re
from collections.abc import Iterator

from samewise.audit.facts import Flow, ModelOp
from samewise.audit.finding import Finding, Fix, Level
from samewise.audit.rules.base import found, swap
from samewise.audit.sql.names import pick_key
from samewise.audit.sql.words import words_of

_MAX_OF_THIS = re.compile(
    r"(>=?)\s*\(?\s*(?:coalesce\s*\(\s*)?\(?\s*select.{0,200}?max\s*\(.{0,300}?\bthis\b", re.IGNORECASE | re.DOTALL
)
_ASKS_THIS = re.compile(
    r"(not\s+in|not\s+exists|left\s+join|except|anti\s+join).{0,300}?\bthis\b", re.IGNORECASE | re.DOTALL
)


def incremental(flow: Flow) -> Iterator[Finding]:
    """SW801: an incremental model that only ever adds."""
    for op in flow.ops:
        if not isinstance(op, ModelOp) or op.config.get("materialized") != "incremental":
            continue
        strategy = str(op.config.get("incremental_strategy") or "").lower()
        if strategy in ("insert_overwrite", "microbatch", "replace_where", "merge_by_key"):
            continue
        has_key = bool(op.config.get("unique_key"))
        if has_key and strategy != "append":
            continue
        level, message, unsure = Level.ERROR, "", False
        text = _raw(flow, op)
        asks = _MAX_OF_THIS.search(op.filter) or _MAX_OF_THIS.search(text)
        if op.config.get("?"):
            unsure = True
        if _ASKS_THIS.search(op.filter or text):
            continue
        if asks is not None and asks[1] == ">":
            unsure = True
            message = (
                f"{op.name} has no unique_key: it relies on its newest row, so a row that comes late, or"
                f" at the same time, is lost"
            )
        elif asks is not None:
            message = (
                f"{op.name} has no unique_key, and takes the newest rows (>=) again: every run adds them once more"
            )
        elif strategy == "append" and has_key:
            message = f"{op.name} appends: its unique_key is not used by incremental_strategy='append'"
            level = Level.WARNING
        else:
            message = f"{op.name} is incremental without a unique_key: a second run adds the same rows again"
        key = _key_of(op)
        edits = (
            ()
            if has_key
            else swap(flow.context, op.place, r"(materialized\s*=\s*[\"']incremental[\"'])", rf"\1, unique_key='{key}'")
        )
        if has_key:
            edits = swap(
                flow.context, op.place, r"incremental_strategy\s*=\s*[\"']append[\"']", "incremental_strategy='merge'"
            )
        yield found(
            "SW801",
            op,
            level,
            message,
            Fix(
                f"config(unique_key='{key}') (merge, or delete+insert), or"
                f" incremental_strategy='insert_overwrite' by partition",
                edits,
            ),
            unsure=unsure,
            target=op.name,
        )


def _raw(flow: Flow, op: ModelOp) -> str:
    return "\n".join(flow.context.lines)


def _key_of(op: ModelOp) -> str:
    """The first column of the SELECT that is named as a key."""
    names = [w.text for w in words_of(op.statement.text) if w.kind == "word" and re.fullmatch(r"[a-z_]\w*", w.text)]
    return pick_key([n for n in names if n.endswith("_id") or n == "id"] or ["id"])
