"""One run of each window, oldest first, undisturbed: what every experiment is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from samewise.core.errors import Refused, SamewiseError
from samewise.prove.compare import measure
from samewise.prove.laboratory import Laboratory, Ran, Start, Table
from samewise.prove.verdict import Figures


@dataclass(frozen=True, slots=True)
class Clean:
    """What the clean run left."""

    tables: Sequence[Table]
    figures: Mapping[str, Figures]
    """By task."""
    wrote: Mapping[str, bool]
    total: int
    seconds: float
    """Of the newest window's run."""
    force: bool = False
    """True where a run without --force finds nothing to do."""
    others: Sequence[Table] = ()
    """The rows of other windows, which are counted, and looked at only where their number is another."""
    known: dict[tuple[str, str], Figures] = field(default_factory=dict)
    """What was found to be the same, by task and identity: it need not be measured again."""

    @property
    def main(self) -> Figures | None:
        """The figures of the last task's table."""
        return self.figures[self.tables[-1].task] if self.tables else None


def clean(lab: Laboratory) -> Clean:
    """Run the windows once, in order. Raises what stopped it: then there is nothing to compare with."""
    *earlier, newest = lab.windows
    with lab.fork(Start.BASE) as fork:
        force = False
        for window in earlier:
            _checked(fork.run([window]))
        lab.keep(fork, Start.BEFORE)
        ran = _checked(fork.run([newest]))
        if ran.unchanged:
            # An incremental task without news: what it read last is read once more.
            force = True
            ran = _checked(fork.run([newest], force=True))
        # Measured where nothing will run any more.
        kept = lab.keep(fork, Start.AFTER)
        tables = kept.tables()
        if not tables:
            raise Refused(
                "the clean run left no table, so there is nothing to prove",
                kept="the real target and its state are untouched",
                next_step="name a window that has data with --window",
                code="nothing_to_prove",
            )
        figures = {table.task: measure(table.rows, table.key) for table in tables}
        reference = Clean(tables, figures, fork.wrote(), kept.total(), ran.seconds, force, kept.others())
        for task, measured in figures.items():
            if (identity := kept.identity(task)) is not None:
                reference.known[task, identity] = measured
        return reference


def _checked(ran: Ran) -> Ran:
    failed = ran.failed
    if failed is None:
        return ran
    error = failed.error
    assert error is not None
    raise _of_prove(error)


def _of_prove(error: SamewiseError) -> SamewiseError:
    """The same error, told by who runs on a fork: nothing real was touched, so nothing real was kept."""
    error.message = f"the clean run failed, so there is nothing to compare with: {error.message}"
    error.kept = "the real target and its state are untouched"
    return error
