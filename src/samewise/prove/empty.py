"""The window's input gone and back again: what was loaded before must not shine through."""

from __future__ import annotations

from collections.abc import Iterator

from samewise.prove.clean import Clean
from samewise.prove.judge import Trial
from samewise.prove.laboratory import Fork, Laboratory, Ran, Start, Twist
from samewise.prove.verdict import Verdict

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
        yield trial.failed(again) or trial.judged(fork, note, must_write=())


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
