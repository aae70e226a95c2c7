"""Whether the rows of a relation have each key once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from samewise.audit.sql.statement import Statement

if TYPE_CHECKING:
    from sqlglot import exp


Definitions = Mapping[str, "exp.Expr"]


def merge_source(statement: Statement, known: Mapping[str, str]) -> tuple[str, str]:
    """Whether a MERGE's source has each key once: (`unique` | `unknown` | `repeats`, its name).

    `known` says the same of views and tables that were made before, by name.
    """
    from sqlglot import exp

    tree = statement.tree
    if not isinstance(tree, exp.Merge):
        return _merge_by_words(statement)
    ctes = {cte.alias.lower(): cte.this for cte in tree.find_all(exp.CTE)}
    using = tree.args.get("using")
    if using is None:
        return "unique", ""
    name = using.name.lower() if isinstance(using, exp.Table) else (using.alias or "the source")
    return uniqueness(using, ctes, known), name


def _merge_by_words(statement: Statement) -> tuple[str, str]:
    flat = statement.flat
    if any(word in flat for word in ("ROW_NUMBER", "GROUP BY", "DISTINCT", "QUALIFY", "VALUES (", "ANY_VALUE")):
        return "unique", ""
    return "unknown", statement.sources[0] if statement.sources else "the source"


def uniqueness(node: exp.Expr | None, ctes: Definitions, known: Mapping[str, str], depth: int = 0) -> str:
    """`unique`, `repeats` or `unknown`, for the rows of a relation."""
    from sqlglot import exp

    if node is None or depth > 12:
        return "unknown"
    if isinstance(node, exp.Subquery | exp.Paren | exp.CTE):
        return uniqueness(node.this, ctes, known, depth + 1)
    if isinstance(node, exp.Values):
        return "unique"
    if isinstance(node, exp.Table):
        if isinstance(node.this, (exp.Func, exp.Values)):
            return "unknown"
        name = node.name.lower()
        if name == "dual":
            return "unique"
        if name in ctes:
            return uniqueness(ctes[name], {k: v for k, v in ctes.items() if k != name}, known, depth + 1)
        return known.get(name, "unknown")
    if isinstance(node, exp.SetOperation):
        if isinstance(node, exp.Union) and node.args.get("distinct") is not False:
            return "unknown"
        return "unknown"
    if not isinstance(node, exp.Select):
        return "unknown"
    if node.args.get("group") or node.args.get("distinct") or node.args.get("qualify"):
        return "unique"
    source = node.args.get("from_") or node.args.get("from")
    if source is None:
        return "unique"
    if _limit_one(node):
        return "unique"
    where = node.args.get("where")
    if where is not None and _first_of_each(node, where):
        return "unique"
    if all(isinstance(one, exp.AggFunc) or isinstance(one.unalias(), exp.AggFunc) for one in node.expressions):
        return "unique"
    inner = uniqueness(source.this, ctes, known, depth + 1)
    return "unknown" if node.args.get("joins") and inner == "repeats" else inner


def _limit_one(node: exp.Select) -> bool:
    limit = node.args.get("limit")
    return limit is not None and getattr(limit.expression, "name", "") == "1"


def _first_of_each(node: exp.Select, where: exp.Expr) -> bool:
    """WHERE rn = 1, over something that numbers rows; or WHERE NOT EXISTS (a newer one)."""
    from sqlglot import exp

    for test in where.find_all(exp.EQ, exp.LT, exp.LTE):
        number = test.args.get("expression")
        if isinstance(number, exp.Literal) and number.name in ("1", "2") and isinstance(test.this, exp.Column):
            return True
    return False


def merge_keys(statement: Statement) -> tuple[str, ...]:
    """The target's columns that a MERGE compares."""
    from sqlglot import exp

    tree = statement.tree
    on = tree.args.get("on") if isinstance(tree, exp.Merge) else None
    if on is None:
        return ()
    return tuple(
        dict.fromkeys(
            test.this.name.lower() for test in on.find_all(exp.EQ, exp.NullSafeEQ) if isinstance(test.this, exp.Column)
        )
    )


def conflict_columns(statement: Statement) -> tuple[str, ...]:
    """The columns of ON CONFLICT (...)."""
    found = re.search(r" ON CONFLICT \( ([\w ,\"]+) \)", statement.flat)
    return tuple(name.strip(' "').lower() for name in found[1].split(",")) if found else ()
