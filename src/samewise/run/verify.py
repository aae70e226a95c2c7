"""What must hold of the staged rows before any of them is published."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from samewise.core.errors import Refused
from samewise.core.keys import has_null
from samewise.core.measures import Measures, measure_expressions, read_measures
from samewise.core.ports import Source
from samewise.core.records import RunRecord
from samewise.core.schema import Schema
from samewise.core.shapes import Fit
from samewise.core.sql import Span, quote
from samewise.run.rules import Rules
from samewise.storage.frames import schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MOST_SHOWN = 3
_ADDS_UP = re.compile(r"tinyint|smallint|int|bigint|float|double|decimal\(.*|string")


@dataclass(frozen=True, slots=True)
class Totals:
    """What was read, before the transform."""

    rows: int
    """Those in quarantine included."""
    sums: Mapping[str, Decimal]
    """Of the rows that could be read: what a malformed one holds, nobody can say."""


def source_expressions(sums: Sequence[str]) -> dict[str, str]:
    """Aggregates over the source that a manifest is compared with."""
    expressions = {"rows": "count(*)"}
    for column in sums:
        expressions[f"sum_{column}"] = f"sum({_number(column)})"
    return expressions


def _number(column: str) -> str:
    # Text may hold numbers, and one that is none must not fail the job as if the transform were to blame.
    return f"try_cast({quote(column)} AS DECIMAL(38, 10))"


def read_totals(values: Mapping[str, Any], sums: Sequence[str], quarantined: int) -> Totals:
    """Totals from the row that `source_expressions` gave; a manifest counts malformed rows too."""
    found = {column: values[f"sum_{column}"] for column in sums}
    rows = int(values["rows"]) + quarantined
    return Totals(rows, {c: Decimal(str(v or 0)) for c, v in found.items()})


def manifest_sums(manifest: Mapping[str, Any] | None) -> list[str]:
    """The columns whose sums a manifest promises."""
    return sorted((manifest or {}).get("sums", {}))


def unsummable(sums: Sequence[str], columns: Schema) -> str | None:
    """Why the source's `columns` cannot be added up as a manifest wants it, in words; None if they can."""
    for name in sums:
        column = columns.get(name)
        if column is None:
            return f"it promises the sum of {name}, and the source has only {', '.join(columns.names)}"
        if _ADDS_UP.fullmatch(column.type) is None:
            return f"it promises the sum of {name}, which is {column.type}"
    return None


def bad_manifest(manifest: Mapping[str, Any], why: str) -> Refused:
    """A promise that cannot even be compared."""
    return Refused(
        f"the manifest {manifest['path']} cannot be used: {why}",
        code="bad_manifest",
        next_step="ask the sender for a manifest that promises sums of the source's own columns of numbers, "
        "or declare the column in source.schema; then run the same command again",
    )


def compare_with_manifest(manifest: Mapping[str, Any], totals: Totals) -> str | None:
    """The first promise of the manifest that does not hold, in words; None if all do."""
    rows = manifest.get("rows")
    if rows is not None and rows != totals.rows:
        return f"the manifest promises {rows} rows, {totals.rows} were read"
    for column, promised in manifest.get("sums", {}).items():
        if Decimal(str(promised)) != totals.sums[column]:
            return f"the manifest promises {column} to add up to {promised}, it is {totals.sums[column].normalize():f}"
    return None


def check_manifest(
    source: Source,
    run: RunRecord,
    fits: Sequence[Fit] | None,
    passing: Mapping[str, Any] | None,
    quarantined: int,
) -> int:
    """How many rows were read, those in quarantine included. Raises `Refused` if the manifest says otherwise.

    `passing` is what was observed while they were read, as `source_expressions` names it.
    """
    manifest = run.source.details.get("manifest") or {}
    sums = manifest_sums(manifest)
    if passing is not None:
        totals = read_totals(passing, sums, quarantined)
        if compare_with_manifest(manifest, totals) is None:
            return totals.rows
    # A stage that Spark ran again is observed twice, and rows that were optimised away not at all:
    # before data is refused, what was pinned is counted for its own sake.
    odd = {f"odd_{name}": f"count_if({quote(name)} IS NOT NULL AND {_number(name)} IS NULL)" for name in sums}
    expressions = {**source_expressions(sums), **odd}
    rows = source.read(run.source, run.window, fits)
    exact = rows.selectExpr(*[f"{sql} AS {quote(name)}" for name, sql in expressions.items()]).first()
    assert exact is not None
    totals = read_totals(exact.asDict(), sums, quarantined)
    broken = compare_with_manifest(manifest, totals)
    if broken is None:
        return totals.rows
    for name in sums:
        if exact[f"odd_{name}"]:
            raise bad_manifest(manifest, f"it promises the sum of {name}, which holds what is no number")
    raise Refused(
        broken,
        code="manifest_mismatch",
        next_step=f"check the source ({run.source.summary}) for a missing or repeated file, "
        "then run the same command again",
    )


def measure_staged(
    staged: DataFrame,
    rules: Rules,
    span: Span | None,
    *,
    further: Mapping[str, str] | None = None,
    into: dict[str, Any] | None = None,
) -> Measures:
    """Measure the staged rows and check every rule in the same pass. Raises `Refused` for the first broken one.

    Uniqueness needs a shuffle of its own, one for each set of columns. `further` are aggregates that the caller
    wants of the same pass; their values go `into` a place of its own.
    """
    further = further or {}
    expressions = {**measure_expressions(schema_of(staged), summed=rules.summed), **further}
    checks = {f"broken_{i}": rule for i, rule in enumerate(rules.conditions)}
    if span is not None:
        checks["outside"] = span.sql
    if rules.key:
        checks["keyless"] = f"NOT {has_null(rules.key)}"
    for name, condition in checks.items():
        expressions[name] = f"count_if(NOT coalesce(({condition}), false))"
    for column in rules.summed:
        expressions[f"known_{column}"] = f"count({quote(column)})"
    found = staged.selectExpr(*[f"{sql} AS {quote(name)}" for name, sql in expressions.items()]).first()
    assert found is not None
    values = found.asDict()
    taken = {name: values.pop(name) for name in further}
    if into is not None:
        into.update(taken)
    broken = {name: int(values.pop(name)) for name in checks}
    known = {column: int(values.pop(f"known_{column}")) for column in rules.summed}
    measures = read_measures(values)
    assert measures is not None, "more than 2**41 rows in one window"
    if broken.get("outside"):
        raise outside_window(broken["outside"], measures.rows)
    if broken.get("keyless"):
        raise _null_keys(staged, rules.key, broken["keyless"], measures.rows)
    for name, condition in checks.items():
        if broken[name]:
            raise _broken(staged, condition, broken[name], measures.rows)
    _check_count(rules, measures.rows)
    for columns in rules.unique:
        check_unique(staged, columns)
    return _with_sums(measures, known)


def _with_sums(measures: Measures, known: Mapping[str, int]) -> Measures:
    """Also where there is nothing to add up: no rows, or none with a value, are a sum of 0 to later windows."""
    sums = dict(measures.sums)
    names = {name.lower() for name in sums}
    for column, values in known.items():
        if column.lower() in names:
            continue
        if values:
            raise Refused(
                f"the sum of {column} does not fit into 38 digits, so that it cannot be compared",
                code="expectation",
                next_step="mend the source, or take the `change` rule out",
            )
        sums[column] = "0"
    return replace(measures, sums=sums)


def outside_window(outside: int | None, rows: int | None) -> Refused:
    """Rows whose own time says that they belong to another window."""
    count = "there are rows" if outside is None else f"{outside} of {rows} rows"
    return Refused(
        f"{count} outside the window" if outside is None else f"{count} lie outside the window",
        code="outside_window",
        next_step="filter them in the transform, or leave out write.window_column so that late rows "
        "belong to the window that loaded them",
    )


def _null_keys(staged: DataFrame, key: Sequence[str], count: int, of: int) -> Refused:
    """The refusal of rows whose key holds a NULL; reads the rows again for a few examples."""
    names = ", ".join(key)
    examples = staged.where(has_null(key)).selectExpr("to_json(struct(*), map('ignoreNullFields', 'false'))")
    lines = [f"  {str(row[0])[:76]}" for row in examples.limit(_MOST_SHOWN).collect()]
    if count > len(lines):
        lines.append(f"  … and {count - len(lines)} more")
    have = "row has" if count == 1 else "rows have"
    return Refused(
        "\n".join([f"{count} of {of} {have} a NULL in the key ({names})", *lines]),
        code="null_key",
        next_step="mend the source, or filter these rows in the transform; or say what they are: "
        "`null_keys: quarantine` sets them aside, `match` takes NULL for a value",
    )


def _broken(staged: DataFrame, condition: str, count: int, rows: int) -> Refused:
    sample = staged.where(f"NOT coalesce(({condition}), false)").selectExpr("to_json(struct(*))").first()
    example = "" if sample is None else f", e.g. {str(sample[0])[:160]}"
    return Refused(
        f"expectation `{condition}` does not hold for {count} of {rows} rows{example}",
        code="expectation",
        next_step="mend the source or the transform, then run the same command again",
    )


def _check_count(rules: Rules, rows: int) -> None:
    below = rules.rows_min is not None and rows < rules.rows_min
    above = rules.rows_max is not None and rows > rules.rows_max
    if below or above:
        bound = f"at least {rules.rows_min}" if below else f"at most {rules.rows_max}"
        raise Refused(
            f"expected {bound} rows, {rows} were staged",
            code="expectation",
            next_step="check the source for missing or repeated rows, then run the same command again",
        )


def check_empty(rows: int, on_empty: str) -> None:
    """Raise `Refused` for a result without rows where the pipeline wants some."""
    if rows == 0 and on_empty == "fail":
        raise Refused(
            "the result is empty, and on_empty is fail",
            code="empty",
            next_step="check the source; if an empty window is right, write on_empty: clear or keep",
        )


def check_unique(staged: DataFrame, columns: Sequence[str]) -> None:
    """Raise `Refused` where two rows have the same values in `columns`."""
    from pyspark.sql import functions as f

    names = [quote(column) for column in columns]
    counted = staged.groupBy(*names).agg(f.expr("count(*)").alias("_samewise_count"))
    found = (
        counted.where("_samewise_count > 1")
        .selectExpr("count(*) AS n", f"first(to_json(struct({', '.join(names)}))) AS example")
        .first()
    )
    assert found is not None
    if found["n"]:
        raise Refused(
            f"expectation unique: [{', '.join(columns)}] is broken by {found['n']} values, e.g. {found['example']}",
            code="expectation",
            next_step="mend the source or deduplicate in the transform, then run the same command again",
        )
