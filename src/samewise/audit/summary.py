"""The end of the answer: how many writes, how many of them safe, and what to do about the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from samewise.audit.engine import Result
from samewise.audit.finding import Level, Verdict
from samewise.audit.rules import BY_ID


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the checklist: when it hurts, what to do instead, and how often it was found."""

    rule: str
    title: str
    scenario: str
    pattern: str
    count: int


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts and the checklist."""

    files: int
    writes: int
    safe: int
    unsafe: int
    unsure: int
    ignored: int
    known: int
    checklist: tuple[Line, ...]

    @property
    def safe_share(self) -> float | None:
        """The share of writes that are safe to repeat; None where there are none."""
        return self.safe / self.writes if self.writes else None


def summarize(result: Result) -> Summary:
    """What a result comes to."""
    verdicts = result.verdicts
    counts = Counter(f.rule for f in result.findings if f.level is not Level.NOTE)
    checklist = tuple(
        Line(rule, BY_ID[rule].title, BY_ID[rule].scenario, BY_ID[rule].pattern, count)
        for rule, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    )
    return Summary(
        files=result.files,
        writes=len(result.writes),
        safe=verdicts[Verdict.SAFE],
        unsafe=verdicts[Verdict.UNSAFE],
        unsure=verdicts[Verdict.UNSURE],
        ignored=result.ignored,
        known=result.known,
        checklist=checklist,
    )
