"""For machines: one JSON object, and JUnit's XML, which every CI shows as tests."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as Xml

from samewise.prove.report.words import counted, headline, row_text, told
from samewise.prove.sentences import sentence
from samewise.prove.verdict import Difference, Figures, Outcome, Proof, Verdict

SCHEMA_VERSION = 1
_NOT_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_json(proof: Proof) -> dict[str, Any]:
    """Everything that there is to say. Sums are text: they are exact, and a JSON number is not."""
    return {
        "schema_version": SCHEMA_VERSION,
        "subject": proof.subject,
        "target": proof.target,
        "windows": list(proof.windows),
        "status": "same" if proof.holds else "not_proven" if proof.clean is None else "different",
        "holds": proof.holds,
        "seconds": round(proof.seconds, 3),
        "clean_seconds": round(proof.clean_seconds, 3),
        "clean": _figures(proof.clean),
        "verdicts": [_verdict(one) for one in proof.verdicts],
        "effects": list(proof.effects),
        "notes": list(proof.notes),
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    cause = verdict.cause
    return {
        "experiment": verdict.experiment,
        "detail": verdict.detail,
        "outcome": verdict.outcome.value,
        "seconds": round(verdict.seconds, 3),
        "counts": list(verdict.counts),
        "figures": _figures(verdict.figures),
        "difference": None if verdict.difference is None else _difference(verdict.difference),
        "cause": None if cause is None else {"name": cause.value, "text": sentence(cause, verdict.difference)},
        "message": verdict.message or None,
    }


def _figures(figures: Figures | None) -> dict[str, Any] | None:
    if figures is None:
        return None
    return {
        "rows": figures.rows,
        "content": figures.content,
        "key": list(figures.key),
        "distinct_keys": figures.distinct_keys,
        "duplicate_keys": figures.duplicate_keys,
        "columns": [
            {
                "name": column.name,
                "type": column.type,
                "nulls": column.nulls,
                "total": None if column.total is None else format(column.total, "f"),
                "min": column.minimum,
                "max": column.maximum,
            }
            for column in figures.columns
        ],
    }


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        "doubled": difference.doubled,
        "missing": difference.missing,
        "extra": difference.extra,
        "changed": difference.changed,
        "changed_columns": list(difference.changed_columns),
        "examples": [
            {
                "kind": one.kind.value,
                "times": one.times,
                "values": dict(one.values),
                "changes": {name: {"clean": old, "found": new} for name, (old, new) in one.changes.items()},
            }
            for one in difference.examples
        ],
    }


def junit(proof: Proof) -> str:
    """One test case for each experiment. A void one is an error: prove itself went wrong there."""
    suite = Xml.Element("testsuite", name=_clean(f"samewise prove {proof.subject}"))
    numbers = {"failures": 0, "errors": 0, "skipped": 0}
    if proof.clean is None and not proof.verdicts:
        case = Xml.SubElement(suite, "testcase", classname=_clean(proof.subject), name="clean run")
        Xml.SubElement(case, "error", message=_clean(headline(proof)))
        numbers["errors"] += 1
    for verdict in proof.verdicts:
        name = f"{verdict.experiment}: {verdict.detail}" if verdict.detail else verdict.experiment
        case = Xml.SubElement(
            suite,
            "testcase",
            classname=_clean(".".join([proof.subject, *proof.windows])),
            name=_clean(name),
            time=f"{verdict.seconds:.3f}",
        )
        _outcome(case, verdict, numbers)
    suite.set("tests", str(len(suite)))
    suite.set("time", f"{proof.seconds:.3f}")
    for name, number in numbers.items():
        suite.set(name, str(number))
    root = Xml.Element("testsuites")
    root.append(suite)
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _outcome(element: Xml.Element, verdict: Verdict, numbers: dict[str, int]) -> None:
    difference = verdict.difference
    match verdict.outcome:
        case Outcome.SAME:
            return
        case Outcome.SKIPPED:
            Xml.SubElement(element, "skipped", message=_clean(verdict.message))
            numbers["skipped"] += 1
        case Outcome.VOID:
            Xml.SubElement(element, "error", message=_clean(verdict.message), type="void")
            numbers["errors"] += 1
        case Outcome.DIFFERENT | Outcome.FAILED:
            happened = counted(difference) if difference is not None else verdict.message.partition("\n")[0]
            kind = verdict.cause.value if verdict.cause is not None else verdict.outcome.value
            failure = Xml.SubElement(element, "failure", message=_clean(happened), type=kind)
            lines = [told(verdict)] if told(verdict) else []
            if verdict.cause is not None:
                lines.append(sentence(verdict.cause, difference))
            if difference is not None:
                lines += [f"{one.kind.value}: {row_text(one, difference.found.key)}" for one in difference.examples]
            failure.text = _clean("\n".join(lines))
            numbers["failures"] += 1


def _clean(text: str) -> str:
    """Without characters that XML cannot hold, however they are written."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
