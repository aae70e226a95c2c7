"""samewise diff: what a run would do to the target, row by row, and nothing done."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samewise.cli.output import number, print_error, print_json, print_table, say
from samewise.cli.progress import Progress
from samewise.run.results import SCHEMA_VERSION, error_json, worst_error
from samewise.wiring.project import open_project

if TYPE_CHECKING:
    from samewise.run.diff import Difference

_WIDTH = 80
_ONE_BY_ONE = (
    "Each window is compared with the target as it is now: what an earlier one of\n"
    "them would write, a later one does not see."
)
_SIGNS = {"inserted": "+", "updated": "~", "deleted": "-", "unchanged": "="}


def show_diff(
    folder: Path,
    env: str | None,
    pipeline: str,
    window: str | None,
    start: str | None,
    end: str | None,
    *,
    as_json: bool,
) -> int:
    """Show how each window's rows would change: how many, and a few of each kind."""
    gc.enable()
    with open_project(folder, env=env) as project:
        with Progress(project.graph(pipeline).jobs, quiet=as_json) as progress:
            project.listen(progress)
            found = project.diff(pipeline, window=window, start=start, end=end)
        worst = worst_error(one.error for one in found if one.error is not None)
        code = 0 if worst is None else worst.exit_code
        if as_json:
            body = {
                "schema_version": SCHEMA_VERSION,
                "pipeline": pipeline,
                "windows": [one.to_json() for one in found],
                "notes": _notes(found),
                "error": None if worst is None else error_json(worst),
            }
            print_json(json.loads(project.loaded.secrets.redact(json.dumps(body, default=str))))
            return code
        if not found:
            say(f"{pipeline}: nothing is due; name a window with --window")
            return code
        _show(found)
    return code


def _notes(found: list[Difference]) -> list[str]:
    """What the figures do not say by themselves."""
    by_key = [one.task for one in found if one.by_key]
    if len(by_key) == len(set(by_key)):
        return []
    return [_ONE_BY_ONE]


def _show(found: list[Difference]) -> None:
    for one in found:
        if one.error is not None:
            print_error(one.error)
    if all(one.error is not None for one in found):
        return
    kinds = ("inserted", "updated", "deleted", "unchanged")
    # Of a window that cannot be compared nothing is known, which is not the same as no rows.
    print_table(
        ("window", *kinds),
        [(_name(one), *(number(one.counts.get(kind)) for kind in kinds)) for one in found],
    )
    for one in found:
        if not one.examples:
            continue
        say()
        say(f"{_name(one)}, a few of them" + (f" (by {', '.join(one.key)})" if one.key else ""))
        for kind, rows in one.examples.items():
            for row in rows:
                say(_cut(f"  {_SIGNS[kind]} {_text(row)}"))
    if any(not one.key and one.counts.get("deleted") and one.counts.get("inserted") for one in found):
        say()
        say("No key tells rows apart: a changed row shows as one deleted and one inserted.")
    for note in _notes(found):
        say()
        say(note)


def _name(one: Difference) -> str:
    return one.label if one.task == "load" else f"{one.task} {one.label}"


def _text(row: Any) -> str:
    shown = {name: value for name, value in row.items() if name != "before"}
    text = ", ".join(f"{name}={value}" for name, value in shown.items())
    before = row.get("before")
    return text if not before else f"{text}  was " + ", ".join(f"{name}={value}" for name, value in before.items())


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
