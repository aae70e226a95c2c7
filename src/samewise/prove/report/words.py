"""Short words about verdicts that every form of the report shares."""

from __future__ import annotations

from samewise.prove.sentences import sentence
from samewise.prove.verdict import Difference, Outcome, Proof, RowExample, RowKind, Verdict

STYLES = {
    Outcome.SAME: "good",
    Outcome.DIFFERENT: "bad",
    Outcome.FAILED: "bad",
    Outcome.VOID: "warn",
    Outcome.SKIPPED: "dim",
}


def headline(proof: Proof) -> str:
    """Whether it holds, in one line."""
    about = " ".join([proof.subject, ", ".join(proof.windows)]).strip()
    if proof.clean is None:
        return f"{about}: not proven, the clean run already failed"
    tried = [one for one in proof.verdicts if one.outcome is not Outcome.SKIPPED]
    good = [one for one in tried if one.outcome is Outcome.SAME]
    if proof.holds:
        return f"{about}: the same in {plural(len(tried), 'experiment')} out of {len(tried)}"
    if not tried:
        return f"{about}: not proven, no experiment applies"
    return f"{about}: not the same, {len(tried) - len(good)} of {plural(len(tried), 'experiment')} failed"


def plural(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def counted(difference: Difference) -> str:
    """How many rows differ, by kind; what else differs where no row does."""
    parts = [
        f"{plural(count, 'row')} {kind.value}"
        for kind, count in (
            (RowKind.DOUBLED, difference.doubled),
            (RowKind.MISSING, difference.missing),
            (RowKind.EXTRA, difference.extra),
            (RowKind.CHANGED, difference.changed),
        )
        if count
    ]
    if difference.clean.schema != difference.found.schema:
        parts.append("another schema")
    return ", ".join(parts) or "the figures differ"


def told(verdict: Verdict) -> str:
    """The verdict's message without the cause's sentence, which the report has in a place of its own."""
    if verdict.cause is None:
        return verdict.message
    return verdict.message.replace(sentence(verdict.cause, verdict.difference), "").strip().rstrip(":")


def counts(verdict: Verdict) -> str:
    """Rows of the target after each run."""
    if verdict.counts:
        return " → ".join(f"{count:,}" for count in verdict.counts)
    return f"{verdict.figures.rows:,}" if verdict.figures is not None else "-"


def row_text(example: RowExample, key: tuple[str, ...]) -> str:
    """A row that differs. Of a changed one: by what it is known, then each column before and after."""
    if example.kind is not RowKind.CHANGED:
        return ", ".join(f"{name}={shown(value)}" for name, value in example.values.items())
    known = [name for name in example.values if name in key and name not in example.changes]
    known = known or [name for name in example.values if name not in example.changes][:3]
    about = ", ".join(f"{name}={shown(example.values[name])}" for name in known)
    changes = ", ".join(f"{name} {shown(old)} → {shown(new)}" for name, (old, new) in example.changes.items())
    return f"{about}: {changes}" if about else changes


def shown(value: str | None) -> str:
    return "NULL" if value is None else value
