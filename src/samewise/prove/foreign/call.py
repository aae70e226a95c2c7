"""One run of a foreign job: where it is told to write, when it is to be killed, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Call:
    """What a run is told, by name: `target`, `date`, `input` …"""

    words: Mapping[str, str]
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables beside those that are made of the words."""

    @property
    def variables(self) -> dict[str, str]:
        """Everything as environment variables, for a job that looks there."""
        return {**{variable(name): value for name, value in self.words.items()}, **self.environment}


def variable(word: str) -> str:
    """The environment variable that holds a word: `target` is SAMEWISE_PROVE_TARGET."""
    return f"SAMEWISE_PROVE_{word.upper()}"


@dataclass(frozen=True, slots=True)
class Kill:
    """When a run is killed: after a part of the time that a clean run takes, or as soon as its target changes."""

    fraction: float | None = None
    changed: Callable[[], bool] | None = None

    def is_due(self, fraction: float) -> bool:
        if self.fraction is not None and fraction >= self.fraction:
            return True
        return self.changed is not None and self.changed()


@dataclass(frozen=True, slots=True)
class Ran:
    """How a run ended."""

    code: int
    seconds: float
    killed: bool = False
    output: str = ""
    """The end of what it printed."""

    @property
    def failed(self) -> bool:
        return self.code != 0 and not self.killed


class Runner(Protocol):
    """Something that can run the job: a process, or a function in a test."""

    def __call__(self, call: Call, kill: Kill | None = None, *, expected_seconds: float | None = None) -> Ran:
        """Run it to its end, or until `kill` is due. `expected_seconds` is what a clean run took."""
