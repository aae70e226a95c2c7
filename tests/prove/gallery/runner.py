"""Runs a job that is a Python function, in this process: a gallery of jobs each with a JVM of its own takes too long.

The job calls `step()` after everything that it has made durable; a kill strikes there.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from samewise.core.connections import PostgresConnection
from samewise.prove.foreign.bench import Job
from samewise.prove.foreign.call import Call, Kill, Ran
from samewise.prove.foreign.folders import FolderPlace
from samewise.prove.foreign.inputs import Input
from samewise.prove.foreign.places import Place, named
from samewise.prove.foreign.proof import prove_job
from samewise.prove.foreign.tables import TablePlace
from samewise.prove.verdict import Proof

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Told:
    """What a job is told."""

    spark: SparkSession
    words: Mapping[str, str]
    step: Callable[[], None]

    @property
    def target(self) -> str:
        return self.words["target"]

    @property
    def date(self) -> str:
        return self.words["date"]

    @property
    def input(self) -> str:
        return self.words["input"]


Work = Callable[[Told], None]


class _Killed(BaseException):
    """Nothing that a job does can catch it."""


class FunctionRunner:
    def __init__(self, work: Work, spark: SparkSession) -> None:
        self._work = work
        self._spark = spark
        self._steps = 1

    def __call__(self, call: Call, kill: Kill | None = None, *, expected_seconds: float | None = None) -> Ran:
        began, steps = time.monotonic(), 0

        def step() -> None:
            nonlocal steps
            steps += 1
            if kill is not None and kill.is_due(steps / self._steps):
                raise _Killed

        try:
            self._work(Told(self._spark, call.words, step))
        except _Killed:
            return Ran(-9, time.monotonic() - began, killed=True)
        except Exception:
            return Ran(1, time.monotonic() - began, output=traceback.format_exc(limit=3))
        self._steps = max(1, steps)
        return Ran(0, time.monotonic() - began)


@dataclass(frozen=True)
class Exhibit:
    """A job of the gallery with what it is given."""

    work: Work
    rows: Mapping[str, str]
    """The input's CSV by date, in parts of files that are split by a line with `--`."""
    only: tuple[str, ...] = ()
    kind: str = "delta"
    key: tuple[str, ...] = ()
    log: bool = False
    state: bool = False
    table: str = ""
    """The columns of the target in PostgreSQL."""
    shown: Mapping[str, str] = field(default_factory=dict)

    def prove(self, spark: SparkSession, folder: Path, url: str = "", schema: str = "") -> Proof:
        for date, text in self.rows.items():
            (folder / "landing" / date).mkdir(parents=True)
            header, _, body = text.lstrip().partition("\n")
            for number, part in enumerate(body.split("--\n")):
                (folder / "landing" / date / f"part-{number}.csv").write_text(f"{header}\n{part}")
        places: list[Place] = [self._target(folder, url, schema)]
        for name, wanted in (("log", self.log), ("state", self.state)):
            places += [FolderPlace(named(f"file:{folder / name}"), folder / "scratch" / name)] if wanted else []
        job = Job(
            subject=self.work.__name__,
            runner=FunctionRunner(self.work, spark),
            target=places[0],
            dates=tuple(self.rows),
            key=self.key,
            log=places[1] if self.log else None,
            state=places[-1] if self.state else None,
            input=Input(str(folder / "landing" / "{date}"), folder / "scratch" / "input"),
            # A function dies between its steps, and has few: one moment is as good as three.
            moments=(0.4,),
        )
        try:
            return prove_job(job, lambda: spark, self.only)
        finally:
            for place in places:
                place.close()

    def _target(self, folder: Path, url: str, schema: str) -> Place:
        if self.kind == "postgres":
            connection = PostgresConnection("test", url)
            return TablePlace(named(f"postgres:{schema}.orders"), connection, folder / "scratch" / "target")
        return FolderPlace(named(f"{self.kind}:{folder / 'orders'}"), folder / "scratch" / "target")
