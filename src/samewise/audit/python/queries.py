"""A SELECT into the rows that it gives."""

from __future__ import annotations

import re

from samewise.audit.facts import Frame
from samewise.audit.finding import Place
from samewise.audit.sql.inside import clock_filter
from samewise.audit.sql.numbering import loose_limit, loose_numbers
from samewise.audit.sql.statement import Statement
from samewise.audit.sql.uniqueness import uniqueness


def frame_of(statement: Statement, place: Place) -> Frame:
    """What is known of the rows of a SELECT."""
    frame = Frame(lib="sql", tables=frozenset(s for s in statement.sources if s not in statement.ctes))
    flat = statement.flat
    if re.search(r"ROW_NUMBER|GROUP BY|DISTINCT|QUALIFY", flat):
        tree = statement.tree
        if tree is not None:
            from sqlglot import exp

            ctes = {cte.alias.lower(): cte.this for cte in tree.find_all(exp.CTE)}
            if uniqueness(tree, ctes, {}) == "unique":
                frame.dedup = ()
        elif "ROW_NUMBER" in flat:
            frame.dedup = ()
    for _, why, unsure in loose_numbers(statement):
        frame.loose = (why, place, unsure)
    clock = clock_filter(statement)
    if clock:
        frame.clock = ("the clock" if "clock" in clock else clock, place)
    if loose_limit(statement) is not None:
        frame.limited = place
    if re.search(r"NOT EXISTS|NOT IN \( SELECT|ANTI JOIN|\bEXCEPT\b", flat):
        frame.anti = True
    return frame
