"""Samewise's own pipelines: every write of theirs is safe to repeat; what a SELECT leaves to chance is not."""

from __future__ import annotations

from collections.abc import Sequence

from samewise.audit.facts import Context, Flow, SqlOp
from samewise.audit.finding import Collected, FileReport, Place, Verdict, Write
from samewise.audit.ignores import find_ignores
from samewise.audit.judge import judge
from samewise.audit.sql.classify import classify
from samewise.audit.sql.words import Text, words_of


def task_report(writes: Sequence[tuple[str, str]]) -> FileReport:
    """The report of a pipeline file: (strategy, target) of each task."""
    return FileReport(writes=tuple(Write(Place(1), strategy, target, Verdict.SAFE) for strategy, target in writes))


def select_report(text: str, file: str, target: str) -> FileReport:
    """The report of a transform's SELECT."""
    words = words_of(text)
    collected = Collected()
    if words:
        statement = classify(words, text, "spark")
        statement.kind, statement.target = "model", target
        at = Text(text)
        first, last = at.place(statement.start), at.place(words[-1].end)
        flow = Flow(Context(file, "sql", text.split("\n"), pipeline=True), dialect="spark")
        flow.ops.append(SqlOp(Place(*first, *last), statement=statement, via="file", raw=statement.text))
        judge([flow], collected)
    return FileReport(findings=tuple(collected.findings), ignores=tuple(find_ignores(text)))
