"""The nouns of a proof: what was tried, what was compared, what differed, and the likely cause."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum


class Outcome(StrEnum):
    SAME = "same"
    """The target is as one clean run leaves it."""
    DIFFERENT = "different"
    FAILED = "failed"
    """The experiment's run did not come to its end, and says why."""
    VOID = "void"
    """The experiment did not happen (the kill never fired, a token skipped the write): a failure of prove itself."""
    SKIPPED = "skipped"
    """It does not apply to this pipeline, and says why."""


class Cause(StrEnum):
    """What most likely made the difference. `causes.sentence` says it in words."""

    APPEND = "append"
    CLOCK = "clock"
    GENERATED_KEY = "generated_key"
    TIE = "tie"
    DOUBLE_SUM = "double_sum"
    DUPLICATE_KEYS = "duplicate_keys"
    OLD_OVER_NEW = "old_over_new"
    STALE_PARTITION = "stale_partition"
    HALF_WRITTEN = "half_written"
    WATERMARK_FIRST = "watermark_first"
    EFFECT_PER_RUN = "effect_per_run"
    ORDER_DEPENDENT = "order_dependent"
    OTHER_WINDOWS = "other_windows"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """What one column adds up to. `total` is exact (decimal); None where a sum makes no sense."""

    name: str
    type: str
    nulls: int
    total: Decimal | None = None
    minimum: str | None = None
    maximum: str | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """What a table holds, in a form that does not depend on the order of its rows or the layout of its files."""

    rows: int
    columns: tuple[ColumnFigures, ...]
    content: str
    key: tuple[str, ...] = ()
    distinct_keys: int | None = None
    duplicate_keys: int | None = None
    """How many keys are there more than once."""

    @property
    def schema(self) -> tuple[tuple[str, str], ...]:
        return tuple((column.name, column.type) for column in self.columns)

    @property
    def schema_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


class RowKind(StrEnum):
    DOUBLED = "doubled"
    MISSING = "missing"
    EXTRA = "extra"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class RowExample:
    """One row that differs: its values as text, and for a changed one, each column as (clean, found)."""

    kind: RowKind
    values: dict[str, str | None]
    times: int = 1
    """How often the row is there, where it is doubled."""
    changes: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Difference:
    """How a table differs from the clean one."""

    clean: Figures
    found: Figures
    doubled: int = 0
    missing: int = 0
    extra: int = 0
    changed: int = 0
    changed_columns: tuple[str, ...] = ()
    examples: tuple[RowExample, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one experiment."""

    experiment: str
    """twice, killed, shuffled, out of order, empty, concurrent."""
    detail: str
    """Which of them: the failpoint, the layout, the order."""
    outcome: Outcome
    seconds: float
    counts: tuple[int, ...] = ()
    """Rows of the target after each run of the experiment."""
    figures: Figures | None = None
    difference: Difference | None = None
    cause: Cause | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Proof:
    """All verdicts about one pipeline or command."""

    subject: str
    target: str
    windows: tuple[str, ...]
    clean: Figures | None
    """What one clean run leaves; None where even that failed."""
    verdicts: tuple[Verdict, ...]
    seconds: float
    clean_seconds: float = 0.0
    effects: tuple[str, ...] = ()
    """Side effects that were recorded instead of sent."""
    notes: tuple[str, ...] = ()
    """What the experiments cannot have seen, and why."""

    @property
    def holds(self) -> bool:
        tried = [verdict for verdict in self.verdicts if verdict.outcome is not Outcome.SKIPPED]
        return bool(tried) and all(verdict.outcome is Outcome.SAME for verdict in tried)
