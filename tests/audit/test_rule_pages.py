"""Every rule has a page; its bad example gives the finding, its good one passes, and so does the fix."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from samewise.audit.config import Settings
from samewise.audit.engine import audit
from samewise.audit.finding import Edit, Finding
from samewise.audit.pages import page
from samewise.audit.rules import BY_ID, RULES

_BLOCK = re.compile(r"^## (Bad|Good)\n\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ALWAYS_UNSURE = {"SW404"}
_IDS = [rule.id for rule in RULES]


def example(rule: str, which: str) -> tuple[str, str]:
    """(suffix, text) of an example."""
    text = page(rule)
    assert text is not None
    found = {kind: (language, body) for kind, language, body in _BLOCK.findall(text)}
    language, body = found[which]
    return {"python": ".py", "sql": ".sql"}[language], body


def findings(folder: Path, suffix: str, text: str) -> list[Finding]:
    file = folder / f"example{suffix}"
    file.write_text(text, encoding="utf-8")
    result = audit([file], Settings(), jobs=1)
    assert not result.problems
    return result.findings


def applied(text: str, edits: tuple[Edit, ...]) -> str:
    """The text with the edits made, the last one first so that lines keep their numbers."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda one: -one.first):
        lines[edit.first - 1 : edit.last] = edit.lines
    return "\n".join(lines)


@pytest.mark.parametrize("rule", _IDS)
def test_the_page_begins_with_the_rule(rule: str) -> None:
    text = page(rule)
    assert text is not None
    assert text.splitlines()[0] == f"# {rule}: {BY_ID[rule].title}"


def test_there_is_no_page_without_a_rule() -> None:
    pages = Path(__file__).parents[2] / "docs" / "rules"
    assert sorted(file.stem for file in pages.glob("*.md")) == sorted(_IDS)


@pytest.mark.parametrize("rule", _IDS)
def test_the_bad_example_is_found(rule: str, tmp_path: Path) -> None:
    found = findings(tmp_path, *example(rule, "Bad"))
    assert rule in {finding.rule for finding in found if finding.level.value != "note" or rule in _ALWAYS_UNSURE}


@pytest.mark.parametrize("rule", _IDS)
def test_the_good_example_passes(rule: str, tmp_path: Path) -> None:
    assert findings(tmp_path, *example(rule, "Good")) == []


@pytest.mark.parametrize("rule", _IDS)
def test_the_fix_gives_code_that_passes(rule: str, tmp_path: Path) -> None:
    suffix, text = example(rule, "Bad")
    finding = next(one for one in findings(tmp_path, suffix, text) if one.rule == rule)
    assert finding.fix.edits, finding.fix.text
    mended = applied(text, finding.fix.edits)
    assert [(one.rule, one.message) for one in findings(tmp_path, suffix, mended)] == [], mended
