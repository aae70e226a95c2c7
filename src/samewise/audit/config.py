"""Settings: `[tool.samewise.audit]` of the nearest pyproject.toml, under what the command line says."""

from __future__ import annotations

import difflib
import re
import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from samewise.audit.finding import Level
from samewise.audit.rules import BY_ID
from samewise.core.errors import ConfigError, UsageError


@dataclass(frozen=True, slots=True)
class Settings:
    """What is read, what is told, and when it fails."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    dialect: str = ""
    baseline: str = ""
    fail_on: str = "warning"

    def wants(self, rule: str) -> bool:
        """`SW1` stands for every rule that begins so."""
        if any(rule.startswith(prefix) for prefix in self.ignore):
            return False
        return not self.select or any(rule.startswith(prefix) for prefix in self.select)

    def fails(self, level: Level) -> bool:
        return self.fail_on != "never" and level.rank <= Level(self.fail_on).rank


def read_settings(start: Path) -> tuple[Settings, Path | None]:
    """The settings that hold for a folder, and the file that they come from."""
    here = (start if start.is_dir() else start.parent).resolve()
    for folder in (here, *here.parents):
        file = folder / "pyproject.toml"
        if file.is_file():
            try:
                body = tomllib.loads(file.read_text(encoding="utf-8"))
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise ConfigError(
                    f"{file.name} cannot be read: {error}", next_step="mend the file, then audit again"
                ) from error
            table = body.get("tool", {}).get("samewise", {}).get("audit")
            if table is not None:
                return parse(table, file.name), file
            return Settings(), None
    return Settings(), None


def parse(table: object, file: str) -> Settings:
    """A table of settings. Every problem is told at once."""
    if not isinstance(table, dict):
        raise ConfigError(f"{file}: [tool.samewise.audit] must be a table", next_step="mend the file, then audit again")
    known = {field.name.replace("_", "-"): field.name for field in fields(Settings)}
    problems: list[str] = []
    values: dict[str, Any] = {}
    for key, value in table.items():
        name = known.get(key.replace("_", "-"))
        if name is None:
            near = difflib.get_close_matches(key, known, 1)
            problems.append(
                f"{key}: unknown key" + (f", did you mean '{near[0]}'?" if near else f"; there are {', '.join(known)}")
            )
        elif name in ("select", "ignore", "exclude"):
            if isinstance(value, list) and all(isinstance(one, str) for one in value):
                values[name] = tuple(value)
            else:
                problems.append(f"{key}: must be a list of texts")
        elif isinstance(value, str):
            values[name] = value
        else:
            problems.append(f"{key}: must be a text")
    made = replace(Settings(), **values)
    problems += check(made)
    if problems:
        listed = "\n".join(f"{file}: [tool.samewise.audit] {one}" for one in problems)
        raise ConfigError(listed, kept="nothing was read", next_step="mend the lines above, then audit again")
    return made


def check(settings: Settings) -> list[str]:
    """What is wrong with settings, wherever they come from."""
    problems = [
        f"{kind}: {one!r} is no rule; there are {', '.join(BY_ID)}"
        for kind, chosen in (("select", settings.select), ("ignore", settings.ignore))
        for one in chosen
        if not re.fullmatch(r"SW\d{0,3}", one) or not any(rule.startswith(one) for rule in BY_ID)
    ]
    if settings.fail_on not in ("error", "warning", "note", "never"):
        problems.append(f"fail-on: {settings.fail_on!r}; there are error, warning, note, never")
    if settings.dialect and not _is_dialect(settings.dialect):
        problems.append(f"dialect: {settings.dialect!r} is not one that sqlglot reads")
    return problems


def _is_dialect(name: str) -> bool:
    from sqlglot.dialects.dialect import Dialect

    try:
        Dialect.get_or_raise(name)
    except ValueError:
        return False
    return True


def overlaid(settings: Settings, **given: Any) -> Settings:
    """The settings with what the command line gives. Raises `UsageError` for what is not there."""
    made = replace(settings, **{name: value for name, value in given.items() if value})
    problems = check(made)
    if problems:
        raise UsageError("\n".join(f"--{one}" for one in problems), next_step="samewise audit --rules lists them")
    return made
