"""What a run of a window would do to its target, row by row. Nothing is written, not even to the state store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from samewise.core.errors import Refused, SamewiseError
from samewise.core.keyed import CHANGE, Change, Keyed, content
from samewise.core.keys import has_null
from samewise.core.records import RunRecord
from samewise.core.schema import Schema
from samewise.core.sql import literal, quote
from samewise.core.windows import Window
from samewise.plan.drift import contract_id
from samewise.run.job import Job
from samewise.run.keyed import look_over, marked, refuse, visible
from samewise.run.planning import make_plan, new_record
from samewise.run.rows import Prepared, prepare_rows
from samewise.state import epochs
from samewise.state.store import Store
from samewise.storage.frames import schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EXAMPLES = 3
_HERE, _THERE = "_samewise_here", "_samewise_there"


@dataclass(frozen=True, slots=True)
class Difference:
    """How the target would change."""

    task: str
    window: Window
    label: str
    counts: Mapping[str, int]
    """`inserted`, `updated`, `deleted`, `unchanged`."""
    examples: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """A few rows of each kind, as JSON. An updated one has what is there under `before`."""
    key: Sequence[str] = ()
    """By which rows were paired; without one a changed row is one deleted and one inserted."""

    def to_json(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "window": self.label,
            "key": list(self.key),
            **{f"rows_{name}": count for name, count in self.counts.items()},
            "examples": {name: [dict(row) for row in rows] for name, rows in self.examples.items()},
        }


def diff_window(job: Job, window: Window, store: Store | None) -> Difference:
    """Compare what a run would write with what is there. Raises `Refused` where a run would be, too."""
    plan = make_plan(job, window, store, force=False)
    if job.incremental is not None and plan.reason is None:
        nothing = dict.fromkeys(("inserted", "updated", "deleted", "unchanged"), 0)
        return Difference(job.task, window, job.label(window), nothing)
    run = new_record(plan)
    try:
        prepared = prepare_rows(job, run, store)
        if job.keyed is not None:
            return _by_key(job, job.keyed, run, prepared, store)
        return _by_contents(job, run, prepared)
    except SamewiseError:
        raise
    except Exception as error:
        known = job.source.explain_failure(error, run.source)
        if known is None:
            raise
        raise known from error
    finally:
        job.source.release(run.source)


def _by_key(job: Job, keyed: Keyed, run: RunRecord, prepared: Prepared, store: Store | None) -> Difference:
    run = _with_epoch(run, prepared, store)
    # As a run that is not forced would see it: a row that is there, at the same version, stays.
    rows = marked(job, keyed, run, prepared.rows)
    if not keyed.null_safe:
        if job.set_aside_without:
            rows = rows.where(f"NOT {has_null(keyed.key)}")
        elif rows.where(has_null(keyed.key)).limit(1).count():
            raise Refused(
                f"some rows have a NULL in the key ({', '.join(keyed.key)})",
                code="null_key",
                next_step="mend the source, or say what they are: `null_keys: quarantine` or `match`",
            )
    compared = job.target.compare(rows, keyed, look_over(rows, keyed, run.era or 0))
    counts = {str(row[CHANGE]): int(row["n"]) for row in compared.groupBy(CHANGE).count().toDF(CHANGE, "n").collect()}
    refuse(keyed, counts, compared)
    seen = visible(counts)
    columns = [quote(column.name) for column in content(schema_of(compared))]
    examples = {
        name: _rows(compared.where(f"{CHANGE} = '{change}'").select(*columns), keyed.key)
        for name, change in (("inserted", Change.INSERT), ("updated", Change.UPDATE), ("deleted", Change.DELETE))
        if counts.get(change)
    }
    return Difference(
        job.task,
        run.window,
        job.label(run.window),
        {name.removeprefix("rows_"): count for name, count in seen.items()},
        examples,
        keyed.key,
    )


def _with_epoch(run: RunRecord, prepared: Prepared, store: Store | None) -> RunRecord:
    """The epoch that a run would have now, without taking it."""
    contract = contract_id(prepared.contract)
    known = epochs.Epoch(0, 0) if store is None else epochs.current(store, run.pipeline, run.task)
    same = store is not None and epochs.is_current(store, run.pipeline, run.task, run.definition, contract)
    epoch = known.epoch if same else known.epoch + 1
    return replace(run, contract=contract, epoch=epoch, era=known.era if same else epoch)


def _by_contents(job: Job, run: RunRecord, prepared: Prepared) -> Difference:
    """Rows of the span as they would be beside those that are there: by a key where one is declared."""
    there = job.target.rows(prepared.span)
    here = prepared.rows
    columns = content(schema_of(here))
    if there is None:
        there = here.limit(0)
    key = _natural_key(job, columns)
    there = _like(there, columns)
    here = here.select(*[quote(column.name) for column in columns])
    if key:
        return _paired(job, run, here, there, columns, key)
    packed = _packed(columns)
    # As multisets: how often each row is on either side.
    sides = here.selectExpr(f"{packed} AS body", "1L AS here", "0L AS there").unionAll(
        there.selectExpr(f"{packed} AS body", "0L AS here", "1L AS there")
    )
    counted = sides.groupBy("body").agg({"here": "sum", "there": "sum"}).toDF("body", "here", "there")
    totals = counted.selectExpr(
        "coalesce(sum(greatest(here - there, 0)), 0) AS inserted",
        "coalesce(sum(greatest(there - here, 0)), 0) AS deleted",
        "coalesce(sum(least(here, there)), 0) AS unchanged",
    ).first()
    assert totals is not None
    counts = {
        "inserted": int(totals["inserted"]),
        "updated": 0,
        "deleted": int(totals["deleted"]),
        "unchanged": int(totals["unchanged"]),
    }
    examples = {
        name: _bodies(counted.where(condition))
        for name, condition in (("inserted", "here > there"), ("deleted", "there > here"))
        if counts[name]
    }
    return Difference(job.task, run.window, job.label(run.window), counts, examples)


def _paired(
    job: Job, run: RunRecord, here: DataFrame, there: DataFrame, columns: Schema, key: Sequence[str]
) -> Difference:
    from pyspark.sql import functions as f

    packed = _packed(columns)
    names = [quote(name) for name in key]
    one = here.selectExpr(*names, f"{packed} AS {_HERE}").alias("h")
    other = there.selectExpr(*names, f"{packed} AS {_THERE}").alias("t")
    condition = " AND ".join(f"h.{name} <=> t.{name}" for name in names)
    joined = one.join(other, f.expr(condition), "full").selectExpr(_HERE, _THERE)
    kinds = {
        "inserted": f"{_THERE} IS NULL",
        "deleted": f"{_HERE} IS NULL",
        "unchanged": f"{_HERE} = {_THERE}",
        "updated": f"{_HERE} <> {_THERE}",
    }
    found = joined.selectExpr(*[f"count_if({sql}) AS {name}" for name, sql in kinds.items()]).first()
    assert found is not None
    counts = {name: int(found[name]) for name in ("inserted", "updated", "deleted", "unchanged")}
    examples: dict[str, Sequence[Mapping[str, Any]]] = {}
    for name in ("inserted", "updated", "deleted"):
        if counts[name]:
            rows = joined.where(kinds[name]).orderBy(_HERE, _THERE).limit(_EXAMPLES).collect()
            examples[name] = [_example(row[_HERE], row[_THERE]) for row in rows]
    return Difference(job.task, run.window, job.label(run.window), counts, examples, key)


def _example(here: str | None, there: str | None) -> dict[str, Any]:
    import json

    after = {} if here is None else json.loads(here)
    before = {} if there is None else json.loads(there)
    if here is None or there is None:
        return dict(after or before)
    return {**after, "before": {name: value for name, value in before.items() if after.get(name) != value}}


def _natural_key(job: Job, columns: Schema) -> Sequence[str]:
    """A key that the pipeline declares for other ends: what is unique, or what repeats are told by."""
    for names in (*job.rules.unique, *([job.dedup.key] if job.dedup is not None else [])):
        if all(columns.get(name) is not None for name in names):
            return tuple(names)
    return ()


def _like(rows: DataFrame, columns: Schema) -> DataFrame:
    """The user's columns of the target; one that it does not have yet is NULL."""
    there = schema_of(rows)
    return rows.selectExpr(
        *[
            quote(column.name)
            if there.get(column.name) is not None
            else f"CAST(NULL AS {column.type}) AS {quote(column.name)}"
            for column in columns
        ]
    )


def _packed(columns: Schema) -> str:
    fields = ", ".join(f"{literal(column.name)}, {quote(column.name)}" for column in columns)
    return f"to_json(named_struct({fields}), map('ignoreNullFields', 'false'))"


def _rows(rows: DataFrame, key: Sequence[str]) -> list[Mapping[str, Any]]:
    ordered = rows.orderBy(*[quote(name) for name in key]).limit(_EXAMPLES)
    return _bodies(ordered.selectExpr(f"{_packed(schema_of(rows))} AS body"))


def _bodies(rows: DataFrame) -> list[Mapping[str, Any]]:
    import json

    return [json.loads(row["body"]) for row in rows.select("body").limit(_EXAMPLES).collect()]
