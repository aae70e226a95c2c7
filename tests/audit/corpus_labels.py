"""The corpus: snippets in the manner of real code, each line that is wrong labelled in the file itself.

`expect: SW101` in a comment on the line of a finding, or up to two lines above it; `expect: SW101 note` where the
audit should only say that it is not sure. A file without a label is safe.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from samewise.audit.config import Settings
from samewise.audit.engine import audit

CORPUS = Path(__file__).parent / "corpus"
_LABEL = re.compile(r"expect: ((?:SW\d{3}(?: note)?(?:, )?)+)")


@dataclass(frozen=True, slots=True, order=True)
class Said:
    """A rule at a line of a file."""

    file: str
    line: int
    rule: str
    note: bool


def snippets() -> list[Path]:
    return sorted(path for path in CORPUS.rglob("*") if path.is_file())


def labels(path: Path) -> list[Said]:
    """What a file says should be found in it."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match = _LABEL.search(line)
        if match:
            for one in match[1].split(","):
                rule, _, note = one.strip().partition(" ")
                found.append(Said(name_of(path), number, rule, note == "note"))
    return found


def name_of(path: Path) -> str:
    return path.relative_to(CORPUS).as_posix()


def told() -> list[Said]:
    """What the audit finds. Each file is looked at on its own."""
    found = []
    for path in snippets():
        result = audit([path], Settings(), jobs=1)
        found += [Said(name_of(path), f.place.line, f.rule, f.level.value == "note") for f in result.findings]
    return found


@dataclass(slots=True)
class Score:
    """What was found and wanted, found and not wanted, wanted and not found."""

    right: list[Said]
    false: list[Said]
    missed: list[Said]

    @property
    def precision(self) -> float:
        return len(self.right) / max(1, len(self.right) + len(self.false))

    @property
    def recall(self) -> float:
        return len(self.right) / max(1, len(self.right) + len(self.missed))


def score() -> Score:
    """Every finding must meet a label on its line or just above; notes only labels for notes."""
    wanted = [label for path in snippets() for label in labels(path)]
    right: list[Said] = []
    false: list[Said] = []
    for one in told():
        met = next(
            (
                label
                for label in wanted
                if label.file == one.file
                and label.rule == one.rule
                and label.note == one.note
                and one.line - 2 <= label.line <= one.line
            ),
            None,
        )
        if met is None:
            false.append(one)
        else:
            wanted.remove(met)
            right.append(one)
    return Score(right, false, wanted)
