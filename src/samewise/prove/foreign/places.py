"""Where a foreign job writes, and copies of it: the job is only ever pointed at a copy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from samewise.core.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FOLDER_KINDS = ("delta", "parquet", "file")


@dataclass(frozen=True, slots=True)
class Named:
    """A target as it is written on the command line: `delta:warehouse/orders`, `postgres:public.orders`."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


def named(text: str) -> Named:
    """Raises UsageError for a kind that is not known."""
    kind, colon, name = text.partition(":")
    if not colon or not name or kind not in (*FOLDER_KINDS, "postgres"):
        raise UsageError(
            f"--target {text}: not a target that prove can copy",
            kept="nothing was run",
            next_step="write delta:PATH, parquet:PATH, file:PATH or postgres:TABLE",
        )
    return Named(kind, name)


class Copy(Protocol):
    """A copy that a run may change."""

    @property
    def words(self) -> Mapping[str, str]:
        """What leads a job to this copy; `target` is always among them."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that do the same for programs which know them."""

    def mark(self) -> object:
        """Another value as soon as a reader could see a change. Quick: it is asked many times a second."""

    def rows(self, spark: SparkSession) -> DataFrame | None:
        """What a reader sees now; None where there is no table."""

    def settle(self) -> None:
        """Wait until nothing that was killed writes here any more."""

    def drop(self) -> None:
        """Remove the copy. A second call does nothing."""


class Place(Protocol):
    """The real target. Nothing here changes it, unless the user has said that it is a copy itself."""

    @property
    def name(self) -> str: ...

    def copy(self, label: str, of: Copy | None = None) -> Copy:
        """A new copy for a run: of what was there when prove began, or of a snapshot."""

    def snapshot(self, copy: Copy) -> Copy:
        """What a copy holds now, in a place that no run changes."""

    def fingerprint(self) -> str:
        """Another value if the real target was written to."""

    def close(self) -> None:
        """Remove every copy. A second call does nothing."""
