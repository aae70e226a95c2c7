"""The audit inside a Samewise project: its pipelines are read too, and findings are ranked by what the state says."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from samewise.audit.config import Settings
from samewise.audit.engine import Result, audit
from samewise.audit.finding import FileReport
from samewise.audit.pipelines import select_report, task_report

_PROJECT = "samewise.yaml"


@dataclass(slots=True)
class Known:
    """What a project adds: reports of its files, and how often each pipeline was repeated."""

    extra: dict[str, FileReport] = field(default_factory=dict)
    repeats: dict[Path, int] = field(default_factory=dict)

    def rank(self, shown: str) -> int:
        return self.repeats.get(Path(shown).resolve(), 0) if self.repeats else 0


def audit_paths(paths: Sequence[Path], settings: Settings, *, cache: Path | None, jobs: int) -> Result:
    """Audit files and folders, those of a Samewise project with what it knows. Writes nothing but the cache."""
    known = Known()
    for root in {found for path in paths if (found := _project_of(path)) is not None}:
        _learn(root, paths, known)
    return audit(paths, settings, cache=cache, jobs=jobs, ranks=known.rank, extra=known.extra)


def _project_of(path: Path) -> Path | None:
    here = path.resolve()
    for folder in (here, *here.parents):
        if (folder / _PROJECT).is_file():
            return folder
    return None


def _learn(root: Path, paths: Sequence[Path], known: Known) -> None:
    # Imported here: most audits are of code that has nothing to do with Samewise.
    from samewise.core.errors import SamewiseError
    from samewise.spec.load import load_project

    try:
        loaded = load_project(root, None, os.environ)
    except SamewiseError:
        # `samewise validate` tells what is wrong with it; the rest of the code can be audited all the same.
        return
    repeats = _repeats(loaded.state_url)
    for name, pipeline in loaded.pipelines.items():
        file = loaded.files[name]
        count = repeats.get(name, 0)
        known.repeats[file.resolve()] = count
        if _wanted(file, paths):
            writes = [
                (task.write.strategy, str(getattr(task.target, "table", None) or getattr(task.target, "path", "")))
                for task in pipeline.tasks
            ]
            known.extra[_shown(file, paths)] = task_report(writes)
        for task in pipeline.tasks:
            transform = loaded.transform(pipeline, task)
            if transform is None:
                continue
            known.repeats[transform.path.resolve()] = count
            if transform.is_sql and _wanted(transform.path, paths):
                text = transform.path.read_text(encoding="utf-8", errors="replace")
                shown = _shown(transform.path, paths)
                known.extra[shown] = select_report(text, shown, task.name)


def _repeats(state_url: str) -> dict[str, int]:
    """Retries and backfills by pipeline; nothing where there is no store, or it cannot be asked now."""
    from samewise.core.errors import SamewiseError
    from samewise.state import runs
    from samewise.state.store import Store

    try:
        if not Store.exists(state_url):
            return {}
        store = Store.open(state_url, create=False)
    except SamewiseError:
        return {}
    try:
        return runs.repeats(store)
    except SamewiseError:
        return {}
    finally:
        store.close()


def _wanted(file: Path, paths: Sequence[Path]) -> bool:
    here = file.resolve()
    return any(here == path.resolve() or path.resolve() in here.parents for path in paths)


def _shown(file: Path, paths: Sequence[Path]) -> str:
    """The name by which the audit shows this file: as its walk would."""
    here = file.resolve()
    for path in paths:
        base = path.resolve()
        if here == base:
            return path.as_posix()
        if base in here.parents:
            inside = here.relative_to(base).as_posix()
            return inside if str(path) == "." else f"{path.as_posix()}/{inside}"
    return file.as_posix()
