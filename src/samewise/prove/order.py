"""The windows in other orders, and an old one replayed last: the table must not depend on the order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from samewise.core.windows import Window
from samewise.prove.clean import Clean
from samewise.prove.judge import Trial, rewriting
from samewise.prove.laboratory import Laboratory, Start
from samewise.prove.verdict import Verdict

NAME = "out of order"


def order(lab: Laboratory, clean: Clean) -> Iterator[Verdict]:
    """Load the windows newest first, then in an order without a direction; then replay the oldest on top."""
    windows = list(lab.windows)
    if len(windows) < 2:
        yield Trial(clean, NAME, "").skipped(_why_not(lab))
        return
    for chosen in _orders(windows):
        trial = Trial(clean, NAME, ", ".join(lab.label(window) for window in chosen))
        with lab.fork(Start.BASE) as fork:
            failed = None
            for window in chosen:
                ran = fork.run([window])
                trial.count(fork)
                failed = failed or trial.failed(ran) or trial.passed_over(ran)
            yield failed or trial.judged(fork, every_window=True)
    trial = Trial(clean, NAME, f"{lab.label(windows[0])} replayed last")
    with lab.fork(Start.AFTER) as fork:
        trial.counts.append(clean.total)
        ran = fork.run(windows[:1], force=True)
        trial.count(fork)
        failed = trial.failed(ran) or trial.passed_over(ran)
        yield failed or trial.judged(fork, must_write=rewriting(lab, clean), every_window=True)


def _orders(windows: Sequence[Window]) -> Iterator[Sequence[Window]]:
    yield windows[::-1]
    if len(windows) > 2:
        # The middle ones first, the oldest last.
        yield [*windows[1:], windows[0]]


def _why_not(lab: Laboratory) -> str:
    if lab.is_incremental or lab.windows[0].is_full:
        return "there is one window, `full`, so there is no order"
    if "by key" in lab.on_empty.values():
        if lab.last_one:
            return "one window was asked for; --last N takes more"
        return "no window before it has data that can be loaded, so there is no other order"
    return "a window replaces its own rows only; --last N tries several anyway"
