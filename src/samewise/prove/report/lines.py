"""For a person at a terminal: a table of verdicts, then what differs, why, and what to do."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator

from samewise.prove.report.words import STYLES, counted, counts, headline, plural, row_text, told
from samewise.prove.sentences import what_happened, what_to_do
from samewise.prove.verdict import Difference, Outcome, Proof, RowKind, Verdict

Style = Callable[[str, str], str]
_EACH = 3
"""Examples of a kind; the page and the JSON have all."""
_NARROWEST = 60


def text(proof: Proof, *, style: Style = lambda text, _: text, width: int = 80) -> list[str]:
    """The whole report, in lines of at most `width` characters."""
    width = max(_NARROWEST, width)
    lines = [*_wrapped(headline(proof), width, "", style, "good" if proof.holds else "bad")]
    lines += _wrapped(_about(proof), width, "  ", style, "dim")
    for note in proof.notes:
        lines += _wrapped(f"note: {note}", width, "  ", style, "warn")
    lines += ["", *_table(proof, style, width)]
    seen: set[str] = set()
    for verdict in proof.verdicts:
        lines += _verdict(verdict, style, width, seen)
    if proof.effects:
        lines += ["", f"{plural(len(proof.effects), 'side effect')} recorded, none sent:"]
        lines += [_cut(f"  {effect}", width) for effect in proof.effects[:_EACH]]
    return lines


def _about(proof: Proof) -> str:
    if proof.clean is None:
        return f"target {proof.target}"
    took = f" in {proof.clean_seconds:.1f} s" if proof.clean_seconds else ""
    return f"target {proof.target}; one clean run leaves {plural(proof.clean.rows, 'row')}{took}"


def _table(proof: Proof, style: Style, width: int) -> Iterator[str]:
    rows = [
        (one.experiment, one.detail, one.outcome.value, counts(one), f"{one.seconds:.1f} s") for one in proof.verdicts
    ]
    header = ("experiment", "", "verdict", "rows", "")
    cells = [header, *rows]
    sizes = [max(len(row[at]) for row in cells) for at in range(len(header))]
    # What is too long is cut where least is lost: how an experiment was made, then the rows of each run.
    for at, least in ((1, 12), (3, 8)):
        over = sum(sizes) + 2 * (len(sizes) - 1) + 2 - width
        if over > 0:
            sizes[at] = max(least, sizes[at] - over)
    for number, row in enumerate(cells):
        parts = [_cut(cell, size).ljust(size) for cell, size in zip(row, sizes, strict=True)]
        parts[4] = parts[4].strip().rjust(sizes[4])
        if number:
            parts[2] = style(parts[2], STYLES[proof.verdicts[number - 1].outcome])
        line = "  " + "  ".join(parts).rstrip()
        yield style(line, "dim") if number == 0 else line


def _verdict(verdict: Verdict, style: Style, width: int, seen: set[str]) -> Iterator[str]:
    if verdict.outcome is Outcome.SAME or (verdict.outcome is Outcome.SKIPPED and not verdict.message):
        return
    name = f"{verdict.experiment}, {verdict.detail}" if verdict.detail else verdict.experiment
    if verdict.outcome is Outcome.SKIPPED:
        yield from _wrapped(f"{name}: skipped, {verdict.message}", width, "", style, "dim")
        return
    yield ""
    difference = verdict.difference
    happened = counted(difference) if difference is not None else verdict.outcome.value
    yield from _wrapped(f"{name}: {happened}", width, "", style, "bold")
    if told(verdict):
        yield from _wrapped(told(verdict), width, "  ", style, None)
    if difference is not None:
        if verdict.cause is not None and what_happened(verdict.cause, difference) in seen:
            # The same mistake in another experiment: a reader has seen its rows.
            yield from _examples(difference, style, width, each=1)
            yield _cut(f"  likely: {verdict.cause.value.replace('_', ' ')}, as above", width)
            return
        yield from _figures(difference, width)
        yield from _examples(difference, style, width)
    if verdict.cause is not None:
        why = what_happened(verdict.cause, difference)
        seen.add(why)
        yield from _wrapped(f"likely: {why}", width, "  ", style, None)
        yield from _wrapped(f"instead: {what_to_do(verdict.cause)}", width, "  ", style, None)


def difference_lines(difference: Difference, *, style: Style = lambda text, _: text, width: int = 80) -> list[str]:
    """One difference without an experiment around it: how many rows, the figures, a few rows."""
    counted_lines = _wrapped(f"  {counted(difference)}", width, "", style, "bold")
    return [*counted_lines, *_figures(difference, width), *_examples(difference, style, width)]


def _figures(difference: Difference, width: int) -> Iterator[str]:
    """The figures that differ, each as clean and found."""
    clean, found = difference.clean, difference.found
    pairs: list[tuple[str, object, object]] = []
    if clean.rows != found.rows:
        pairs.append(("rows", f"{clean.rows:,}", f"{found.rows:,}"))
    if clean.duplicate_keys != found.duplicate_keys and found.duplicate_keys is not None:
        pairs.append((f"keys ({', '.join(found.key)}) twice", clean.duplicate_keys, found.duplicate_keys))
    before = {column.name: column for column in clean.columns}
    for column in found.columns:
        other = before.get(column.name)
        if other is not None and other.total is not None and other.total != column.total:
            pairs.append((f"sum of {column.name}", other.total, column.total))
    for name, old, new in pairs[:4]:
        yield _cut(f"  {name}: {old} → {new}", width)
    for name, type_ in set(found.schema) ^ set(clean.schema):
        where = "only here" if (name, type_) in found.schema else "missing"
        yield _cut(f"  column {name} {type_}: {where}", width)


def _examples(difference: Difference, style: Style, width: int, each: int = _EACH) -> Iterator[str]:
    styles = {RowKind.DOUBLED: "warn", RowKind.MISSING: "bad", RowKind.EXTRA: "warn", RowKind.CHANGED: "warn"}
    for kind in RowKind:
        rows = [one for one in difference.examples if one.kind is kind]
        for one in rows[:each]:
            times = f" x{one.times}" if one.times > 1 else ""
            label = f"{kind.value}{times}".ljust(11)
            yield f"  {style(label, styles[kind])}{_cut(row_text(one, difference.found.key), width - 13)}"


def _wrapped(text: str, width: int, indent: str, style: Style, name: str | None) -> Iterator[str]:
    lines = [
        line
        for part in text.splitlines() or [""]
        for line in textwrap.wrap(part, width, initial_indent=indent, subsequent_indent=indent + "  ") or [""]
    ]
    for line in lines:
        yield line if name is None else style(line, name)


def _cut(text: str, width: int) -> str:
    flat = " ".join(text.split()) if "\n" in text else text
    return flat if len(flat) <= width else flat[: max(1, width - 1)] + "…"
