"""For a person: each finding with its line of code and a caret, then the summary."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator

from samewise.audit.engine import Result
from samewise.audit.finding import Finding, Level
from samewise.audit.summary import Summary

Style = Callable[[str, str], str]
_STYLES = {Level.ERROR: "bad", Level.WARNING: "warn", Level.NOTE: "dim"}


def lines(result: Result, summary: Summary, style: Style, width: int) -> Iterator[str]:
    """The whole answer, line by line."""
    for finding in result.findings:
        yield from _finding(finding, result.lines.get(finding.file, []), style, width)
        yield ""
    for problem in result.problems:
        place = f"{problem.file}:{problem.line}" if problem.line else problem.file
        yield from _wrapped(f"{place}: not read: {problem.message}", width, "")
    if result.problems:
        yield ""
    yield from _summary(result, summary, style, width)


def where(finding: Finding) -> str:
    cell = f" (cell {finding.place.cell})" if finding.place.cell else ""
    return f"{finding.file}:{finding.place.line}:{finding.place.column}{cell}"


def _finding(finding: Finding, code: list[str], style: Style, width: int) -> Iterator[str]:
    label = f"{finding.level.value}{' (unsure)' if finding.unsure else ''}"
    yield f"{where(finding)}: {style(label, _STYLES[finding.level])} {style(finding.rule, 'bold')}"
    yield from _wrapped(finding.message, width, "  ")
    number = finding.place.line
    if 0 < number <= len(code):
        yield from _code(finding, code[number - 1], style, width)
    for related in finding.related:
        place = f"{related.file or finding.file}:{related.place.line}"
        yield from _wrapped(f"see {place}: {related.message}", width, "  ")
    yield from _wrapped(f"fix: {finding.fix.text}", width, "  ")
    if finding.rank:
        yield f"  this pipeline was retried or backfilled {finding.rank} times"


def _code(finding: Finding, text: str, style: Style, width: int) -> Iterator[str]:
    """The line, cut to what fits, and a caret below the part that is meant."""
    text = text.expandtabs(4)
    indent = len(text) - len(text.lstrip())
    gutter = f"  {finding.place.line:>5} | "
    room = max(20, width - len(gutter))
    shown = text.strip()
    start = max(0, finding.place.column - 1 - indent)
    if start >= len(shown):
        start = 0
    same_line = finding.place.end_line in (0, finding.place.line) and finding.place.end_column > finding.place.column
    length = finding.place.end_column - finding.place.column if same_line else len(shown) - start
    if len(shown) > room:
        shown = shown[: room - 1] + "…"
    length = max(1, min(length, len(shown) - start))
    if start >= len(shown):
        start, length = 0, 1
    yield f"{style(gutter, 'dim')}{shown}"
    yield f"{style('        | ', 'dim')}{' ' * start}{style('^' * length, _STYLES[finding.level])}"


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(
        text, max(40, width), initial_indent=indent, subsequent_indent=indent + "  ", break_long_words=False
    )


def _summary(result: Result, summary: Summary, style: Style, width: int) -> Iterator[str]:
    counts = result.counts
    told = ", ".join(
        f"{counts[level]} {level.value}{'' if counts[level] == 1 else 's'}" for level in Level if counts[level]
    )
    yield f"{summary.files} file{'' if summary.files == 1 else 's'}: {told or 'nothing found'}"
    if summary.writes:
        share = summary.safe_share or 0.0
        yield (
            f"  writes: {summary.writes}; safe to repeat {summary.safe} ({share:.0%}),"
            f" unsafe {summary.unsafe}, unsure {summary.unsure}"
        )
    if summary.known or summary.ignored:
        yield f"  left out: {summary.known} in the baseline, {summary.ignored} ignored in the code"
    if summary.checklist:
        yield ""
        yield style("  what hurts, and what to do instead", "dim")
        for line in summary.checklist:
            yield from _wrapped(f"{line.rule} {line.count:>3}x  {line.scenario}: {line.pattern}", width, "  ")
        yield "  samewise audit --explain RULE tells more"
