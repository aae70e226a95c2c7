"""Where the forks of a pipeline's targets are, and how each kind of target is forked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from samewise.core.errors import ConfigError
from samewise.core.ports import Spark
from samewise.core.records import Owner
from samewise.core.windows import Window
from samewise.plan.grid import window_at
from samewise.run.job import Job
from samewise.spec.owners import Location
from samewise.state.holders import Holder, is_gone
from samewise.storage.files import join
from samewise.targets import delta_fork
from samewise.targets.delta import DeltaTarget

if TYPE_CHECKING:
    from samewise.core.connections import PostgresConnection
    from samewise.targets.postgres_fork import Others

_MOMENT = timedelta(microseconds=1)
_PREFIX = "samewise_prove_"
_NEWEST = (
    "its version before these windows is gone, so the forks begin with their rows; a run that writes nothing, or in "
    "another order, may look right"
)
_LANDED = (
    "PostgreSQL keeps no older version, so the forks begin with the rows of these windows, which have landed before; a "
    "run that writes nothing, or in another order, may look right"
)
_WITHOUT = (
    "{why}, so the forks begin without a row, else there would be nothing left to write; how the rows that are loaded "
    "meet those of earlier loads is not tried"
)
_BESIDE = (
    "other windows have more than {most:,} rows, so the forks hold only those of the windows right before and after; "
    "nothing is said about the rest"
)
_MOST_ROWS = 100_000
"""Of other windows, in a fork that copies them: each experiment has a fork of its own."""


@dataclass(slots=True)
class TargetForks:
    """Forks of one prove. `name` is the scratch folder's: what is made elsewhere carries it, too."""

    name: str
    spark: Spark
    _schemas: list[tuple[PostgresConnection, str]] = field(default_factory=list)

    def place(self, real: Location, data: str, task: str, fork: int, number: int) -> Location:
        """Where a fork has the table of a task, the `number`th of the pipeline."""
        if real.database is None:
            return Location(path=join(data, "tables", task))
        place, _, table = real.database
        return Location(database=(place, f"{_PREFIX}{self.name}_{fork}_{number}", table))

    def clone(
        self, job: Job, mine: Job, owner: Owner, windows: Sequence[Window], *, before: int | None, is_loaded: bool
    ) -> str | None:
        """Fork the real target of `job` to where `mine` has its own. What experiments on it cannot see, in words.

        `before`: the version with the first of what is loaded anew on the fork. `is_loaded`: it holds the last of it,
        too. By key that would leave nothing to write, so such a fork has the older version, or no row.
        """
        spent = is_loaded and job.keyed is not None
        if isinstance(job.target, DeltaTarget) and isinstance(mine.target, DeltaTarget):
            old = delta_fork.clone(job.target, mine.target, owner, self.spark, before=before, or_none=spent)
            told = _WITHOUT.format(why="its version before these loads is gone") if spent else _NEWEST
            return None if old else f"{job.target.key}: {told}"
        if job.keyed is not None:
            self._fork_in_postgres(job, mine, rows=not spent, owner=owner)
            told = _WITHOUT.format(why="PostgreSQL keeps no older version") if spent else _LANDED
            return None if before is None else f"{job.target.key}: {told}"
        rows = _others(job, windows) if job.grid is not None else False
        is_whole = self._fork_in_postgres(job, mine, rows=rows, owner=owner)
        return None if is_whole else f"{job.target.key}: {_BESIDE.format(most=_MOST_ROWS)}"

    def copy(self, old: Job, new: Job) -> None:
        """Fork a fork."""
        if isinstance(old.target, DeltaTarget) and isinstance(new.target, DeltaTarget):
            assert old.target.folder is not None and new.target.folder is not None
            delta_fork.copy(old.target.folder, new.target.folder, self.spark)
        else:
            self._fork_in_postgres(old, new, rows=True, owner=None)

    def remove(self) -> None:
        """Remove what lies outside the scratch folder. A second call does nothing."""
        if not self._schemas:
            return
        from samewise.storage.postgres import connect
        from samewise.targets.postgres_fork import drop_schema

        while self._schemas:
            connection, schema = self._schemas[-1]
            with connect(connection, purpose="prove") as session:
                drop_schema(session, schema)
            self._schemas.pop()

    def _fork_in_postgres(self, old: Job, new: Job, *, rows: bool | Others, owner: Owner | None) -> bool:
        from samewise.storage.postgres import connect, explained
        from samewise.targets.postgres import PostgresTarget
        from samewise.targets.postgres_fork import Place, fork_table

        if not isinstance(old.target, PostgresTarget) or not isinstance(new.target, PostgresTarget):
            raise ConfigError(f"{old.target.key} cannot be forked", kept="nothing was run")
        places = [Place(*target.place, target.connection.bookkeeping) for target in (old.target, new.target)]
        mark = json.dumps({"samewise prove": Holder.current().to_json()})
        with connect(new.target.connection, purpose="prove") as session, explained(old.target.key):
            self._schemas.append((new.target.connection, places[1].schema))
            return fork_table(session, places[0], places[1], mark, rows=rows, owner=owner)


def _others(job: Job, windows: Sequence[Window]) -> bool | Others:
    """What a fork begins with where each window replaces its own rows: with those of other windows."""
    from samewise.targets.postgres_fork import Others

    head = job.target.head()
    if head is None or job.grid is None:
        return False
    instants = [instant for window in windows for instant in (window.start - _MOMENT, window.end)]
    beside = sorted({window_at(job.grid, instant) for instant in instants} - set(windows))
    try:
        spans = [[job.span(window, head.schema) for window in group] for group in (windows, beside)]
    except (KeyError, ValueError):
        return False  # The table lacks the window's column: the clean run says so.
    proved, near = ([span for span in group if span is not None] for group in spans)
    return Others(proved, near, _MOST_ROWS)


def sweep_targets(jobs: Sequence[Job]) -> None:
    """Drop the forks that dead ones left in the databases of these jobs' targets."""
    if all(isinstance(job.target, DeltaTarget) for job in jobs):
        return
    from samewise.storage.postgres import connect
    from samewise.targets.postgres import PostgresTarget
    from samewise.targets.postgres_fork import sweep_schemas

    connections = {
        job.target.connection.place: job.target.connection for job in jobs if isinstance(job.target, PostgresTarget)
    }
    for connection in connections.values():
        with connect(connection, purpose="prove") as session:
            sweep_schemas(session, _is_dead)


def _is_dead(mark: str) -> bool:
    """Whether a schema's mark names a process that is gone. One that cannot be read is somebody else's."""
    try:
        return is_gone(Holder.from_json(json.loads(mark)["samewise prove"]))
    except (ValueError, TypeError, KeyError):
        return False
