"""`pipelines/*.yaml`: one pipeline of a few tasks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema, model_validator

from samewise.spec.connections import PostgresRef
from samewise.spec.fields import (
    Attempts,
    ColumnName,
    ColumnNames,
    Count,
    Model,
    Name,
    Part,
    Percent,
    Scalar,
    Text,
    all_wrong,
    is_identifier,
    one_of,
    wrong,
)
from samewise.spec.postgres_source import PostgresSource
from samewise.spec.sources import DeltaSource, FilesSource, TableRef
from samewise.spec.times import Duration, Every, Moment, ZoneName, zone_of
from samewise.spec.words import shown

FLAT_TASK = "load"
RESERVED_PARAMS = (
    "window_start",
    "window_end",
    "window_start_date",
    "window_end_date",
    "window_start_local",
    "window_end_local",
    "run_ts",
)


class Schedule(Model):
    """The grid of windows. Whether `start` lies on it is for `plan` to say: here is only the data."""

    every: Every
    start: Moment
    end: Moment | None = None
    timezone: ZoneName = "UTC"
    lookback: Count = 0
    """So many of the newest closed windows are looked at in every run, for rows that came late."""

    @model_validator(mode="after")
    def _in_order(self) -> Schedule:
        if self.end is not None and self.instant(self.end) <= self.instant(self.start):
            raise wrong("must be later than start", at="end")
        return self

    @property
    def zone(self) -> ZoneInfo:
        """The time zone that dates and wall-clock times are meant in."""
        return zone_of(self.timezone) or ZoneInfo(self.timezone)

    @property
    def is_sub_day(self) -> bool:
        """True for windows shorter than a day."""
        return self.every not in ("day", "week", "month")

    def instant(self, moment: date | datetime) -> datetime:
        """The UTC instant that a moment of this schedule means; the first one where there are two."""
        local = moment if isinstance(moment, datetime) else datetime.combine(moment, time())
        if local.tzinfo is None:
            local = local.replace(tzinfo=self.zone)
        try:
            return local.astimezone(UTC)
        except OverflowError:
            return local.replace(tzinfo=UTC)


class Retries(Model):
    """How often, and after how long, a transient failure is tried again."""

    attempts: Attempts = 1
    backoff: Duration = timedelta(seconds=10)
    max_backoff: Duration = timedelta(minutes=10)


class DeltaTarget(TableRef):
    """A Delta table that this task owns."""

    type: Literal["delta"]
    partition_by: ColumnNames = ()
    deletion_vectors: bool = False
    """Whether a table that is made for writing by key may mark rows as deleted, which not every reader knows."""
    rewrite: Literal["auto", "always", "never"] = "auto"
    """When a batch that is written by key writes the whole table anew, instead of a MERGE."""
    writer: Literal["auto", "spark"] = "auto"
    """Whether files may come to the table by an entry in its log, or only by Delta's own writer."""


class PostgresTarget(PostgresRef):
    """A table of a PostgreSQL database that this task owns."""

    type: Literal["postgres"]

    @property
    def partition_by(self) -> tuple[str, ...]:
        """None: how a table of a database is laid out is for whoever runs the database to say."""
        return ()


TARGET_TYPES = ("delta", "postgres")


class HashKey(Model):
    """A key for rows that come without one: a hash of business columns."""

    column: ColumnName
    """The name that the key gets in the target."""
    of: ColumnNames


class Horizon(Model):
    """How far around a batch's own times a key is looked for."""

    column: ColumnName
    within: Duration


STRATEGIES = ("replace_window", "refresh", "merge", "insert_new")


class WriteSpec(Model):
    """How a result becomes the target's rows."""

    strategy: Annotated[
        Literal["replace_window", "refresh", "merge", "insert_new"],
        one_of("strategy", *STRATEGIES),
    ]
    window_column: ColumnName | None = None
    on_empty: Annotated[
        Literal["clear", "fail", "keep"], one_of("way to treat an empty result", "clear", "fail", "keep")
    ] = "clear"
    key: ColumnNames = ()
    version_by: ColumnNames = ()
    """What makes one row of a key newer than another."""
    delete_when: Text | None = None
    """A condition in SQL: a row for which it is true deletes its key."""
    tombstones: Duration = timedelta(days=30)
    """How long a deleted key is remembered."""
    null_keys: Annotated[
        Literal["refuse", "quarantine", "match"],
        one_of("way to treat a NULL in a key", "refuse", "quarantine", "match"),
    ] = "refuse"
    hash_key: HashKey | None = None
    dedup_horizon: Horizon | None = None
    refresh: Annotated[Literal["delete", "swap"], one_of("way to refresh", "delete", "swap")] = "delete"
    """For PostgreSQL: replace the rows, or load a table beside and change their names."""

    @property
    def is_keyed(self) -> bool:
        """True where rows are found by their key, not by their window."""
        return self.strategy in ("merge", "insert_new")

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of the key, the made one included."""
        return self.key or (() if self.hash_key is None else (self.hash_key.column,))


class Dedup(Model):
    """Of the source's rows with one natural key, the newest is kept."""

    key: ColumnNames
    version_by: ColumnNames = ()


class RowBounds(Model):
    """How many rows a result may have."""

    min: Count | None = None
    max: Count | None = None

    @model_validator(mode="after")
    def _in_order(self) -> RowBounds:
        if self.min is None and self.max is None:
            raise wrong("needs 'min', 'max' or both")
        if self.min is not None and self.max is not None and self.max < self.min:
            raise wrong(f"must not be below min, which is {self.min}", at="max")
        return self


class ChangeBound(Model):
    """How far a window may differ from those before it."""

    column: ColumnName | None = None
    """A decimal or whole-number column whose sum is compared; the number of rows without it."""
    within: Percent
    over: Attempts = 7
    """The median of so many earlier windows is what it is compared with."""


class Expectation(Model):
    """One rule that the staged rows must keep: exactly one of the four is set."""

    condition: Text | None = None
    """SQL that must be true for every row."""
    unique: ColumnNames | None = None
    rows: RowBounds | None = None
    change: ChangeBound | None = None

    @model_validator(mode="after")
    def _one(self) -> Expectation:
        if sum(rule is not None for rule in (self.condition, self.unique, self.rows, self.change)) != 1:
            raise wrong(
                "must be a condition in SQL, 'unique: [columns]', 'rows: {min, max}' or "
                "'change: {column, within}', one of them"
            )
        return self


def _expectation(value: object) -> object:
    if isinstance(value, str):
        if not value.strip():
            raise wrong("must not be blank")
        return {"condition": value}
    if not isinstance(value, Mapping | Expectation):
        raise wrong(f"must be a condition in SQL, 'unique', 'rows' or 'change', not {shown(value)}")
    return value


def _inputs(value: object) -> object:
    if isinstance(value, Mapping):
        parts: list[Part] = []
        for name in value:
            if not is_identifier(name):
                parts.append(((name,), "must be a plain name of letters, digits and _: SQL reads it as a table"))
            elif name.lower() == "source":
                parts.append(((name,), "'source' is the task's own source: choose another name"))
        if parts:
            raise all_wrong(parts)
    return value


def _params(value: object) -> dict[str, Scalar]:
    if not isinstance(value, Mapping):
        raise wrong(f"must be a mapping, not {shown(value)}")
    parts: list[Part] = []
    for name, item in value.items():
        if not is_identifier(name):
            parts.append(((name,), "must be a plain name of letters, digits and _"))
        elif name.lower() in RESERVED_PARAMS:
            parts.append(((name,), "is set by the engine: choose another name"))
        elif not isinstance(item, bool | int | float | str | date):
            parts.append(((name,), f"must be text, a number, a date, true or false, not {shown(item)}"))
        elif isinstance(item, float) and not abs(item) < float("inf"):
            parts.append(((name,), "must be a finite number"))
        elif isinstance(item, int) and not -(2**63) <= item < 2**63:
            parts.append(((name,), "is too large for a bigint: put it in quotes"))
    if parts:
        raise all_wrong(parts)
    return dict(value)


def _tasks(value: object) -> object:
    if value == []:
        raise wrong("must hold at least one task")
    return value


class TaskSpec(Model):
    """One task: source -> transform -> target."""

    name: Name = Field(alias="task")
    type: Annotated[Literal["load"], one_of("task type", "load")] = "load"
    depends_on: tuple[Name, ...] = ()
    source: Annotated[FilesSource | DeltaSource | PostgresSource, Field(discriminator="type")]
    transform: Text | None = None
    """`orders.sql` or `orders.py:clean`, beside the pipeline's file."""
    inputs: Annotated[Mapping[str, TableRef], BeforeValidator(_inputs)] = Field(default_factory=dict)
    dedup: Dedup | None = None
    target: Annotated[DeltaTarget | PostgresTarget, Field(discriminator="type")]
    write: WriteSpec
    expect: tuple[
        Annotated[
            Expectation,
            BeforeValidator(_expectation, json_schema_input_type=Annotated[str, Field(min_length=1)] | Expectation),
        ],
        ...,
    ] = ()

    @property
    def is_refresh(self) -> bool:
        """True for a task whose every run replaces the whole table."""
        return self.write.strategy == "refresh"

    @property
    def is_incremental(self) -> bool:
        """True for a task that goes on from where the last run ended."""
        return self.source.incremental is not None

    @property
    def has_windows(self) -> bool:
        """False for a task with the one window `full`."""
        return not self.is_refresh and not self.is_incremental


class PipelineSpec(Model):
    """One pipeline, in its one form: the flat one has become a single task called `load`."""

    name: Name = Field(alias="pipeline")
    description: Text | None = None
    schedule: Schedule | None = None
    retries: Retries = Field(default_factory=Retries)
    params: Annotated[
        Mapping[str, Scalar],
        PlainValidator(_params),
        WithJsonSchema({"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}}),
    ] = Field(default_factory=dict)
    tasks: Annotated[tuple[TaskSpec, ...], BeforeValidator(_tasks)] = Field(json_schema_extra={"minItems": 1})

    @property
    def zone(self) -> ZoneInfo:
        """The zone that the pipeline's dates are meant in: UTC without a schedule."""
        return self.schedule.zone if self.schedule is not None else ZoneInfo("UTC")

    def task(self, name: str) -> TaskSpec:
        """The task called `name`. KeyError where there is none."""
        for task in self.tasks:
            if task.name == name:
                return task
        raise KeyError(name)

    def definition_json(self, task: TaskSpec) -> str:
        """Everything here that changes the data of `task`, as canonical JSON.

        Templates stay unrendered, so no secret gets in. A key left out and the same key written
        with its default give the same text, and so does a file from before the key existed.
        """
        fields = {"source", "transform", "inputs", "dedup", "target", "write", "expect"}
        # By way of the whole pipeline, whose serializer is there already: a task's own would be built for this alone.
        dumped = self.model_dump(
            mode="json", by_alias=True, exclude_defaults=True, include={"tasks": {self.tasks.index(task): fields}}
        )
        body: dict[str, Any] = dumped["tasks"][0]
        source = task.source
        if isinstance(source, FilesSource) and source.columns is not None:
            # A list: the order of the columns matters, and a JSON object has none.
            body["source"]["schema"] = [[column.name, column.type] for column in source.columns]
        for key in ("overlap", "lag", "start", "on_changed"):
            # These say when a row is read, not what becomes of it.
            body["source"].get("incremental", {}).pop(key, None)
        for key in ("readers", "partition_by", "fingerprint"):
            # And these how, or whether.
            body["source"].pop(key, None)
        # How the rows get there, not which.
        body["write"].pop("refresh", None)
        for key in ("deletion_vectors", "rewrite", "writer"):
            body["target"].pop(key, None)
        body["params"] = {name: _tagged(value) for name, value in self.params.items()}
        body["timezone"] = str(self.zone)
        body["every"] = self.schedule.every if self.schedule and task.has_windows else None
        return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _tagged(value: Scalar) -> list[Any]:
    # 1, 1.0, true and '1' bind as different SQL types.
    plain = value.isoformat() if isinstance(value, date) else value
    return [type(value).__name__, plain]
