"""The rows of several windows on their way together: each window's are made by themselves, and say whose they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from samewise.core.errors import SamewiseError
from samewise.core.ports import GroupSource, Source
from samewise.core.records import RunRecord
from samewise.core.schema import Schema
from samewise.core.shapes import Fit
from samewise.core.sql import AT, Spans, literal, quote
from samewise.plan.row_wise import tagged_query
from samewise.plan.spans import WINDOW_COLUMN
from samewise.run.change import check_change_columns
from samewise.run.check import check_result, result_span
from samewise.run.dedup import without_duplicates
from samewise.run.job import Job
from samewise.run.keys import with_hash_key
from samewise.run.observe import figures, observed
from samewise.run.transform import Context, SqlTransform, check_plan
from samewise.storage.frames import schema_of, without

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation

OUTSIDE = "samewise: a row lies outside its own window"
_PART_BYTES = 32 * 1024 * 1024
_FEWEST_PARTS = 4


@dataclass(frozen=True, slots=True)
class GroupRows:
    """Lazily, what a group would write, each row with the place of its window in `AT`."""

    rows: DataFrame
    spans: Spans
    windows: int
    sources: DataFrame | None
    """`AT` for each row of the source; None where the result has just those rows."""
    reading: Observation | None = None
    """How many rows of each window were read, once they have been."""

    def refusing_strays(self) -> DataFrame:
        """The rows; reading them fails where one lies outside its own window, though it may lie within another."""
        column = self.spans.parts[0].column
        # In place of the column, not as a filter: Spark would work out `AT` anew for each comparison of a filter.
        inside = f"coalesce({self.spans.at(AT)}, false)"
        checked = f"CASE WHEN {inside} THEN {quote(column)} ELSE raise_error({literal(OUTSIDE)}) END"
        names = self.rows.columns
        own = {name for name in names if name.lower() == column.lower()}
        return self.rows.selectExpr(*[f"{checked} AS {quote(name)}" if name in own else quote(name) for name in names])

    def rows_read(self, *, exact: bool) -> list[int | None]:
        """How many rows of the source each window has, once they have been written.

        `exact`: counted for their own sake, since a stage that Spark ran again is observed twice.
        """
        if self.sources is None:
            return [None] * self.windows
        passing = None if exact or self.reading is None else figures(self.reading)
        if passing is not None:
            return [int(passing[f"rows_{at}"]) for at in range(self.windows)]
        found: list[int | None] = [0] * self.windows
        for row in self.sources.groupBy(AT).count().collect():
            found[row[AT]] = int(row["count"])
        return found


def group_rows(job: Job, group: Sequence[RunRecord], fits: Sequence[Sequence[Fit] | None], mark: str) -> GroupRows:
    """Build the rows of a group, and decide about the shape of the result. No row moves.

    Windows are read and transformed in one go only where that surely gives each the rows that it would have alone.
    """
    sources, rows, reading = _in_one_go(job, group, fits, mark) or _one_by_one(job, group, fits, mark)
    result = without(schema_of(rows), AT)
    head = job.target.head()
    check_result(job, result, None if head is None else head.schema)
    check_change_columns(job, result)
    parts = []
    for run in group:
        span = result_span(job, run.window, result)
        assert span is not None
        parts.append(span)
    if job.marks_rows:
        keys = ", ".join(literal(run.window.key) for run in group)
        rows = rows.selectExpr("*", f"element_at(array({keys}), {AT} + 1) AS {quote(WINDOW_COLUMN)}")
    spans = Spans(tuple(parts))
    return GroupRows(rows, spans, len(group), None if job.passes_through else sources, reading)


def _in_one_go(
    job: Job, group: Sequence[RunRecord], fits: Sequence[Sequence[Fit] | None], mark: str
) -> tuple[DataFrame, DataFrame, Observation | None] | None:
    """Source and result of all windows as one frame each; None where a row may depend on its window or on others."""
    text = None
    if isinstance(job.transform, SqlTransform):
        text = tagged_query(job.transform.text, quote(AT))
    if job.dedup is not None or job.inputs or not (job.passes_through or text is not None):
        return None
    source = group_source(job.source)
    rows = None if source is None else source.read_many([r.source for r in group], [r.window for r in group], fits)
    if rows is None:
        return None
    result, reading = rows, None
    if isinstance(job.transform, SqlTransform):
        passing, reading = observed(rows, {f"rows_{at}": f"count_if({AT} = {at})" for at in range(len(group))})
        try:
            result = job.transform.apply_beside(passing, _context(job, group[0]), mark, text)
            _ = result.schema
        except Exception:
            return None  # Each by itself says what is wrong with it, if anything is.
        check_plan(result, job.spark(), incremental=False)
    return rows.select(AT), result if job.hash_key is None else with_hash_key(result, job.hash_key), reading


def _one_by_one(
    job: Job, group: Sequence[RunRecord], fits: Sequence[Sequence[Fit] | None], mark: str
) -> tuple[DataFrame, DataFrame, Observation | None]:
    sources: list[DataFrame] = []
    results: list[DataFrame] = []
    first: Schema | None = None
    for at, run in enumerate(group):
        rows = job.source.read(run.source, run.window, fits[at])
        sources.append(rows.selectExpr(f"{at} AS {AT}"))
        if job.dedup is not None:
            rows = without_duplicates(rows, job.dedup)
        context = _context(job, run)
        if isinstance(job.transform, SqlTransform):
            result = job.transform.apply_beside(rows, context, f"{mark}_{at}")
        else:
            result = job.transform.apply(rows, context)
        if job.hash_key is not None:
            result = with_hash_key(result, job.hash_key)
        if first is None:
            first = schema_of(result)
            if not job.passes_through:
                check_plan(result, job.spark(), incremental=False)
        elif {(c.name.lower(), c.type) for c in schema_of(result)} != {(c.name.lower(), c.type) for c in first}:
            raise SamewiseError("the windows' results differ in their columns", code="differing_results")
        results.append(result.selectExpr("*", f"{at} AS {AT}"))
    parts = max(_FEWEST_PARTS, sum(run.source.size_bytes or 0 for run in group) // _PART_BYTES)
    return _union(sources), _union(results).coalesce(min(parts, len(group))), None


def _union(frames: Sequence[DataFrame]) -> DataFrame:
    """All of them, joined two by two: one after the other Spark would look at the first ones again each time."""
    todo = list(frames)
    while len(todo) > 1:
        pairs = [todo[at : at + 2] for at in range(0, len(todo), 2)]
        todo = [pair[0] if len(pair) == 1 else pair[0].unionByName(pair[1]) for pair in pairs]
    return todo[0]


def _context(job: Job, run: RunRecord) -> Context:
    inputs = {name: source.read(run.inputs[name], run.window) for name, source in job.inputs.items()}
    return Context(run.window, job.zone, run.run_ts, job.params, inputs, job.spark())


def group_source(source: Source) -> GroupSource | None:
    """The source, if it can read several windows in one go."""
    found: GroupSource | None = source if hasattr(source, "read_many") else None  # type: ignore[assignment]
    return found
