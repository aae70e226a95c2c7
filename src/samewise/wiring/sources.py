"""From a spec to the sources that do the reading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, cast
from zoneinfo import ZoneInfo

from samewise.plan.local_time import find_zone, parse_bound
from samewise.sources.files import FilesSource
from samewise.spec import sources as source_specs
from samewise.spec.postgres_source import PostgresSource as PostgresSpec

if TYPE_CHECKING:
    from samewise.core.connections import PostgresConnection
    from samewise.core.ports import SinceSource, Source, Spark
    from samewise.core.schema import Schema
    from samewise.core.windows import Window
    from samewise.run.incremental import NewFiles, Since
    from samewise.sources.delta import DeltaSource
    from samewise.spec.connections import PostgresRef
    from samewise.spec.fields import Scalar
    from samewise.spec.load import Loaded
    from samewise.spec.pipeline import PipelineSpec, TaskSpec
    from samewise.wiring.time_columns import TimeColumns


def build_source(loaded: Loaded, pipeline: PipelineSpec, task: TaskSpec, spark: Spark) -> tuple[Source, Schema | None]:
    """The task's source, and its schema where the spec declares it."""
    spec = task.source
    if isinstance(spec, PostgresSpec):
        return _postgres(loaded, pipeline, spec, spark), None
    if isinstance(spec, source_specs.DeltaSource):
        from samewise.wiring.time_columns import TimeColumns

        columns = TimeColumns(pipeline, spec.window_column, spec.drift.rename, spec.incremental)
        return build_table(loaded, pipeline, spec, spark, columns), None

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


def build_table(
    loaded: Loaded, pipeline: PipelineSpec, ref: source_specs.TableRef, spark: Spark, columns: TimeColumns | None = None
) -> DeltaSource:
    """A Delta table as a source or an input."""
    from samewise.sources.delta import DeltaSource
    from samewise.wiring.time_columns import TimeColumns

    location = loaded.location(ref, pipeline)
    named = columns or TimeColumns(pipeline, None, {}, None)
    return DeltaSource(location.path, location.table, spark, span=named.span, since=named.since)


def _postgres(loaded: Loaded, pipeline: PipelineSpec, spec: PostgresSpec, spark: Spark) -> Source:
    from samewise.sources.postgres import Asked, PostgresSource, Split, Ways
    from samewise.wiring.time_columns import TimeColumns

    connection = loaded.connection(spec.connection)
    ref = spec.ref
    table = None if ref is None else postgres_place(loaded, pipeline, ref)[1:]
    columns = TimeColumns(pipeline, spec.window_column, spec.drift.rename, spec.incremental)
    ways = Ways(
        span=columns.span,
        since=columns.since,
        has_lag=spec.incremental is not None and spec.incremental.lag is not None,
        fingerprint=spec.fingerprint,
        split=Split(spec.readers, spec.partition_by, most=_most_readers(loaded)),
        values=lambda window: _values(pipeline, window),
    )
    return PostgresSource(connection, Asked(connection.schema, table, spec.query), spark, ways)


def postgres_place(loaded: Loaded, pipeline: PipelineSpec, ref: PostgresRef) -> tuple[PostgresConnection, str, str]:
    """The connection, schema and table of a PostgreSQL table. One that was moved brings its own bookkeeping."""
    connection = loaded.connection(ref.connection)
    location = loaded.location(ref, pipeline)
    assert location.database is not None
    _, schema, table = location.database
    if (schema, table) != ref.names(connection.schema):
        connection = replace(connection, bookkeeping=schema)
    return connection, schema, table


def _most_readers(loaded: Loaded) -> int:
    """As many as this machine runs at once; on a cluster the database is what sets the limit."""
    from samewise.run.spark_conf import local_cores
    from samewise.sources.postgres_split import DEFAULT_READERS

    master = loaded.project.spark.effective_master
    cores = None if master is None else local_cores(master)
    return DEFAULT_READERS if cores is None else min(cores, DEFAULT_READERS)


def _values(pipeline: PipelineSpec, window: Window) -> dict[str, Scalar | datetime]:
    """What `:name` means in a query, by the names that a transform has, too."""
    values: dict[str, Scalar | datetime] = dict(pipeline.params)
    if not window.is_full:
        for name, instant in (("window_start", window.start), ("window_end", window.end)):
            local = instant.astimezone(pipeline.zone).replace(tzinfo=None)
            values |= {name: instant, f"{name}_date": local.date(), f"{name}_local": local}
    return values


def build_incremental(
    loaded: Loaded, pipeline: PipelineSpec, task: TaskSpec, source: Source
) -> Since | NewFiles | None:
    """How the task goes on from where its last run ended; None where it has windows or starts over."""
    spec = task.source.incremental
    if spec is None:
        return None
    from samewise.run import incremental

    if isinstance(spec, source_specs.NewFiles):
        assert isinstance(source, FilesSource)
        return incremental.NewFiles(source, spec.on_changed, str(loaded.root))
    # Each source that takes `incremental: {column}` can read since a time.
    since = cast("SinceSource", source)
    start = since_start(pipeline, task)
    zone = since_zone(pipeline, spec)
    return incremental.Since(since, spec.overlap or timedelta(), spec.lag or timedelta(), start, zone)


def since_start(pipeline: PipelineSpec, task: TaskSpec) -> datetime | None:
    """Where the first run of an incremental task begins. Raises ValueError for a local time that is not clear."""
    spec = task.source.incremental
    if not isinstance(spec, source_specs.Since) or spec.start is None:
        return None
    return parse_bound(spec.start, since_zone(pipeline, spec))


def since_zone(pipeline: PipelineSpec, spec: source_specs.Since) -> ZoneInfo:
    """The zone of the column that says when a row was changed."""
    return pipeline.zone if spec.timezone is None else find_zone(spec.timezone)
