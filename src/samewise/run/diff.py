"""What a run of a window would do to its target, row by row. Nothing is written, not even to the state store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from samewise.core.errors import Busy, Refused, SamewiseError
from samewise.core.keyed import CHANGE, Change, Keyed, content
from samewise.core.keys import has_null, same_key
from samewise.core.measures import exact_row_text
from samewise.core.records import RunRecord
from samewise.core.schema import Schema
from samewise.core.sql import quote
from samewise.core.windows import Window
from samewise.plan.drift import contract_id
from samewise.run.job import Job
from samewise.run.keyed import living, look_over, marked, refuse, visible
from samewise.run.planning import make_plan, new_record
from samewise.run.results import error_json
from samewise.run.rows import Prepared, prepare_rows
from samewise.run.verify import check_empty, check_unique
from samewise.state import epochs
from samewise.state.store import Store
from samewise.storage.frames import schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

_EXAMPLES = 3
_HERE, _THERE = "_samewise_here", "_samewise_there"
_COPIES = "_samewise_copies"
_KINDS = ("inserted", "updated", "deleted", "unchanged")
# A delete of a key that is not there is left out: there is no row to show.
_STAYS = (Change.SAME, Change.STAMP, Change.OLDER)

Examples = Mapping[str, Sequence[Mapping[str, Any]]]
Found = tuple[Mapping[str, int], Examples]
"""How many rows of each kind, and a few of them."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How the target would change."""

    task: str
    window: Window
    label: str
    counts: Mapping[str, int]
    """`inserted`, `updated`, `deleted`, `unchanged`."""
    examples: Examples = field(default_factory=dict)
    """A few rows of each kind, as JSON. An updated one has what is there under `before`, an unchanged one is there."""
    key: Sequence[str] = ()
    """By which rows were paired; without one a changed row is one deleted and one inserted."""
    by_key: bool = False
    """True where the run would write by key: then its windows share the table's rows, and each changes what the next
    one finds."""
    error: SamewiseError | None = None
    """Why this window cannot be compared; then there are no counts."""

    def to_json(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "window": self.label,
            "key": list(self.key),
            **{f"rows_{name}": self.counts.get(name) for name in _KINDS},
            "examples": {name: [dict(row) for row in rows] for name, rows in self.examples.items()},
            "error": None if self.error is None else error_json(self.error),
        }


def diff_windows(work: Sequence[tuple[Job, Window]], store: Store | None) -> list[Difference]:
    """Compare each window by itself: one that cannot be compared has its error, and hides no other.

    Where the error would most likely meet the task's next window too, its other windows are left out, as by a run.
    """
    found: list[Difference] = []
    broken: set[str] = set()
    for job, window in work:
        if job.task in broken:
            continue
        try:
            found.append(diff_window(job, window, store))
        except SamewiseError as error:
            error.message = f"{job.name} {job.label(window)}: {error.message}"
            error.with_kept("nothing is ever written by a diff")
            error.redact(job.redact)
            found.append(Difference(job.task, window, job.label(window), {}, error=error))
            if not isinstance(error, Refused | Busy):
                broken.add(job.task)
    return found


def diff_window(job: Job, window: Window, store: Store | None) -> Difference:
    """Compare what a run would write with what is there. Raises `Refused` where a run would be, too."""
    plan = make_plan(job, window, store, force=False)
    if job.incremental is not None and plan.reason is None:
        return Difference(job.task, window, job.label(window), dict.fromkeys(_KINDS, 0))
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
    seen = {name.removeprefix("rows_"): count for name, count in visible(counts).items()}
    examples = _examples_by_key(job, keyed, compared, seen)
    return Difference(job.task, run.window, job.label(run.window), seen, examples, keyed.key, by_key=True)


def _examples_by_key(job: Job, keyed: Keyed, compared: DataFrame, counts: Mapping[str, int]) -> Examples:
    """What is there is looked up in the target: an older row of the batch is not the one that stays."""
    columns = content(schema_of(compared))
    packed, names = exact_row_text(columns), [quote(name) for name in keyed.key]

    def pairs(changes: Sequence[Change], *, beside: bool) -> list[tuple[str, str | None]]:
        chosen = compared.where(f"{CHANGE} IN ({', '.join(repr(str(change)) for change in changes)})")
        rows = chosen.selectExpr(*names, f"{packed} AS {_HERE}")
        there = job.target.rows(None) if beside else None
        if there is None:
            rows = rows.selectExpr("*", f"CAST(NULL AS STRING) AS {_THERE}")
        else:
            rows = _beside(rows, living(there), columns, keyed.key)
        found = rows.orderBy(*names).limit(_EXAMPLES).select(_HERE, _THERE).collect()
        return [(row[_HERE], row[_THERE]) for row in found]

    shown = {
        "inserted": ([Change.INSERT], False),
        "updated": ([Change.UPDATE], True),
        "deleted": ([Change.DELETE], False),
        "unchanged": (_STAYS, True),
    }
    examples = {
        name: [_example(name, *pair) for pair in pairs(changes, beside=beside)]
        for name, (changes, beside) in shown.items()
        if counts[name]
    }
    return {name: rows for name, rows in examples.items() if rows}


def _beside(rows: DataFrame, there: DataFrame, columns: Schema, key: Sequence[str]) -> DataFrame:
    """`rows`, each with the target's row of the same key as text."""
    from pyspark.sql import functions as f

    other = _like(there, columns).selectExpr(*[quote(name) for name in key], f"{exact_row_text(columns)} AS {_THERE}")
    joined = rows.alias("b").join(other.alias("t"), f.expr(same_key(key, "b", "t")))
    return joined.selectExpr("b.*", f"t.{_THERE}")


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
    found = _paired(job, here, there, columns, key) if key else None
    if found is None:
        key, found = (), _as_multisets(here, there, columns)
    counts, examples = _where_empty(job, *found)
    return Difference(job.task, run.window, job.label(run.window), counts, examples, key)


def _where_empty(job: Job, counts: Mapping[str, int], examples: Examples) -> Found:
    """The same, unless the result has no rows: then `on_empty` says what becomes of those that are there."""
    rows = counts["inserted"] + counts["updated"] + counts["unchanged"]
    check_empty(rows, job.on_empty)
    if rows or job.on_empty != "keep":
        return counts, examples
    kept = {**counts, "deleted": 0, "unchanged": counts["deleted"]}
    return kept, {"unchanged": examples["deleted"]} if examples else {}


def _as_multisets(here: DataFrame, there: DataFrame, columns: Schema) -> Found:
    """By how often each row is on either side."""
    packed = exact_row_text(columns)
    sides = here.selectExpr(f"{packed} AS body", "1L AS here", "0L AS there").unionAll(
        there.selectExpr(f"{packed} AS body", "0L AS here", "1L AS there")
    )
    counted = sides.groupBy("body").agg({"here": "sum", "there": "sum"}).toDF("body", "here", "there")
    totals = counted.selectExpr(
        "coalesce(sum(greatest(here - there, 0)), 0) AS inserted",
        "0L AS updated",
        "coalesce(sum(greatest(there - here, 0)), 0) AS deleted",
        "coalesce(sum(least(here, there)), 0) AS unchanged",
    ).first()
    assert totals is not None
    counts = {name: int(totals[name]) for name in _KINDS}
    which = {"inserted": "here > there", "deleted": "there > here", "unchanged": "here > 0 AND there > 0"}
    examples = {
        name: [_example(name, row["body"], row["body"]) for row in _first(counted.where(condition), "body")]
        for name, condition in which.items()
        if counts[name]
    }
    return counts, examples


def _paired(job: Job, here: DataFrame, there: DataFrame, columns: Schema, key: Sequence[str]) -> Found | None:
    """By key; None where a key comes more than once, so that no row can be said to be the other one, changed.

    Raises `Refused` where the run would be, for a `unique` rule that the result breaks.
    """
    from pyspark.sql import functions as f

    one, other = _one_a_key(here, columns, key, _HERE).alias("h"), _one_a_key(there, columns, key, _THERE).alias("t")
    joined = one.join(other, f.expr(same_key(key, "h", "t")), "full").selectExpr(
        _HERE, _THERE, f"greatest(h.{_COPIES}, t.{_COPIES}) AS {_COPIES}"
    )
    kinds = {
        "inserted": f"{_THERE} IS NULL",
        "updated": f"{_HERE} <> {_THERE}",
        "deleted": f"{_HERE} IS NULL",
        "unchanged": f"{_HERE} = {_THERE}",
    }
    counting = [f"count_if({sql}) AS {name}" for name, sql in kinds.items()]
    found = joined.selectExpr(*counting, f"coalesce(max({_COPIES}), 1) AS {_COPIES}").first()
    assert found is not None
    if found[_COPIES] > 1:
        if key in [tuple(names) for names in job.rules.unique]:
            check_unique(here, key)
        return None
    counts = {name: int(found[name]) for name in _KINDS}
    examples = {
        name: [_example(name, row[_HERE], row[_THERE]) for row in _first(joined.where(kinds[name]), _HERE, _THERE)]
        for name in _KINDS
        if counts[name]
    }
    return counts, examples


def _one_a_key(rows: DataFrame, columns: Schema, key: Sequence[str], name: str) -> DataFrame:
    """A row of each key as text, and how many there are of it."""
    from pyspark.sql import functions as f

    names = [quote(column) for column in key]
    packed = rows.selectExpr(*names, f"{exact_row_text(columns)} AS {name}")
    return packed.groupBy(*names).agg(f.max(name).alias(name), f.count("*").alias(_COPIES))


def _first(rows: DataFrame, *order: str) -> list[Row]:
    return rows.orderBy(*order).limit(_EXAMPLES).collect()


def _example(kind: str, here: str | None, there: str | None) -> Mapping[str, Any]:
    """One row for a person: as it will be, or, where nothing new comes, as it is there."""
    shown = there if kind == "unchanged" or here is None else here
    assert shown is not None
    row: dict[str, Any] = json.loads(shown)
    if kind == "updated" and there is not None:
        row["before"] = _changed(shown, there)
    return row


def _changed(after: str, before: str) -> dict[str, Any]:
    """The values that were there, of the columns that change."""
    # Numbers are compared as they are written: two decimals may well be one float.
    new, old = (json.loads(text, parse_float=str) for text in (after, before))
    was = json.loads(before)
    return {name: value for name, value in was.items() if new.get(name) != old[name]}


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
