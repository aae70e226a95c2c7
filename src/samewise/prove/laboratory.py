"""What an experiment may do: fork the target and its state, run there, look at what is there. Nothing else.

Side effects of a pipeline, once there are any, are muted here too: a fork records them in `Proof.effects`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from samewise.core.failpoints import Failpoint
from samewise.core.windows import Window
from samewise.run.results import Status, WindowResult

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Start(StrEnum):
    """What a fork begins as."""

    BASE = "base"
    """The real target, as it was before the first of the windows landed, as far as that is known."""
    BEFORE = "before"
    """As the clean run left it when it had only the newest window to go."""
    AFTER = "after"
    """As the clean run left it."""
    AGAIN = "again"
    """As the clean run left it, with the state of before: what that run read is due once more."""


@dataclass(frozen=True, slots=True)
class Twist:
    """What is done to what a run reads."""

    seed: int | None = None
    """The same rows in other partitions and in another order, by this number."""
    partitions: int | None = None
    """So many partitions of the input, and another number of them in every shuffle."""
    empty: bool = False
    """No row at all, as if the files were there and held none."""


AS_IT_IS = Twist()


@dataclass(frozen=True, slots=True)
class KillAt:
    """Where a run is to die."""

    task: str
    point: Failpoint


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a run on a fork."""

    results: Sequence[WindowResult]
    seconds: float
    fired: bool = False
    """True where the run was killed where it was to be."""
    wrote_after_death: bool = False
    """True where something was still written after the kill: then it was none."""

    @property
    def failed(self) -> WindowResult | None:
        """The first window that was not loaded; None where all were."""
        return next((result for result in self.results if result.error is not None), None)

    @property
    def busy(self) -> bool:
        return any(result.status is Status.BUSY for result in self.results)

    @property
    def unchanged(self) -> bool:
        return bool(self.results) and all(result.status is Status.UNCHANGED for result in self.results)


@dataclass(frozen=True, slots=True)
class Table:
    """A target on a fork, as its readers see it."""

    task: str
    name: str
    rows: DataFrame
    key: Sequence[str]
    strategy: str
    code: str | None = None
    """The transform as its author wrote it, for whoever looks for the cause of a difference."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The failpoints that a task passes when nothing stops it, as the protocol has them."""

    task: str
    points: Sequence[Failpoint]


class Fork(Protocol):
    """A copy of every target of the pipeline, with a state store of its own."""

    def run(
        self,
        windows: Sequence[Window],
        *,
        force: bool = False,
        twist: Twist = AS_IT_IS,
        kill: KillAt | None = None,
        lane: int = 0,
    ) -> Ran:
        """Run these windows, oldest first, in the calling thread. Two at once need a `lane` each."""

    def begin(self) -> None:
        """From here on `wrote` looks."""

    def tables(self) -> Sequence[Table]:
        """Every target that is there, lazily, in the order of the tasks. Compared is what a run could change."""

    def others(self) -> Sequence[Table]:
        """Of every target that is compared by window the rows of all other windows, lazily."""

    def total(self) -> int:
        """Rows of all targets together, those that are not compared as well."""

    def differs_elsewhere(self, task: str, clean: Fork, rows: int) -> bool:
        """Whether rows of windows that are not compared are others than on `clean`; `rows`: how many are compared."""

    def identity(self, task: str) -> str | None:
        """The same for two forks whose table of a task is the very same, not just equal; None where that is not known.
        What was measured once is then not measured again."""

    def wrote(self) -> Mapping[str, bool]:
        """Whether each task has landed a commit of its own on this fork since it was made, or began anew."""

    def window_rows(self, window: Window) -> Mapping[str, int]:
        """How many rows each task's target holds of a window; tasks that write by key are left out."""


class Laboratory(Protocol):
    """Where experiments are made."""

    @property
    def windows(self) -> Sequence[Window]:
        """Those to prove, oldest first. The last one is what most experiments are about."""

    @property
    def stops(self) -> Sequence[Stop]:
        """Every task, in the order in which they run."""

    @property
    def on_empty(self) -> Mapping[str, str]:
        """What each task does about an empty result; `by key` where rows find their place by key."""

    @property
    def is_incremental(self) -> bool:
        """True where a run goes on from where the last one ended, so that the order of windows means nothing."""

    @property
    def last_one(self) -> bool:
        """True where one window was asked for, however many there are."""

    @property
    def notes(self) -> Sequence[str]:
        """What experiments here cannot see, in words."""

    @property
    def lanes(self) -> int:
        """How many experiments are made side by side: a run of a small window is mostly waiting."""

    def leave_out(self, window: Window, why: str) -> bool:
        """Do without a window that cannot be loaded; False, and nothing done, where it is what is to be proved."""

    def label(self, window: Window) -> str: ...

    def lane(self, name: str) -> Laboratory:
        """The same laboratory for a thread of its own."""

    def fork(self, start: Start) -> AbstractContextManager[Fork]:
        """A fork of its own for one experiment."""

    def copy(self, fork: Fork) -> AbstractContextManager[Fork]:
        """The fork as it is now, once more."""

    def keep(self, fork: Fork, start: Start) -> Fork:
        """Remember what a fork is now as what later ones begin with. Nothing runs on what is returned."""
