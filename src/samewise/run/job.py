"""Everything that one load task needs, put together by the wiring."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from samewise.plan.policy import Policy
from samewise.plan.spans import loaded_span, window_span
from samewise.plan.window_text import label
from samewise.run.rules import Rules
from samewise.run.transform import PassThrough, Scalar, Transform

if TYPE_CHECKING:
    from samewise.core.keyed import Keyed
    from samewise.core.ports import Source, Spark, Target
    from samewise.core.records import Owner, RunRecord
    from samewise.core.schema import Schema
    from samewise.core.sql import Span
    from samewise.core.windows import Window
    from samewise.plan.grid import Grid
    from samewise.run.dedup import Dedup
    from samewise.run.incremental import NewFiles, Since
    from samewise.run.keys import HashKey


@dataclass(frozen=True, slots=True)
class Retries:
    """How often an attempt that failed for a passing reason is made again, and after how long."""

    attempts: int = 1
    backoff_seconds: float = 10.0
    max_backoff_seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class Job:
    """One load task: where it reads, what it does to the rows, where and how it writes."""

    pipeline: str
    task: str
    grid: Grid | None
    """None for a task whose only window is `full`."""
    zone: ZoneInfo
    source: Source
    declared_schema: Schema | None
    """The source's schema where the spec declares it; then the spec is the contract."""
    inputs: Mapping[str, Source]
    transform: Transform
    target: Target
    owner: Owner
    definition: str
    staging: str
    """The folder under which each attempt stages in a place of its own."""
    quarantine: str
    spark: Spark
    window_column: str | None = None
    keyed: Keyed | None = None
    """Set where rows find their place by key instead of by window."""
    delete_when: str | None = None
    partition_by: Sequence[str] = ()
    on_empty: str = "clear"
    params: Mapping[str, Scalar] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules)
    drift: Policy = field(default_factory=Policy)
    """What is done about changes of the source's schema."""
    has_manifest: bool = False
    incremental: Since | NewFiles | None = None
    """How a task without windows goes on from where its last run ended."""
    lookback: int = 0
    """So many of the newest closed windows are looked at in every run."""
    retries: Retries = Retries()
    dedup: Dedup | None = None
    hash_key: HashKey | None = None
    sets_aside: bool = False
    """True where malformed rows of the source go to the quarantine."""
    set_aside_without: Sequence[str] = ()
    """A row with a NULL in one of these, its key's columns, goes to the quarantine."""
    lease_seconds: float = 60.0
    redact: Callable[[str], str] = str
    """Takes secrets out of a text: an error is stored and shown, and may quote one."""

    @property
    def name(self) -> str:
        """How messages call it: the pipeline, and the task where there is more than one thing to tell apart."""
        return self.pipeline if self.task == "load" else f"{self.pipeline}/{self.task}"

    @property
    def declared(self) -> bool:
        return self.declared_schema is not None

    @property
    def passes_through(self) -> bool:
        """True where the target gets the source's rows as they are: then nothing can add, drop or change one."""
        return isinstance(self.transform, PassThrough) and self.keyed is None and self.dedup is None

    @property
    def stages(self) -> bool:
        """Rows are staged where something must be known about them before they are published."""
        by_key = self.keyed is not None or bool(self.set_aside_without)
        return by_key or self.has_manifest or bool(self.rules) or self.on_empty != "clear"

    @property
    def replaces_all(self) -> bool:
        """True for `refresh`: every run replaces the whole table."""
        return self.grid is None and self.keyed is None

    @property
    def has_watermark(self) -> bool:
        """True where it can be said how far the source has been read."""
        from samewise.run.incremental import Since

        return self.grid is not None or isinstance(self.incremental, Since)

    @property
    def pins_without_spark(self) -> bool:
        """True where a look at what a window would read starts no Spark."""
        return all(getattr(source, "pins_without_spark", False) for source in (self.source, *self.inputs.values()))

    @property
    def marks_rows(self) -> bool:
        """True where each row records the window that loaded it, for want of a time of its own."""
        return not self.replaces_all and self.keyed is None and self.window_column is None

    def label(self, window: Window) -> str:
        """How a person writes this window."""
        return "full" if self.grid is None else label(window, self.grid)

    def staging_folder(self, run: RunRecord, attempt_id: str) -> str:
        """Where one attempt stages: no other attempt ever writes there."""
        return f"{self.staging}/{run.batch_id}/{attempt_id}"

    def span(self, window: Window, schema: Schema | None) -> Span | None:
        """The rows of the target that a run of `window` replaces; None for all of them, and by key for none.

        Raises ValueError where the window column's type is not one of time, and KeyError where
        `schema` does not have it.
        """
        if self.replaces_all or self.keyed is not None:
            return None
        if self.window_column is None:
            return loaded_span(window)
        column = None if schema is None else schema.get(self.window_column)
        if column is None:
            raise KeyError(self.window_column)
        return window_span(column.name, column.type, window, self.zone)
