"""A project folder -> everything that its files say, or every problem that they have."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from samewise.core.connections import PostgresConnection
from samewise.core.errors import ConfigError, Problem, SpecError, UsageError
from samewise.core.windows import Window
from samewise.spec.connections import ConnectionSpec, PostgresRef, connect_as, url_problem
from samewise.spec.files import CONNECTION_FIELDS, SpecFile, read_pipeline_file, read_project_file, settings
from samewise.spec.owners import Location, check_owners, locate
from samewise.spec.paths import path_problem, render_path, resolve
from samewise.spec.pipeline import PipelineSpec, TaskSpec
from samewise.spec.project import ProjectSpec, state_url
from samewise.spec.secrets import Secrets
from samewise.spec.sentences import Complaint
from samewise.spec.sources import TableRef
from samewise.spec.templates import render
from samewise.spec.transforms import Transform, find_transform
from samewise.spec.words import shown, unknown
from samewise.spec.yaml_text import KeyPath

PROJECT_FILE = "samewise.yaml"
PIPELINE_FOLDER = "pipelines"
_SQLITE = "sqlite:///"
_UTC = ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A project whose files have no problem."""

    root: Path
    project: ProjectSpec
    """With the chosen environment laid over it and its templates filled in."""
    pipelines: Mapping[str, PipelineSpec]
    files: Mapping[str, Path]
    """Each pipeline's own file."""
    secrets: Secrets
    environ: Mapping[str, str] = field(repr=False)
    moved: Mapping[str, Location] = field(default_factory=dict)
    """Tables that are to be looked for elsewhere, by the key of where they really are: `prove` works on forks."""

    @property
    def warehouse(self) -> str:
        """The folder or URL of tables that are named without a catalog."""
        return resolve(self.project.warehouse, self.root)

    @property
    def staging(self) -> str:
        """The folder or URL for rows that are not published yet."""
        if self.project.staging is not None:
            return resolve(self.project.staging, self.root)
        return posixpath.join(self.warehouse, "_samewise", "staging")

    @property
    def quarantine(self) -> str:
        """The folder or URL for malformed rows."""
        return resolve(self.project.quarantine, self.root)

    @property
    def state_url(self) -> str:
        """The state store's URL; a relative SQLite file lies in the project."""
        url = self.project.state
        if url.startswith(_SQLITE):
            return _SQLITE + resolve(url[len(_SQLITE) :], self.root)
        return url

    def pipeline(self, name: str) -> PipelineSpec:
        """The pipeline called `name`. UsageError with a suggestion where there is none."""
        if name in self.pipelines:
            return self.pipelines[name]
        if not self.pipelines:
            raise UsageError(f"there is no pipeline {shown(name)}: {PIPELINE_FOLDER}/ holds none")
        raise UsageError(unknown("pipeline", name, self.pipelines), next_step="run again with one of these")

    def path(self, text: str, pipeline: PipelineSpec, window: Window | None = None, *, is_glob: bool = False) -> str:
        """A path of the pipeline, filled in for a window and held inside its folder."""
        return render_path(
            text,
            root=self.root,
            window=window,
            zone=pipeline.zone,
            params=pipeline.params,
            pipeline=pipeline.name,
            environ=self.environ,
            secrets=self.secrets,
            is_glob=is_glob,
        )

    def location(self, ref: TableRef | PostgresRef, pipeline: PipelineSpec) -> Location:
        """Where a source, an input or a target is."""
        real = locate(ref, self.project, pipeline, root=self.root, environ=self.environ, secrets=self.secrets)
        return self.moved.get(real.key, real)

    def connection(self, name: str | None) -> PostgresConnection:
        """The connection called `name`, or the project's only one. Raises ConfigError where there is none."""
        return connect_as(self.project.connections, name, self.environ)

    def transform(self, pipeline: PipelineSpec, task: TaskSpec) -> Transform | None:
        """The task's transform; None where rows go through as they are."""
        if task.transform is None:
            return None
        try:
            return find_transform(task.transform, beside=self.files[pipeline.name].parent, root=self.root)
        except ValueError as error:
            # Loading has found it: the file has changed since.
            raise ConfigError(f"{pipeline.name}.{task.name}: transform: {error}") from None


def find_project(start: Path) -> Path:
    """The folder of the nearest `samewise.yaml`, from `start` upwards."""
    absolute = start.absolute()
    for folder in (absolute, *absolute.parents):
        if (folder / PROJECT_FILE).is_file():
            return folder
    raise UsageError(
        f"no {PROJECT_FILE} in {absolute} or above it",
        next_step="`samewise init` makes a project; `--project DIR` names one",
    )


def load_project(root: Path, env: str | None, environ: Mapping[str, str]) -> Loaded:
    """Read and check every file of a project. Raises SpecError with all problems of all files."""
    root = root.resolve()
    if not (root / PROJECT_FILE).is_file():
        raise UsageError(f"no {PROJECT_FILE} in {root}", next_step="`samewise init` makes a project")
    secrets = Secrets()
    project_file = read_project_file(root / PROJECT_FILE, root)
    project = None
    if project_file.spec is not None:
        chosen = project_file.spec.with_env(env)
        project = _rendered(chosen, env, project_file, environ, secrets)
    files = [read_pipeline_file(path, root) for path in _pipeline_paths(root)]
    _check_names(files)
    by_name = {file.spec.name: file for file in reversed(files) if file.spec is not None}
    pipelines = {name: file.spec for name, file in sorted(by_name.items()) if file.spec is not None}
    if project is not None:
        for owner in check_owners(project, pipelines, root=root, environ=environ):
            by_name[owner.pipeline].complain(Complaint(owner.path, owner.sentence))
    problems: list[Problem] = [
        *project_file.problems,
        *(problem for file in files for problem in file.problems),
    ]
    if problems or project is None:
        raise SpecError(sorted(problems))
    paths = {name: by_name[name].path for name in pipelines}
    return Loaded(root, project, pipelines, paths, secrets, environ)


def _pipeline_paths(root: Path) -> list[Path]:
    folder = root / PIPELINE_FOLDER
    return sorted(path for suffix in ("*.yaml", "*.yml") for path in folder.rglob(suffix) if path.is_file())


def _check_names(files: Sequence[SpecFile[PipelineSpec]]) -> None:
    first: dict[str, SpecFile[PipelineSpec]] = {}
    for file in files:
        name = (file.raw or {}).get("pipeline")
        if isinstance(name, str) and first.setdefault(name, file) is not file:
            file.complain(Complaint(("pipeline",), f"'{name}' is in {first[name].label} already"))


def _rendered(
    project: ProjectSpec,
    env: str | None,
    file: SpecFile[ProjectSpec],
    environ: Mapping[str, str],
    secrets: Secrets,
) -> ProjectSpec | None:
    """The settings with their templates filled in. A problem goes to the line that the text is from."""
    values: dict[KeyPath, str] = {}
    overlay = project.envs[env] if env is not None else None
    own = settings(overlay) if overlay is not None else {}
    for path, text in settings(project).items():
        try:
            values[path] = render(
                text,
                window=None,
                zone=_UTC,
                params={},
                pipeline=project.project,
                environ=environ,
                secrets=secrets,
            )
            if path == ("state",):
                values[path] = state_url(values[path])
            if path[0] == "connections" and path[-1] == "url" and "://" not in values[path]:
                raise ValueError(url_problem())
            problem = path_problem(values[path], values[path]) if _is_folder(path) else None
        except ConfigError as error:
            problem = error.message
        except ValueError as error:
            problem = str(error)
        if problem is not None:
            place = ("envs", str(env), *path) if path in own else path
            file.complain(Complaint(place, problem))
    if file.problems:
        return None
    data: dict[str, Any] = {str(path[0]): value for path, value in values.items() if len(path) == 1}
    spark = project.spark.model_copy(
        update={
            **{key: values[("spark", key)] for key in ("master", "remote") if ("spark", key) in values},
            "conf": {key: values[("spark", "conf", key)] for key in project.spark.conf},
        }
    )
    connections = {name: _connection(spec, name, values) for name, spec in project.connections.items()}
    for spec in connections.values():
        for secret in (PostgresConnection("", spec.url, spec.options).password, environ.get("PGPASSWORD")):
            secrets.seen(secret or "")
    return project.model_copy(update={**data, "spark": spark, "connections": connections})


def _connection(spec: ConnectionSpec, name: str, values: Mapping[KeyPath, str]) -> ConnectionSpec:
    at = ("connections", name)
    own = {key: values[(*at, key)] for key in CONNECTION_FIELDS if (*at, key) in values}
    return spec.model_copy(update={**own, "options": {key: values[(*at, "options", key)] for key in spec.options}})


def _is_folder(path: KeyPath) -> bool:
    return path in (("warehouse",), ("staging",), ("quarantine",))
