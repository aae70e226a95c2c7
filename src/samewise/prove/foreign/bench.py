"""A foreign job on the bench: run on copies, looked at, compared with its clean run."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from samewise.core.errors import Refused, TransformFailed
from samewise.prove import causes
from samewise.prove.compare import compare, measure
from samewise.prove.foreign.call import Call, Kill, Ran, Runner
from samewise.prove.foreign.inputs import Form, Input
from samewise.prove.foreign.places import Copy, Place
from samewise.prove.verdict import Cause, Difference, Figures, Outcome, Verdict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Job:
    """What is proven: how it is run, where it writes, and what else it touches."""

    subject: str
    runner: Runner
    target: Place
    dates: Sequence[str] = ("",)
    """Each is a run; the last one is the one that is killed, repeated and shuffled."""
    key: Sequence[str] = ()
    log: Place | None = None
    """What it leaves behind for its side effects: one row or line for each."""
    state: Place | None = None
    """What it remembers from run to run: copied with the target, never compared."""
    input: Input | None = None
    shuffled: Mapping[str, str] = field(default_factory=dict)
    """Variables that give the job's own Spark another number of partitions."""
    moments: Sequence[float] = (0.4, 0.7, 0.9)
    """When it is killed, as parts of the time that a clean run takes; and once after its first write."""


@dataclass(slots=True)
class Copies:
    """One copy of everything that the job writes."""

    target: Copy
    log: Copy | None
    state: Copy | None

    def drop(self) -> None:
        for one in (self.target, self.log, self.state):
            if one is not None:
                one.drop()


@dataclass(slots=True)
class Clean:
    """What one clean run of every date leaves, and how long the last took."""

    base: Copies
    """As everything was before the last date's run."""
    after: Copies
    rows: DataFrame
    figures: Figures
    before: Figures | None
    """The target before the last date's run; None where there was none."""
    seconds: float
    log: DataFrame | None = None
    log_figures: Figures | None = None


class Bench:
    """Where runs happen. Every copy that is made is removed by whoever asked for it."""

    def __init__(self, job: Job, spark: Callable[[], SparkSession]) -> None:
        self.job = job
        self._spark = spark
        self.clean_seconds: float | None = None

    @property
    def spark(self) -> SparkSession:
        return self._spark()

    def copies(self, label: str, of: Copies) -> Copies:
        """New copies of a snapshot, for runs."""
        return self._made(lambda place, one: place.copy(label, one), of)

    def _made(self, make: Callable[[Place, Copy | None], Copy], of: Copies | None) -> Copies:
        job = self.job
        return Copies(
            make(job.target, None if of is None else of.target),
            None if job.log is None else make(job.log, None if of is None else of.log),
            None if job.state is None else make(job.state, None if of is None else of.state),
        )

    def _snapshot(self, of: Copies) -> Copies:
        def keep(place: Place, one: Copy | None) -> Copy:
            assert one is not None, "there is a copy of every place"
            return place.snapshot(one)

        return self._made(keep, of)

    def call(
        self, copies: Copies, date: str, form: Form = Form.AS_IT_IS, environment: Mapping[str, str] | None = None
    ) -> Call | None:
        """What a run on these copies is told; None where its input cannot be had in this form."""
        words = {"date": date, **copies.target.words}
        if copies.log is not None:
            words["log"] = copies.log.words["target"]
        if copies.state is not None:
            words["state"] = copies.state.words["target"]
        if self.job.input is not None:
            place = self.job.input.place(self.spark, date, form)
            if place is None:
                return None
            words["input"] = str(place)
        return Call(words, {**copies.target.environment, **(environment or {})})

    def run(self, call: Call, kill: Kill | None = None) -> Ran:
        return self.job.runner(call, kill, expected_seconds=self.clean_seconds)

    def run_date(self, copies: Copies, date: str) -> Ran:
        """One date with its input as it is."""
        call = self.call(copies, date)
        assert call is not None, "an input as it is can always be had"
        return self.run(call)

    def rows(self, copy: Copy, like: DataFrame) -> DataFrame:
        """What a reader sees; no rows `like` those where there is no table."""
        found = copy.rows(self.spark)
        return like.limit(0) if found is None else found

    def figures(self, copy: Copy) -> Figures | None:
        rows = copy.rows(self.spark)
        return None if rows is None else measure(rows, self.job.key)

    def clean(self) -> Clean:
        """Run every date once. Raises TransformFailed where the job fails, Refused where it writes elsewhere."""
        copies = self._made(lambda place, _: place.copy("clean"), None)
        untouched = self.job.target.fingerprint()
        began = copies.target.mark()
        *earlier, last = self.job.dates
        for date in earlier:
            self._first_run(copies, date, untouched)
        base = self._snapshot(copies)
        before = self.figures(base.target)
        self.clean_seconds = self._first_run(copies, last, untouched).seconds
        if copies.target.mark() == began:
            raise Refused(
                "the command ended well and left the copy of its target as it was",
                code="nothing_written",
                kept="the real target is untouched",
                next_step="check that it writes to {target}; if it does, give a --date that is not loaded yet",
            )
        after = self._snapshot(copies)
        copies.drop()
        rows = after.target.rows(self.spark)
        if rows is None:
            raise Refused(
                "the command ended well, and there is no table where it was told to write",
                code="nothing_written",
                kept="the real target is untouched",
                next_step="check that the command writes to {target} in the form that --target names",
            )
        clean = Clean(base, after, rows, measure(rows, self.job.key), before, self.clean_seconds)
        if after.log is not None:
            clean.log = after.log.rows(self.spark)
            clean.log_figures = None if clean.log is None else measure(clean.log)
        return clean

    def _first_run(self, copies: Copies, date: str, untouched: str) -> Ran:
        ran = self.run_date(copies, date)
        if self.job.target.fingerprint() != untouched:
            raise wrote_to_the_real_one(self.job.target.name)
        if ran.failed:
            raise TransformFailed(
                f"the command failed on its first run{f' for {date}' if date else ''}, with exit code {ran.code}",
                details=ran.output,
                kept="the real target is untouched; the command ran on a copy",
                next_step="run the command by hand first; prove needs one that works",
            )
        return ran


def wrote_to_the_real_one(target: str) -> Refused:
    return Refused(
        f"{target} was written to while the command ran: it does not go where it is told",
        code="real_target_written",
        kept="prove wrote to copies only; what the command (or somebody else) wrote to the real target is there",
        next_step=_how_to_undo(target),
    )


def _how_to_undo(target: str) -> str:
    if target.startswith("postgres:"):
        return (
            "look for what it wrote and take it out by hand (PostgreSQL keeps no older version), then make the command "
            "write to {target}, or connect by {url} or {jdbc_url}"
        )
    return (
        "look at the table's history and undo the last write (Delta: RESTORE TABLE … TO VERSION AS OF …), then "
        "make the command write to {target} or to SAMEWISE_PROVE_TARGET"
    )


@dataclass(slots=True)
class Trial:
    """One experiment under way; each of its ends gives the verdict."""

    bench: Bench
    clean: Clean
    experiment: str
    detail: str
    began: float = field(default_factory=time.monotonic)
    counts: list[int] = field(default_factory=list)

    def verdict(self, outcome: Outcome, **told: Any) -> Verdict:
        seconds = round(time.monotonic() - self.began, 3)
        return Verdict(self.experiment, self.detail, outcome, seconds, counts=tuple(self.counts), **told)

    def failed(self, ran: Ran) -> Verdict:
        """A run that works the first time and fails when it is repeated."""
        message = f"it ended with exit code {ran.code}\n{ran.output}".rstrip()
        return self.verdict(Outcome.FAILED, message=message, cause=causes.of_failure(ran.output))

    def judged(self, copies: Copies) -> Verdict:
        """Is the target as the clean run left it, and so the log of its effects?"""
        clean = self.clean
        found = self.bench.rows(copies.target, clean.rows)
        figures, difference = compare(clean.rows, found, self.bench.job.key, clean_figures=clean.figures)
        self.counts.append(figures.rows)
        if difference is not None:
            return self.different(figures, difference)
        if copies.log is not None:
            verdict = self._effects(copies.log, clean)
            if verdict is not None:
                return verdict
        return self.verdict(Outcome.SAME, figures=figures)

    def different(
        self, figures: Figures, difference: Difference, cause: Cause | None = None, message: str = ""
    ) -> Verdict:
        before = 0 if self.clean.before is None else self.clean.before.rows
        cause = cause or causes.likely(difference, experiment=self.experiment, before_rows=before)
        return self.verdict(Outcome.DIFFERENT, figures=figures, difference=difference, cause=cause, message=message)

    def _effects(self, copy: Copy, clean: Clean) -> Verdict | None:
        found = copy.rows(self.bench.spark)
        reference = clean.log
        if found is None and reference is None:
            return None
        if found is None:
            assert reference is not None
            found = reference.limit(0)
        if reference is None:
            reference = found.limit(0)
        figures, difference = compare(reference, found, clean_figures=clean.log_figures)
        if difference is None:
            return None
        cause = causes.likely(difference, experiment=self.experiment, effects=True)
        log = self.bench.job.log
        where = "" if log is None else f"in {log.name}"
        return self.different(figures, difference, cause, where)
