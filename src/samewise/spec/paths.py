"""Paths out of templates, and the promise that a value cannot lead them somewhere else."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from glob import escape
from pathlib import Path
from zoneinfo import ZoneInfo

from samewise.core.errors import ConfigError
from samewise.core.windows import Window
from samewise.spec.fields import Scalar
from samewise.spec.secrets import Secrets
from samewise.spec.templates import is_template, render
from samewise.spec.words import shown

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_TEMPLATE_START = re.compile(r"\{\{|\{%")
# Braces and commas too: a glob such as {a,../b} has a step upwards in it.
_STEPS = re.compile(r"[/\\,{}]")


def is_outright(path: str) -> bool:
    """True for an absolute path or a URL: one that does not depend on the project's folder."""
    return path.startswith("/") or _URL.match(path) is not None


def path_problem(text: str, rendered: str) -> str | None:
    """Why `rendered`, which came of the template `text`, must not be used; None where it may."""
    if not rendered.strip():
        return "is empty"
    if "\x00" in rendered:
        return "holds a NUL character"
    if is_template(text):
        literal = _TEMPLATE_START.split(text, maxsplit=1)[0]
        folder = literal[: literal.rfind("/") + 1] or "the project"
        # The literal beginning is still there after rendering, so without a step upwards the path
        # can only lie below it, unless the values made a relative path an absolute one.
        if ".." in _STEPS.split(rendered) or (is_outright(rendered) and not is_outright(literal)):
            return f"leads outside {folder}"
    elif not is_outright(rendered) and posixpath.normpath(rendered).split("/")[0] == "..":
        return "leads outside the project: write an absolute path if that is meant"
    return None


def resolve(path: str, root: Path, *, is_glob: bool = False) -> str:
    """A rendered path as it stands on this machine. With `is_glob` the project's own folder is escaped."""
    if _URL.match(path):
        return path.rstrip("/")
    if path.startswith("/"):
        return posixpath.normpath(path)
    folder = root.as_posix()
    return posixpath.normpath(posixpath.join(escape(folder) if is_glob else folder, path))


def render_path(
    text: str,
    *,
    root: Path,
    window: Window | None,
    zone: ZoneInfo,
    params: Mapping[str, Scalar],
    pipeline: str,
    environ: Mapping[str, str],
    secrets: Secrets,
    is_glob: bool = False,
) -> str:
    """Fill in a path and hold it inside the folder that its literal beginning names.

    A relative path is relative to the project and stays in it; an absolute one or a URL must be
    written out before the first `{{`.
    """
    rendered = render(
        text, window=window, zone=zone, params=params, pipeline=pipeline, environ=environ, secrets=secrets
    )
    problem = path_problem(text, rendered)
    if problem is not None:
        raise ConfigError(
            secrets.redact(f"the path {shown(rendered)} {problem}"),
            next_step=f"mend the path {shown(text)} or the values in it",
        )
    return resolve(rendered, root, is_glob=is_glob)
