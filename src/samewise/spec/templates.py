"""Templates in paths and settings: `landing/{{ window.start | date }}/*.csv`.

Anything beyond a plain reference is rendered by Jinja2 in a sandbox. Plain references, which is
what nearly every file holds, are rendered here: importing Jinja2 takes longer than reading twenty
pipelines, and `samewise status` would pay for it. A property test holds the two together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from samewise.core.errors import ConfigError
from samewise.core.windows import Window, instant_text
from samewise.spec.fields import Scalar
from samewise.spec.secrets import Secrets
from samewise.spec.words import shown

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

_SIMPLE = re.compile(
    r"\{\{ *(?P<root>window|env|params|pipeline)(?:\.(?P<name>[A-Za-z_][A-Za-z0-9_]*))?"
    r"(?: *\| *(?:(?P<filter>date|hour)"
    r"|format\( *(?:'(?P<single>[^'\\{}]*)'|\"(?P<double>[^\"\\{}]*)\") *\)))? *\}\}"
)
_DIRECTIVE = re.compile(r"%(.?)")
# Those that every platform and every locale writes alike.
_DIRECTIVES = "YmdHMSjyGVu%"
WINDOW_NAMES = ("start", "end", "key")


@dataclass(frozen=True, slots=True)
class Reference:
    """One plain `{{ root.name | filter }}`."""

    root: str
    name: str | None
    filter: str | None
    format: str | None


def is_template(text: str) -> bool:
    """True where rendering could change the text."""
    return "{{" in text or "{%" in text


def references(text: str) -> list[str | Reference] | None:
    """The text as literal pieces and plain references; None where it takes Jinja2 to read it."""
    if "\n" in text or "\r" in text:
        return None
    pieces: list[str | Reference] = []
    position = 0
    for match in _SIMPLE.finditer(text):
        pieces.append(text[position : match.start()])
        reference = Reference(
            match["root"],
            match["name"],
            match["filter"],
            match["single"] if match["single"] is not None else match["double"],
        )
        if not _is_plain(reference):
            return None
        pieces.append(reference)
        position = match.end()
    pieces.append(text[position:])
    literals = [piece for piece in pieces if isinstance(piece, str)]
    if any("{{" in piece or "{%" in piece or "{#" in piece for piece in literals):
        return None
    # A brace that touches a reference, as in `{{{ x }}`, may read otherwise to Jinja2.
    if any(piece.endswith("{") for piece in literals[:-1]):
        return None
    return pieces


def _is_plain(reference: Reference) -> bool:
    filtered = reference.filter is not None or reference.format is not None
    if reference.root == "pipeline":
        return reference.name is None and not filtered
    if reference.root == "window":
        return reference.name in ("start", "end") or (reference.name == "key" and not filtered)
    return reference.name is not None and not filtered


@dataclass(frozen=True, slots=True)
class _Environment:
    """`env.NAME`. Not a mapping: a template can ask for a variable it names, never for its neighbours."""

    _values: Mapping[str, str] = field(repr=False)
    _secrets: Secrets = field(repr=False)

    def __getitem__(self, name: object) -> str:
        if not isinstance(name, str):
            raise ConfigError("a template reads the environment by name: {{ env.NAME }}")
        value = self._values.get(name)
        if value is None:
            raise ConfigError(
                f"the environment variable {name} is not set",
                next_step=f"set {name}, then run the same command again",
            )
        self._secrets.seen(value)
        return value

    def __iter__(self) -> Any:
        raise ConfigError("a template reads the environment by name: {{ env.NAME }}")


@dataclass(frozen=True, slots=True)
class _Params:
    """`params.NAME`: no methods that a parameter's name could collide with."""

    _values: Mapping[str, Scalar]

    def __getitem__(self, name: object) -> Scalar:
        if not isinstance(name, str) or name not in self._values:
            raise ConfigError(f"unknown parameter {shown(str(name))}", next_step="add it under params:")
        return self._values[name]


@dataclass(frozen=True, slots=True)
class _WindowView:
    """What a template sees of a window."""

    start: datetime
    end: datetime
    key: str


def render(
    text: str,
    *,
    window: Window | None,
    zone: ZoneInfo,
    params: Mapping[str, Scalar],
    pipeline: str,
    environ: Mapping[str, str],
    secrets: Secrets,
) -> str:
    """Fill in a template. What it reads from the environment is remembered in `secrets`."""
    if not is_template(text):
        return text
    values: dict[str, Any] = {
        "env": _Environment(environ, secrets),
        "params": _Params(params),
        "pipeline": pipeline,
    }
    if window is not None and not window.is_full:
        values["window"] = _WindowView(window.start, window.end, window.key)
    pieces = references(text)
    if pieces is None:
        return _render_with_jinja(text, values, zone, secrets)
    return "".join(_piece(piece, values, zone, text) for piece in pieces)


def _piece(piece: str | Reference, values: Mapping[str, Any], zone: ZoneInfo, text: str) -> str:
    if isinstance(piece, str):
        return piece
    if piece.root not in values:
        raise ConfigError(f"{shown(text)}: there is no '{piece.root}' here")
    value = values[piece.root]
    if piece.root == "window":
        value = getattr(value, str(piece.name))
    elif piece.name is not None:
        value = value[piece.name]
    if piece.filter == "date":
        value = local_date(value, zone)
    elif piece.filter == "hour":
        value = local_hour(value, zone)
    elif piece.format is not None:
        value = local_format(value, piece.format, zone)
    return str(written(value))


def _render_with_jinja(text: str, values: Mapping[str, Any], zone: ZoneInfo, secrets: Secrets) -> str:
    from jinja2 import TemplateError

    try:
        return sandbox(zone).from_string(text).render(values)
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
        # `from None`: the original would carry the values along.
        raise ConfigError(secrets.redact(f"the template {shown(text)} cannot be filled in: {error}")) from None


def sandbox(zone: ZoneInfo) -> ImmutableSandboxedEnvironment:
    """A Jinja2 that gives the same text for the same values: no clock, no chance, no files."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, keep_trailing_newline=True, finalize=written, autoescape=False
    )
    kept = {name: environment.filters[name] for name in ("lower", "upper", "replace")}
    environment.filters.clear()
    environment.filters.update(
        **kept,
        date=lambda value: local_date(value, zone),
        hour=lambda value: local_hour(value, zone),
        format=lambda value, pattern: local_format(value, pattern, zone),
    )
    environment.globals.clear()
    return environment


def local_date(value: object, zone: ZoneInfo) -> str:
    """The local date of an instant: `2026-04-25`."""
    return _local(value, zone).date().isoformat()


def local_hour(value: object, zone: ZoneInfo) -> str:
    """The local hour of an instant: `07`."""
    return f"{_local(value, zone).hour:02d}"


def local_format(value: object, pattern: object, zone: ZoneInfo) -> str:
    """An instant in local time, by a strftime pattern."""
    if not isinstance(pattern, str):
        raise ConfigError(f"format takes a pattern such as '%Y/%m/%d', not {shown(pattern)}")
    for directive in _DIRECTIVE.findall(pattern):
        if not directive or directive not in _DIRECTIVES:
            known = " ".join(f"%{letter}" for letter in _DIRECTIVES)
            raise ConfigError(f"format does not know '%{directive}'; there are {known}")
    return _local(value, zone).strftime(pattern)


def _local(value: object, zone: ZoneInfo) -> datetime:
    if not isinstance(value, datetime):
        raise ConfigError(f"date, hour and format are for window.start and window.end, not {shown(value)}")
    return value.astimezone(zone)


def written(value: object) -> object:
    """A value as a template writes it. Undefined ones pass, so that Jinja2 can complain about them."""
    if isinstance(value, datetime):
        return instant_text(value.astimezone(UTC))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, int | float | str) else value
