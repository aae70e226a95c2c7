"""What is tried with a foreign job: all that happens to it in production."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from samewise.prove.compare import compare, same
from samewise.prove.foreign.bench import Bench, Clean, Copies, Trial
from samewise.prove.foreign.call import Kill, Ran
from samewise.prove.foreign.inputs import Form
from samewise.prove.verdict import Cause, Outcome, Verdict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Experiment = Callable[[Bench, Clean], Iterator[Verdict]]
_MOMENTS = (0.4, 0.7, 0.9)
_SOONER = 0.6


def twice(bench: Bench, clean: Clean) -> Iterator[Verdict]:
    """The last date once more."""
    trial = Trial(bench, clean, "twice", "run again")
    copies = bench.copies("twice")
    dates = bench.job.dates
    for some in (dates, dates[-1:]):
        ran = bench.run_all(copies, some)
        trial.count(copies)
        if ran.failed:
            yield trial.failed(ran)
            break
    else:
        yield trial.judged(copies)
    copies.drop()


def killed(bench: Bench, clean: Clean) -> Iterator[Verdict]:
    """Killed at several moments, then run again."""
    for moment in (None, *_MOMENTS):
        yield from _killed(bench, clean, moment)


def _killed(bench: Bench, clean: Clean, moment: float | None, tries: int = 2) -> Iterator[Verdict]:
    detail = "after its first write, then run again" if moment is None else f"after {moment:.0%} of its time, run again"
    trial = Trial(bench, clean, "killed", detail)
    copies = bench.copies("killed")
    try:
        dates = bench.job.dates
        ran = bench.run_all(copies, dates[:-1])
        if ran.failed:
            yield trial.failed(ran)
            return
        call = bench.call(copies, dates[-1])
        assert call is not None
        ran = bench.run(call, _kill(copies, moment))
        if not ran.killed:
            if ran.failed:
                yield trial.failed(ran)
            elif moment is None:
                yield trial.verdict(Outcome.SKIPPED, message="it ended before it could be killed after its first write")
            elif tries > 1:
                copies.drop()
                yield from _killed(bench, clean, moment * _SOONER, tries - 1)
            else:
                yield trial.verdict(
                    Outcome.VOID, message="it ended before the kill, and so twice: runs differ too much"
                )
            return
        copies.target.settle()
        trial.count(copies)
        yield from _seen_by_readers(trial, copies)
        ran = bench.run_all(copies, dates[-1:])
        trial.count(copies)
        yield trial.failed(ran) if ran.failed else trial.judged(copies)
    finally:
        copies.drop()


def _kill(copies: Copies, moment: float | None) -> Kill:
    if moment is not None:
        return Kill(fraction=moment)
    began = copies.target.mark()
    return Kill(changed=lambda: copies.target.mark() != began)


def _seen_by_readers(trial: Trial, copies: Copies) -> Iterator[Verdict]:
    """A verdict where the kill left what is neither the table before the run nor the one after it."""
    bench, clean = trial.bench, trial.clean
    found = bench.rows(copies.target, clean.rows)
    assert found is not None
    figures, difference = compare(clean.rows, found, bench.job.key, clean_figures=clean.figures)
    if difference is None or (clean.before is not None and same(clean.before, figures)):
        return
    if clean.before is None and figures.rows == 0:
        return
    # Other values in as many rows: the run made them, and other experiments say so. A part is fewer rows, or more.
    if not (difference.missing or difference.extra or difference.doubled):
        return
    before = 0 if clean.before is None else clean.before.rows
    reading = Trial(bench, clean, "killed", trial.detail.partition(",")[0] + ", as readers see it", trial.began)
    reading.counts.append(figures.rows)
    message = (
        f"until it is run again, readers see {figures.rows:,} rows: there were {before:,} before the run, and there "
        f"are {clean.figures.rows:,} after a whole one"
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
    copies = bench.copies("shuffled")
    try:
        ran = bench.run_all(copies, bench.job.dates[:-1])
        if ran.failed:
            return trial.failed(ran)
        call = bench.call(copies, bench.job.dates[-1], form, environment)
        if call is None:
            return trial.verdict(Outcome.SKIPPED, message="the input is in no form that prove can lay out anew")
        ran = bench.run(call)
        trial.count(copies)
        return trial.failed(ran) if ran.failed else trial.judged(copies)
    finally:
        copies.drop()


def out_of_order(bench: Bench, clean: Clean) -> Iterator[Verdict]:
    """The oldest date once more, after the others."""
    dates = bench.job.dates
    if len(dates) < 2:
        trial = Trial(bench, clean, "out of order", "")
        yield trial.verdict(Outcome.SKIPPED, message="give --date twice or more, the oldest first")
        return
    trial = Trial(bench, clean, "out of order", f"{dates[0]} replayed last")
    copies = bench.copies("order")
    for some in (dates, dates[:1]):
        ran = bench.run_all(copies, some)
        trial.count(copies)
        if ran.failed:
            yield trial.failed(ran)
            break
    else:
        yield trial.judged(copies)
    copies.drop()


def empty(bench: Bench, clean: Clean) -> Iterator[Verdict]:
    """The date's input becomes empty after it was loaded, and comes back."""
    trial = Trial(bench, clean, "empty", "the input becomes empty")
    if bench.job.input is None:
        yield trial.verdict(Outcome.SKIPPED, message="name the job's input by --input")
        return
    reference = bench.copies("no-input")
    copies: Copies | None = None
    try:
        # What a run leaves that never saw a row. First and whole: in place there is one copy at a time.
        ran = bench.run_all(reference, bench.job.dates[:-1])
        verdict = trial.failed(ran) if ran.failed else _run_empty(trial, reference, first=True)
        if verdict is not None:
            yield verdict
            return
        rows = bench.rows(reference.target.frozen(), clean.rows)
        assert rows is not None
        copies = bench.copies("empty")
        yield from _emptied(trial, rows, copies)
    finally:
        for one in (reference, copies):
            if one is not None:
                one.drop()


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
    bench, clean, dates = trial.bench, trial.clean, trial.bench.job.dates
    ran = bench.run_all(copies, dates)
    trial.count(copies)
    verdict = trial.failed(ran) if ran.failed else _run_empty(trial, copies, first=False)
    if verdict is not None:
        yield verdict
        return
    trial.count(copies)
    found = bench.rows(copies.target, clean.rows)
    assert found is not None
    figures, difference = compare(reference, found, bench.job.key)
    yield trial.verdict(Outcome.SAME, figures=figures) if difference is None else trial.different(figures, difference)
    again = Trial(bench, clean, "empty", "the input comes back", counts=list(trial.counts))
    ran = bench.run_all(copies, dates[-1:])
    again.count(copies)
    yield again.failed(ran) if ran.failed else again.judged(copies)


def concurrent(bench: Bench, clean: Clean) -> Iterator[Verdict]:
    """Two runs of the last date at once; one that loses is run again, as an orchestrator would."""
    trial = Trial(bench, clean, "concurrent", "two runs at once")
    copies = bench.copies("concurrent")
    try:
        dates = bench.job.dates
        ran = bench.run_all(copies, dates[:-1])
        call = bench.call(copies, dates[-1])
        assert call is not None
        if ran.failed:
            yield trial.failed(ran)
            return
        ended: list[Ran] = []
        threads = [threading.Thread(target=lambda: ended.append(bench.run(call))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        trial.count(copies)
        if len(ended) < 2 or any(one.failed for one in ended):
            ran = bench.run_all(copies, dates[-1:])
            trial.count(copies)
            if ran.failed:
                yield trial.failed(ran)
                return
        yield trial.judged(copies)
    finally:
        copies.drop()


EXPERIMENTS: Mapping[str, Experiment] = {
    "twice": twice,
    "killed": killed,
    "shuffled": shuffled,
    "order": out_of_order,
    "empty": empty,
    "concurrent": concurrent,
}
