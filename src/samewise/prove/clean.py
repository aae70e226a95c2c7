"""One run of each window, oldest first, undisturbed: what every experiment is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from samewise.core.errors import Refused, SamewiseError
from samewise.prove.compare import measure
from samewise.prove.laboratory import Fork, Laboratory, Ran, Start, Table
from samewise.prove.verdict import Figures


@dataclass(frozen=True, slots=True)
class Clean:
    """What the clean run left."""

    tables: Sequence[Table]
    figures: Mapping[str, Figures]
    """By task."""
    wrote: Mapping[str, bool]
    """Which tasks landed a commit in the newest window's run, by task."""
    total: int
    seconds: float
    """Of the newest window's run."""
    force: bool = False
    """True where a run without --force finds nothing to do."""
    others: Sequence[Table] = ()
    """The rows of other windows, which are looked at one by one only where they are known to differ."""
    fork: Fork | None = None
    """Where all this is; nothing runs there any more."""
    earlier: Mapping[str, bool] = field(default_factory=dict)
    """Which tasks landed one in the runs of the windows before."""
    had_rows: bool = False
    """True where there were rows to load in the newest window's run."""
    known: dict[tuple[str, str], Figures] = field(default_factory=dict)
    """What was found to be the same, by task and identity: it need not be measured again."""

    @property
    def wrote_at_all(self) -> Mapping[str, bool]:
        """Which tasks landed a commit in the run of any window."""
        return {task: landed or self.earlier.get(task, False) for task, landed in self.wrote.items()}

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
            ran = fork.run([window])
            if not (_is_refusal(ran) and lab.leave_out(window, _why(ran))):
                _checked(ran)
        before = fork.wrote() if earlier else {}
        fork.begin()
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
        total = kept.total()
        # An incremental run that read nothing may just have found nothing new.
        had_rows = any(result.rows_read for result in ran.results) or (lab.is_incremental and total > 0)
        reference = Clean(
            tables,
            figures,
            fork.wrote(),
            total,
            ran.seconds,
            force,
            others=kept.others(),
            fork=kept,
            earlier=before,
            had_rows=had_rows,
        )
        for task, measured in figures.items():
            if (identity := kept.identity(task)) is not None:
                reference.known[task, identity] = measured
        return reference


def _is_refusal(ran: Ran) -> bool:
    """Data that is refused leaves everything as it was."""
    return ran.failed is not None and isinstance(ran.failed.error, Refused)


def _why(ran: Ran) -> str:
    return "" if ran.failed is None or ran.failed.error is None else ran.failed.error.message


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
