"""Every error that Samewise raises on purpose.

    SamewiseError
    ├── ConfigError           2   a setting, a file or the command itself is wrong
    │   ├── SpecError             problems in the YAML files, all of them, each with its place
    │   ├── UsageError            the command line asks for something that is not there
    │   └── ForeignTarget         the target belongs to another state store or another task
    ├── Refused               3   the data was refused; nothing was published
    ├── TransformFailed       4   the user's own SQL or Python raised
    ├── Transient            75   may work next time; did not land
    │   ├── Busy                  another run holds the window
    │   ├── Conflict              another commit came first; the state is read again, then it is tried again
    │   ├── OutOfSpace            a disk is full: retrying is safe, and useless until a person acts
    │   └── MayHaveLanded         the answer was lost: the target must be asked before anything else
    ├── PinsGone                  what a run had pinned cannot be read any more; it is planned again
    ├── LeaseLost                 another attempt took over; this one must not write any more
    ├── NoOlderVersion        1   the target cannot show any more what it held at a version
    └── Superseded            0   a newer run of this window has landed; its data stands

An error says what happened (`message`), what was kept (`kept`) and what to do (`next_step`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


class SamewiseError(Exception):
    """A bug in Samewise unless a subclass says otherwise."""

    code = "internal"
    exit_code = 1
    retryable = False

    def __init__(
        self,
        message: str,
        *,
        kept: str | None = None,
        next_step: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kept = kept
        self.next_step = next_step
        if code is not None:
            self.code = code

    def with_kept(self, kept: str) -> SamewiseError:
        """Fill in what was kept, where whoever raised this could not know it."""
        if self.kept is None:
            self.kept = kept
        return self

    def redact(self, redact: Callable[[str], str]) -> None:
        """Take secrets out of every text. A second call changes nothing."""
        self.message = redact(self.message)
        self.kept = None if self.kept is None else redact(self.kept)
        self.next_step = None if self.next_step is None else redact(self.next_step)


class ConfigError(SamewiseError):
    """A setting, a file or the command itself is wrong."""

    code = "config"
    exit_code = 2


class UsageError(ConfigError):
    """The command line asks for something that is not there."""

    code = "usage"


class ForeignTarget(ConfigError):
    """The target belongs to another state store or another task."""

    code = "foreign_target"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong in a YAML file, and where."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class SpecError(ConfigError):
    """Problems in the YAML files: all of them, each with its place."""

    code = "spec"

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(
            "\n".join(str(problem) for problem in self.problems),
            kept="nothing was run",
            next_step="mend the lines above, then `samewise validate`",
        )


class Refused(SamewiseError):
    """The data was refused; nothing was published."""

    code = "refused"
    exit_code = 3


class TransformFailed(SamewiseError):
    """The user's own transform raised; `details` is their traceback, not ours."""

    code = "transform"
    exit_code = 4

    def __init__(
        self,
        message: str,
        *,
        details: str | None = None,
        kept: str | None = None,
        next_step: str | None = None,
    ) -> None:
        super().__init__(message, kept=kept, next_step=next_step)
        self.details = details

    def redact(self, redact: Callable[[str], str]) -> None:
        super().redact(redact)
        self.details = None if self.details is None else redact(self.details)


class Transient(SamewiseError):
    """May work next time; nothing landed."""

    code = "transient"
    exit_code = 75
    retryable = True


class Busy(Transient):
    """Another run holds the window."""

    code = "busy"


class Conflict(Transient):
    """Another commit came first."""

    code = "conflict"


class OutOfSpace(Transient):
    """A disk is full: retrying is safe, and useless until a person acts."""

    code = "out_of_space"


class MayHaveLanded(Transient):
    """The answer to a commit was lost: the target must be asked."""

    code = "may_have_landed"


class PinsGone(SamewiseError):
    """What a run had pinned cannot be read any more."""

    code = "pins_gone"


class LeaseLost(SamewiseError):
    """Another attempt took over; this one must not write any more."""

    code = "lease_lost"


class NoOlderVersion(SamewiseError):
    """The target cannot show any more what it held at a version."""

    code = "no_older_version"

    def __init__(self, target: str, version: int) -> None:
        super().__init__(
            f"{target} cannot show what it held at version {version} any more",
            kept="the target is untouched",
            next_step="run the window again with --force",
        )


class Superseded(SamewiseError):
    """A newer run of this window has landed; its data stands."""

    code = "superseded"
    exit_code = 0
