"""What a change of the source's schema leads to, under each policy."""

from __future__ import annotations

from typing import Any

import pytest

from samewise.core.schema import Column, Schema
from samewise.core.shapes import Shape
from samewise.plan.drift import ChangeKind
from samewise.plan.policy import Policy
from samewise.plan.verdict import (
    Verdict,
    can_cast,
    common_contract,
    decide,
    declared_contract,
    policy_hint,
    refusal_text,
)

CONTRACT = Schema.of([("id", "bigint"), ("amount", "decimal(12,2)"), ("status", "string")])


def footer(*columns: tuple[str, str], file: str = "1.parquet") -> Shape:
    return Shape(Schema.of(columns), (file,))


def header(names: str, file: str = "1.csv", in_path: Schema | None = None) -> Shape:
    types = {column.name: column.type for column in CONTRACT}
    columns = Schema.of([(name, types.get(name, "string")) for name in names.split(",")])
    return Shape(columns, (file,), in_path or Schema(()), is_header=True)


SAME = footer(("id", "bigint"), ("amount", "decimal(12,2)"), ("status", "string"))
ADDED = footer(("id", "bigint"), ("amount", "decimal(12,2)"), ("status", "string"), ("note", "int"), file="2.parquet")
REMOVED = footer(("id", "bigint"), ("status", "string"), file="3.parquet")
WIDENED = footer(("id", "bigint"), ("amount", "decimal(14,2)"), ("status", "string"), file="4.parquet")
RENAMED = footer(("id", "bigint"), ("betrag", "decimal(12,2)"), ("status", "string"), file="5.parquet")


def judged(*shapes: Shape, contract: Schema = CONTRACT, **policy: Any) -> Verdict:
    return decide(contract, shapes, Policy(**policy))


def taken(verdict: Verdict, at: int = 0) -> dict[str, str | None]:
    """Which of the source's columns each column of the contract is taken from."""
    return {t.column.name: None if t.found is None else t.found.name for t in verdict.fits[at]}


def refused(verdict: Verdict) -> list[tuple[ChangeKind, str]]:
    assert verdict.fits == () or not verdict.is_refused
    return [(change.kind, change.column) for difference in verdict.differences for change in difference.refused]


def test_what_is_as_accepted_is_read_as_it_is() -> None:
    verdict = judged(SAME)
    assert (refused(verdict), verdict.contract, verdict.differences) == ([], CONTRACT, ())
    assert taken(verdict) == {"id": "id", "amount": "amount", "status": "status"}


@pytest.mark.parametrize(
    ("shape", "changes"),
    [
        (ADDED, [(ChangeKind.ADDED, "note")]),
        (REMOVED, [(ChangeKind.REMOVED, "amount")]),
        (WIDENED, [(ChangeKind.TYPE_CHANGED, "amount")]),
        (RENAMED, [(ChangeKind.REMOVED, "amount"), (ChangeKind.ADDED, "betrag")]),
        (header("id,status,amount"), [(ChangeKind.MOVED, "status")]),
    ],
)
def test_without_a_policy_every_change_is_refused(shape: Shape, changes: list[tuple[ChangeKind, str]]) -> None:
    assert sorted(refused(judged(shape))) == sorted(changes)


def test_a_shape_in_the_middle_is_refused_and_its_file_named() -> None:
    verdict = judged(SAME, RENAMED, footer(*[(c.name, c.type) for c in CONTRACT], file="9.parquet"))
    assert [difference.places for difference in verdict.differences] == [("5.parquet",)]
    assert refusal_text(verdict).splitlines()[0] == "5.parquet"


def test_one_refused_shape_leaves_no_way_to_read_the_others() -> None:
    assert judged(SAME, REMOVED).fits == ()


# added


def test_a_new_column_that_is_ignored_is_not_read() -> None:
    verdict = judged(ADDED, added="ignore")
    assert (verdict.contract, "note" in taken(verdict)) == (CONTRACT, False)


def test_a_new_column_that_is_let_in_belongs_to_the_contract_from_then_on() -> None:
    strict = Shape(Schema((*CONTRACT.columns, Column("note", "int", nullable=False))), ("t",))
    assert judged(strict, added="add").contract.columns[-1] == Column("note", "int", nullable=True, optional=True)


def test_files_that_lack_a_column_which_came_later_read_it_as_null() -> None:
    verdict = judged(SAME, ADDED, added="add")
    assert [taken(verdict, at)["note"] for at in (0, 1)] == [None, "note"]


def test_a_replay_of_files_from_before_a_column_came_is_no_drift() -> None:
    contract = judged(ADDED, added="add").contract
    verdict = judged(SAME, contract=contract)
    assert (refused(verdict), taken(verdict)["note"]) == ([], None)


def test_a_column_that_came_later_may_lie_anywhere_in_a_header() -> None:
    contract = judged(header("id,note,amount,status"), added="add").contract
    assert refused(judged(header("id,note,amount,status"), contract=contract)) == []


def test_two_files_that_bring_a_new_column_with_different_types_are_refused() -> None:
    other = footer(*[(c.name, c.type) for c in CONTRACT], ("note", "string"), file="6.parquet")
    assert refused(judged(ADDED, other, added="add")) == [(ChangeKind.TYPE_CHANGED, "note")]


@pytest.mark.parametrize("name", ["", " ", "_samewise_window"])
def test_a_new_column_without_a_usable_name_is_never_let_in(name: str) -> None:
    verdict = judged(footer(*[(c.name, c.type) for c in CONTRACT], (name, "int")), added="add")
    assert (len(refused(verdict)), policy_hint(verdict)) == (1, None)


@pytest.mark.parametrize("policy", ["add", "ignore"])
def test_a_name_that_comes_twice_is_never_guessed_at(policy: str) -> None:
    verdict = judged(header("id,amount,status,amount"), added=policy)
    assert refused(verdict) == [(ChangeKind.ADDED, "amount")]
    assert "two columns are called amount" in refusal_text(verdict)


# removed


def test_a_missing_column_that_is_ignored_is_null() -> None:
    assert taken(judged(REMOVED, removed="ignore"))["amount"] is None


# type


@pytest.mark.parametrize("found", ["decimal(14,2)", "decimal(10,0)", "double", "string"])
def test_another_type_that_is_ignored_is_cast_to_the_accepted_one(found: str) -> None:
    verdict = judged(footer(("id", "bigint"), ("amount", found), ("status", "string")), type="ignore")
    (cast,) = [t for t in verdict.fits[0] if t.casts]
    assert (cast.column.type, cast.found and cast.found.type) == ("decimal(12,2)", found)


@pytest.mark.parametrize(
    ("found", "accepted", "can"),
    [
        ("bigint", "int", True),
        ("timestamp", "date", True),
        ("string", "timestamp", True),
        ("boolean", "int", True),
        ("bigint", "timestamp", False),
        ("date", "int", False),
        ("struct<a:int,b:int>", "struct<b:int,a:int>", False),
        ("array<int>", "array<bigint>", False),
        ("variant", "string", False),
        ("string", "binary", True),
    ],
)
def test_only_types_whose_values_can_be_compared_are_cast(found: str, accepted: str, can: bool) -> None:
    assert can_cast(found, accepted) is can


def test_a_struct_whose_fields_changed_is_refused_whatever_the_policy() -> None:
    contract = Schema.of([("s", "struct<a:int,b:int>")])
    verdict = judged(footer(("s", "struct<b:int,a:int>")), contract=contract, type="ignore")
    assert (refused(verdict), policy_hint(verdict)) == ([(ChangeKind.TYPE_CHANGED, "s")], None)


# nullability


@pytest.mark.parametrize(("policy", "refusals"), [("fail", 1), ("ignore", 0)])
def test_a_column_that_may_be_null_now(policy: str, refusals: int) -> None:
    contract = Schema((Column("id", "bigint", nullable=False),))
    assert len(refused(judged(footer(("id", "bigint")), contract=contract, nullability=policy))) == refusals


# order


def test_a_moved_column_that_is_ignored_is_found_by_its_name() -> None:
    assert taken(judged(header("status,id,amount"), order="ignore")) == {
        "id": "id",
        "amount": "amount",
        "status": "status",
    }


def test_a_column_that_the_folders_name_has_not_moved() -> None:
    assert refused(judged(header("id,status", in_path=Schema.of([("amount", "decimal(12,2)")])))) == []


def test_a_new_column_in_the_middle_moves_no_other() -> None:
    assert refused(judged(header("id,note,amount,status"), added="ignore")) == []


# rename


def test_a_declared_rename_is_read_under_the_accepted_name() -> None:
    verdict = judged(SAME, RENAMED, rename={"amount": "Betrag"})
    assert (refused(verdict), verdict.contract) == ([], CONTRACT)
    assert [taken(verdict, at)["amount"] for at in (0, 1)] == ["amount", "betrag"]


def test_a_file_with_both_names_of_a_renamed_column_is_refused() -> None:
    both = footer(*[(c.name, c.type) for c in CONTRACT], ("betrag", "decimal(12,2)"))
    assert refused(judged(both, added="ignore", rename={"amount": "betrag"})) == [(ChangeKind.ADDED, "betrag")]


def test_a_likely_rename_is_worded_and_not_mapped() -> None:
    verdict = judged(RENAMED)
    assert "betrag looks like amount under a new name" in refusal_text(verdict)
    assert policy_hint(verdict) == "source.drift: {rename: {amount: betrag}}"


def test_a_likely_rename_is_not_mapped_where_both_changes_may_pass() -> None:
    verdict = judged(RENAMED, added="ignore", removed="ignore")
    assert taken(verdict)["amount"] is None


def test_a_likely_rename_in_a_header_is_told_without_its_type() -> None:
    assert policy_hint(judged(header("id,betrag,status"))) == "source.drift: {rename: {amount: betrag}}"


# What to begin with


def test_files_that_differ_from_each_other_have_no_common_contract() -> None:
    shapes = [SAME, RENAMED]
    assert decide(common_contract(shapes, Policy()), shapes, Policy()).is_refused


def test_a_policy_makes_one_contract_of_files_that_differ() -> None:
    shapes = [ADDED, SAME]
    by_policy = {
        name: common_contract(shapes, policy).names
        for name, policy in (("removed", Policy(removed="ignore")), ("added", Policy(added="ignore")))
    }
    assert by_policy == {"removed": ("id", "amount", "status", "note"), "added": ("id", "amount", "status")}


@pytest.mark.parametrize("shapes", [[ADDED, SAME], [SAME, ADDED]])
@pytest.mark.parametrize("policy", [Policy(added="add"), Policy(added="ignore"), Policy(removed="ignore")])
def test_the_order_of_the_files_does_not_decide_whether_they_are_refused(shapes: list[Shape], policy: Policy) -> None:
    assert not decide(common_contract(shapes, policy), shapes, policy).is_refused


def test_a_declared_schema_keeps_the_columns_that_were_let_in() -> None:
    stored = Schema((Column("gone", "int"), Column("note", "string", optional=True)))
    assert declared_contract(CONTRACT, stored).names == ("id", "amount", "status", "note")


# What a person reads


def test_the_refusal_fits_eighty_columns_and_shows_a_few_files() -> None:
    names = [f"landing/2026-04-25/part-{number}.parquet" for number in range(9)]
    shapes = [Shape(RENAMED.schema, tuple(names)), *[footer((f"c{n}", "int"), file=f"{n}.parquet") for n in range(6)]]
    lines = refusal_text(judged(*shapes)).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[2] == "… and 7 more like them"
    assert lines[-1] == "… and 4 more with other differences"


def test_the_hint_names_every_key_that_is_needed() -> None:
    strict = Schema((*CONTRACT.columns, Column("at", "date", nullable=False)))
    shapes = [footer(("id", "int"), ("status", "string"), ("at", "date"), ("note", "int"))]
    hint = policy_hint(decide(strict, shapes, Policy()))
    assert hint == "source.drift: {type: ignore, removed: ignore, nullability: ignore, added: add}"
