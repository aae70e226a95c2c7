"""What can be said about a transform's SQL before Spark sees it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from typing import TYPE_CHECKING

from samewise.plan.impure import analysed_plan, impurity_of, nondeterministic_in_plan, why_impure
from samewise.plan.sql_text import (
    Finding,
    NotParsed,
    Parsed,
    line_of,
    parse_condition,
    parse_query,
    tokens_of,
    typed_name,
)

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = [
    "Finding",
    "aggregates_in_plan",
    "check_condition",
    "check_incremental",
    "check_transform",
    "nondeterministic_in_plan",
    "parameters",
    "source_reads",
]

SOURCE = "source"
# Table functions that make rows of their arguments alone; any other may read what is not pinned.
_ROW_MAKERS = frozenset(
    {"range", "explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "inline_outer"}
    | {"stack", "json_tuple", "variant_explode", "variant_explode_outer"}
)
_AGGREGATES_THAT_SQLGLOT_DOES_NOT_KNOW = frozenset(
    {"any", "every", "some", "mean", "std", "try_avg", "try_sum", "count_min_sketch", "histogram_numeric"}
    | {"hll_sketch_agg", "hll_union_agg", "theta_sketch_agg", "theta_union_agg", "theta_intersection_agg"}
)
# These say which of some rows comes first, and may be used to keep just that one.
_RANKINGS = frozenset({"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile"})
_GROUPING_NODES = {
    "Aggregate": "groupBy or agg",
    "Pivot": "pivot",
    "AggregateInPandas": "groupBy or agg",
    "FlatMapGroupsInPandas": "applyInPandas",
    "FlatMapGroupsInArrow": "applyInArrow",
    "FlatMapCoGroupsInPandas": "cogroup",
    "FlatMapCoGroupsInArrow": "cogroup",
}
_CLOCK_WORDS = frozenset({"now", "today", "tomorrow", "yesterday"})


def check_transform(sql: str, *, tables: Set[str]) -> list[Finding]:
    """What is wrong with a transform that may read `source` and the inputs `tables`; in order of lines."""
    try:
        parsed = parse_query(sql)
    except NotParsed as error:
        return [error.finding]
    allowed = {SOURCE, *(name.lower() for name in tables)}
    findings = [*_undeclared_tables(parsed, allowed), *_impure_calls(parsed)]
    return sorted(set(findings))


def check_incremental(sql: str) -> list[Finding]:
    """Aggregates over `source` where `source` is only what is new: each run would write a part for the whole."""
    from sqlglot import exp

    try:
        parsed = parse_query(sql)
    except NotParsed as error:
        return [error.finding]
    over_source = _made_of_source(parsed)
    findings: set[Finding] = set()
    for node in parsed.tree.walk():
        if isinstance(node, exp.Group):
            name = "GROUP BY"
        elif isinstance(node, exp.Func) and _is_aggregate(node, parsed):
            name = f"{typed_name(node, parsed)}()"
        else:
            continue
        select = node.parent_select
        if select is None or any(table.name.lower() in over_source for table in select.find_all(exp.Table)):
            findings.add(Finding(line_of(node, parsed), f"{name} {why_no_aggregate()}", "aggregate"))
    return sorted(findings)


def why_no_aggregate() -> str:
    """A sentence for the user about an aggregate over what is new."""
    return (
        "sees only the rows that are new, and would write a part for the whole: "
        "use strategy replace_window with a schedule, which reads whole windows"
    )


def aggregates_in_plan(plan_text: str, source_node: str) -> list[str]:
    """Aggregates in the text of EXPLAIN EXTENDED that lie over a node which begins with `source_node`, each once.

    It sees what the text of a SELECT cannot show: what a Python function does to the rows.
    """
    found: dict[str, None] = {}
    above: list[tuple[int, str]] = []
    for line in analysed_plan(plan_text).splitlines():
        node = line.lstrip(" :+-")
        depth = len(line) - len(node)
        above = [(at, other) for at, other in above if at < depth]
        above.append((depth, node))
        if node.startswith(source_node):
            for _, other in above:
                found.update(dict.fromkeys(_aggregates_of(other)))
    return list(found)


def _aggregates_of(node: str) -> Iterator[str]:
    kind = node.partition(" ")[0]
    if kind in _GROUPING_NODES:
        yield _GROUPING_NODES[kind]
    for match in re.finditer(r"\) windowspecdefinition\(", node):
        name = _function_before(node, match.start())
        if name not in _RANKINGS:
            yield f"{name}() over a window"


def _function_before(text: str, closing: int) -> str:
    """The function whose arguments end with the parenthesis at `closing`."""
    depth = 0
    for at in range(closing, -1, -1):
        depth += {")": 1, "(": -1}.get(text[at], 0)
        if depth == 0:
            name = re.search(r"(\w+)$", text[:at])
            return name[1].lower() if name else "an aggregate"
    return "an aggregate"


def _is_aggregate(node: exp.Func, parsed: Parsed) -> bool:
    from sqlglot import exp

    name = typed_name(node, parsed)
    if name in _RANKINGS:
        return False
    return isinstance(node, exp.AggFunc) or name in _AGGREGATES_THAT_SQLGLOT_DOES_NOT_KNOW


def _made_of_source(parsed: Parsed) -> set[str]:
    """`source`, and every CTE that reads it; one that hides another of its name counts as both."""
    from sqlglot import exp

    names = {SOURCE}
    ctes = list(parsed.tree.find_all(exp.CTE))
    for _ in ctes:
        names |= {
            cte.alias.lower()
            for cte in ctes
            if any(table.name.lower() in names for table in cte.this.find_all(exp.Table))
        }
    return names


def check_condition(sql: str) -> list[Finding]:
    """What is wrong with one boolean condition on a row; in order of lines."""
    from sqlglot import exp

    try:
        parsed = parse_condition(sql)
    except NotParsed as error:
        return [error.finding]
    findings = list(_impure_calls(parsed))
    for node in parsed.tree.walk():
        if isinstance(node, exp.Query):
            message = "a row condition cannot hold a subquery: join the table in the transform"
            findings.append(Finding(line_of(node, parsed), message, "subquery"))
        elif isinstance(node, exp.Window):
            message = "a row condition cannot hold a window function: compute the column in the transform"
            findings.append(Finding(line_of(node, parsed), message, "window_function"))
        elif isinstance(node, exp.Func) and _is_aggregate(node, parsed):
            name = typed_name(node, parsed)
            message = f"{name}() looks at many rows and a row condition at one: use `rows:` or `unique:`"
            findings.append(Finding(line_of(node, parsed), message, "aggregate"))
    # The condition was parsed one line further down.
    return sorted({Finding(max(1, found.line - 1), found.message, found.code) for found in findings})


def source_reads(sql: str) -> int:
    """How often `source` is read once every CTE is written out in place.

    Raises ValueError for what is not one SELECT.
    """
    try:
        parsed = parse_query(sql)
    except NotParsed as error:
        raise ValueError(error.finding.message) from None
    return _reads(parsed.tree, {}, [])[SOURCE]


def parameters(sql: str) -> set[str]:
    """The names of the `:name` parameters in a query or a condition, valid or not."""
    try:
        tokens = tokens_of(sql)
    except NotParsed:
        return set()
    found = set()
    for before, colon, name in zip([None, *tokens], tokens, tokens[1:], strict=False):
        if colon.text != ":" or name.start != colon.end + 1 or not re.fullmatch(r"[^\W\d]\w*", name.text):
            continue
        # `payload:city` is a path into a variant, and `payload` ends right where the colon stands.
        is_path = (
            before is not None
            and before.end + 1 == colon.start
            and before.token_type.name in ("VAR", "IDENTIFIER", "R_PAREN", "R_BRACKET")
        )
        if not is_path:
            found.add(name.text)
    return found


def _undeclared_tables(parsed: Parsed, allowed: Set[str]) -> Iterator[Finding]:
    from sqlglot import exp

    tables: list[exp.Table] = []
    _reads(parsed.tree, {}, tables)
    for table in tables:
        if isinstance(table.this, exp.Identifier):
            name = _table_name(table)
            if name.lower() not in allowed:
                message = f"reads table {name!r}, which is not declared: add it under inputs:"
                yield Finding(line_of(table, parsed), message, "undeclared_table")
        elif (name := typed_name(table.this, parsed)) not in _ROW_MAKERS or table.db:
            message = f"reads {name}(), whose rows cannot be pinned: read a table and declare it under inputs:"
            yield Finding(line_of(table, parsed), message, "undeclared_table")


def _reads(node: exp.Expr, ctes: Mapping[str, Counter[str]], tables: list[exp.Table]) -> Counter[str]:
    """What is read below `node`, each CTE counted wherever it is used; every real table joins `tables`."""
    from sqlglot import exp

    reads: Counter[str] = Counter()
    with_ = node.args.get("with_")
    if with_ is not None:
        inner = dict(ctes)
        for cte in with_.expressions:
            name = cte.alias.lower()
            own: Mapping[str, Counter[str]] = {**inner, name: Counter()} if with_.recursive else inner
            inner[name] = _reads(cte.this, own, tables)
        ctes = inner
    if isinstance(node, exp.Table):
        name = _table_name(node).lower()
        if isinstance(node.this, exp.Identifier) and not node.db and name in ctes:
            reads += ctes[name]
        else:
            tables.append(node)
            reads[name] += 1
    for child in node.iter_expressions():
        # A hint such as BROADCAST(t) names a table and reads nothing.
        if child is not with_ and not isinstance(child, exp.Hint):
            reads += _reads(child, ctes, tables)
    return reads


def _table_name(table: exp.Table) -> str:
    return ".".join(part.name for part in table.parts)


def _impure_calls(parsed: Parsed) -> Iterator[Finding]:
    from sqlglot import exp

    for node in parsed.tree.walk():
        if isinstance(node, exp.TableSample):
            yield Finding(line_of(node, parsed), why_impure("tablesample"), "layout")
        elif isinstance(node, exp.Cast) and _is_clock_word(node):
            word = node.this.name.lower()
            message = f"{word!r} as a date or time is read from the clock: use :run_ts or :window_start"
            for line in parsed.lines_of(word):
                yield Finding(line, message, "clock")
        elif isinstance(node, exp.Column) and node.name.lower() == "current_time":
            # Spark takes this word for the function where no column has the name; quoted, it is a column.
            if not node.table and not node.this.quoted:
                yield Finding(line_of(node, parsed), why_impure("current_time"), "clock")
        elif isinstance(node, exp.Func):
            yield from _impure_call(node, parsed)


def _impure_call(node: exp.Func, parsed: Parsed) -> Iterator[Finding]:
    from sqlglot import exp

    name = typed_name(node, parsed)
    kind = impurity_of(name)
    is_qualified = isinstance(node.parent, exp.Dot) and node.parent.this.name.lower() != "builtin"
    if kind is None or is_qualified:
        return
    if name == "unix_timestamp":
        # It has a clock only where it has no argument.
        lines = {node.meta["line"]} if re.match(r"\s*\(\s*\)", parsed.text[node.meta["end"] + 1 :]) else set()
    else:
        lines = {node.meta["line"]} if "line" in node.meta else parsed.lines_of(name)
    for line in lines:
        yield Finding(line, why_impure(name), kind.value)


def _is_clock_word(cast: exp.Cast) -> bool:
    literal = cast.this
    is_time = cast.to.this.name.startswith(("DATE", "TIMESTAMP"))
    return bool(is_time and literal.is_string and literal.name.strip().lower() in _CLOCK_WORDS)
