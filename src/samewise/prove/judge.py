"""What came of an experiment: the fork beside the clean run, table by table."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from samewise.core.errors import SamewiseError
from samewise.prove import causes
from samewise.prove.clean import Clean
from samewise.prove.compare import compare
from samewise.prove.laboratory import Fork, Laboratory, Ran
from samewise.prove.verdict import Cause, Difference, Figures, Outcome, Verdict

_IDLE = "the clean run wrote nothing, so nothing was tried: its rows are there already, or the transform leaves none"

Part: TypeAlias = Callable[[Laboratory, Clean], Iterator[Verdict]]
"""An experiment, or a part of one that needs nothing of the others."""


@dataclass(slots=True)
class Trial:
    """One experiment under way; each of its ends gives the verdict."""

    clean: Clean
    experiment: str
    detail: str
    began: float = field(default_factory=time.monotonic)
    counts: list[int] = field(default_factory=list)

    def count(self, fork: Fork) -> None:
        """Note how many rows there are after a run."""
        self.counts.append(fork.total())

    def failed(self, ran: Ran) -> Verdict | None:
        """The verdict of a run that did not come to its end; None where it did."""
        if ran.failed is None or ran.failed.error is None:
            return None
        return self._verdict(Outcome.FAILED, message=_told(ran.failed.error))

    def passed_over(self, ran: Ran) -> Verdict | None:
        """The verdict of a run that found nothing to do where there was something; None where it was at work."""
        return self.void("the run was passed over as unchanged, so nothing was tried") if ran.unchanged else None

    def void(self, message: str) -> Verdict:
        """The experiment did not happen."""
        return self._verdict(Outcome.VOID, message=message)

    def broken(self, message: str) -> Verdict:
        """A run that came to its end and did not do what it is there for."""
        return self._verdict(Outcome.FAILED, message=message)

    def skipped(self, message: str) -> Verdict:
        return self._verdict(Outcome.SKIPPED, message=message)

    def judged(
        self, fork: Fork, note: str = "", *, must_write: Collection[str] | None = None, every_window: bool = False
    ) -> Verdict:
        """The verdict of a fork on which everything has run: is it as the clean run left it?

        `must_write`: the tasks that cannot have come there without a commit; those of the clean run unless told.
        `every_window`: all windows were run, and not the newest one alone.
        """
        clean_wrote = self.clean.wrote_at_all if every_window else self.clean.wrote
        found = {table.task: table for table in fork.tables()}
        last: Figures | None = None
        fresh: dict[tuple[str, str | None], Figures] = {}
        for table in self.clean.tables:
            other = found.get(table.task)
            if other is None:
                return self._verdict(Outcome.FAILED, message=f"{table.name} is not there any more")
            identity = fork.identity(table.task)
            if identity is not None and (table.task, identity) in self.clean.known:
                last = self.clean.known[table.task, identity]
                continue
            last, difference = compare(
                table.rows, other.rows, key=table.key, clean_figures=self.clean.figures[table.task]
            )
            fresh[table.task, identity] = last
            if difference is not None:
                cause = causes.likely(difference, experiment=self.experiment, strategy=table.strategy, code=table.code)
                told = causes.sentence(cause, difference)
                several = f"{table.name}: " if len(self.clean.tables) > 1 else ""
                return self._verdict(
                    Outcome.DIFFERENT, last, difference=difference, cause=cause, message=several + told
                )
        total = fork.total()
        if total != self.clean.total:
            return self._others(fork, f"{total} in all, {self.clean.total} after one clean run")
        for (task, identity), figures in fresh.items():
            if self.clean.fork is not None and fork.differs_elsewhere(task, self.clean.fork, figures.rows):
                return self._others(fork, f"{total} in all as after one clean run, with other values")
            if identity is not None:
                self.clean.known[task, identity] = figures
        if self.clean.had_rows and not any(clean_wrote.values()):
            # A kill, another layout, another runner: none of them can harm a run that leaves everything as it is.
            return self._verdict(Outcome.VOID, last, message=_IDLE)
        wrote = fork.wrote()
        wanted = [task for task, landed in clean_wrote.items() if landed] if must_write is None else must_write
        unwritten = [task for task in wanted if not wrote.get(task)]
        if unwritten:
            names = ", ".join(unwritten)
            return self._verdict(Outcome.VOID, last, message=f"nothing was written by {names}: a token skipped it")
        return self._verdict(Outcome.SAME, last, message=note)

    def _others(self, fork: Fork, counted: str) -> Verdict:
        """The verdict where the rows of the windows are right, and those of others are not."""
        cause = Cause.OTHER_WINDOWS
        found = {table.task: table for table in fork.others()}
        figures: Figures | None = None
        difference: Difference | None = None
        for table in self.clean.others:
            figures, difference = compare(table.rows, found[table.task].rows, key=table.key)
            if difference is not None:
                break
        told = causes.sentence(cause, difference)
        message = f"rows of other windows changed: {counted}: {told}"
        return self._verdict(Outcome.DIFFERENT, figures, difference=difference, cause=cause, message=message)

    def _verdict(self, outcome: Outcome, figures: Figures | None = None, **told: object) -> Verdict:
        seconds = round(time.monotonic() - self.began, 3)
        return Verdict(
            self.experiment,
            self.detail,
            outcome,
            seconds,
            counts=tuple(self.counts),
            figures=figures,
            **told,  # type: ignore[arg-type]
        )


def rewriting(lab: Laboratory, clean: Clean) -> list[str]:
    """Tasks that land a commit whenever they are forced to run: by key, a row that is there is no reason to write."""
    return [task for task, kind in lab.on_empty.items() if kind != "by key" and clean.wrote.get(task)]


def _told(error: SamewiseError) -> str:
    return error.message if error.next_step is None else f"{error.message}; next: {error.next_step}"
