"""Is a transform row by row? Then it may be applied to the rows of many windows at once."""

from __future__ import annotations

from samewise.plan.sql_check import SOURCE, parameters
from samewise.plan.sql_text import NotParsed, parse_query

_OF_THE_WINDOW = ("window_start", "window_end")


def tagged_query(sql: str, column: str) -> str | None:
    """`sql` with a further column of `source` in front; None where a row of the result could depend on other rows
    of the source, or on the window.

    Only what is surely row by row is: one SELECT of expressions over `source` alone, with a WHERE or without.
    """
    from sqlglot import exp

    try:
        parsed = parse_query(sql)
    except NotParsed:
        return None
    tree = parsed.tree
    if not isinstance(tree, exp.Select) or any(name.startswith(_OF_THE_WINDOW) for name in parameters(sql)):
        return None
    allowed = {"expressions", "from_", "from", "where", "kind", "hint", "operation_modifiers"}
    if any(value for key, value in tree.args.items() if key not in allowed) or tree.args.get("hint"):
        return None
    tables = list(tree.find_all(exp.Table))
    if len(tables) != 1 or tables[0].name.lower() != SOURCE or tables[0].args.get("sample"):
        return None
    # An aggregate that sqlglot does not know is refused by Spark: it stands beside a column that is not grouped.
    many_rows = (exp.AggFunc, exp.Window, exp.Subquery, exp.Select, exp.UDTF, exp.Explode, exp.Star)
    if any(node is not tree and isinstance(node, many_rows) for node in tree.walk()):
        return None
    first = parsed.tokens[0]
    if first.text.upper() != "SELECT":
        return None
    return f"{sql[: first.end + 1]} {column},{sql[first.end + 1 :]}"
