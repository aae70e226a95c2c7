"""What a run tells whoever is watching. The runner never prints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from samewise.core.windows import Window
from samewise.plan.protocol import Step


@dataclass(frozen=True, slots=True)
class Note:
    """Something is under way that takes time and belongs to no window: Spark starts, jars are fetched."""

    text: str


@dataclass(frozen=True, slots=True)
class WindowBegan:
    task: str
    window: Window
    number: int
    of: int


@dataclass(frozen=True, slots=True)
class BackfillPlanned:
    """A backfill begins, or goes on."""

    backfill_id: str
    windows: int
    done: int


@dataclass(frozen=True, slots=True)
class GroupBegan:
    """Windows that are loaded together, from the first to the last; or the one that goes alone."""

    task: str
    first: Window
    last: Window
    windows: int


@dataclass(frozen=True, slots=True)
class GroupEnded:
    """The windows that have just been told of ended together."""

    task: str


@dataclass(frozen=True, slots=True)
class StepBegan:
    task: str
    window: Window
    step: Step
    attempt: int


@dataclass(frozen=True, slots=True)
class WillRetry:
    task: str
    window: Window
    cause: str
    attempt: int
    in_seconds: float


@dataclass(frozen=True, slots=True)
class WindowEnded:
    task: str
    window: Window
    status: str
    rows_written: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class ExperimentBegan:
    """`prove` tries something."""

    name: str
    number: int
    of: int


@dataclass(frozen=True, slots=True)
class ExperimentEnded:
    name: str
    outcome: str
    seconds: float


Event: TypeAlias = (
    Note
    | WindowBegan
    | BackfillPlanned
    | GroupBegan
    | GroupEnded
    | StepBegan
    | WillRetry
    | WindowEnded
    | ExperimentBegan
    | ExperimentEnded
)
Listener: TypeAlias = Callable[[Event], None]
