"""By which columns two tables' rows belong together, where nobody has said so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from samewise.prove.values import Field

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SAMPLE = 300
_MOST_COLUMNS = 8
_WIDEST_KEY = 3
_ABOUT = 0.8
"""An estimate of distinct values is some per cent off."""


def unique_columns(clean: DataFrame, found: DataFrame, fields: Sequence[Field]) -> list[int]:
    """Places of columns that are a key of the clean table and that the other table's rows have, too; empty if none."""
    likely = [
        at for at, one in enumerate(fields) if not (one.nested or one.is_float or one.type in ("void", "boolean"))
    ]
    if not likely:
        return []
    figures = clean.selectExpr(
        "count(*) AS n",
        *[f"approx_count_distinct(c{at}) AS d{at}" for at in likely],
        *[f"count(c{at}) AS f{at}" for at in likely],
    ).collect()[0]
    rows = int(figures["n"])
    if rows < 2:
        return []
    likely.sort(key=lambda at: _rank(fields[at], at, int(figures[f"d{at}"])))
    likely = likely[:_MOST_COLUMNS]
    for wide in range(1, _WIDEST_KEY + 1):
        sets = [
            places
            for places in combinations(likely, wide)
            if _product(int(figures[f"d{at}"]) for at in places) >= rows * _ABOUT
        ]
        for places in sets[:_MOST_COLUMNS]:
            if _is_key(clean, places, rows) and _shared(clean, found, places, rows):
                return list(places)
    return []


def _rank(field: Field, at: int, distinct: int) -> tuple[bool, bool, int, int]:
    """Names that look like a key first; times last: a time of loading is unique, too."""
    name = field.name.lower()
    named = name in ("id", "key", "uuid") or name.endswith(("_id", "_key", "_no", "_code", "_uuid"))
    return (field.type.startswith("timestamp") or field.type.startswith("decimal"), not named, -distinct, at)


def _product(values: Any) -> int:
    result = 1
    for value in values:
        result *= max(1, value)
    return result


def _is_key(clean: DataFrame, places: Sequence[int], rows: int) -> bool:
    names = [f"c{at}" for at in places]
    return clean.select(*names).distinct().count() == rows


def _shared(clean: DataFrame, found: DataFrame, places: Sequence[int], rows: int) -> bool:
    """Whether most keys of the clean table are in the other: a generated key is unique, and pairs nothing."""
    names = [f"c{at}" for at in places]
    both = clean.select(*names).intersect(found.select(*names)).count()
    return 2 * both >= min(rows, found.count()) > 0


def equal_columns(missing: DataFrame, extra: DataFrame, fields: Sequence[Field]) -> list[int]:
    """Places of the columns that most likely did not change: rows with the same values there are one row."""
    from pyspark.sql import functions as f

    names = [f"c{at}" for at in range(len(fields))]
    if len(names) < 2:
        return []
    order = [f"c{at}" for at in _steady(missing, extra, len(names))]
    if not order:
        return []
    # By what both sides have in common, so that the same rows are looked at on both; twice as many of what was
    # found, because a job that appends leaves two for each.
    some = extra.orderBy(*order).limit(2 * _SAMPLE)
    shared = some.select(f.col(order[0]).alias("shared")).distinct()
    near = missing.join(shared, f.col(order[0]).eqNullSafe(f.col("shared")), "left_semi")
    left = near.orderBy(*order).limit(_SAMPLE).collect()
    right = some.collect()
    differing: Counter[frozenset[int]] = Counter()
    free = list(range(len(right)))
    for row in left:
        best = _closest(row, right, free)
        if best is None:
            continue
        at, differ = best
        free.remove(at)
        differing[differ] += 1
    if not differing:
        return []
    changed = differing.most_common(1)[0][0]
    return [at for at in range(len(names)) if at not in changed]


def _steady(missing: DataFrame, extra: DataFrame, columns: int) -> list[int]:
    """Places of columns whose values are mostly the same on both sides, those with most values first."""
    cells = ", ".join(f"{at}, xxhash64(c{at})" for at in range(columns))
    stacked = [
        rows.selectExpr(f"stack({columns}, {cells}) AS (at, cell)").selectExpr(
            "at", "cell", f"{left} AS l", f"{right} AS r"
        )
        for rows, left, right in ((missing, 1, 0), (extra, 0, 1))
    ]
    seen = stacked[0].union(stacked[1]).groupBy("at", "cell").agg({"l": "max", "r": "max"}).toDF("at", "cell", "l", "r")
    shares = seen.groupBy("at").agg({"l": "sum", "r": "sum", "cell": "count"}).collect()
    found: list[tuple[int, int]] = []
    for row in shares:
        left, right, values = int(row["sum(l)"]), int(row["sum(r)"]), int(row["count(cell)"])
        # Values in either are those of the left, plus those of the right, less the common ones.
        common = left + right - values
        if left and 2 * common >= min(left, right):
            found.append((-common, int(row["at"])))
    return [at for _, at in sorted(found)]


def _closest(row: Any, others: Sequence[Any], free: Sequence[int]) -> tuple[int, frozenset[int]] | None:
    """The row that has most values in common with this one: at least half of them, else they are strangers."""
    best: tuple[int, frozenset[int]] | None = None
    for at in free:
        other = others[at]
        differ = frozenset(place for place, value in enumerate(row) if not _equal(value, other[place]))
        if 2 * len(differ) <= len(row) and (best is None or len(differ) < len(best[1])):
            best = (at, differ)
            if len(differ) == 1:
                break
    return best


def _equal(one: object, other: object) -> bool:
    # A NaN is the same value as another.
    return one == other or (one != one and other != other)
