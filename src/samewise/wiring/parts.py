"""From a spec to the parts that do the work. The only place that knows every source and target."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

from samewise.core.errors import ConfigError
from samewise.core.ids import stable_hash
from samewise.core.keyed import Keyed
from samewise.core.ports import Source, Spark, Target
from samewise.core.records import Owner
from samewise.core.schema import Schema
from samewise.core.sql import Span
from samewise.core.windows import Window
from samewise.plan.change import Change
from samewise.plan.grid import Grid
from samewise.plan.local_time import find_zone, parse_bound
from samewise.plan.since import SinceColumn
from samewise.plan.spans import window_span
from samewise.plan.verdict import Policy
from samewise.run import incremental
from samewise.run.dedup import Dedup
from samewise.run.job import Job, Retries
from samewise.run.keys import HashKey
from samewise.run.schedule import Graph
from samewise.run.transform import PassThrough, PythonTransform, SqlTransform, Transform
from samewise.run.verify import Rules
from samewise.sources.delta import DeltaSource
from samewise.sources.files import FilesSource
from samewise.spec import sources as source_specs
from samewise.spec.load import Loaded
from samewise.spec.pipeline import PipelineSpec, TaskSpec, WriteSpec
from samewise.spec.transforms import transform_files
from samewise.targets.delta import DeltaTarget

SEMANTICS = 1
"""Raised when the same definition would give other rows than it gave before: every window is then due again."""


def build_graph(loaded: Loaded, pipeline: PipelineSpec, spark: Spark, store_id: str, place: str) -> Graph:
    """The pipeline's tasks as jobs, in an order in which each comes after those it depends on."""
    jobs = {task.name: _job(loaded, pipeline, task, spark, store_id, place) for task in pipeline.tasks}
    depends_on = {task.name: task.depends_on for task in pipeline.tasks}
    return Graph(pipeline.name, [jobs[name] for name in _sorted(depends_on)], depends_on)


def build_grid(pipeline: PipelineSpec) -> Grid | None:
    """The pipeline's windows; None without a schedule. Raises ValueError for a start that is off the grid."""
    schedule = pipeline.schedule
    if schedule is None:
        return None
    return Grid.parse(schedule.every, schedule.start, schedule.end, schedule.timezone)


def definition_hash(loaded: Loaded, pipeline: PipelineSpec, task: TaskSpec) -> str:
    """Changes whenever the same input could give other rows: by the spec, the SQL, or the Python modules."""
    files = transform_files(loaded.transform(pipeline, task), root=loaded.root)
    contents = {str(file.relative_to(loaded.root)): _sha256(file) for file in files}
    return stable_hash([SEMANTICS, pipeline.definition_json(task), contents])


def _job(loaded: Loaded, pipeline: PipelineSpec, task: TaskSpec, spark: Spark, store_id: str, place: str) -> Job:
    source, declared = _source(loaded, pipeline, task, spark)
    inputs: dict[str, Source] = {name: _table(loaded, pipeline, ref, spark, None) for name, ref in task.inputs.items()}
    retries, write = pipeline.retries, task.write
    return Job(
        pipeline=pipeline.name,
        task=task.name,
        grid=build_grid(pipeline) if task.has_windows else None,
        zone=pipeline.zone,
        source=source,
        declared_schema=declared,
        inputs=inputs,
        transform=_transform(loaded, pipeline, task),
        target=_target(loaded, pipeline, task, spark),
        owner=Owner(store_id, pipeline.name, task.name, place),
        definition=definition_hash(loaded, pipeline, task),
        staging=loaded.staging,
        quarantine=loaded.quarantine,
        spark=spark,
        window_column=task.write.window_column,
        keyed=_keyed(task.write),
        delete_when=task.write.delete_when,
        partition_by=task.target.partition_by,
        on_empty=task.write.on_empty,
        params=pipeline.params,
        rules=_rules(task),
        dedup=None if task.dedup is None else Dedup(task.dedup.key, task.dedup.version_by),
        hash_key=None if write.hash_key is None else HashKey(write.hash_key.column, write.hash_key.of),
        sets_aside=isinstance(task.source, source_specs.FilesSource) and task.source.on_malformed == "quarantine",
        set_aside_without=write.keys if write.is_keyed and write.null_keys == "quarantine" else (),
        drift=_policy(task.source.drift),
        has_manifest=isinstance(task.source, source_specs.FilesSource) and task.source.manifest is not None,
        incremental=_incremental(loaded, pipeline, task, source),
        lookback=0 if pipeline.schedule is None else pipeline.schedule.lookback,
        retries=Retries(retries.attempts, retries.backoff.total_seconds(), retries.max_backoff.total_seconds()),
        lease_seconds=loaded.project.lease.total_seconds(),
        redact=loaded.secrets.redact,
    )


def _source(loaded: Loaded, pipeline: PipelineSpec, task: TaskSpec, spark: Spark) -> tuple[Source, Schema | None]:
    spec = task.source
    if isinstance(spec, source_specs.DeltaSource):
        return _table(loaded, pipeline, spec, spark, spec.window_column, spec.drift.rename, spec.incremental), None

    def path_of(text: str, *, is_glob: bool) -> Callable[[Window], str]:
        return lambda window: loaded.path(text, pipeline, window, is_glob=is_glob)

    files = FilesSource(
        path_of(spec.path, is_glob=True),
        spec.format,
        spark,
        declared=spec.columns,
        header=spec.header,
        delimiter=spec.delimiter,
        options=spec.options,
        on_malformed=spec.on_malformed,
        manifest=None if spec.manifest is None else path_of(spec.manifest, is_glob=False),
        renames=spec.drift.rename,
    )
    return files, spec.columns


def _table(
    loaded: Loaded,
    pipeline: PipelineSpec,
    ref: source_specs.TableRef,
    spark: Spark,
    window_column: str | None,
    renames: Mapping[str, str] | None = None,
    since_spec: source_specs.Since | None = None,
) -> DeltaSource:
    location = loaded.location(ref, pipeline)
    new_names = {old.lower(): new for old, new in (renames or {}).items()}

    def since(schema: Schema) -> SinceColumn:
        assert since_spec is not None
        name = since_spec.column
        if schema.get(name) is None:
            name = new_names.get(name.lower(), name)
        try:
            return SinceColumn.of(schema, name, _since_zone(pipeline, since_spec))
        except ValueError as error:
            raise ConfigError(
                f"source.incremental.column: {error}",
                kept="nothing was read",
                next_step="name the column that says when a row of the table was changed",
            ) from error

    def span(schema: Schema, window: Window) -> Span | None:
        if window_column is None or window.is_full:
            return None
        column = schema.get(window_column) or schema.get(new_names.get(window_column.lower(), ""))
        if column is None:
            raise ConfigError(
                f"source.window_column: {location.key} has no column {window_column}",
                next_step=f"name one of {', '.join(schema.names)}",
            )
        try:
            return window_span(column.name, column.type, window, pipeline.zone)
        except ValueError as error:
            raise ConfigError(f"source.window_column: {error}") from error

    return DeltaSource(location.path, location.table, spark, span=span, since=since)


def _incremental(
    loaded: Loaded, pipeline: PipelineSpec, task: TaskSpec, source: Source
) -> incremental.Since | incremental.NewFiles | None:
    spec = task.source.incremental
    if isinstance(spec, source_specs.NewFiles):
        assert isinstance(source, FilesSource)
        return incremental.NewFiles(source, spec.on_changed, str(loaded.root))
    if spec is None:
        return None
    assert isinstance(source, DeltaSource)
    start = since_start(pipeline, task)
    zone = _since_zone(pipeline, spec)
    return incremental.Since(source, spec.overlap or timedelta(), spec.lag or timedelta(), start, zone)


def since_start(pipeline: PipelineSpec, task: TaskSpec) -> datetime | None:
    """Where the first run of an incremental task begins. Raises ValueError for a local time that is not clear."""
    spec = task.source.incremental
    if not isinstance(spec, source_specs.Since) or spec.start is None:
        return None
    return parse_bound(spec.start, _since_zone(pipeline, spec))


def _since_zone(pipeline: PipelineSpec, spec: source_specs.Since) -> ZoneInfo:
    return pipeline.zone if spec.timezone is None else find_zone(spec.timezone)


def _target(loaded: Loaded, pipeline: PipelineSpec, task: TaskSpec, spark: Spark) -> Target:
    location = loaded.location(task.target, pipeline)
    return DeltaTarget(location.path, location.table, spark)


def _transform(loaded: Loaded, pipeline: PipelineSpec, task: TaskSpec) -> Transform:
    found = loaded.transform(pipeline, task)
    if found is None:
        return PassThrough()
    if found.function is None:
        return SqlTransform(str(found.path.relative_to(loaded.root)), found.path.read_text(encoding="utf-8"))
    return PythonTransform(found.path, found.function, loaded.root)


def _rules(task: TaskSpec) -> Rules:
    expectations, write = task.expect, task.write
    changes = [e.change for e in expectations if e.change is not None]
    bounds = [e.rows for e in expectations if e.rows is not None]
    lowest = [b.min for b in bounds if b.min is not None]
    highest = [b.max for b in bounds if b.max is not None]
    return Rules(
        conditions=[e.condition for e in expectations if e.condition is not None],
        unique=[e.unique for e in expectations if e.unique is not None],
        rows_min=max(lowest, default=None),
        rows_max=min(highest, default=None),
        changes=[Change(change.column, Decimal(repr(change.within)), change.over) for change in changes],
        key=write.keys if write.is_keyed and write.null_keys == "refuse" else (),
    )


def _keyed(write: WriteSpec) -> Keyed | None:
    if not write.is_keyed:
        return None
    horizon = write.dedup_horizon
    return Keyed(
        key=write.keys,
        version_by=write.version_by,
        updates=write.strategy == "merge",
        null_safe=write.null_keys == "match",
        horizon=None if horizon is None else (horizon.column, horizon.within),
        tombstones=write.tombstones,
    )


def _policy(drift: source_specs.Drift) -> Policy:
    return Policy(drift.added, drift.removed, drift.type, drift.nullability, drift.order, drift.rename)


def _sorted(depends_on: dict[str, tuple[str, ...]]) -> list[str]:
    from graphlib import TopologicalSorter

    return list(TopologicalSorter(depends_on).static_order())


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
