"""Keys and versions that a transform makes while it runs, found in its SELECT.

A key must come from the data: one that is made at processing time is another one at the next attempt, and the
row is there twice. A version that is made so says when a row was loaded, not how new it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from samewise.plan.impure import impurity_of
from samewise.plan.made_words import (
    FILE_METADATA,
    KEY,
    RANKING,
    VERSION,
    call_text,
    made_sentence,
    own_column_text,
    ranking_text,
    run_time_text,
)
from samewise.plan.sql_text import Finding, NotParsed, Parsed, line_of, parse_condition, parse_query, typed_name

if TYPE_CHECKING:
    from sqlglot import exp

_RUN_TIME = "run_ts"
_SOURCE = "source"
_KAFKA_OFFSET = "offset"


def check_keys(
    sql: str,
    *,
    key: Sequence[str],
    version_by: Sequence[str],
    source_kind: str,
    source_columns: Collection[str] | None = None,
) -> list[Finding]:
    """What is wrong with the columns that a transform gives for `key` and `version_by`; in order of lines.

    Aliases, CTEs, subqueries and set operations are followed down to the tables. `source_columns`, where they are
    known, tell a column of the source from an alias of the same SELECT. SQL that cannot be read has no findings here.
    """
    try:
        parsed = parse_query(sql)
    except NotParsed:
        return []
    known = None if source_columns is None else frozenset(name.lower() for name in source_columns)
    found: set[Finding] = set()
    for role, names in ((KEY, key), (VERSION, version_by)):
        for name in names:
            trace = _Trace(parsed, known)
            parts = list(trace.column(parsed.tree, name.lower(), {}))
            if not parts and not trace.passed_through:
                message = f"the SELECT gives no column {name}, which is the {role}"
                found.add(Finding(line_of(parsed.tree, parsed), message, "key_column"))
            for part in parts:
                made = _made_at_run_time(part, role, source_kind, parsed)
                if made is not None:
                    found.add(Finding(line_of(part.node, parsed), made_sentence(role, name, made), f"made_{role}"))
    return sorted(found)


def condition_columns(sql: str) -> set[str]:
    """The columns that a condition on a row reads, as they are written; none for what cannot be read."""
    from sqlglot import exp

    try:
        tree = parse_condition(sql).tree
    except NotParsed:
        return set()
    return {column.parts[0].name for column in tree.find_all(exp.Column)}


@dataclass(frozen=True, slots=True)
class _Part:
    """Something that a column's value is made of."""

    node: exp.Expr
    select: exp.Expr
    is_of_source: bool = False
    """A column that `source` itself has."""


def _made_at_run_time(part: _Part, role: str, source_kind: str, parsed: Parsed) -> str | None:
    """What a part is and why it will not do; None for one that comes from the data."""
    from sqlglot import exp

    node = part.node
    if isinstance(node, exp.Placeholder | exp.Parameter) and node.name.lower() == _RUN_TIME:
        return run_time_text(f":{_RUN_TIME}")
    if isinstance(node, exp.Window) and _is_unordered_ranking(node, part.select, parsed):
        return ranking_text(typed_name(node.this, parsed))
    if isinstance(node, exp.Column):
        names = [piece.name.lower() for piece in node.parts]
        own = own_column_text(FILE_METADATA if FILE_METADATA in names else names[-1])
        if own is not None:
            return own
        if names[-1] == _KAFKA_OFFSET and source_kind == "kafka" and part.is_of_source and role == KEY:
            return "the Kafka offset: the same message that is sent again has another one"
    if isinstance(node, exp.Func):
        name = typed_name(node, parsed)
        kind = impurity_of(name)
        if kind is not None and (name != "unix_timestamp" or not list(node.iter_expressions())):
            return call_text(name, kind)
    return None


def _is_unordered_ranking(window: exp.Window, select: exp.Expr, parsed: Parsed) -> bool:
    from sqlglot import exp

    if not isinstance(window.this, exp.Func) or typed_name(window.this, parsed) not in RANKING:
        return False
    order = window.args.get("order")
    named = {spec.name.lower(): spec for spec in select.args.get("windows") or ()}
    alias = window.args.get("alias")
    if order is None and alias is not None and alias.name.lower() in named:
        order = named[alias.name.lower()].args.get("order")
    # `ORDER BY 1` inside a window is a constant, and so is `ORDER BY NULL`: every row is equal to it.
    return order is None or not any(
        ordered.find(exp.Column) or ordered.find(exp.Anonymous) for ordered in order.expressions
    )


@dataclass(slots=True)
class _Trace:
    """Follows one column of a result down to what it is made of."""

    parsed: Parsed
    source_columns: frozenset[str] | None
    passed_through: bool = False
    """Some star may give the column; what lies behind it is not in the text."""
    _seen: set[tuple[int, str]] = field(default_factory=set)

    def column(self, query: exp.Expr, name: str, ctes: Mapping[str, exp.Expr]) -> Iterator[_Part]:
        """What the column `name` of `query` is made of."""
        from sqlglot import exp

        if (id(query), name) in self._seen:
            return
        self._seen.add((id(query), name))
        ctes = _with_own(query, ctes)
        match query:
            case exp.Subquery() | exp.CTE():
                inner = query.this
                yield from self._renamed(query, inner, name, ctes)
            case exp.SetOperation():
                at = _position(query, name)
                for branch in (query.left, query.right):
                    if at is None:
                        yield from self.column(branch, name, ctes)
                    else:
                        yield from self._nth(branch, at, ctes)
            case exp.Select():
                for projection in query.expressions:
                    if _is_star(projection):
                        continue
                    if projection.alias_or_name.lower() == name:
                        yield from self._expression(projection, query, ctes, itself=name)
                        return
                for projection in query.expressions:
                    if _is_star(projection):
                        yield from self._from_tables(query, name, _star_table(projection), ctes, node=None)

    def _nth(self, query: exp.Expr, at: int, ctes: Mapping[str, exp.Expr]) -> Iterator[_Part]:
        """The same by position, for the branches of a UNION: their names need not agree."""
        from sqlglot import exp

        ctes = _with_own(query, ctes)
        match query:
            case exp.Subquery():
                yield from self._nth(query.this, at, ctes)
            case exp.SetOperation():
                yield from self._nth(query.left, at, ctes)
                yield from self._nth(query.right, at, ctes)
            case exp.Select() if at < len(query.expressions):
                projection = query.expressions[at]
                if not any(_is_star(before) for before in query.expressions[: at + 1]):
                    yield from self._expression(projection, query, ctes, itself=projection.alias_or_name.lower())

    def _renamed(self, holder: exp.Expr, inner: exp.Expr, name: str, ctes: Mapping[str, exp.Expr]) -> Iterator[_Part]:
        """Through `AS t(a, b)`, which gives the columns other names."""
        from sqlglot import exp

        alias = holder.args.get("alias")
        columns = [column.name.lower() for column in alias.columns] if isinstance(alias, exp.TableAlias) else []
        if name in columns:
            yield from self._nth(inner, columns.index(name), ctes)
        elif not columns:
            yield from self.column(inner, name, ctes)

    def _expression(
        self, node: exp.Expr, select: exp.Expr, ctes: Mapping[str, exp.Expr], *, itself: str | None
    ) -> Iterator[_Part]:
        """Everything below an expression of `select`; `itself` is the alias that it has there."""
        from sqlglot import exp

        if isinstance(node, exp.Query):
            inner = _with_own(node, ctes)
            for projection in node.selects:
                holder = projection.find_ancestor(exp.Select) or node
                yield from self._expression(projection, holder, inner, itself=None)
            return
        yield _Part(node, select)
        if isinstance(node, exp.Column):
            yield from self._from_tables(select, node.name.lower(), node.table.lower() or None, ctes, node=node)
            yield from self._lateral_alias(node, select, ctes, itself)
            return
        for child in node.iter_expressions():
            yield from self._expression(child, select, ctes, itself=itself)

    def _from_tables(
        self,
        select: exp.Expr,
        name: str,
        table: str | None,
        ctes: Mapping[str, exp.Expr],
        *,
        node: exp.Expr | None,
    ) -> Iterator[_Part]:
        """What a column of that name is made of in the tables that `select` reads: in all that may have it."""
        from sqlglot import exp

        joins = [join.this for join in select.args.get("joins") or ()]
        from_ = select.args.get("from_")
        for source in [*([] if from_ is None else [from_.this]), *joins]:
            if table is not None and source.alias_or_name.lower() != table:
                continue
            if isinstance(source, exp.Table):
                cte = ctes.get(source.name.lower()) if not source.db else None
                if cte is not None:
                    yield from self.column(cte, name, {k: v for k, v in ctes.items() if v is not cte})
                    continue
                self.passed_through = True
                if source.name.lower() == _SOURCE:
                    yield _Part(node if node is not None else _named(name, source), select, is_of_source=True)
            elif isinstance(source, exp.Subquery):
                yield from self.column(source, name, ctes)
            else:
                self.passed_through = True
        for lateral in select.args.get("laterals") or ():
            alias = lateral.args.get("alias")
            if alias is not None and name in [column.name.lower() for column in alias.columns]:
                yield from self._expression(lateral.this, select, ctes, itself=name)

    def _lateral_alias(
        self, column: exp.Column, select: exp.Expr, ctes: Mapping[str, exp.Expr], itself: str | None
    ) -> Iterator[_Part]:
        """`SELECT uuid() AS a, a AS b`: a name may be an alias of the same SELECT, unless a table has it."""
        name = column.name.lower()
        known = self.source_columns is not None and name in self.source_columns
        if column.table or known or name == itself or (id(select), f"alias {name}") in self._seen:
            return
        self._seen.add((id(select), f"alias {name}"))
        for projection in select.expressions:
            if not _is_star(projection) and projection.alias.lower() == name:
                yield from self._expression(projection, select, ctes, itself=name)


def _with_own(query: exp.Expr, ctes: Mapping[str, exp.Expr]) -> Mapping[str, exp.Expr]:
    with_ = query.args.get("with_")
    return ctes if with_ is None else {**ctes, **{cte.alias.lower(): cte for cte in with_.expressions}}


def _position(query: exp.Expr, name: str) -> int | None:
    """Where a UNION's first SELECT has the column; None where a star hides it."""
    from sqlglot import exp

    first = query
    while not isinstance(first, exp.Select):
        first = first.this
    for at, projection in enumerate(first.expressions):
        if _is_star(projection):
            return None
        if projection.alias_or_name.lower() == name:
            return at
    return None


def _is_star(projection: exp.Expr) -> bool:
    from sqlglot import exp

    return isinstance(projection, exp.Star) or (isinstance(projection, exp.Column) and projection.is_star)


def _star_table(projection: exp.Expr) -> str | None:
    from sqlglot import exp

    return projection.table.lower() or None if isinstance(projection, exp.Column) else None


def _named(name: str, table: exp.Expr) -> exp.Expr:
    """A column that a star stands for, with the place of the table that has it."""
    from sqlglot import exp

    column = exp.column(name)
    column.parent = table
    return column
