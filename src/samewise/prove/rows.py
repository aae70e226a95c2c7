"""Which rows differ: as multisets first, then the rest paired, so that a changed row shows as one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from samewise.prove.pairing import equal_columns, unique_columns
from samewise.prove.values import Field, as_text, fields_of, plain_sql
from samewise.prove.verdict import Difference, Figures, RowExample, RowKind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_CLEAN, _FOUND, _AT = "in_clean", "in_found", "at"
_FEW = 2


@dataclass(slots=True)
class _Tally:
    """What has been found so far."""

    doubled: int = 0
    missing: int = 0
    extra: int = 0
    changed: int = 0
    columns: dict[str, None] = field(default_factory=dict)
    examples: list[RowExample] = field(default_factory=list)


def differing_rows(
    clean: DataFrame,
    found: DataFrame,
    before: Figures,
    after: Figures,
    key: Sequence[str] = (),
    examples: int = 5,
) -> Difference:
    """How `found` differs from `clean`, row by row, with a few examples of each kind."""
    fields, odd = _common(clean, found)
    tally = _Tally(columns=dict.fromkeys(odd))
    if fields:
        _Look(clean, found, fields, examples, tally).through(_known(fields, key))
    else:
        tally.missing, tally.extra = before.rows, after.rows
    order = {name: at for at, name in enumerate([*before.schema_names, *after.schema_names])}
    return Difference(
        clean=before,
        found=after,
        doubled=tally.doubled,
        missing=tally.missing,
        extra=tally.extra,
        changed=tally.changed,
        changed_columns=tuple(sorted(tally.columns, key=lambda name: order.get(name, len(order)))),
        examples=tuple(tally.examples),
    )


def _common(clean: DataFrame, found: DataFrame) -> tuple[list[Field], list[str]]:
    """Columns that both have with one type, and the names of the others."""
    left = {one.name.lower(): one for one in fields_of(clean)}
    right = {one.name.lower(): one for one in fields_of(found)}
    both = [one for name, one in left.items() if name in right and right[name].type == one.type]
    kept = {one.name.lower() for one in both}
    odd = [one.name for name, one in {**right, **left}.items() if name not in kept]
    return both, odd


def _known(fields: Sequence[Field], key: Sequence[str]) -> list[int]:
    names = [one.name.lower() for one in fields]
    found = [names.index(name.lower()) for name in key if name.lower() in names]
    return found if len(found) == len(key) else []


class _Look:
    """One comparison. Columns are called c0, c1, … here, so that no name of the user's can be in the way."""

    def __init__(
        self, clean: DataFrame, found: DataFrame, fields: Sequence[Field], examples: int, tally: _Tally
    ) -> None:
        self._fields = fields
        self._names = [f"c{at}" for at in range(len(fields))]
        self._examples = examples
        self._tally = tally
        self._clean = self._values(clean)
        self._found = self._values(found)

    def through(self, key: list[int]) -> None:
        """Find what differs. `key` are places in the list of columns."""
        delta = self._delta().persist()
        try:
            doubled, gone, new = self._totals(delta)
            self._take_doubled(delta, doubled)
            missing, extra = self._left(delta, _CLEAN, _FOUND), self._new(delta)
            if not new:
                # Nothing to pair with: most jobs that append, and most that lose rows, end here.
                if gone:
                    self._take_left(missing, extra.limit(0), key)
                return
            declared = bool(key)
            key = key or unique_columns(self._clean, self._found, self._fields)
            if key:
                changed, missing, extra = self._pair(missing, extra, key)
                if changed or declared:
                    extra = self._take_doubled_keys(extra, key)
                if changed:
                    self._take_left(missing, extra, key)
                    return
            if not gone:
                extra = self._take_doubled_but_for(extra)
                self._take_left(missing, extra, key)
                return
            by = equal_columns(missing, extra, self._fields)
            if by:
                changed, missing, extra = self._pair(missing, extra, by)
                if changed:
                    extra = self._take_doubled_keys(extra, by)
            self._take_left(missing, extra, key or by)
        finally:
            delta.unpersist()

    def _values(self, frame: DataFrame) -> DataFrame:
        from pyspark.sql import functions as f

        return frame.select(
            *[f.expr(one.value).alias(name) for one, name in zip(self._fields, self._names, strict=True)]
        )

    def _delta(self) -> DataFrame:
        """Rows that are not there as often in both, with how often."""
        both = self._clean.selectExpr("*", f"1L AS {_CLEAN}", f"0L AS {_FOUND}").union(
            self._found.selectExpr("*", f"0L AS {_CLEAN}", f"1L AS {_FOUND}")
        )
        counted = both.groupBy(*self._names).sum(_CLEAN, _FOUND).toDF(*self._names, _CLEAN, _FOUND)
        return counted.where(f"{_CLEAN} <> {_FOUND}")

    def _left(self, delta: DataFrame, more: str, less: str) -> DataFrame:
        rows = delta.where(f"{more} > {less}").selectExpr("*", f"explode(sequence(1L, {more} - {less})) AS n")
        return rows.select(*self._names)

    def _new(self, delta: DataFrame) -> DataFrame:
        return self._left(delta.where(f"{_CLEAN} = 0"), _FOUND, _CLEAN)

    def _totals(self, delta: DataFrame) -> tuple[int, int, int]:
        """How many rows are there too often, not often enough, and only in what was found."""
        row = delta.selectExpr(
            f"coalesce(sum(IF({_CLEAN} > 0 AND {_FOUND} > {_CLEAN}, {_FOUND} - {_CLEAN}, 0L)), 0L) AS doubled",
            f"coalesce(sum(IF({_FOUND} < {_CLEAN}, {_CLEAN} - {_FOUND}, 0L)), 0L) AS gone",
            f"coalesce(sum(IF({_CLEAN} = 0, {_FOUND}, 0L)), 0L) AS new",
        ).collect()[0]
        return int(row["doubled"]), int(row["gone"]), int(row["new"])

    def _take_doubled(self, delta: DataFrame, count: int) -> None:
        self._tally.doubled += count
        if not count:
            return
        for row in self._first(delta.where(f"{_CLEAN} > 0 AND {_FOUND} > {_CLEAN}"), self._names, _FOUND):
            values = self._texts(row, self._names)
            self._tally.examples.append(RowExample(RowKind.DOUBLED, values, times=int(row[_FOUND])))

    def _pair(self, missing: DataFrame, extra: DataFrame, by: list[int]) -> tuple[int, DataFrame, DataFrame]:
        """Pair the n-th missing row with the n-th extra one of the same values in `by`; what is left of either."""
        from pyspark.sql import functions as f

        left, right = self._numbered(missing, by, "l"), self._numbered(extra, by, "r")
        on: Column = f.col(f"l_{_AT}") == f.col(f"r_{_AT}")
        for at in by:
            on = on & f.col(f"l_c{at}").eqNullSafe(f.col(f"r_c{at}"))
        joined = left.join(right, on, "full_outer")
        pairs = joined.where(f"l_{_AT} IS NOT NULL AND r_{_AT} IS NOT NULL").persist()
        differs = [f"count_if(NOT (l_{name} <=> r_{name})) AS {name}" for name in self._names]
        counts = pairs.selectExpr("count(*) AS n", *differs).collect()[0]
        changed = int(counts["n"])
        if changed:
            self._tally.changed += changed
            self._take_changed(pairs, [at for at, name in enumerate(self._names) if counts[name]], by)
        pairs.unpersist()
        rest = [f"r_{name} AS {name}" for name in self._names]
        lost = [f"l_{name} AS {name}" for name in self._names]
        return (
            changed,
            joined.where(f"r_{_AT} IS NULL").selectExpr(*lost),
            joined.where(f"l_{_AT} IS NULL").selectExpr(*rest),
        )

    def _numbered(self, rows: DataFrame, by: list[int], side: str) -> DataFrame:
        part = ", ".join(f"c{at}" for at in by)
        numbered = rows.selectExpr(
            "*", f"row_number() OVER (PARTITION BY {part} ORDER BY {', '.join(self._names)}) AS {_AT}"
        )
        return numbered.toDF(*[f"{side}_{name}" for name in (*self._names, _AT)])

    def _take_changed(self, pairs: DataFrame, columns: list[int], by: list[int]) -> None:
        self._tally.columns |= dict.fromkeys(self._fields[at].name for at in columns)
        left, right = [f"l_{name}" for name in self._names], [f"r_{name}" for name in self._names]
        for row in self._first(pairs, [*left, *right], first=[f"l_c{at}" for at in by]):
            clean, found = self._texts(row, left), self._texts(row, right)
            changes = {name: (clean[name], found[name]) for name in clean if clean[name] != found[name]}
            self._tally.examples.append(RowExample(RowKind.CHANGED, found, changes=changes))

    def _take_doubled_keys(self, extra: DataFrame, key: list[int]) -> DataFrame:
        """Rows whose key the clean table has already are doubled, also where another column differs."""
        from pyspark.sql import functions as f

        keys = self._clean.select(*[f.col(f"c{at}").alias(f"k{at}") for at in key]).distinct()
        on: Column | None = None
        for at in key:
            one = f.col(f"c{at}").eqNullSafe(f.col(f"k{at}"))
            on = one if on is None else on & one
        again = extra.join(keys, on, "left_semi")
        count = again.count()
        if not count:
            return extra
        self._tally.doubled += count
        for row in self._first(again, self._names, first=[f"c{at}" for at in key]):
            self._tally.examples.append(RowExample(RowKind.DOUBLED, self._texts(row, self._names), times=2))
        return extra.join(keys, on, "left_anti")

    def _take_doubled_but_for(self, extra: DataFrame) -> DataFrame:
        """Rows that are there again under another key, another time: equal to a clean row in all but a few columns."""
        by = equal_columns(self._clean, extra, self._fields)
        others = [one.name for at, one in enumerate(self._fields) if at not in by]
        if not by or len(others) > _FEW:
            return extra
        count = self._tally.doubled
        left = self._take_doubled_keys(extra, by)
        if self._tally.doubled > count:
            self._tally.columns |= dict.fromkeys(others)
        return left

    def _take_left(self, missing: DataFrame, extra: DataFrame, by: list[int]) -> None:
        order = [f"c{at}" for at in by]
        for kind, rows in ((RowKind.MISSING, missing), (RowKind.EXTRA, extra)):
            count = rows.count()
            if kind is RowKind.MISSING:
                self._tally.missing += count
            else:
                self._tally.extra += count
            if count:
                for row in self._first(rows, self._names, first=order):
                    self._tally.examples.append(RowExample(kind, self._texts(row, self._names)))

    def _first(self, rows: DataFrame, names: Sequence[str], *more: str, first: Sequence[str] = ()) -> list[Any]:
        """A few rows as text, always the same ones."""
        order = [*first, *(name for name in names if name not in first)]
        some = rows.orderBy(*order).limit(self._examples)
        return some.selectExpr(*[f"{self._plain(name)} AS {name}" for name in names], *more).collect()

    def _plain(self, name: str) -> str:
        one = self._of(name)
        # What is nested is text already.
        return name if one.nested else plain_sql(one, name)

    def _texts(self, row: Any, names: Sequence[str]) -> dict[str, str | None]:
        return {self._of(name).name: as_text(self._of(name), row[name]) for name in names}

    def _of(self, name: str) -> Field:
        return self._fields[int(name.rpartition("c")[2])]
