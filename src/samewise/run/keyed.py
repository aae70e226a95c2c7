"""Rows on their way into a target by key: marked, one a key, compared, and what is left of them written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from samewise.core.errors import ConfigError, Refused
from samewise.core.keyed import CHANGE, DELETED_AT, EPOCH, FILE, WRITTEN, Batch, Change, FileMarks, Keyed, content
from samewise.core.records import RunRecord
from samewise.core.schema import Column, Schema
from samewise.core.sql import literal, quote
from samewise.plan.spans import WINDOW_COLUMN
from samewise.run import staging
from samewise.run.dedup import newest_per_key
from samewise.run.job import Job
from samewise.run.keys import check_columns
from samewise.run.observe import figures, observed
from samewise.storage.frames import schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EPOCH_START = datetime(1970, 1, 1, tzinfo=UTC)
_COUNTS = {str(change): f"count_if({quote(CHANGE)} = '{change}')" for change in Change}
_WRITTEN = f"{CHANGE} IN ({', '.join(repr(str(change)) for change in WRITTEN)})"
_TOUCHED = {FILE: FileMarks.expression(f"IF({_WRITTEN}, {quote(FILE)}, NULL)")}
_WHOLE = {"tinyint": "Y", "smallint": "S", "int": "", "bigint": "L"}
_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_LEADING_BITS = 4
"""So many stay of a bound that is rounded: it moves by an eighth of the range's reach at most."""


def check_keyed(keyed: Keyed, result: Schema) -> None:
    """Raise if the result lacks what writing by key needs."""
    check_columns(result, keyed.key, "write.key")
    check_columns(result, keyed.version_by, "write.version_by")
    if keyed.horizon is None:
        return
    check_columns(result, [keyed.horizon[0]], "write.dedup_horizon")
    column = result.get(keyed.horizon[0])
    if column is not None and column.type not in ("date", "timestamp", "timestamp_ntz"):
        raise ConfigError(
            f"write.dedup_horizon: {column.name} is {column.type}",
            next_step="name a DATE, TIMESTAMP or TIMESTAMP_NTZ column",
        )


def missing_columns(rows: Schema, target: Schema) -> list[Column]:
    """The user's columns that the target has and the rows have not."""
    return [column for column in content(target) if rows.get(column.name) is None]


def marked(job: Job, keyed: Keyed, run: RunRecord, rows: DataFrame) -> DataFrame:
    """One row a key, the newest, with what the target keeps beside each row."""
    schema = schema_of(rows)
    marks = [f"{literal(run.window.key)} AS {quote(WINDOW_COLUMN)}"]
    order = list(keyed.version_by)
    if keyed.updates:
        assert run.epoch is not None
        deleted_at = "CAST(NULL AS TIMESTAMP)"
        if job.delete_when is not None:
            deleted_at = f"IF({job.delete_when}, {literal(run.run_ts)}, NULL)"
        marks += [f"{run.epoch}L AS {quote(EPOCH)}", f"{deleted_at} AS {quote(DELETED_AT)}"]
        # Of an update and a delete of one version the delete is the newer: NULL is below every instant.
        order.append(DELETED_AT)
    return newest_per_key(rows.selectExpr("*", *marks), keyed.key, order, schema, spare_nulls=not keyed.null_safe)


def unmarked(rows: DataFrame) -> DataFrame:
    """The user's own columns."""
    return rows.select(*[quote(column.name) for column in content(schema_of(rows))])


def living(rows: DataFrame) -> DataFrame:
    """The user's own columns of the rows that delete nothing: what expectations are about."""
    there = rows if schema_of(rows).get(DELETED_AT) is None else rows.where(f"{quote(DELETED_AT)} IS NULL")
    return unmarked(there)


def range_expressions(columns: Schema, keyed: Keyed) -> dict[str, str]:
    """Aggregates over a batch that say where in a target its keys can lie: what `read_ranges` reads."""
    expressions: dict[str, str] = {}
    for at, (name, type) in enumerate(_ranged(columns, keyed).items()):
        expressions[f"low_{at}"] = f"min({_plain(name, type)})"
        expressions[f"high_{at}"] = f"max({_plain(name, type)})"
        expressions[f"nulls_{at}"] = f"count_if({quote(name)} IS NULL)"
    return expressions


def read_ranges(columns: Schema, keyed: Keyed, found: Mapping[str, Any], era: int) -> Batch:
    """The inverse of `range_expressions`, once they have values."""
    horizon = {} if keyed.horizon is None else {keyed.horizon[0].lower(): keyed.horizon[1]}
    ranges: dict[str, tuple[str, str]] = {}
    with_nulls: set[str] = set()
    for at, (name, type) in enumerate(_ranged(columns, keyed).items()):
        low, high, nulls = found[f"low_{at}"], found[f"high_{at}"], found[f"nulls_{at}"]
        around = horizon.get(name.lower())
        if low is None or (around is not None and nulls):
            continue  # No range: a key without it may lie anywhere.
        if type in _WHOLE:
            low, high = _rounded(low, high, type)
        shift = around or timedelta(0)
        ranges[name] = (_literal(low, type, -shift), _literal(high, type, shift))
        if nulls:
            with_nulls.add(name)
    return Batch(ranges, frozenset(with_nulls), era)


def _rounded(low: int, high: int, type: str) -> tuple[int, int]:
    """The range of a batch, or a little more where its keys are spread from about zero on: as for the batch before.

    Spark writes whole numbers into the code that it generates. With every batch's own it would compile the comparison
    anew, and run it cold over the whole table. Keys that lie together elsewhere keep their range: it passes over files.
    """
    reach = max(abs(low), abs(high))
    if 2 * (high - low) < reach:
        return low, high
    step = 1 << max(0, reach.bit_length() - _LEADING_BITS)
    least, most = -(1 << _BITS[type] - 1), (1 << _BITS[type] - 1) - 1
    return max(least, low // step * step), min(most, -(-high // step) * step)


def look_over(rows: DataFrame, keyed: Keyed, era: int) -> Batch:
    """The same for rows that nothing else is asked of."""
    columns = schema_of(rows)
    expressions = range_expressions(columns, keyed)
    if not expressions:
        return Batch({}, era=era)
    found = rows.selectExpr(*[f"{sql} AS {name}" for name, sql in expressions.items()]).first()
    assert found is not None
    return read_ranges(columns, keyed, found.asDict(), era)


def _ranged(columns: Schema, keyed: Keyed) -> dict[str, str]:
    """The columns of the key, and that of the horizon, of which a target's statistics know the range."""
    names = [*keyed.key, *([] if keyed.horizon is None else [keyed.horizon[0]])]
    found = {column.name: column.type for name in names if (column := columns.get(name)) is not None}
    return {name: type for name, type in found.items() if _is_ranged(type)}


@dataclass(frozen=True, slots=True)
class Changes:
    """What a batch does to its target: the rows that are written, and how many do what."""

    rows: DataFrame
    counts: Mapping[str, int]
    touched: FileMarks = field(default_factory=FileMarks)
    """The target's files that hold a row which is replaced."""
    kept: staging.Staged | None = None
    """Where the rows lie."""

    @property
    def written(self) -> int:
        return sum(self.counts.get(change, 0) for change in WRITTEN)


def write_changes(job: Job, keyed: Keyed, staged: DataFrame, batch: Batch, folder: str, *, staged_rows: int) -> Changes:
    """Compare the staged rows with the target as it is now, and keep those that change it, in `folder`.

    A second call replaces what the first one wrote. Raises `Refused` where the target cannot answer.
    """
    if staged_rows == 0:
        return Changes(staged, {})
    if job.delete_when is None and job.target.is_bare():
        # One row a key, and every key is new: there is nothing to compare them with.
        return Changes(staged, {str(Change.INSERT): staged_rows})
    compared, passing = observed(job.target.compare(staged, keyed, batch), {**_COUNTS, **_TOUCHED})
    compared = compared.drop(FILE)
    kept = staging.stage(compared, folder)
    rows = kept.read(job.spark(), compared)
    counts = figures(passing)
    touched = FileMarks() if counts is None else FileMarks(bytes(counts[FILE]))
    if counts is None or sum(counts[change] for change in Change) != staged_rows:
        counts = _counted(rows)  # A stage that Spark had to run again is counted twice on the way.
    found = {str(change): int(counts[change]) for change in Change if counts[change]}
    refuse(keyed, found, rows)
    return Changes(rows.where(_WRITTEN).drop(CHANGE), found, touched, kept)


def _counted(rows: DataFrame) -> dict[str, Any]:
    found = rows.selectExpr(*[f"{sql} AS {quote(name)}" for name, sql in _COUNTS.items()]).first()
    assert found is not None
    return found.asDict()


def refuse(keyed: Keyed, counts: Mapping[str, int], rows: DataFrame) -> None:
    """Raise `Refused` for rows of which the target cannot say what they are."""
    if counts.get(Change.AMBIGUOUS):
        raise Refused(
            f"the target holds {counts[Change.AMBIGUOUS]} keys of this batch more than once, "
            f"e.g. {_example(rows, keyed, Change.AMBIGUOUS)}",
            code="target_duplicates",
            next_step="remove the surplus rows from the target; nothing that Samewise writes makes them",
        )
    if counts.get(Change.EXPIRED):
        raise Refused(
            f"{counts[Change.EXPIRED]} rows are older than deletes that the target has forgotten, and not in it: "
            f"each may be one of those, e.g. {_example(rows, keyed, Change.EXPIRED)}",
            code="older_than_tombstones",
            next_step="leave these rows out of the source; or load this history into another target. "
            "write.tombstones says how long deletes are remembered",
        )


def visible(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts as a reader of the target sees them."""
    return {
        "rows_inserted": counts.get(Change.INSERT, 0),
        "rows_updated": counts.get(Change.UPDATE, 0),
        "rows_deleted": counts.get(Change.DELETE, 0),
        "rows_unchanged": sum(
            counts.get(change, 0) for change in (Change.SAME, Change.OLDER, Change.STAMP, Change.TOMBSTONE)
        ),
    }


def _example(rows: DataFrame, keyed: Keyed, change: Change) -> str:
    shown = ", ".join(f"{literal(name)}, {quote(name)}" for name in keyed.key)
    found = rows.where(f"{CHANGE} = '{change}'").selectExpr(f"to_json(named_struct({shown})) AS example").first()
    return "" if found is None else str(found["example"])


def _is_ranged(type: str) -> bool:
    return type in (*_WHOLE, "string", "date", "timestamp", "timestamp_ntz") or type.startswith("decimal(")


def _plain(name: str, type: str) -> str:
    """A value that arrives in Python as it is: a timestamp would come in the zone of this machine."""
    return f"unix_micros({quote(name)})" if type == "timestamp" else quote(name)


def _literal(value: Any, type: str, shift: timedelta) -> str:
    if type == "timestamp":
        return literal(_EPOCH_START + timedelta(microseconds=int(value)) + shift)
    if isinstance(value, datetime):
        return literal(value + shift)
    if isinstance(value, date):
        return literal(value + _whole_days(shift))
    if isinstance(value, Decimal):
        return f"{value:f}BD"
    if isinstance(value, int):
        # The least number of a type cannot be written with its suffix.
        return f"CAST({value}BD AS {type})" if value < 0 else f"{value}{_WHOLE[type]}"
    return literal(str(value))


def _whole_days(shift: timedelta) -> timedelta:
    """Away from zero: a horizon of 36 hours is two days either way."""
    days = -(-abs(shift) // timedelta(days=1))
    return timedelta(days=days if shift >= timedelta(0) else -days)


def horizon_note(keyed: Keyed) -> str | None:
    """What a limited search gives up, for a plan; None where the whole target is searched."""
    if keyed.horizon is None:
        return None
    column, within = keyed.horizon
    return (
        f"a key is looked for within {_days(within)} around the batch's own {column}: "
        "one that is in the target at a time further away is inserted again"
    )


def _days(span: timedelta) -> str:
    return f"{span.days}d" if span % timedelta(days=1) == timedelta(0) else f"{span.total_seconds() / 3600:g}h"


def by_key_text(keyed: Keyed) -> str:
    """What is written by key, for a plan."""
    key = ", ".join(keyed.key)
    if not keyed.updates:
        return f"no row; inserts rows whose key ({key}) is not there yet"
    version = ", ".join(keyed.version_by)
    return f"rows of the same key ({key}) that are older by {version}"
