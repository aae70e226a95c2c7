"""The window's input gone and back again: what was loaded before must not shine through."""

from __future__ import annotations

from collections.abc import Iterator

from samewise.prove.clean import Clean
from samewise.prove.judge import Trial, rewriting
from samewise.prove.laboratory import Fork, Laboratory, Ran, Start, Twist
from samewise.prove.verdict import Verdict
from samewise.run.results import Status

NAME = "empty"


def empty(lab: Laboratory, clean: Clean) -> Iterator[Verdict]:
    """On top of the clean run, load the window without a row, and then as it is."""
    trial = Trial(clean, NAME, "emptied, then restored")
    if lab.is_incremental:
        yield trial.skipped("an incremental run without news changes nothing")
        return
    with lab.fork(Start.AFTER) as fork:
        trial.counts.append(clean.total)
        ran = fork.run(lab.windows[-1:], twist=Twist(empty=True))
        refused = _is_refusal(ran)
        if ran.failed is not None and not refused:
            verdict = trial.failed(ran)
            assert verdict is not None
            yield verdict
            return
        trial.count(fork)
        void = trial.passed_over(ran) or _passed_over(trial, lab, ran)
        if void is not None:
            yield void
            return
        left = [] if refused else _left(lab, fork, ran)
        if left:
            yield trial.broken(f"the window was emptied, and {', '.join(left)} still holds its old rows")
            return
        again = fork.run(lab.windows[-1:], force=refused)
        trial.count(fork)
        note = ""
        if refused:
            trial.detail = "emptied: refused, as declared"
            note = f"the empty input was refused, as declared: {_why(ran)}"
        elif "keep" in lab.on_empty.values():
            trial.detail = "emptied: rows kept, as declared"
            note = "an empty result keeps the old rows, as declared"
        # What came back is other than what was loaded last, unless that was refused and the load is forced.
        failed = trial.failed(again) or trial.passed_over(again) or _passed_over(trial, lab, again)
        yield failed or trial.judged(fork, note, must_write=() if refused else _clearing(lab, clean))


def _clearing(lab: Laboratory, clean: Clean) -> list[str]:
    """Tasks that cannot have met the empty input without a commit. None where one keeps what it has, or writes by
    key: then those that read from it may find nothing new."""
    if any(kind != "clear" for kind in lab.on_empty.values()):
        return []
    return rewriting(lab, clean)


def _passed_over(trial: Trial, lab: Laboratory, ran: Ran) -> Verdict | None:
    """The verdict where one of several tasks took the other input for what it had loaded."""
    idle = {result.task for result in ran.results if result.status is Status.UNCHANGED}
    names = [task for task in _clearing(lab, trial.clean) if task in idle]
    return (
        trial.void(f"{', '.join(names)} was passed over as unchanged, though its input is another") if names else None
    )


def _is_refusal(ran: Ran) -> bool:
    """Data that is refused is an answer: the target was kept, and says why."""
    return ran.failed is not None and ran.failed.error is not None and ran.failed.error.exit_code == 3


def _why(ran: Ran) -> str:
    assert ran.failed is not None and ran.failed.error is not None
    return ran.failed.error.message


def _left(lab: Laboratory, fork: Fork, ran: Ran) -> list[str]:
    """Tasks that were to clear the window and did not. A count of nothing is a row: such a result is not empty."""
    wrote_none = {result.task for result in ran.results if result.rows_written == 0}
    clearing = [task for task, kind in lab.on_empty.items() if kind == "clear" and task in wrote_none]
    rows = fork.window_rows(lab.windows[-1]) if clearing else {}
    return [task for task in clearing if rows.get(task, 0) > 0]
