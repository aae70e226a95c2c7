"""What is tried with a foreign job: all that happens to it in production."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from samewise.prove.compare import compare, same
from samewise.prove.foreign.bench import Bench, Clean, Copies, Trial
from samewise.prove.foreign.call import Kill, Ran
from samewise.prove.foreign.inputs import Form
from samewise.prove.verdict import Cause, Outcome, Verdict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Experiment = Callable[[Bench, Clean], Iterator[Verdict]]
_SOONER = 0.6


@contextmanager
def _copies(bench: Bench, label: str, of: Copies) -> Iterator[Copies]:
    made = bench.copies(label, of)
    try:
        yield made
    finally:
        made.drop()


def twice(bench: Bench, clean: Clean) -> Iterator[Verdict]:
    """The last date once more."""
    yield _again(bench, clean, "twice", "run again", bench.job.dates[-1])


def out_of_order(bench: Bench, clean: Clean) -> Iterator[Verdict]:
    """The oldest date once more, after the others."""
    oldest = bench.job.dates[0]
    if len(bench.job.dates) < 2:
        trial = Trial(bench, clean, "out of order", "")
        yield trial.verdict(Outcome.SKIPPED, message="give --date twice or more, the oldest first")
    else:
        yield _again(bench, clean, "out of order", f"{oldest} replayed last", oldest)


def _again(bench: Bench, clean: Clean, experiment: str, detail: str, date: str) -> Verdict:
    trial = Trial(bench, clean, experiment, detail, counts=[clean.figures.rows])
    with _copies(bench, experiment.replace(" ", "-"), clean.after) as copies:
        ran = bench.run_date(copies, date)
        return trial.failed(ran) if ran.failed else trial.judged(copies)


def killed(bench: Bench, clean: Clean) -> Iterator[Verdict]:
    """Killed at several moments, then run again; and killed while it loads again what is loaded."""
    yield from _killed(bench, clean, None)
    for moment in bench.job.moments:
        yield from _killed(bench, clean, moment)
    yield from _killed(bench, clean, None, rerun=True)


def _killed(
    bench: Bench, clean: Clean, moment: float | None, *, rerun: bool = False, tries: int = 2
) -> Iterator[Verdict]:
    when = "after its first write" if moment is None else f"after {moment:.0%} of its time"
    trial = Trial(bench, clean, "killed", f"a rerun, {when}" if rerun else when)
    date = bench.job.dates[-1]
    with _copies(bench, "killed", clean.after if rerun else clean.base) as copies:
        call = bench.call(copies, date)
        assert call is not None, "an input as it is can always be had"
        ran = bench.run(call, _kill(copies, moment))
        if ran.killed:
            copies.target.settle()
            yield from _seen_by_readers(trial, copies, rerun=rerun)
            ran = bench.run_date(copies, date)
            yield trial.failed(ran) if ran.failed else trial.judged(copies)
            return
    if ran.failed:
        yield trial.failed(ran)
    elif moment is None:
        why = "a rerun writes nothing" if rerun and ran.code == 0 else "it ended"
        yield trial.verdict(Outcome.SKIPPED, message=f"{why} before it could be killed after its first write")
    elif tries > 1:
        yield from _killed(bench, clean, moment * _SOONER, tries=tries - 1)
    else:
        yield trial.verdict(Outcome.VOID, message="it ended before the kill, and so twice: its runs differ too much")


def _kill(copies: Copies, moment: float | None) -> Kill:
    if moment is not None:
        return Kill(fraction=moment)
    began = copies.target.mark()
    return Kill(changed=lambda: copies.target.mark() != began)


def _seen_by_readers(trial: Trial, copies: Copies, *, rerun: bool) -> Iterator[Verdict]:
    """A verdict where the kill left what is neither the table before the run nor the one after it."""
    bench, clean = trial.bench, trial.clean
    before = clean.figures if rerun else clean.before
    found = bench.rows(copies.target, clean.rows)
    figures, difference = compare(clean.rows, found, bench.job.key, clean_figures=clean.figures)
    trial.counts.append(figures.rows)
    if difference is None or (before is not None and same(before, figures)) or (before is None and not figures.rows):
        return
    # Other values in as many rows: the run made them, and other experiments say so. A part is fewer rows; more rows
    # than a whole run leaves are doubled ones, and the next run's verdict tells about these.
    if not difference.missing or figures.rows >= clean.figures.rows:
        return
    reading = Trial(bench, clean, "killed", f"{trial.detail}, as readers see it", trial.began, [figures.rows])
    message = (
        f"until it is run again, readers see {figures.rows:,} rows: there were {before.rows if before else 0:,} before "
        f"the run, and there are {clean.figures.rows:,} after a whole one"
    )
    yield reading.different(figures, difference, Cause.HALF_WRITTEN, message)


def shuffled(bench: Bench, clean: Clean) -> Iterator[Verdict]:
    """The same input in other files and another order; other partitions inside the job's Spark."""
    if bench.job.input is None:
        trial = Trial(bench, clean, "shuffled", "other files, other order")
        yield trial.verdict(Outcome.SKIPPED, message="name the job's input by --input")
    else:
        yield _formed(bench, clean, "other files, other order", Form.SHUFFLED, {})
    if bench.job.shuffled:
        yield _formed(bench, clean, "other partitions in Spark", Form.AS_IT_IS, bench.job.shuffled)


def _formed(bench: Bench, clean: Clean, detail: str, form: Form, environment: Mapping[str, str]) -> Verdict:
    trial = Trial(bench, clean, "shuffled", detail)
    with _copies(bench, "shuffled", clean.base) as copies:
        call = bench.call(copies, bench.job.dates[-1], form, environment)
        if call is None:
            return trial.verdict(Outcome.SKIPPED, message="the input is in no form that prove can lay out anew")
        ran = bench.run(call)
        return trial.failed(ran) if ran.failed else trial.judged(copies)


def empty(bench: Bench, clean: Clean) -> Iterator[Verdict]:
    """The date's input becomes empty after it was loaded, and comes back."""
    trial = Trial(bench, clean, "empty", "the input becomes empty", counts=[clean.figures.rows])
    if bench.job.input is None:
        trial.counts.clear()
        yield trial.verdict(Outcome.SKIPPED, message="name the job's input by --input")
        return
    # What a run leaves that never saw a row. First and whole: in place there is one copy at a time.
    with _copies(bench, "no-input", clean.base) as copies:
        verdict = _run_empty(trial, copies, first=True)
        reference = bench.job.target.snapshot(copies.target)
    try:
        if verdict is not None:
            yield verdict
            return
        with _copies(bench, "empty", clean.after) as copies:
            yield from _emptied(trial, bench.rows(reference, clean.rows), copies)
    finally:
        reference.drop()


def _run_empty(trial: Trial, copies: Copies, *, first: bool) -> Verdict | None:
    """Run the last date without rows; a verdict where that cannot be done."""
    bench = trial.bench
    call = bench.call(copies, bench.job.dates[-1], Form.EMPTY)
    if call is None:
        return trial.verdict(Outcome.SKIPPED, message="the input is in no form that prove can empty")
    ran = bench.run(call)
    if not ran.failed:
        return None
    if first:
        return trial.verdict(Outcome.SKIPPED, message="it refuses an empty input, which is one way to be safe")
    return trial.failed(ran)


def _emptied(trial: Trial, reference: DataFrame, copies: Copies) -> Iterator[Verdict]:
    bench, clean = trial.bench, trial.clean
    verdict = _run_empty(trial, copies, first=False)
    if verdict is not None:
        yield verdict
        return
    found = bench.rows(copies.target, clean.rows)
    figures, difference = compare(reference, found, bench.job.key)
    trial.counts.append(figures.rows)
    yield trial.verdict(Outcome.SAME, figures=figures) if difference is None else trial.different(figures, difference)
    again = Trial(bench, clean, "empty", "the input comes back", counts=list(trial.counts))
    ran = bench.run_date(copies, bench.job.dates[-1])
    yield again.failed(ran) if ran.failed else again.judged(copies)


def concurrent(bench: Bench, clean: Clean) -> Iterator[Verdict]:
    """Two runs of the last date at once; one that loses is run again, as an orchestrator would."""
    trial = Trial(bench, clean, "concurrent", "two runs at once")
    with _copies(bench, "concurrent", clean.base) as copies:
        call = bench.call(copies, bench.job.dates[-1])
        assert call is not None, "an input as it is can always be had"
        ended: list[Ran] = []
        threads = [threading.Thread(target=lambda: ended.append(bench.run(call))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if len(ended) < 2 or any(one.failed for one in ended):
            ran = bench.run_date(copies, bench.job.dates[-1])
            if ran.failed:
                yield trial.failed(ran)
                return
        yield trial.judged(copies)


EXPERIMENTS: Mapping[str, Experiment] = {
    "twice": twice,
    "killed": killed,
    "shuffled": shuffled,
    "order": out_of_order,
    "empty": empty,
    "concurrent": concurrent,
}
