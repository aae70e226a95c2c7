"""Rows on their way into a target by key: marked, one a key, compared, and what is left of them written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from samewise.core.errors import ConfigError, Refused, TransformFailed
from samewise.core.keyed import CHANGE, DELETED_AT, EPOCH, WRITTEN, Batch, Change, Keyed, content
from samewise.core.records import RunRecord
from samewise.core.schema import Schema
from samewise.core.sql import literal, quote
from samewise.plan.spans import WINDOW_COLUMN
from samewise.run import staging
from samewise.run.dedup import newest_per_key
from samewise.run.job import Job
from samewise.storage.frames import schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EPOCH_START = datetime(1970, 1, 1, tzinfo=UTC)
_WHOLE = {"tinyint": "Y", "smallint": "S", "int": "", "bigint": "L"}


def check_keyed(job: Job, keyed: Keyed, result: Schema) -> None:
    """Raise if the result lacks what writing by key needs."""
    wanted = {"key": keyed.key, "version_by": keyed.version_by}
    if keyed.horizon is not None:
        wanted["dedup_horizon"] = [keyed.horizon[0]]
    for setting, names in wanted.items():
        for name in names:
            column = result.get(name)
            if column is None:
                raise TransformFailed(
                    f"the result has no column {name}; it has {', '.join(result.names)}",
                    next_step=f"select {name} in the transform, or mend write.{setting}",
                )
            if column.type.startswith(("map<", "variant")):
                raise ConfigError(f"write.{setting}: {name} is {column.type}, which cannot be compared")
    if keyed.horizon is not None:
        column = result.get(keyed.horizon[0])
        assert column is not None
        if column.type not in ("date", "timestamp", "timestamp_ntz"):
            raise ConfigError(
                f"write.dedup_horizon: {column.name} is {column.type}",
                next_step="name a DATE, TIMESTAMP or TIMESTAMP_NTZ column",
            )


def marked(job: Job, keyed: Keyed, run: RunRecord, rows: DataFrame) -> DataFrame:
    """One row a key, the newest, with what the target keeps beside each row."""
    schema = schema_of(rows)
    marks = [f"{literal(run.window.key)} AS {quote(WINDOW_COLUMN)}"]
    order = list(keyed.version_by)
    if keyed.updates:
        assert run.epoch is not None
        marks.append(f"{run.epoch}L AS {quote(EPOCH)}")
    if keyed.deletes:
        # Of an update and a delete of one version the delete is the newer: NULL is below every instant.
        marks.append(f"IF({job.delete_when}, {literal(run.run_ts)}, NULL) AS {quote(DELETED_AT)}")
        order.append(DELETED_AT)
    return newest_per_key(rows.selectExpr("*", *marks), keyed.key, order, schema, spare_nulls=not keyed.null_safe)


def unmarked(rows: DataFrame) -> DataFrame:
    """The user's own columns."""
    return rows.select(*[quote(column.name) for column in content(schema_of(rows))])


def living(rows: DataFrame) -> DataFrame:
    """The user's own columns of the rows that delete nothing: what expectations are about."""
    there = rows if schema_of(rows).get(DELETED_AT) is None else rows.where(f"{quote(DELETED_AT)} IS NULL")
    return unmarked(there)


def look_over(staged: DataFrame, keyed: Keyed, era: int) -> Batch:
    """Where in a target the keys of the staged rows can lie. One pass over those few columns."""
    columns = {c.name: c.type for name in keyed.key if (c := schema_of(staged).get(name)) is not None}
    horizon: dict[str, timedelta] = {}
    if keyed.horizon is not None:
        column = schema_of(staged).get(keyed.horizon[0])
        assert column is not None
        columns[column.name] = column.type
        horizon[column.name] = keyed.horizon[1]
    ranged = {name: type for name, type in columns.items() if _is_ranged(type)}
    if not ranged:
        return Batch({}, era=era)
    found = staged.selectExpr(
        *[
            expression
            for at, (name, type) in enumerate(ranged.items())
            for expression in (
                f"min({_plain(name, type)}) AS low{at}",
                f"max({_plain(name, type)}) AS high{at}",
                f"count_if({quote(name)} IS NULL) AS nulls{at}",
            )
        ]
    ).first()
    assert found is not None
    ranges: dict[str, tuple[str, str]] = {}
    with_nulls: set[str] = set()
    for at, (name, type) in enumerate(ranged.items()):
        low, high, nulls = found[f"low{at}"], found[f"high{at}"], found[f"nulls{at}"]
        if low is None or (name in horizon and nulls):
            continue  # No range: a key without it may lie anywhere.
        around = horizon.get(name, timedelta(0))
        ranges[name] = (_literal(low, type, -around), _literal(high, type, around))
        if nulls:
            with_nulls.add(name)
    return Batch(ranges, frozenset(with_nulls), era)


@dataclass(frozen=True, slots=True)
class Changes:
    """What a batch does to its target: the rows that are written, and how many do what."""

    rows: DataFrame
    counts: Mapping[str, int]

    @property
    def written(self) -> int:
        return sum(self.counts.get(change, 0) for change in WRITTEN)


def write_changes(job: Job, keyed: Keyed, staged: DataFrame, batch: Batch, folder: str) -> Changes:
    """Compare the staged rows with the target as it is now, and keep those that change it, in `folder`.

    A second call replaces what the first one wrote. Raises `Refused` where the target cannot answer.
    """
    compared = job.target.compare(staged, keyed, batch)
    kept = staging.stage(compared, folder)
    rows = kept.read(job.spark(), compared)
    counts = {str(row[CHANGE]): int(row["n"]) for row in rows.groupBy(CHANGE).agg(_count()).collect()}
    refuse(keyed, counts, rows)
    written = ", ".join(f"'{change}'" for change in WRITTEN)
    return Changes(rows.where(f"{CHANGE} IN ({written})").drop(CHANGE), counts)


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


def _count() -> Any:
    from pyspark.sql import functions as f

    return f.expr("count(*)").alias("n")


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
