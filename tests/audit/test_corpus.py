"""How right the audit is, on the labelled corpus.

`wild` was labelled by reading what the audit said of it. Of `blind` the rules were labelled before the code was
written, the lines and the notes afterwards; so too of `blind3`, by someone who had not seen the others, and what is
still missed there is labelled as well. `blind4` holds, in other words, what published packages taught.
"""

from __future__ import annotations

from collections import Counter

import pytest

from samewise.audit.config import Settings
from samewise.audit.engine import audit
from samewise.audit.finding import Level
from samewise.audit.rules import RULES
from tests.audit.corpus_labels import CORPUS, Score, labels, score, snippets

_WANTED_PRECISION = 0.97
_WANTED_RECALL = 0.9


@pytest.fixture(scope="module")
def scored() -> Score:
    return score()


def test_precision_and_recall(scored: Score, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(
            f"\naudit corpus: {len(snippets())} snippets, {len(scored.right)} found as labelled, "
            f"{len(scored.false)} false, {len(scored.missed)} missed: "
            f"precision {scored.precision:.3f}, recall {scored.recall:.3f}"
        )
    assert scored.precision >= _WANTED_PRECISION, scored.false
    assert scored.recall >= _WANTED_RECALL, scored.missed


def test_what_published_code_taught_is_kept_to_the_letter(scored: Score) -> None:
    """Each of these files is one lesson, so none may be lost among the others."""
    taught = ("blind4/", "accumulate/")
    assert [one for one in scored.false if one.file.startswith(taught)] == []
    assert [one for one in scored.missed if one.file.startswith(taught)] == []


def test_there_are_enough_snippets() -> None:
    assert len(snippets()) >= 150


@pytest.mark.parametrize("rule", [rule.id for rule in RULES])
def test_a_rule_has_unsafe_snippets_and_safe_ones_beside_them(rule: str) -> None:
    unsafe = [path for path in snippets() if any(label.rule == rule for label in labels(path))]
    assert unsafe
    beside = {path.parent for path in unsafe}
    assert any(path.parent in beside and not labels(path) for path in snippets())


def test_what_is_not_sure_is_never_more_than_a_note() -> None:
    result = audit([CORPUS], Settings(), jobs=1)
    assert {finding.level for finding in result.findings if finding.unsure} == {Level.NOTE}


def test_every_snippet_can_be_read() -> None:
    assert audit([CORPUS], Settings(), jobs=1).problems == []


def test_nobody_is_labelled_twice() -> None:
    counts = Counter((label.file, label.line, label.rule) for path in snippets() for label in labels(path))
    assert max(counts.values()) == 1
