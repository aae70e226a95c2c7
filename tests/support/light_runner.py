"""A whole runner without Spark: the real protocol, leases and checkpoints over rows that are not there.

Runs as `python -m tests.support.light_runner STATE_URL FOLDER DAYS`: loads every due day until none is left. A
commit is a file in FOLDER, named after its version, which holds the stamp.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from samewise.core.keyed import Keyed
from samewise.core.measures import Measures
from samewise.core.ports import Head, Published, Write
from samewise.core.records import Answer, Landed, Owner, Pins, RunRecord, Stamp, TargetCommit
from samewise.core.schema import Schema
from samewise.core.shapes import Fit, Shape
from samewise.core.sql import Span
from samewise.core.windows import Window
from samewise.plan.grid import Grid
from samewise.run import attempt
from samewise.run.job import Job
from samewise.run.pipeline import run_pipeline
from samewise.run.results import RunResult
from samewise.run.schedule import Graph
from samewise.run.transform import PassThrough
from samewise.run.window import Options
from samewise.state import receipts
from samewise.state.store import Store

FIRST_DAY = date(2026, 1, 1)
SCHEMA = Schema.of([("id", "bigint"), ("day", "date")])


@dataclass
class _Type:
    name: str

    def simpleString(self) -> str:  # noqa: N802
        return self.name


@dataclass
class _Field:
    name: str
    dataType: _Type  # noqa: N815
    nullable: bool = True


@dataclass
class _Rows:
    """What is asked of a DataFrame that nobody looks into."""

    fields: list[_Field] = field(default_factory=lambda: [_Field(c.name, _Type(c.type)) for c in SCHEMA])

    @property
    def schema(self) -> _Rows:
        return self


class LightSource:
    """The same rows for every window."""

    def pin(self, window: Window) -> Pins:
        return Pins("light", window.key, "one row")

    def check(self, pins: Pins) -> None: ...

    def shapes(self, pins: Pins) -> Sequence[Shape]:
        return [Shape(SCHEMA, ("light",))]

    def read(self, pins: Pins, window: Window, fits: Sequence[Fit] | None = None) -> Any:
        return _Rows()

    def explain_failure(self, error: Exception, pins: Pins) -> None: ...

    def malformed(self, pins: Pins) -> None: ...

    def release(self, pins: Pins) -> None: ...


class LightTarget:
    """A folder of commits, each a file that only one process can make."""

    key = "light"
    works_alone = False

    def __init__(self, folder: Path, owner: Owner) -> None:
        self._folder = folder
        self._owner = owner
        self._known: list[TargetCommit] = []

    def exists(self) -> bool:
        return True

    def head(self) -> Head:
        return Head(len(self.known_commits()), SCHEMA, self._owner)

    def generation(self, app_id: str) -> int:
        return max((stamp.generation for stamp in self.stamps() if stamp.app_id == app_id), default=0)

    def commits(self, since: int) -> list[TargetCommit]:
        return self.known_commits()[max(since, 0) :]

    def known_commits(self) -> list[TargetCommit]:
        while (file := self._file(len(self._known) + 1)).exists():
            stamp = Stamp.parse(file.read_text())
            self._known.append(TargetCommit(len(self._known) + 1, datetime.now(UTC), "write", True, stamp, 1))
        return list(self._known)

    def stamps(self) -> list[Stamp]:
        return [commit.stamp for commit in self.known_commits() if commit.stamp is not None]

    def landed(self, run: RunRecord) -> Landed:
        for commit in self.known_commits():
            if commit.stamp is not None and commit.stamp.run_id == run.run_id and commit.stamp.kind == "data":
                return Landed(Answer.MINE, commit)
        newer = self.generation(run.app_id) >= run.generation
        return Landed(Answer.SUPERSEDED if newer else Answer.ABSENT)

    def fitted(self, result: Schema) -> Schema:
        return result

    def prepare(
        self, schema: Schema, owner: Owner, partition_by: Sequence[str], *, keyed: Keyed | None = None
    ) -> None: ...

    def publish(self, rows: Any, write: Write, stamp: Stamp) -> Published:
        # As long as a small commit takes, so that runners meet.
        time.sleep(random.uniform(0.005, 0.03))
        part = self._folder / f"{stamp.attempt_id}.part"
        part.write_text(stamp.text)
        while self.generation(stamp.app_id) < stamp.generation:
            with suppress(FileExistsError):
                os.link(part, self._file(len(self.known_commits()) + 1))
        part.unlink()
        return Published()

    def tidy(self) -> None: ...

    def _file(self, version: int) -> Path:
        return self._folder / f"{version:06}.json"

    def burn(self, stamp: Stamp) -> None:
        self.publish(None, Write(None, ()), stamp)

    def measure(self, span: Span | None, version: int) -> Measures:
        return Measures(1, "00")


def light_job(store: Store, folder: Path, days: int, lease_seconds: float = 60.0) -> Job:
    """A task with one window a day."""
    owner = Owner(store.store_id, "light", "load")
    last = FIRST_DAY + timedelta(days=days)
    return Job(
        pipeline="light",
        task="load",
        grid=Grid.parse("day", FIRST_DAY, last, "UTC"),
        zone=ZoneInfo("UTC"),
        source=LightSource(),
        declared_schema=None,
        inputs={},
        transform=PassThrough(),
        target=LightTarget(folder, owner),  # type: ignore[arg-type]
        owner=owner,
        definition="d",
        staging="",
        quarantine="",
        spark=lambda: None,  # type: ignore[arg-type]
        window_column="day",
        lease_seconds=lease_seconds,
    )


def run_light(job: Job, store: Store) -> RunResult:
    """Run what is due, once."""
    # Nothing is observed of rows that are not there; the target is asked what it holds.
    vars(attempt)["observed"] = lambda rows, _: (rows, None)
    return run_pipeline(Graph("light", [job], {}), None, store, Options(), lambda event: None)


def main(url: str, folder: str, days: str) -> None:
    with Store.open(url) as store:
        job = light_job(store, Path(folder), int(days))
        did = 0
        while len(receipts.done_windows(store, "light", "load", "light")) < int(days):
            result = run_light(job, store)
            unexpected = [w.error for w in result.windows if w.error is not None and w.status.value != "busy"]
            if unexpected:
                raise unexpected[0]
            did += sum(window.status.value == "succeeded" for window in result.windows)
        print(did)


if __name__ == "__main__":
    main(*sys.argv[1:])
