"""Keys and versions that a transform makes while it runs, found in the plan that Spark has made of it.

What `key_check` finds in a SELECT, this finds in what a Python function or a view did to the rows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from samewise.plan.impure import closing, impure_calls, impurity_of
from samewise.plan.made_words import (
    KEY,
    RANKING,
    VERSION,
    call_text,
    made_sentence,
    own_column_text,
    ranking_text,
    run_time_text,
)
from samewise.plan.plan_lineage import Lineage, split_items

_RANKED = re.compile(rf"(?<![\w.`])({'|'.join(sorted(RANKING))})\(")
_OVER = " windowspecdefinition("
_ORDERED = re.compile(r" (?:ASC|DESC) NULLS (?:FIRST|LAST)$")
_COLUMN = re.compile(r"(?<!\w)(_\w+)#\d")


def keys_made_in_plan(
    plan_text: str, source_node: str, *, key: Sequence[str], version_by: Sequence[str], run_ts: Collection[str]
) -> list[tuple[str, str]]:
    """What is wrong with the key and the version of a result, as (`key` or `version`, a sentence), each once.

    `plan_text` is what EXPLAIN EXTENDED gives; what lies below a node that begins with `source_node` is the source.
    `run_ts` are the ways in which the run's own time may be printed. What a UDF does with its arguments is not in
    a plan, nor is whether it gives the same value twice.
    """
    lineage = Lineage(plan_text, source_node)
    found: dict[tuple[str, str], None] = {}
    for role, names in ((KEY, key), (VERSION, version_by)):
        for name in names:
            for text in lineage.parts(name):
                for made in _made_at_run_time(text, lineage, run_ts):
                    found[role, made_sentence(role, name, made)] = None
    return list(found)


def printed_instant(instant: datetime, zone: ZoneInfo) -> list[str]:
    """How Spark, in a session of this zone, prints an instant in a plan; and how Python does."""
    local = instant.astimezone(zone).replace(tzinfo=None)
    return [local.isoformat(" ").rstrip("0") if local.microsecond else local.isoformat(" "), instant.isoformat()]


def _made_at_run_time(text: str, lineage: Lineage, run_ts: Collection[str]) -> Iterator[str]:
    for _, name in impure_calls(text):
        kind = impurity_of(name)
        assert kind is not None
        yield call_text(name, kind)
    for match in _RANKED.finditer(text):
        end = closing(text, match.end())
        if end is not None and text.startswith(_OVER, end + 1):
            begin = end + 1 + len(_OVER)
            over = text[begin : closing(text, begin)]
            order = [item for item in split_items(over) if _ORDERED.search(item)]
            if not any(lineage.comes_from_data(item) for item in order):
                yield ranking_text(match[1])
    for match in _COLUMN.finditer(text):
        own = own_column_text(match[1].lower())
        if own is not None:
            yield own
    if any(printed in text for printed in run_ts):
        yield run_time_text("context.run_ts")
