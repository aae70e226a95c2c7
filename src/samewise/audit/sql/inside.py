"""What stands inside a write: clocks in its filters, keys made on the way, duplicates in a MERGE's source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from samewise.audit.sql.names import is_end, is_key
from samewise.audit.sql.statement import Statement
from samewise.audit.sql.template import HOLE

if TYPE_CHECKING:
    from sqlglot import exp

CLOCK = re.compile(
    rf"\b(current_date|current_timestamp|current_time|current_datetime|now\s*\(|getdate\s*\(|getutcdate\s*\(|sysdate"
    rf"|systimestamp|sysdatetime|sysutcdatetime|curdate\s*\(|localtimestamp|unix_timestamp\s*\(\s*\)|today\s*\(\s*\)"
    rf"|{HOLE}_clock)",
    re.IGNORECASE,
)
_CLOCK_NAMES = frozenset(
    [
        "current_date",
        "current_timestamp",
        "current_time",
        "current_datetime",
        "now",
        "getdate",
        "getutcdate",
        "sysdate",
        "systimestamp",
        "sysdatetime",
        "sysutcdatetime",
        "curdate",
        "localtimestamp",
        "today",
        "current_timestamp_l_t_z",
        "utc_timestamp",
        "utc_date",
    ]
)
MADE = re.compile(
    r"\b(uuid|uuid_string|gen_random_uuid|generate_uuid|newid|newsequentialid|uuid_generate_v[14]|nextval|rand|random"
    r"|monotonically_increasing_id|sys_guid|uuidv4|uuidv7|identity)\s*\(|\.nextval\b|NEXT VALUE FOR",
    re.IGNORECASE,
)
_MADE_NAMES = frozenset(
    [
        "uuid",
        "uuid_string",
        "gen_random_uuid",
        "generate_uuid",
        "newid",
        "newsequentialid",
        "uuid_generate_v1",
        "uuid_generate_v4",
        "nextval",
        "rand",
        "random",
        "monotonically_increasing_id",
        "sys_guid",
        "uuidv4",
        "uuidv7",
        "next_value_for",
    ]
)


def _function(node: exp.Expr) -> str:
    from sqlglot import exp

    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    if isinstance(node, exp.Func):
        return node.sql_name().lower()
    if isinstance(node, exp.Column | exp.Identifier | exp.Literal | exp.Var | exp.Placeholder | exp.Parameter):
        return node.name.lower()
    return type(node).__name__.lower()


def _clock_in(node: exp.Expr) -> str:
    for below in node.walk():
        name = _function(below)
        if name in _CLOCK_NAMES or f"{HOLE}_clock" in name:
            return name
    return ""


def clock_filter(statement: Statement) -> str:
    """What asks the clock in a filter that decides which rows are loaded; empty for none."""
    from sqlglot import exp

    if not CLOCK.search(statement.text):
        return ""
    tree = statement.tree
    if tree is None:
        return _clock_by_words(statement)
    for where in tree.find_all(exp.Where, exp.Qualify):
        if isinstance(where.parent, exp.Delete):
            continue
        for test in where.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE, exp.EQ, exp.Between, exp.In):
            found = _decides(test)
            if found:
                return found
    return ""


def _decides(test: exp.Expr) -> str:
    """A lower bound or an equality with the clock on one side and a column on the other."""
    from sqlglot import exp

    left = test.this
    right = test.args.get("expression")
    if isinstance(test, exp.Between):
        low = test.args.get("low")
        clock = _clock_in(low) if low is not None else ""
        return clock if clock and _column_of(left) else ""
    if isinstance(test, exp.In):
        return ""
    if right is None:
        return ""
    left_clock, right_clock = _clock_in(left), _clock_in(right)
    lower = isinstance(test, exp.EQ | exp.GT | exp.GTE)
    upper = isinstance(test, exp.EQ | exp.LT | exp.LTE)
    if right_clock and not left_clock and lower and (name := _column_of(left)) and not is_end(name):
        return right_clock
    if left_clock and not right_clock and upper and (name := _column_of(right)) and not is_end(name):
        return left_clock
    if left_clock and (name := _column_of(left)) and not is_end(name) and isinstance(test, exp.LT | exp.LTE | exp.EQ):
        # DATEDIFF(day, updated_at, GETDATE()) <= 1
        return left_clock
    return ""


def _column_of(node: exp.Expr) -> str:
    from sqlglot import exp

    if isinstance(node, exp.Column):
        return node.name
    columns = [c.name for c in node.find_all(exp.Column) if c.name.lower() not in _CLOCK_NAMES and not _is_unit(c.name)]
    return columns[0] if columns else ""


def _is_unit(name: str) -> bool:
    return name.lower() in (
        "day",
        "days",
        "hour",
        "hours",
        "minute",
        "minutes",
        "month",
        "week",
        "year",
        "second",
        "d",
        "hh",
    )


_BY_WORDS = re.compile(
    rf"(\w+) \)?\s*(>|>=|=) ['(]*\s*(DATEADD \(|DATE_SUB \(|DATE \(|TO_DATE \(|CAST \()?[^()<>=]*?({CLOCK.pattern})",
    re.IGNORECASE,
)


def _clock_by_words(statement: Statement) -> str:
    where = statement.flat.find(" WHERE ")
    if where < 0:
        return ""
    found = _BY_WORDS.search(statement.flat, where)
    return found[4].strip(" (").lower() if found and not is_end(found[1]) else ""


def generated_keys(statement: Statement) -> Iterator[tuple[str, str]]:
    """Columns named as keys whose value is another one in every run: (column, made by)."""
    from sqlglot import exp

    if not MADE.search(statement.text) and not CLOCK.search(statement.text):
        return
    tree = statement.tree
    if tree is None:
        return
    select = tree.expression if isinstance(tree, exp.Insert | exp.Create) else tree
    while isinstance(select, exp.Subquery):
        select = select.this
    if isinstance(select, exp.SetOperation):
        select = select.this
    if not isinstance(select, exp.Select):
        return
    for position, one in enumerate(select.expressions):
        name = one.alias_or_name.lower()
        if statement.columns and len(statement.columns) == len(select.expressions):
            name = statement.columns[position]
        value = one.this if isinstance(one, exp.Alias) else one
        made = _made_by(value)
        if made and is_key(name):
            yield name, made


def _made_by(value: exp.Expr) -> str:
    from sqlglot import exp

    for below in value.walk():
        if isinstance(below, exp.Subquery | exp.Select):
            return ""
        name = _function(below)
        if name in ("coalesce", "nvl", "ifnull", "case"):
            return ""
        if name in _MADE_NAMES or (name in _CLOCK_NAMES and isinstance(below, exp.Func)):
            return name
        if isinstance(below, exp.Column) and below.name.lower() == "nextval":
            return "nextval"
    return ""
