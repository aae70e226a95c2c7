"""One YAML file -> one validated spec, or everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from samewise.core.errors import Problem
from samewise.spec.checks import check_pipeline
from samewise.spec.graph import check_graph
from samewise.spec.pipeline import FLAT_TASK, PipelineSpec, TaskSpec
from samewise.spec.project import ProjectSpec
from samewise.spec.sentences import Complaint, complaints, mended
from samewise.spec.template_check import template_problems
from samewise.spec.words import closest
from samewise.spec.yaml_text import KeyPath, Places, read_yaml

_ROUNDS = 6
_PIPELINE_KEYS = frozenset(info.alias or name for name, info in PipelineSpec.model_fields.items())
_TASK_KEYS = frozenset(info.alias or name for name, info in TaskSpec.model_fields.items()) - {
    "task",
    "depends_on",
}
CONNECTION_FIELDS = ("url", "service", "bookkeeping")
_LOCATION_FIELDS = ("warehouse", "state", "staging", "quarantine")

Spec = TypeVar("Spec", bound=BaseModel)


@dataclass(slots=True)
class SpecFile(Generic[Spec]):
    """A file on its way in: problems gather until the end, so that all of them are told at once."""

    path: Path
    label: str
    """How problems name the file: relative to the project."""
    places: Places = field(default_factory=Places)
    is_flat: bool = False
    raw: dict[str, Any] | None = None
    spec: Spec | None = None
    """What the file says, or most likely means: to be used only where no file has a problem."""
    problems: list[Problem] = field(default_factory=list)

    def complain(self, complaint: Complaint) -> None:
        path = complaint.path
        if self.is_flat and path[:2] == ("tasks", 0):
            path = path[2:]
        line = self.places.key_line(path) if complaint.at_key else self.places.line(path)
        dotted = ""
        for step in path:
            dotted += f"[{step}]" if isinstance(step, int) else f".{step}" if dotted else step
        sentence = f"{dotted}: {complaint.sentence}" if dotted else complaint.sentence
        problem = Problem(self.label, line, sentence)
        if problem not in self.problems:
            self.problems.append(problem)


def _open(path: Path, root: Path) -> SpecFile[Any]:
    file: SpecFile[Any] = SpecFile(path, path.relative_to(root).as_posix())
    try:
        document = read_yaml(path.read_bytes())
    except OSError as error:
        file.problems.append(Problem(file.label, 1, f"cannot be read: {error.strerror}"))
        return file
    file.places = document.places
    file.raw = document.value
    file.problems.extend(Problem(file.label, line, sentence) for line, sentence in document.problems)
    return file


def _validate(model: type[Spec], raw: Mapping[str, Any], file: SpecFile[Spec]) -> _Outcome:
    """Fill in `file.spec`, or what the file most likely means; None where nothing can be made of it."""
    blamed: set[KeyPath] = set()
    for _ in range(_ROUNDS):
        try:
            file.spec = model.model_validate(raw)
            break
        except ValidationError as error:
            found = complaints(model, raw, error)
            # In a later round a part that was taken out is missed by what holds it: that is not news.
            news = [item for item in found if not _related(item.path, blamed)]
            for item in news:
                file.complain(item)
            blamed.update(item.path for item in news)
            raw = mended(raw, found)
    return _Outcome(dict(raw), frozenset(blamed))


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What is left of a file after its complaints."""

    raw: dict[str, Any]
    """With everything that was complained about taken out or put right."""
    blamed: frozenset[KeyPath]


def _related(path: KeyPath, blamed: Collection[KeyPath]) -> bool:
    """True where `path` lies above or below something that was complained about."""
    return any(path[: len(other)] == other or other[: len(path)] == path for other in blamed)


def read_project_file(path: Path, root: Path) -> SpecFile[ProjectSpec]:
    """`samewise.yaml`. Raises nothing: problems are in the result."""
    file: SpecFile[ProjectSpec] = _open(path, root)
    if file.raw is None:
        return file
    _validate(ProjectSpec, file.raw, file)
    if file.spec is not None:
        _check_setting_templates(file.spec, (), file)
        for name, overlay in file.spec.envs.items():
            _check_setting_templates(overlay, ("envs", name), file)
    return file


def settings(spec: BaseModel) -> dict[KeyPath, str]:
    """Every setting that may hold a template, by its path."""
    found: dict[KeyPath, str] = {
        (name,): value for name in _LOCATION_FIELDS if (value := getattr(spec, name)) is not None
    }
    spark = getattr(spec, "spark", None)
    if spark is not None:
        found |= {("spark", key): value for key in ("master", "remote") if (value := getattr(spark, key))}
        found |= {("spark", "conf", key): value for key, value in spark.conf.items()}
    for name, connection in getattr(spec, "connections", {}).items():
        at = ("connections", name)
        own = {key: getattr(connection, key) for key in CONNECTION_FIELDS}
        found |= {(*at, key): value for key, value in own.items() if value is not None}
        found |= {(*at, "options", key): value for key, value in connection.options.items()}
    return found


def _check_setting_templates(spec: BaseModel, at: KeyPath, file: SpecFile[ProjectSpec]) -> None:
    for path, text in settings(spec).items():
        for problem in template_problems(text, roots=("env",), params=()):
            file.complain(Complaint((*at, *path), problem))


def read_pipeline_file(path: Path, root: Path) -> SpecFile[PipelineSpec]:
    """One pipeline. Raises nothing: problems are in the result."""
    file: SpecFile[PipelineSpec] = _open(path, root)
    if file.raw is None:
        return file
    outcome = _validate(PipelineSpec, _one_form(file), file)
    tasks = outcome.raw.get("tasks")
    items = tasks if isinstance(tasks, list) else []
    found = list(check_graph([_node(task) for task in items]))
    places = list(range(len(items)))
    if file.spec is None:
        # Some tasks may be whole even where others are not.
        places = [place for place in places if _is_whole(items[place])]
        whole = {**outcome.raw, "tasks": [items[place] for place in places]}
        with suppress(ValidationError):
            file.spec = PipelineSpec.model_validate({"pipeline": "unnamed", **whole})
    if file.spec is not None:
        found.extend(check_pipeline(file.spec, places, folder=path.parent, root=root))
    for complaint in found:
        if not any(complaint.path[: len(blamed)] == blamed for blamed in outcome.blamed):
            file.complain(complaint)
    return file


def _node(task: object) -> tuple[str, list[str]]:
    """A task's name and what it depends on, as far as they can be read."""
    name = task.get("task") if isinstance(task, dict) else None
    needed = task.get("depends_on") if isinstance(task, dict) else None
    return str(name), [str(item) for item in needed] if isinstance(needed, list) else []


def _is_whole(task: object) -> bool:
    try:
        TaskSpec.model_validate(task)
    except ValidationError:
        return False
    return True


def _one_form(file: SpecFile[PipelineSpec]) -> dict[str, Any]:
    """The `tasks:` form of what the file holds."""
    raw = dict(file.raw or {})
    strange = raw.keys() - _TASK_KEYS - _PIPELINE_KEYS
    if "tasks" in raw or any(closest(key, _TASK_KEYS | _PIPELINE_KEYS) == "tasks" for key in strange):
        for key in sorted(_TASK_KEYS & raw.keys()):
            sentence = "belongs inside one of the tasks, since this file has tasks:"
            file.complain(Complaint((key,), sentence, at_key=True))
            del raw[key]
        return raw
    file.is_flat = True
    # A misspelt key goes where its right spelling belongs, so that it is found there.
    of_task = {key for key in strange if closest(key, _TASK_KEYS | _PIPELINE_KEYS) in _TASK_KEYS}
    task = {key: raw.pop(key) for key in list(raw) if key in _TASK_KEYS | of_task}
    return {**raw, "tasks": [{"task": FLAT_TASK, **task}]}
