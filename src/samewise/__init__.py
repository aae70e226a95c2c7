"""Samewise: a run, a retry, a rerun, a backfill and a replay all leave the target as one clean run would.

import samewise

with samewise.open_project("shop") as project:
    result = project.run("orders_daily", window="2026-04-25")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samewise.core.errors import SamewiseError
    from samewise.core.windows import Window
    from samewise.run.results import RunResult, Status, WindowResult
    from samewise.run.transform import Context
    from samewise.wiring.project import Project, open_project

__version__ = "0.1.0"
__all__ = [
    "Context",
    "Project",
    "RunResult",
    "SamewiseError",
    "Status",
    "Window",
    "WindowResult",
    "open_project",
]

_HOMES = {
    "Context": "samewise.run.transform",
    "Project": "samewise.wiring.project",
    "RunResult": "samewise.run.results",
    "SamewiseError": "samewise.core.errors",
    "Status": "samewise.run.results",
    "Window": "samewise.core.windows",
    "WindowResult": "samewise.run.results",
    "open_project": "samewise.wiring.project",
}


def __getattr__(name: str) -> object:
    """Public names are loaded on first use, so that `import samewise` costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'samewise' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
