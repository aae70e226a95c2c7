"""What only several files together say: keys that a database enforces, tasks whose code lies elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from samewise.audit.finding import FileReport, Finding, Fix, Level, Place, Related, TableFact, Verdict, Write
from samewise.audit.judge import known_tables
from samewise.audit.rules.retries import UNSAFE
from samewise.audit.sql.statement import same_table


def together(reports: Mapping[str, FileReport]) -> dict[str, FileReport]:
    """The reports of all files, each mended by what the others say."""
    tables = known_tables(fact for report in reports.values() for fact in report.tables)
    in_one_transaction = {name for report in reports.values() for name in report.sql_files}
    keyed = {name for report in reports.values() for name in report.models}
    made = {}
    for file, report in reports.items():
        name = file.rpartition("/")[2]
        kept = [
            finding
            for finding in report.findings
            if not (finding.enforced and is_kept_out(finding, tables))
            and not (finding.rule == "SW201" and name in in_one_transaction)
            and not (finding.rule == "SW801" and finding.target in keyed)
        ]
        gone = [finding for finding in report.findings if finding not in kept]
        if gone:
            places = {finding.place for finding in gone} | {r.place for finding in gone for r in finding.related}
            kept = [f for f in kept if not (f.rule == "SW501" and any(r.place in places for r in f.related))]
            report = replace(report, findings=tuple(kept), writes=tuple(_again(w, kept, places) for w in report.writes))
        made[file] = report
    _retried_elsewhere(made)
    return made


def is_kept_out(finding: Finding, tables: Mapping[str, list[TableFact]]) -> bool:
    """A unique key of the table stands in the way: the second run stops, and doubles nothing."""
    for fact in tables.get(finding.target.rpartition(".")[2], []):
        if fact.name.count(".") < finding.target.count(".") or not same_table(fact.name, finding.target):
            # `orders` of one schema says nothing about `sales.orders`.
            continue
        for key in fact.keys:
            if any(column in fact.generated for column in key):
                continue
            if not finding.columns or set(key) <= set(finding.columns):
                return True
    return False


def _again(write: Write, findings: list[Finding], places: set[Place]) -> Write:
    if write.place not in places:
        return write
    about = [f for f in findings if write.place.line <= f.place.line <= write.place.last_line and f.rule != "SW501"]
    verdict = Verdict.SAFE
    if about:
        verdict = Verdict.UNSURE if all(f.level is Level.NOTE for f in about) else Verdict.UNSAFE
    return replace(write, verdict=verdict)


def _retried_elsewhere(reports: dict[str, FileReport]) -> None:
    """SW501 for a task that calls a function of another file."""
    for file, report in list(reports.items()):
        extra: list[Finding] = []
        for task in report.tasks:
            if task.retries <= 0:
                continue
            path = task.module.lstrip(".").replace(".", "/")
            for other, told in reports.items():
                if other == file or not (
                    other == f"{path}.py" or other.endswith((f"/{path}.py", f"/{path}/__init__.py"))
                ):
                    continue
                unsafe = next(
                    (
                        f
                        for f in told.findings
                        if f.rule in UNSAFE and f.level is not Level.NOTE and f.scope.partition(".")[0] == task.function
                    ),
                    None,
                )
                if unsafe is not None:
                    extra.append(_finding(task.name, task.retries, task.place, unsafe, other))
        if extra:
            reports[file] = replace(report, findings=(*report.findings, *extra))


def _finding(name: str, retries: int, place: Place, unsafe: Finding, other: str) -> Finding:
    return Finding(
        "SW501",
        unsafe.level,
        place,
        f"retries={retries} repeats task {name}, whose write is not safe to repeat ({unsafe.rule},"
        f" {other}:{unsafe.place.line})",
        Fix(f"mend {other}:{unsafe.place.line} ({unsafe.fix.text}); until then, retries=0"),
        target=unsafe.target,
        related=(Related(unsafe.place, unsafe.message, other),),
    )
