"""Functions whose value a retry would not get again, and what to use instead.

The same table serves the text of a transform (`sql_check`) and the plan that Spark made of it: a Python
function or a view can bring in what the text does not show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum


class Impurity(StrEnum):
    """What a value depends on besides the rows that were read."""

    CLOCK = "clock"
    RANDOM = "random"
    LAYOUT = "layout"
    SESSION = "session"


_WHY = {
    Impurity.CLOCK: "reads the clock, so a retry would give other values: use :run_ts, which is frozen for "
    "the run, or :window_start",
    Impurity.RANDOM: "gives other values on a retry: derive the value from the row, for example with "
    "xxhash64 or sha2 of its business columns",
    Impurity.LAYOUT: "depends on how the rows lie in files and partitions, which a retry may change: "
    "derive the value from the row, for example with xxhash64 of its business columns",
    Impurity.SESSION: "depends on who runs the pipeline and where: pass the value under params: instead",
}

# How Spark prints the arguments in an analysed plan. A seed or a zone is filled in by the analyser, which
# tells a call apart from a text that only looks like one: literals are printed without quotes.
_NOTHING = r"\s*"
_SEED = r"-?\d+L?"
_OPTION = r".*(?:Some\(|None).*"
_ANYTHING = r".*"

_IMPURE = {
    "current_timestamp": (Impurity.CLOCK, _NOTHING),
    "now": (Impurity.CLOCK, _NOTHING),
    "getdate": (Impurity.CLOCK, _NOTHING),
    "localtimestamp": (Impurity.CLOCK, _OPTION),
    "current_date": (Impurity.CLOCK, _OPTION),
    "curdate": (Impurity.CLOCK, _OPTION),
    "current_time": (Impurity.CLOCK, _OPTION),
    "rand": (Impurity.RANDOM, _SEED),
    "randn": (Impurity.RANDOM, _SEED),
    "random": (Impurity.RANDOM, _SEED),
    "randstr": (Impurity.RANDOM, r".+,.+"),
    "uniform": (Impurity.RANDOM, r".+,.+,.+"),
    "uuid": (Impurity.RANDOM, _OPTION),
    "shuffle": (Impurity.RANDOM, _OPTION),
    "reflect": (Impurity.RANDOM, r".+,.+"),
    "java_method": (Impurity.RANDOM, r".+,.+"),
    "try_reflect": (Impurity.RANDOM, r".+,.+"),
    "monotonically_increasing_id": (Impurity.LAYOUT, _NOTHING),
    "spark_partition_id": (Impurity.LAYOUT, _NOTHING),
    "input_file_name": (Impurity.LAYOUT, _NOTHING),
    "input_file_block_start": (Impurity.LAYOUT, _NOTHING),
    "input_file_block_length": (Impurity.LAYOUT, _NOTHING),
    "current_user": (Impurity.SESSION, _NOTHING),
    "session_user": (Impurity.SESSION, _NOTHING),
    "user": (Impurity.SESSION, _NOTHING),
    "version": (Impurity.SESSION, _NOTHING),
    "current_database": (Impurity.SESSION, _NOTHING),
    "current_schema": (Impurity.SESSION, _NOTHING),
    "current_catalog": (Impurity.SESSION, _NOTHING),
}
_SAMPLE = "tablesample"
_KINDS = {name: kind for name, (kind, _) in _IMPURE.items()} | {
    "unix_timestamp": Impurity.CLOCK,
    _SAMPLE: Impurity.LAYOUT,
}

_ANALYSED = "== Analyzed Logical Plan =="
_OPTIMISED = "== Optimized Logical Plan =="
_CALL = re.compile(r"(?<![\w.`])(" + "|".join(_IMPURE) + r")\(", re.IGNORECASE)
_SAMPLE_NODE = re.compile(r"^[\s:|+-]*Sample -?[\d.]+(?:E-?\d+)?, [\d.]+", re.MULTILINE)
_ATTRIBUTE_ID = re.compile(r"#\d")


def impurity_of(name: str) -> Impurity | None:
    """What the function called `name` depends on besides its arguments; None if on nothing that is known."""
    return _KINDS.get(name.lower())


def why_impure(name: str) -> str:
    """A sentence for the user about a function for which `impurity_of` is not None."""
    shown = "TABLESAMPLE" if name.lower() == _SAMPLE else f"{name.lower()}()"
    return f"{shown} {_WHY[_KINDS[name.lower()]]}"


def nondeterministic_in_plan(plan_text: str) -> list[str]:
    """The clock, random, layout and session functions in the text of EXPLAIN EXTENDED, in order, each once.

    Only the analysed plan is looked at: the parsed one is unresolved, and the optimised one has the
    clock's values filled in. `spark.sql.debug.maxToStringFields` must be high, or Spark leaves out a part.
    A text literal that reads exactly like a call without arguments, such as `now()`, is taken for one.
    """
    plan = analysed_plan(plan_text)
    found = {match.start(): _SAMPLE for match in _SAMPLE_NODE.finditer(plan)} | dict(impure_calls(plan))
    return list(dict.fromkeys(name for _, name in sorted(found.items())))


def impure_calls(text: str) -> Iterator[tuple[int, str]]:
    """The calls of such functions in a part of an analysed plan, and where each begins."""
    for match in _CALL.finditer(text):
        name = match[1].lower()
        end = closing(text, match.end())
        # `rand(5)#12` is a column that is only called so, or what a Python UDF of that name gave.
        if end is None or _ATTRIBUTE_ID.match(text, end + 1):
            continue
        if re.fullmatch(_IMPURE[name][1], text[match.end() : end], re.DOTALL):
            yield match.start(), name


def analysed_plan(text: str) -> str:
    """The analysed plan in the text of EXPLAIN EXTENDED."""
    # A literal may hold a section's title. From the first to the last, nothing of the real section is missed.
    _, _, after = text.partition(_ANALYSED + "\n")
    section, _, _ = after.rpartition(_OPTIMISED)
    # The first line lists the names and types of the result, and a name may look like a call.
    return (section or after).partition("\n")[2]


def closing(text: str, start: int) -> int | None:
    """Where the parenthesis that was opened just before `start` is closed."""
    depth = 1
    for at in range(start, len(text)):
        if text[at] == "(":
            depth += 1
        elif text[at] == ")":
            depth -= 1
            if depth == 0:
                return at
    return None
