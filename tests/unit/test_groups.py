"""What a group's commit says about each of its windows."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from samewise.core.groups import Group, Member, span_of
from samewise.core.records import Pins, Receipt, RunRecord, Stamp, TargetCommit
from samewise.core.sql import Span, Spans
from samewise.core.windows import Window
from samewise.plan.unchanged import Reason, why_due

START = datetime(2026, 4, 1, tzinfo=UTC)
DAYS = [Window(START + timedelta(days=n), START + timedelta(days=n + 1)) for n in range(5)]


def _stamp(*members: int) -> Stamp:
    return Stamp(
        store_id="s",
        run_id="group",
        attempt_id="a",
        pipeline="p",
        task="load",
        window=span_of([DAYS[n] for n in members]),
        generation=4,
        definition="d",
        fingerprint="",
        contract="c",
        run_ts=START,
        members=tuple(Member(DAYS[n], f"run{n}", n + 1, f"f{n}", {"rows": n}, n) for n in members),
    )


def _receipt(number: int, version: int) -> Receipt:
    return Receipt(f"run{number}", "p", "load", DAYS[number], number + 1, "t", version, "d", f"f{number}", "c", None)


def _why(receipt: Receipt, *commits: TargetCommit) -> list[Reason]:
    return why_due(receipt, definition="d", fingerprint=receipt.fingerprint, target_exists=True, commits=commits)


def _commit(version: int, stamp: Stamp | None) -> TargetCommit:
    return TargetCommit(version, START, "WRITE", True, stamp)


def test_a_stamp_survives_being_written_down() -> None:
    stamp = _stamp(1, 2, 3)
    assert Stamp.parse(stamp.text) == stamp


def test_a_groups_commit_is_one_of_each_of_its_windows() -> None:
    parts = _stamp(1, 2).parts
    told = [(part.window, part.run_id, part.generation, part.fingerprint, part.rows_read) for part in parts]
    assert told == [(DAYS[1], "run1", 2, "f1", 1), (DAYS[2], "run2", 3, "f2", 2)]
    assert [part.app_id for part in parts] == [f"samewise/p/load/{DAYS[n].key}" for n in (1, 2)]


def test_a_groups_token_is_not_that_of_a_window_of_the_same_span() -> None:
    stamp = _stamp(0, 1)
    assert stamp.app_id != replace(stamp, members=()).app_id
    record = RunRecord("r", "p", "load", DAYS[0], 7, "t", "d", START, Pins("files", "f", ""))
    member = replace(record, group=Group("group", stamp.window, 4))
    assert (member.app_id, member.token, member.commit_id) == (stamp.app_id, 4, "group")
    assert (record.token, record.commit_id) == (7, "r")


def test_windows_with_one_between_them_are_no_group() -> None:
    with pytest.raises(ValueError, match="neighbours"):
        span_of([DAYS[0], DAYS[2]])


def test_a_window_is_unchanged_while_its_groups_commit_is_the_last_that_touched_it() -> None:
    group = _commit(5, _stamp(1, 2, 3))
    assert _why(_receipt(2, 5), group) == []
    assert _why(_receipt(2, 5), group, _commit(6, _stamp(0, 1))) == []
    assert _why(_receipt(2, 5), group, _commit(6, _stamp(2, 3))) == [Reason.TARGET]
    assert _why(_receipt(2, 5), _commit(5, _stamp(0, 1))) == [Reason.TARGET]


def test_the_predicate_of_neighbours_is_one_span_and_tells_each_from_the_next() -> None:
    spans = Spans((Span("d", date(2026, 4, 1), date(2026, 4, 2)), Span("d", date(2026, 4, 2), date(2026, 4, 3))))
    assert spans.sql == "`d` >= DATE'2026-04-01' AND `d` < DATE'2026-04-03'"
    assert "element_at(array(DATE'2026-04-01', DATE'2026-04-02'), n + 1)" in spans.at("n")
    marked = Spans((Span("w", "one"), Span("w", "two")))
    assert marked.sql == "`w` IN ('one', 'two')"
