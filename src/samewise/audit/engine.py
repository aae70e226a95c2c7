"""The audit as a whole: files in, a result out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from samewise.audit.baseline import fingerprinted, read_baseline
from samewise.audit.config import Settings
from samewise.audit.finding import FileReport, Finding, Level, Verdict, Write
from samewise.audit.ignores import is_ignored
from samewise.audit.pool import read_all
from samewise.audit.project import together
from samewise.audit.readers import decode
from samewise.audit.walk import find_files
from samewise.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that could not be read, or not wholly."""

    file: str
    line: int
    message: str


@dataclass(slots=True)
class Result:
    """Everything that the audit has to say."""

    findings: list[Finding] = field(default_factory=list)
    """The worst first; inside a Samewise project those of pipelines that were retried most come first."""
    writes: list[tuple[str, Write]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    files: int = 0
    ignored: int = 0
    known: int = 0
    """Findings that the baseline knows."""
    lines: dict[str, list[str]] = field(default_factory=dict)

    @property
    def counts(self) -> Counter[Level]:
        return Counter(finding.level for finding in self.findings)

    @property
    def verdicts(self) -> Counter[Verdict]:
        return Counter(write.verdict for _, write in self.writes)


Ranks = Callable[[str], int]
"""How often the pipeline that a file belongs to was retried or backfilled."""


def audit(
    paths: Sequence[Path],
    settings: Settings,
    *,
    cache: Path | None = None,
    jobs: int = 0,
    ranks: Ranks | None = None,
    extra: Mapping[str, FileReport] | None = None,
) -> Result:
    """Read everything below `paths` and judge it. `extra` are reports that someone else made: our own pipelines."""
    for path in paths:
        if not path.exists():
            raise UsageError(
                f"{path}: no such file or folder", kept="nothing was read", next_step="name a file or a folder"
            )
    found = list(find_files(paths, settings.exclude))
    places = {one.shown: one.path for one in found}
    reports = read_all(found, dialect=settings.dialect, cache=cache, jobs=jobs)
    reports = together({**reports, **(extra or {})})
    known = read_baseline(Path(settings.baseline)) if settings.baseline else set()
    result = Result(files=len(found))
    for file, report in reports.items():
        if report.problem:
            result.problems.append(Problem(file, report.problem_line, report.problem))
        result.writes.extend((file, write) for write in report.writes)
        wanted = [f for f in report.findings if settings.wants(f.rule)]
        if wanted:
            _take(result, file, report, wanted, _lines(places.get(file)), known, ranks)
    result.findings.sort(key=lambda f: (-f.rank, f.level.rank, f.file, f.place, f.rule))
    return result


def _take(
    result: Result,
    file: str,
    report: FileReport,
    findings: list[Finding],
    lines: list[str],
    known: set[tuple[str, str]],
    ranks: Ranks | None,
) -> None:
    result.lines[file] = lines
    rank = ranks(file) if ranks is not None else 0
    for finding in fingerprinted(findings, lines):
        if is_ignored(report.ignores, finding.rule, finding.place.line, finding.place.last_line):
            result.ignored += 1
        elif (finding.rule, finding.fingerprint) in known:
            result.known += 1
        else:
            result.findings.append(finding.but(file=file, rank=rank))


def _lines(path: Path | None) -> list[str]:
    try:
        text = decode(path.read_bytes()) if path is not None else None
    except OSError:
        return []
    return text.split("\n") if text is not None else []
