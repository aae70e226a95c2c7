"""What the readers see and the rules judge: things that happen, in order, in one flow of execution."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from samewise.audit.finding import Finding, Place

if TYPE_CHECKING:
    from samewise.audit.sql.statement import Statement

TESTS = re.compile(r"(^|/)(tests?|benchmarks?|bench)/", re.IGNORECASE)
"""Folders whose code works on data that it made up itself."""

ONCE = re.compile(
    r"(^|/)(migrations?|alembic|versions|flyway|liquibase|changelogs?|upgrades?|one_?offs?|ad_?hoc|seeds?|fixtures?|testdata|test_data)/",
    re.IGNORECASE,
)
"""Folders whose code is run once, by hand or by a tool that remembers."""

Branches = tuple[tuple[int, int], ...]
"""The arms of the conditions above: (which `if`, which arm of it)."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Something that runs a piece of code again when it fails."""

    place: Place
    what: str
    """`retries=3`, `@retry`, ..."""
    count: int = 1


@dataclass(eq=False, slots=True)
class Task:
    """A task of an orchestrator."""

    name: str
    place: Place
    retry: Retry | None = None
    schedule: str = ""
    kind: str = "airflow"
    depends_on_past: bool = False
    catchup: bool = True
    one_at_a_time: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """What kind of file this is: decides what is worth saying there."""

    file: str
    language: str
    """sql, python, notebook, dbt, pipeline."""
    lines: Sequence[str] = ()
    web: bool = False
    """Handles requests: a row a request is what it is for."""
    test: bool = False
    migration: bool = False
    """Run once, by a tool that remembers."""
    pipeline: bool = False
    """Moves data in bulk: a scheduler, Spark, pandas, a COPY."""
    databricks: bool = False
    client: bool = False
    """A library that wraps an API for others to call."""


@dataclass(eq=False)
class Op:
    """Something that happens."""

    place: Place
    tx: object = None
    """Operations with the same one land together or not at all; None: on its own."""
    path: Branches = ()
    scope: str = ""
    loop: int = 0
    guards: frozenset[str] = frozenset()
    """Tables that a condition above has asked; `*unique` where a key's violation is caught."""
    task: Task | None = None
    retry: Retry | None = None
    edit_lines: tuple[int, int] = (0, 0)
    """First and last line of the whole statement that it is part of."""
    told: bool = False
    """A helper for others: where it writes is said by callers, and none of them is seen here."""


@dataclass(eq=False)
class SqlOp(Op):
    """A statement that is executed."""

    statement: Statement = None  # type: ignore[assignment]
    via: str = "file"
    """file, execute, executemany, spark, operator, hook, dbt."""
    many: bool = False
    """Executed for many rows."""
    tx_sure: bool = True
    raw: str = ""
    """The statement as it stands in the file, holes and all."""
    conn: object = None


@dataclass(eq=False)
class ModelOp(SqlOp):
    """A dbt model: what its SELECT gives is written as its config says."""

    name: str = ""
    config: Mapping[str, object] = field(default_factory=dict)
    filter: str = ""
    """What stands between `if is_incremental()` and its end."""


@dataclass(eq=False)
class Frame:
    """Rows on their way, and what is known of them."""

    lib: str = ""
    tables: frozenset[str] = frozenset()
    raw: str = ""
    """What they were read from, if that can hold a row twice: files, kafka, stream."""
    dedup: tuple[str, ...] | None = None
    """The columns by which they are unique; () for all columns."""
    dedup_place: Place | None = None
    anti: bool = False
    """Rows that the target holds already were taken out."""
    limited: Place | None = None
    ordered: bool = False
    generated: Mapping[str, tuple[str, Place]] = field(default_factory=dict)
    """Columns made while running: name -> (by what, where)."""
    clock: tuple[str, Place] | None = None
    """A filter that compares with the clock."""
    loose: tuple[str, Place, bool] | None = None
    """A ROW_NUMBER whose order has ties: (why, where, unsure)."""
    checked_empty: bool = False
    streaming: bool = False
    param: bool = False
    """Came in as a parameter: anything may have happened to it."""
    asked: frozenset[str] = frozenset()
    """Tables that were asked for the bounds of these rows: with the target among them it goes on from there."""
    numbered: object = None
    """A ROW_NUMBER column that has not been used for a choice yet."""


@dataclass(eq=False)
class FrameOp(Op):
    """A DataFrame that is written."""

    lib: str = ""
    mode: str = ""
    """append, overwrite, fail, ignore, merge, unknown."""
    format: str = ""
    target: str = ""
    frame: Frame = field(default_factory=Frame)
    options: Mapping[str, str] = field(default_factory=dict)
    partition_by: tuple[str, ...] = ()
    dynamic: bool = False
    method: str = ""
    mode_place: Place | None = None
    keys: tuple[str, ...] = ()
    sure: bool = True
    clock_target: bool = False
    accumulates: str = ""
    """The column to which a merge adds, instead of setting it."""
    con: str = ""
    var: str = ""
    """The DataFrame's own name in the code, if it has one."""


ANY = "*"
"""The target of a ClearOp of which only is known that it makes room for what follows."""


@dataclass(eq=False)
class ClearOp(Op):
    """Rows or files are taken away outside SQL: DeltaTable.delete, rmtree, dbutils.fs.rm, purge."""

    target: str = ""
    sure: bool = True


@dataclass(eq=False)
class StreamOp(Op):
    """A stream that is started."""

    target: str = ""
    sink: str = ""
    checkpoint: bool = False
    sure: bool = True
    batch_flow: Flow | None = None
    """What foreachBatch does with a batch."""
    frame: Frame = field(default_factory=Frame)


@dataclass(eq=False)
class HttpOp(Op):
    """A request that changes something elsewhere."""

    url: str = ""
    keyed: bool = False
    sure: bool = True
    method: str = "POST"
    call: str = "requests.post"


@dataclass(eq=False)
class KafkaOp(Op):
    """A message that is sent."""

    topic: str = ""
    keyed: bool = False
    idempotent: bool = False
    sure: bool = True


@dataclass(eq=False)
class MarkOp(Op):
    """Progress that is written down: a watermark, an offset, a bookmark."""

    what: str = ""


@dataclass(eq=False)
class Flow:
    """One run of something: a script, a function with all that it calls, a task."""

    context: Context
    name: str = ""
    ops: list[Op] = field(default_factory=list)
    views: dict[str, Frame] = field(default_factory=dict)
    task: Task | None = None
    batch: bool = False
    """The body of foreachBatch."""
    dialect: str = ""
    conf: dict[str, str] = field(default_factory=dict)
    schedule: str = ""
    checked_empty: bool = False
    """Something asks whether there are rows at all."""
    conn: object = None
    """The connection of whatever came in from elsewhere."""
    clocks: list[tuple[Place, str]] = field(default_factory=list)
    """Places where the clock was asked for something that decides what is loaded."""
    findings: list[Finding] = field(default_factory=list)
    """What the rules have said so far: some rules are about what others found."""


def happens_before(one: Op, other: Op) -> bool:
    """Whether `one` has always happened when `other` does, given that it comes first in the flow."""
    return one.path == other.path[: len(one.path)]


def exclude(one: Op, other: Op) -> bool:
    """Whether the two lie in different arms of the same condition."""
    arms = dict(one.path)
    return any(arms.get(branch, arm) != arm for branch, arm in other.path)
