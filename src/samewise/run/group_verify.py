"""What must hold of each window's staged rows before any of the group is published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from samewise.core.measures import Measures, measure_expressions, read_measures
from samewise.core.records import Landed, RunRecord
from samewise.core.shapes import Fit
from samewise.core.sql import AT, Spans, quote
from samewise.run.job import Job
from samewise.run.receipt import published_differs
from samewise.run.settle import group_target
from samewise.run.verify import compare_with_manifest, manifest_sums, read_totals, source_expressions, unsummable
from samewise.storage.frames import empty_measures, schema_of, without

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Unfit(Exception):
    """Some windows of a group cannot be published with the others: each is left to say why by itself."""

    def __init__(self, places: set[int]) -> None:
        super().__init__(f"windows {sorted(places)} of the group")
        self.places = places


def verify_group(
    job: Job,
    group: Sequence[RunRecord],
    fits: Sequence[Sequence[Fit] | None],
    staged: DataFrame,
    spans: Spans,
    rows_read: Sequence[int | None],
) -> list[Measures]:
    """The measures of each window's staged rows. Raises `Unfit` with every window that breaks a rule, or is empty
    where that must be decided by itself."""
    from pyspark.sql import functions as f

    rules = job.rules
    expressions = measure_expressions(without(schema_of(staged), AT), summed=rules.summed)
    conditions = [*rules.conditions, *([] if job.window_column is None else [spans.at(AT)])]
    for at, condition in enumerate(conditions):
        expressions[f"broken_{at}"] = f"count_if(NOT coalesce(({condition}), false))"
    found = staged.groupBy(AT).agg(*[f.expr(sql).alias(name) for name, sql in expressions.items()]).collect()
    measured, unfit = [empty_measures() for _ in group], set[int]()
    for row in found:
        values = row.asDict()
        place = int(values.pop(AT))
        if any(values.pop(f"broken_{at}") for at in range(len(conditions))):
            unfit.add(place)
        measures = read_measures(values)
        assert measures is not None, "more than 2**41 rows in one window"
        measured[place] = measures
    for place, measures in enumerate(measured):
        below = rules.rows_min is not None and measures.rows < rules.rows_min
        above = rules.rows_max is not None and measures.rows > rules.rows_max
        if below or above or (measures.rows == 0 and job.on_empty != "clear"):
            unfit.add(place)
    for columns in rules.unique:
        unfit |= _repeated(staged, columns)
    for place, (run, read) in enumerate(zip(group, rows_read, strict=True)):
        if _breaks_its_promise(job, run, fits[place], measured[place].rows if read is None else read):
            unfit.add(place)
    if unfit:
        raise Unfit(unfit)
    return measured


def check_published(job: Job, spans: Spans, landed: Landed, verified: Sequence[Measures] | None) -> None:
    """Raise unless the target shows, window by window, the rows that were verified. Reads what the commit wrote."""
    target = group_target(job.target)
    if target is None or landed.commit is None or verified is None:
        return
    shown = target.measure_published(spans, landed.commit.version)
    if not all(found.same_rows(known) for found, known in zip(shown, verified, strict=True)):
        raise published_differs("what was staged was changed while it was published", landed.commit.version)


def _repeated(staged: DataFrame, columns: Sequence[str]) -> set[int]:
    from pyspark.sql import functions as f

    names = [AT, *[quote(column) for column in columns]]
    counted = staged.groupBy(*names).agg(f.expr("count(*)").alias("_samewise_count"))
    return {int(row[AT]) for row in counted.where("_samewise_count > 1").select(AT).distinct().collect()}


def _breaks_its_promise(job: Job, run: RunRecord, fits: Sequence[Fit] | None, rows: int) -> bool:
    manifest: dict[str, Any] = run.source.details.get("manifest") or {}
    if not manifest:
        return False
    sums = manifest_sums(manifest)
    if not sums:
        return manifest.get("rows") not in (None, rows)
    read = job.source.read(run.source, run.window, fits)
    if unsummable(sums, schema_of(read)) is not None:
        return True
    totals = read.selectExpr(*[f"{sql} AS {quote(name)}" for name, sql in source_expressions(sums).items()]).first()
    assert totals is not None
    return compare_with_manifest(manifest, read_totals(totals.asDict(), sums, 0)) is not None
