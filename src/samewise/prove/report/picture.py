"""A small picture: how many rows the target had after each run, beside what one clean run leaves."""

from __future__ import annotations

from dataclasses import dataclass

from samewise.prove.verdict import Outcome, Proof

_LABEL = 230
_BARS = 380
_NUMBER = 90
_BAR = 9
_GAP = 12
_LONGEST_LABEL = 36


@dataclass(frozen=True, slots=True)
class Bar:
    """The rows after one run."""

    x: int
    y: float
    width: float
    height: int
    last: bool
    title: str


@dataclass(frozen=True, slots=True)
class Group:
    """The runs of one experiment, below each other."""

    label: str
    title: str
    y: float
    outcome: str
    bars: tuple[Bar, ...]
    number: str
    number_x: float


@dataclass(frozen=True, slots=True)
class Picture:
    width: int
    height: float
    clean_x: float
    clean_label: str
    groups: tuple[Group, ...]


def picture(proof: Proof) -> Picture | None:
    """None where there is nothing to draw."""
    drawn = [one for one in proof.verdicts if one.counts and one.outcome is not Outcome.SKIPPED]
    if proof.clean is None or not drawn:
        return None
    most = max([proof.clean.rows, *(count for one in drawn for count in one.counts)]) or 1
    groups: list[Group] = []
    y = 26.0
    for verdict in drawn:
        name = f"{verdict.experiment}, {verdict.detail}" if verdict.detail else verdict.experiment
        bars = tuple(
            Bar(
                _LABEL,
                y + at * (_BAR + 2),
                max(1.0, round(_BARS * count / most, 1)),
                _BAR,
                at == len(verdict.counts) - 1,
                f"{name}, after run {at + 1}: {count:,} rows",
            )
            for at, count in enumerate(verdict.counts)
        )
        groups.append(
            Group(
                name if len(name) <= _LONGEST_LABEL else name[: _LONGEST_LABEL - 1] + "…",
                name,
                y,
                verdict.outcome.value,
                bars,
                f"{verdict.counts[-1]:,}",
                _LABEL + bars[-1].width + 6,
            )
        )
        y += len(bars) * (_BAR + 2) + _GAP
    clean_x = round(_LABEL + _BARS * proof.clean.rows / most, 1)
    return Picture(_LABEL + _BARS + _NUMBER, y, clean_x, f"clean run: {proof.clean.rows:,}", tuple(groups))
