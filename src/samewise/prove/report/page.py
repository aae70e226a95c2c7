"""For a browser: one page that needs nothing else, in light and in dark."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from samewise.prove.report.picture import picture
from samewise.prove.report.words import counted, counts, headline, row_text, told
from samewise.prove.sentences import what_happened, what_to_do
from samewise.prove.verdict import Difference, Figures, Outcome, Proof, Verdict


def html(proof: Proof) -> str:
    """The page. Everything that came from data is escaped by the template."""
    from jinja2 import Environment, StrictUndefined

    template = files("samewise.prove.report").joinpath("page.html").read_text(encoding="utf-8")
    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return page.from_string(template).render(
        proof=proof,
        title=headline(proof),
        holds=proof.holds,
        verdicts=[_verdict(at, one) for at, one in enumerate(proof.verdicts)],
        picture=picture(proof),
        figures=[] if proof.clean is None else list(_compared(proof.clean, proof.verdicts)),
        clean=proof.clean,
    )


def _verdict(at: int, verdict: Verdict) -> dict[str, Any]:
    difference = verdict.difference
    return {
        "at": at,
        "experiment": verdict.experiment,
        "detail": verdict.detail,
        "outcome": verdict.outcome.value,
        "counts": counts(verdict),
        "seconds": f"{verdict.seconds:.1f}",
        "message": told(verdict),
        "shown": verdict.outcome not in (Outcome.SAME, Outcome.SKIPPED),
        "counted": "" if difference is None else counted(difference),
        "why": "" if verdict.cause is None else what_happened(verdict.cause, difference),
        "cause": "" if verdict.cause is None else verdict.cause.value.replace("_", " "),
        "advice": "" if verdict.cause is None else what_to_do(verdict.cause),
        "examples": [] if difference is None else _examples(difference),
    }


def _examples(difference: Difference) -> list[dict[str, Any]]:
    return [
        {
            "kind": one.kind.value,
            "times": one.times if one.times > 1 else None,
            "text": row_text(one, difference.found.key) if not one.changes else "",
            "known": {name: value for name, value in one.values.items() if name not in one.changes},
            "changes": one.changes,
        }
        for one in difference.examples
    ]


def _compared(clean: Figures, verdicts: tuple[Verdict, ...]) -> Iterator[dict[str, Any]]:
    """One line for each figure: the clean run's, and those of the experiments that found another."""
    others = [(f"{one.experiment}, {one.detail}".rstrip(", "), one.figures) for one in verdicts if one.figures]
    yield _line("rows", clean.rows, [(name, one.rows) for name, one in others])
    if clean.key:
        label = ", ".join(clean.key)
        yield _line(f"keys ({label})", clean.distinct_keys, [(name, one.distinct_keys) for name, one in others])
        yield _line(f"keys there twice ({label})", clean.duplicate_keys, [(n, one.duplicate_keys) for n, one in others])
    yield _line("content", clean.content, [(name, one.content) for name, one in others])
    for column in clean.columns:
        found = [(name, next((c for c in one.columns if c.name == column.name), None)) for name, one in others]
        for figure, label in (("nulls", "nulls"), ("total", "sum"), ("minimum", "min"), ("maximum", "max")):
            value = getattr(column, figure)
            seen = [(name, None if c is None else getattr(c, figure)) for name, c in found]
            if value is not None or any(one is not None for _, one in seen):
                yield _line(f"{column.name}, {label}", value, seen)


def _line(name: str, clean: object, found: list[tuple[str, Any]]) -> dict[str, Any]:
    return {
        "name": name,
        "clean": _shown(clean),
        "others": [(experiment, _shown(value)) for experiment, value in found if value != clean],
    }


def _shown(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else str(value)
