"""Why a loaded window must be loaded again, or need not be."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from samewise.core.records import Receipt, Stamp, TargetCommit
from samewise.plan.unchanged import STALE, Reason, why_due
from tests.support.state import a_receipt, a_run, day

RUN = a_run()
RECEIPT = a_receipt(RUN, table_id="t1")
AT = datetime(2026, 4, 26, tzinfo=UTC)


def commit(
    run_id: str = RUN.run_id, *, window: int = 25, changes_data: bool = True, ours: bool = True, version: int = 3
) -> TargetCommit:
    stamp = Stamp("s", run_id, "a", RUN.pipeline, RUN.task, day(window), 1, "d1", "f", "c1", AT)
    return TargetCommit(version, AT, "WRITE", changes_data, stamp if ours else None)


def reasons(receipt: Receipt | None = RECEIPT, **changes: Any) -> list[Reason]:
    same: dict[str, Any] = {
        "definition": RECEIPT.definition,
        "fingerprint": RECEIPT.fingerprint,
        "target_exists": True,
        "commits": [commit()],
        "contract": RECEIPT.contract,
        "table_id": "t1",
    }
    return why_due(receipt, **{**same, **changes})


def test_nothing_is_due_where_everything_is_as_the_receipt_says() -> None:
    assert reasons() == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"definition": "d2"}, Reason.DEFINITION),
        ({"fingerprint": "f2"}, Reason.SOURCE),
        ({"contract": "c2"}, Reason.CONTRACT),
        ({"target_exists": False}, Reason.TARGET_GONE),
        ({"commits": None}, Reason.LOG_TRUNCATED),
        ({"table_id": "t2"}, Reason.TARGET),
        ({"commits": []}, Reason.TARGET),
        ({"commits": [commit("another")]}, Reason.TARGET),
        ({"commits": [commit(), commit(ours=False)]}, Reason.TARGET),
        ({"commits": [commit(), commit("another")]}, Reason.TARGET),
    ],
)
def test_each_difference_is_a_reason(changes: dict[str, Any], reason: Reason) -> None:
    assert reasons(**changes) == [reason]


def test_every_difference_is_told() -> None:
    found = reasons(definition="d2", fingerprint="f2", contract="c2", target_exists=False)
    assert found == [Reason.DEFINITION, Reason.SOURCE, Reason.CONTRACT, Reason.TARGET_GONE]


def test_every_difference_has_a_word_on_the_command_line() -> None:
    told = {reason for kind in STALE.values() for reason in kind}
    assert told == set(Reason) - {Reason.NEVER_LOADED, Reason.FORCED}


def test_a_commit_of_another_window_leaves_this_one_as_it_was() -> None:
    assert reasons(commits=[commit(), commit("another", window=26)]) == []


def test_a_commit_that_changes_no_row_leaves_the_window_as_it_was() -> None:
    assert reasons(commits=[commit(), commit("another", changes_data=False)]) == []


def test_an_older_contract_is_no_matter_where_nobody_asks() -> None:
    assert reasons(contract=None) == []


def test_a_receipt_that_knows_no_contract_is_not_of_an_older_one() -> None:
    assert reasons(a_receipt(RUN, contract=None), contract="c2") == []


def test_a_run_that_had_nothing_to_write_has_no_commit_of_its_own() -> None:
    wrote_nothing = a_receipt(RUN, wrote=False, table_id="t1")
    assert reasons(wrote_nothing, commits=[commit("another")]) == []
    assert reasons(wrote_nothing, commits=[commit("another"), commit(ours=False)]) == [Reason.TARGET]


def test_what_others_did_between_the_comparison_and_the_commit_is_not_buried_by_the_commit() -> None:
    compared = a_receipt(RUN, seen_version=1, table_id="t1")
    assert compared.known_up_to == 1
    theirs, earlier = commit(ours=False, version=2), commit("earlier", window=24, version=2)
    assert reasons(compared, commits=[theirs, commit()], keyed=True) == [Reason.TARGET]
    assert reasons(compared, commits=[earlier, commit()], keyed=True) == []
    assert reasons(compared, commits=[earlier], keyed=True) == [Reason.TARGET], "its own commit is not there"


def test_a_run_that_had_nothing_to_write_answers_for_the_version_that_it_was_compared_with_and_no_later_one() -> None:
    wrote_nothing = a_receipt(RUN, wrote=False, seen_version=2, target_version=3, table_id="t1")
    assert wrote_nothing.known_up_to == 2
    assert reasons(wrote_nothing, commits=[]) == []
    assert reasons(wrote_nothing, commits=[commit(ours=False)]) == [Reason.TARGET]


def test_a_receipt_of_before_answers_for_everything_up_to_its_commit() -> None:
    assert a_receipt(RUN).known_up_to == 2


def test_a_window_without_a_receipt_was_never_loaded() -> None:
    assert reasons(None) == [Reason.NEVER_LOADED]
