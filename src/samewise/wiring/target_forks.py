"""Where the forks of a pipeline's targets are, and how each kind of target is forked."""

from __future__ import annotations

from dataclasses import dataclass, field

from samewise.core.errors import ConfigError
from samewise.core.ports import Spark
from samewise.core.records import Owner
from samewise.run.job import Job
from samewise.spec.owners import Location
from samewise.storage.files import join
from samewise.targets import delta_fork
from samewise.targets.delta import DeltaTarget


@dataclass(slots=True)
class TargetForks:
    """Forks of one prove. `name` is the scratch folder's: what is made elsewhere carries it, too."""

    name: str
    spark: Spark
    _schemas: list[str] = field(default_factory=list)

    def place(self, real: Location, data: str, task: str, number: int) -> Location:
        """Where the fork with a number has a table."""
        if real.database is None:
            return Location(path=join(data, "tables", task))
        place, _, table = real.database
        return Location(database=(place, f"samewise_prove_{self.name}_{number}", table))

    def clone(self, job: Job, mine: Job, owner: Owner, *, before: int | None) -> None:
        """Fork the real target of `job` to where `mine` has its own."""
        if isinstance(job.target, DeltaTarget) and isinstance(mine.target, DeltaTarget):
            delta_fork.clone(job.target, mine.target, owner, self.spark, before=before)
            return
        raise ConfigError(f"{job.target.key} cannot be forked", kept="nothing was run")

    def copy(self, old: Job, new: Job) -> None:
        """Fork a fork."""
        if isinstance(old.target, DeltaTarget) and isinstance(new.target, DeltaTarget):
            assert old.target.folder is not None and new.target.folder is not None
            delta_fork.copy(old.target.folder, new.target.folder, self.spark)
            return
        raise ConfigError(f"{old.target.key} cannot be forked", kept="nothing was run")

    def remove(self) -> None:
        """Remove what lies outside the scratch folder. A second call does nothing."""
