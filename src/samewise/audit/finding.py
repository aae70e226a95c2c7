"""What the audit says: findings with a place, a level and a fix; and the writes that they are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any


class Level(StrEnum):
    """How sure and how bad. A `note` is unsure, or harmless in most settings; only a person can tell."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        return {"error": 0, "warning": 1, "note": 2}[self.value]


class Verdict(StrEnum):
    """What the audit thinks of one write."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A span of a file; lines and columns count from 1, the end column is the one after the last."""

    line: int
    column: int = 1
    end_line: int = 0
    end_column: int = 0
    cell: int = 0
    """The cell of a notebook, from 1; 0 outside one."""

    @property
    def last_line(self) -> int:
        return max(self.line, self.end_line)


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines `first` to `last` become `lines`."""

    first: int
    last: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fix:
    """A way out, made for the code at hand. `edits` are empty where it is advice only."""

    text: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that belongs to a finding."""

    place: Place
    message: str
    file: str = ""
    """Empty: the finding's own file."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a second run would do wrong."""

    rule: str
    level: Level
    place: Place
    message: str
    fix: Fix
    unsure: bool = False
    """It could not be decided from the code: a person has to look."""
    target: str = ""
    scope: str = ""
    """The function that holds it, for what other files say about that function."""
    related: tuple[Related, ...] = ()
    file: str = ""
    fingerprint: str = ""
    columns: tuple[str, ...] = ()
    """Columns that an insert names; a known unique key among them makes a second run fail instead of double."""
    enforced: bool = False
    """The target is in a database that enforces its keys."""
    rank: int = 0
    """How often the state store says that this pipeline was retried or backfilled."""

    def but(self, **changes: Any) -> Finding:
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Write:
    """Something that changes data, and what the audit thinks of it."""

    place: Place
    kind: str
    """append, insert, replace, merge, overwrite, create, send, stream, ..."""
    target: str
    verdict: Verdict = Verdict.SAFE


@dataclass(frozen=True, slots=True)
class TableFact:
    """A table that some DDL defines, with the keys that the database enforces."""

    name: str
    keys: tuple[tuple[str, ...], ...]
    generated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskFact:
    """A task of an orchestrator whose callable lies in another module."""

    name: str
    retries: int
    place: Place
    module: str
    function: str


@dataclass(frozen=True, slots=True)
class FileReport:
    """Everything that one file says, so that it can be kept and need not be read again."""

    findings: tuple[Finding, ...] = ()
    writes: tuple[Write, ...] = ()
    tables: tuple[TableFact, ...] = ()
    tasks: tuple[TaskFact, ...] = ()
    sql_files: tuple[str, ...] = ()
    """Names of SQL files that this file runs in one transaction."""
    models: tuple[str, ...] = ()
    """dbt models to which this file gives a key, or a strategy that needs none."""
    ignores: tuple[tuple[int, tuple[str, ...], str], ...] = ()
    """(line, rule ids or none for all, reason)."""
    problem: str = ""
    """Why the file, or a part of it, could not be read."""
    problem_line: int = 0


@dataclass(slots=True)
class Collected:
    """What rules and readers of one file have said so far."""

    findings: list[Finding] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    tables: list[TableFact] = field(default_factory=list)
    tasks: list[TaskFact] = field(default_factory=list)
    sql_files: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    problem: str = ""
    problem_line: int = 0


def to_json(report: FileReport) -> dict[str, Any]:
    """For the cache; `from_json` is its inverse."""
    return asdict(report)


def from_json(value: dict[str, Any]) -> FileReport:
    return FileReport(
        findings=tuple(_finding(one) for one in value["findings"]),
        writes=tuple(
            Write(Place(**one["place"]), one["kind"], one["target"], Verdict(one["verdict"])) for one in value["writes"]
        ),
        tables=tuple(
            TableFact(one["name"], tuple(tuple(key) for key in one["keys"]), tuple(one["generated"]))
            for one in value["tables"]
        ),
        tasks=tuple(TaskFact(**{**one, "place": Place(**one["place"])}) for one in value["tasks"]),
        sql_files=tuple(value["sql_files"]),
        models=tuple(value["models"]),
        ignores=tuple((int(line), tuple(rules), str(reason)) for line, rules, reason in value["ignores"]),
        problem=value["problem"],
        problem_line=value["problem_line"],
    )


def _finding(value: dict[str, Any]) -> Finding:
    fix = value["fix"]
    return Finding(
        **{
            **value,
            "level": Level(value["level"]),
            "place": Place(**value["place"]),
            "fix": Fix(fix["text"], tuple(Edit(e["first"], e["last"], tuple(e["lines"])) for e in fix["edits"])),
            "related": tuple(
                Related(Place(**one["place"]), one["message"], one["file"]) for one in _dicts(value["related"])
            ),
            "columns": tuple(value["columns"]),
        }
    )


def _dicts(values: Sequence[Any]) -> list[dict[str, Any]]:
    return [dict(value) for value in values]
