"""The report in all its forms, of one proof that has everything in it."""

from __future__ import annotations

import html.parser
import json
import re
from dataclasses import replace
from decimal import Decimal
from xml.etree import ElementTree

import pytest

from samewise.prove import report
from samewise.prove.sentences import sentence
from samewise.prove.verdict import (
    Cause,
    ColumnFigures,
    Difference,
    Figures,
    Outcome,
    Proof,
    RowExample,
    RowKind,
    Verdict,
)

EVIL = "<script>alert('1')</script>\x00"


def _figures(rows: int) -> Figures:
    columns = (
        ColumnFigures("order_id", "bigint", 0, Decimal(2 * rows), "1", "3"),
        ColumnFigures(EVIL, "string", 0, None, EVIL, EVIL),
    )
    return Figures(rows, columns, f"content-{rows}", ("order_id",), 3, rows - 3)


CLEAN, TWICE = _figures(3), _figures(6)
DOUBLED = Difference(
    CLEAN,
    TWICE,
    doubled=3,
    examples=tuple(RowExample(RowKind.DOUBLED, {"order_id": str(n), EVIL: EVIL * 9}, 2) for n in range(3)),
)
CHANGED = Difference(
    CLEAN,
    CLEAN,
    changed=1,
    changed_columns=("loaded_at",),
    examples=(RowExample(RowKind.CHANGED, {"order_id": "1", "loaded_at": "b"}, changes={"loaded_at": (None, "b")}),),
)
PROOF = Proof(
    "orders_daily",
    "delta:warehouse/orders",
    ("2026-04-25",),
    CLEAN,
    (
        Verdict("twice", "run again", Outcome.DIFFERENT, 2.1, (3, 6), TWICE, DOUBLED, Cause.APPEND),
        Verdict("killed", "a long story " * 3, Outcome.DIFFERENT, 2.1, (3, 6), TWICE, DOUBLED, Cause.APPEND),
        Verdict("killed", "at committed", Outcome.SAME, 2.1, (0, 3), CLEAN),
        Verdict(
            "shuffled", "7 partitions", Outcome.DIFFERENT, 2.1, (3,), CLEAN, CHANGED, Cause.CLOCK,
            message=sentence(Cause.CLOCK, CHANGED),
        ),
        Verdict("out of order", "", Outcome.SKIPPED, 0, message="only one date was given"),
        Verdict("empty", "", Outcome.VOID, 1, message="the kill never fired"),
        Verdict("concurrent", "two at once", Outcome.FAILED, 1, (3,), message=f"exit 1\n{EVIL}"),
    ),
    21.5,
    2.2,
    ("mail to ops",),
)  # fmt: skip
HOLDS = Proof("orders_daily", "delta:x", (), CLEAN, (PROOF.verdicts[2],), 1.0)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(len(line) for line in report.text(PROOF, width=width)) <= width


def test_the_text_says_what_differs_why_and_what_to_do_once() -> None:
    text = "\n".join(report.text(PROOF))
    assert "not the same, 5 of 6 experiments failed" in text
    assert "rows: 3 → 6" in text
    assert "doubled x2" in text
    assert "order_id=1: loaded_at NULL → b" in text
    assert text.count("the rows were added to what was there") == 1
    assert text.count("holds the time of the run") == 1
    assert "likely: append, as above" in text
    assert "out of order: skipped, only one date was given" in text


def test_a_proof_that_holds_says_so_in_its_first_line() -> None:
    assert report.text(HOLDS)[0] == "orders_daily: the same in 1 experiment out of 1"
    assert report.to_json(HOLDS)["status"] == "same"


def test_what_the_experiments_cannot_have_seen_is_noted_in_every_report() -> None:
    noted = replace(HOLDS, notes=("orders: <b>its version before these windows is gone",))
    assert "  note: orders: <b>its version before these windows is gone" in report.text(noted)
    assert report.to_json(noted)["notes"] == list(noted.notes)
    assert "Note: orders: &lt;b&gt;its version before" in report.html(noted)


def test_the_json_is_plain_data_with_exact_sums() -> None:
    body = json.loads(json.dumps(report.to_json(PROOF)))
    assert (body["schema_version"], body["holds"], body["status"]) == (1, False, "different")
    first = body["verdicts"][0]
    assert first["cause"]["name"] == "append"
    assert first["difference"]["doubled"] == 3
    assert first["figures"]["columns"][0]["total"] == "12"


def test_junit_has_a_case_for_each_experiment_and_is_well_formed_whatever_the_data_holds() -> None:
    suite = ElementTree.fromstring(report.junit(PROOF))[0]
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["7", "4", "1", "1"]
    failure = suite[0].find("failure")
    assert failure is not None
    assert failure.get("type") == "append"
    assert "doubled: order_id=0" in str(failure.text)


class _Page(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [str(value) for name, value in attrs if name in ("src", "href")]


def test_the_page_asks_for_nothing_from_outside_and_runs_nothing_from_the_data() -> None:
    text = report.html(PROOF)
    page = _Page()
    page.feed(text)
    assert "script" not in page.tags
    assert all(link.startswith(("#", "data:")) for link in page.links)
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text
    assert page.tags.count("rect") == 8
    assert "&lt;script&gt;" in text


def test_the_page_has_every_compared_figure_and_the_experiments_that_found_another() -> None:
    figures = report.html(PROOF).partition("<h2>Compared figures</h2>")[2]
    lines = [re.sub(r"<[^>]*>|\s+", " ", line).split() for line in figures.split("<tr>")[2:]]
    found = [" ".join(line) for line in lines]
    first = [text for text in found if text.startswith("order_id, sum ")]
    assert first == ["order_id, sum 6 twice, run again: 12 killed, a long story a long story a long story: 12"]
    for name in ("rows 3", "keys (order_id) 3", "keys there twice (order_id) 0", "content content-3"):
        assert any(text.startswith(name) for text in found), found
    for name in ("nulls 0 nowhere", "min 1 nowhere", "max 3 nowhere"):
        assert f"order_id, {name}" in found


def test_a_page_of_a_proof_without_a_clean_run_is_a_page_all_the_same() -> None:
    broken = Proof("job", "delta:x", (), None, (), 1.0)
    assert "the clean run already failed" in report.html(broken)
    assert "the clean run already failed" in report.junit(broken)
