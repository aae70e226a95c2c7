"""From a spec to the parts that do the work. The only place that knows every source and target."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from samewise.core.ids import stable_hash
from samewise.core.records import Owner
from samewise.plan.grid import Grid
from samewise.plan.policy import Policy
from samewise.run.job import Job, Retries
from samewise.run.rules import Rules
from samewise.run.schedule import Graph
from samewise.run.transform import PassThrough, PythonTransform, SqlTransform, Transform
from samewise.spec import sources as source_specs
from samewise.spec.pipeline import PipelineSpec, TaskSpec, WriteSpec
from samewise.spec.pipeline import PostgresTarget as PostgresTargetSpec
from samewise.spec.transforms import transform_files
from samewise.targets.delta import DeltaTarget
from samewise.targets.delta_direct import Writer
from samewise.targets.delta_rewrite import Rewrite
from samewise.wiring.sources import build_incremental, build_source, build_table, postgres_place

if TYPE_CHECKING:
    from samewise.core.keyed import Keyed
    from samewise.core.ports import Source, Spark, Target
    from samewise.plan.change import Change
    from samewise.run.dedup import Dedup
    from samewise.run.keys import HashKey
    from samewise.spec.load import Loaded
    from samewise.spec.pipeline import ChangeBound

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
    source, declared = build_source(loaded, pipeline, task, spark)
    inputs: dict[str, Source] = {name: build_table(loaded, pipeline, ref, spark) for name, ref in task.inputs.items()}
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
        dedup=_dedup(task),
        hash_key=_hash_key(write),
        sets_aside=isinstance(task.source, source_specs.FilesSource) and task.source.on_malformed == "quarantine",
        set_aside_without=write.keys if write.is_keyed and write.null_keys == "quarantine" else (),
        drift=_policy(task.source.drift),
        has_manifest=isinstance(task.source, source_specs.FilesSource) and task.source.manifest is not None,
        incremental=build_incremental(loaded, pipeline, task, source),
        lookback=0 if pipeline.schedule is None else pipeline.schedule.lookback,
        retries=Retries(retries.attempts, retries.backoff.total_seconds(), retries.max_backoff.total_seconds()),
        lease_seconds=loaded.project.lease.total_seconds(),
        redact=loaded.secrets.redact,
    )


def _target(loaded: Loaded, pipeline: PipelineSpec, task: TaskSpec, spark: Spark) -> Target:
    if isinstance(task.target, PostgresTargetSpec):
        from samewise.targets.postgres import PostgresTarget

        connection, schema, table = postgres_place(loaded, pipeline, task.target)
        return PostgresTarget(connection, schema, table, spark, swap=task.write.refresh == "swap")
    location = loaded.location(task.target, pipeline)
    return DeltaTarget(
        location.path,
        location.table,
        spark,
        deletion_vectors=task.target.deletion_vectors,
        rewrite=Rewrite(task.target.rewrite),
        writer=Writer(task.target.writer),
    )


def _transform(loaded: Loaded, pipeline: PipelineSpec, task: TaskSpec) -> Transform:
    found = loaded.transform(pipeline, task)
    if found is None:
        return PassThrough()
    if found.function is None:
        return SqlTransform(str(found.path.relative_to(loaded.root)), found.path.read_text(encoding="utf-8"))
    return PythonTransform(found.path, found.function, loaded.root)


def _rules(task: TaskSpec) -> Rules:
    expectations, write = task.expect, task.write
    bounds = [e.rows for e in expectations if e.rows is not None]
    lowest = [b.min for b in bounds if b.min is not None]
    highest = [b.max for b in bounds if b.max is not None]
    return Rules(
        conditions=[e.condition for e in expectations if e.condition is not None],
        unique=[e.unique for e in expectations if e.unique is not None],
        rows_min=max(lowest, default=None),
        rows_max=min(highest, default=None),
        changes=[_change(e.change) for e in expectations if e.change is not None],
        key=write.keys if write.is_keyed and write.null_keys == "refuse" else (),
    )


def _change(spec: ChangeBound) -> Change:
    from decimal import Decimal

    from samewise.plan.change import Change

    return Change(spec.column, Decimal(repr(spec.within)), spec.over)


def _dedup(task: TaskSpec) -> Dedup | None:
    if task.dedup is None:
        return None
    from samewise.run.dedup import Dedup

    return Dedup(task.dedup.key, task.dedup.version_by)


def _hash_key(write: WriteSpec) -> HashKey | None:
    if write.hash_key is None:
        return None
    from samewise.run.keys import HashKey

    return HashKey(write.hash_key.column, write.hash_key.of)


def _keyed(write: WriteSpec) -> Keyed | None:
    if not write.is_keyed:
        return None
    from samewise.core.keyed import Keyed

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
