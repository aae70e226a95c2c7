"""For machines: one JSON object, SARIF 2.1.0, GitHub's annotations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from samewise.audit.engine import Result
from samewise.audit.finding import Finding, Level, Place
from samewise.audit.rules import RULES
from samewise.audit.summary import Summary

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_json(result: Result, summary: Summary, exit_code: int) -> dict[str, Any]:
    """Everything that there is to say."""
    counts = result.counts
    return {
        "schema_version": 1,
        "exit_code": exit_code,
        "findings": [_finding(one) for one in result.findings],
        "problems": [{"file": p.file, "line": p.line or None, "message": p.message} for p in result.problems],
        "summary": {
            "files": summary.files,
            "findings": {level.value: counts[level] for level in Level},
            "writes": summary.writes,
            "safe": summary.safe,
            "unsafe": summary.unsafe,
            "unsure": summary.unsure,
            "safe_share": None if summary.safe_share is None else round(summary.safe_share, 4),
            "ignored": summary.ignored,
            "in_baseline": summary.known,
            "checklist": [asdict(line) for line in summary.checklist],
        },
        "writes": [
            {
                "file": file,
                "line": write.place.line,
                "kind": write.kind,
                "target": write.target or None,
                "verdict": write.verdict.value,
            }
            for file, write in result.writes
        ],
    }


def _finding(one: Finding) -> dict[str, Any]:
    return {
        "rule": one.rule,
        "level": one.level.value,
        "unsure": one.unsure,
        "file": one.file,
        **_place(one.place),
        "message": one.message,
        "target": one.target or None,
        "fix": {
            "text": one.fix.text,
            "edits": [{"first_line": e.first, "last_line": e.last, "lines": list(e.lines)} for e in one.fix.edits],
        },
        "related": [{"file": r.file or one.file, **_place(r.place), "message": r.message} for r in one.related],
        "fingerprint": one.fingerprint,
        "retried_or_backfilled": one.rank,
    }


def _place(place: Place) -> dict[str, Any]:
    return {
        "line": place.line,
        "column": place.column,
        "end_line": place.last_line,
        "end_column": place.end_column or None,
        "cell": place.cell or None,
    }


def as_sarif(result: Result, version: str) -> dict[str, Any]:
    """SARIF 2.1.0, as code scanners read it."""
    ids = [rule.id for rule in RULES]
    return {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "samewise audit",
                        "version": version,
                        "rules": [
                            {
                                "id": rule.id,
                                "name": rule.name,
                                "shortDescription": {"text": rule.title},
                                "fullDescription": {"text": rule.reason},
                                "help": {"text": f"{rule.reason} Instead: {rule.pattern}."},
                            }
                            for rule in RULES
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_sarif_result(one, ids) for one in result.findings],
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [
                            {"level": "warning", "message": {"text": f"{p.file}: not read: {p.message}"}}
                            for p in result.problems
                        ],
                    }
                ],
            }
        ],
    }


def _sarif_result(one: Finding, ids: list[str]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "ruleId": one.rule,
        "ruleIndex": ids.index(one.rule),
        "level": one.level.value,
        "message": {"text": f"{one.message}. Fix: {one.fix.text}"},
        "locations": [_location(one.file, one.place)],
        "partialFingerprints": {"samewise/v1": one.fingerprint},
    }
    if one.related:
        made["relatedLocations"] = [
            {"id": number, "message": {"text": r.message}, **_location(r.file or one.file, r.place)}
            for number, r in enumerate(one.related, start=1)
        ]
    if one.fix.edits:
        made["fixes"] = [
            {
                "description": {"text": one.fix.text},
                "artifactChanges": [
                    {
                        "artifactLocation": {"uri": _uri(one.file)},
                        "replacements": [
                            {
                                "deletedRegion": {
                                    "startLine": e.first,
                                    "startColumn": 1,
                                    "endLine": e.last + 1,
                                    "endColumn": 1,
                                },
                                "insertedContent": {"text": "".join(f"{line}\n" for line in e.lines)},
                            }
                            for e in one.fix.edits
                        ],
                    }
                ],
            }
        ]
    return made


def _uri(file: str) -> str:
    from urllib.parse import quote

    return quote(file.removeprefix("./"), safe="/:")


def _location(file: str, place: Place) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": place.line, "startColumn": place.column, "endLine": place.last_line}
    if place.end_column and (place.last_line > place.line or place.end_column > place.column):
        region["endColumn"] = place.end_column
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(file)}, "region": region}}


def as_github(result: Result) -> Iterator[str]:
    """Workflow commands: GitHub shows each as an annotation of the line."""
    words = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}
    for one in result.findings:
        title = _property(f"{one.rule}{' (unsure)' if one.unsure else ''}")
        place = f"file={_property(one.file)},line={one.place.line},endLine={one.place.last_line}"
        yield f"::{words[one.level]} {place},title={title}::{_data(f'{one.message}. Fix: {one.fix.text}')}"
    for problem in result.problems:
        place = f"file={_property(problem.file)},line={problem.line or 1}"
        yield f"::warning {place},title=not read::{_data(problem.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
