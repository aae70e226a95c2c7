"""Where tables really are, and the rule that each has one owner."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from samewise.core.errors import ConfigError
from samewise.spec.connections import PostgresRef, connect_as, connection_problem
from samewise.spec.paths import render_path, resolve
from samewise.spec.pipeline import PipelineSpec
from samewise.spec.postgres_source import PostgresSource
from samewise.spec.project import ProjectSpec
from samewise.spec.secrets import Secrets
from samewise.spec.sources import DeltaSource, TableRef
from samewise.spec.yaml_text import KeyPath


@dataclass(frozen=True, slots=True)
class Location:
    """A table of a Spark catalog, a folder, or a table of a database: exactly one is set."""

    table: tuple[str, ...] | None = None
    path: str | None = None
    database: tuple[str, str, str] | None = None
    """The database's place, the schema and the table."""

    @property
    def key(self) -> str:
        """The same for the same place. A catalog's names are compared without regard to case."""
        if self.database is not None:
            place, schema, table = self.database
            return f"postgres:{place}/{schema}.{table}"
        return ".".join(self.table).lower() if self.table is not None else str(self.path)


def locate(
    ref: TableRef | PostgresRef,
    project: ProjectSpec,
    pipeline: PipelineSpec,
    *,
    root: Path,
    environ: Mapping[str, str],
    secrets: Secrets,
) -> Location:
    """Where a table is. `project` is rendered: its own templates are filled in."""
    if isinstance(ref, PostgresRef):
        connection = connect_as(project.connections, ref.connection, environ)
        return Location(database=(connection.place, *ref.names(connection.schema)))
    if ref.path is not None:
        path = render_path(
            ref.path,
            root=root,
            window=None,
            zone=pipeline.zone,
            params=pipeline.params,
            pipeline=pipeline.name,
            environ=environ,
            secrets=secrets,
        )
        return Location(path=path)
    parts = tuple(str(ref.table).split("."))
    if project.catalog is not None:
        return Location(table=(*project.catalog.split("."), *parts))
    if len(parts) > 1:
        raise ConfigError(f"'{ref.table}' needs a catalog: name one in samewise.yaml, or write one plain name")
    return Location(path=posixpath.join(resolve(project.warehouse, root), parts[0]))


@dataclass(frozen=True, slots=True)
class Ownership:
    """A complaint about who writes what, for one pipeline's file."""

    pipeline: str
    path: KeyPath
    sentence: str


def check_owners(
    project: ProjectSpec, pipelines: Mapping[str, PipelineSpec], *, root: Path, environ: Mapping[str, str]
) -> Iterator[Ownership]:
    """Two owners of one target, a target inside another one, a task that reads what it writes."""
    targets: list[tuple[str, Location]] = []
    # What is rendered here is only compared: a variable that is not set is found when it is needed.
    secrets = Secrets()

    def place(ref: TableRef | PostgresRef, pipeline: PipelineSpec) -> Location:
        try:
            return locate(ref, project, pipeline, root=root, environ=environ, secrets=secrets)
        except ConfigError:
            return Location(path=f"unknown:{ref.table or getattr(ref, 'path', None)}")

    for pipeline in pipelines.values():
        for index, task in enumerate(pipeline.tasks):
            target = place(task.target, pipeline)
            at: KeyPath = ("tasks", index, "target")
            me = f"{pipeline.name}.{task.name}"
            for other, taken in targets:
                if target.key == taken.key:
                    sentence = f"'{other}' owns this table already: two owners would delete each other's rows"
                    yield Ownership(pipeline.name, at, sentence)
                elif _inside(target, taken) or _inside(taken, target):
                    sentence = f"this table and that of '{other}' lie inside one another: give each its own folder"
                    yield Ownership(pipeline.name, at, sentence)
            targets.append((me, target))
            reads: dict[KeyPath, TableRef | PostgresRef] = {("inputs", name): ref for name, ref in task.inputs.items()}
            if isinstance(task.source, DeltaSource):
                reads[("source",)] = task.source
            elif isinstance(task.source, PostgresSource) and task.source.ref is not None:
                reads[("source",)] = task.source.ref
            for path, ref in reads.items():
                if place(ref, pipeline).key == target.key:
                    sentence = "this is the task's own target: a second run would read what the first one wrote"
                    yield Ownership(pipeline.name, ("tasks", index, *path), sentence)
            if isinstance(task.source, PostgresSource) and task.source.ref is None:
                problem = connection_problem(project.connections, task.source.connection)
                if problem is not None:
                    yield Ownership(pipeline.name, ("tasks", index, "source", "connection"), problem)
            for path, ref in {("target",): task.target, **reads}.items():
                if isinstance(ref, PostgresRef):
                    problem = connection_problem(project.connections, ref.connection)
                    if problem is not None:
                        yield Ownership(pipeline.name, ("tasks", index, *path, "connection"), problem)
                elif ref.table is not None and "." in ref.table and project.catalog is None:
                    sentence = "needs a catalog: name one in samewise.yaml, or write one plain name"
                    yield Ownership(pipeline.name, ("tasks", index, *path, "table"), sentence)


def _inside(inner: Location, outer: Location) -> bool:
    return inner.path is not None and outer.path is not None and inner.path.startswith(outer.path + "/")
