"""How a schema differs from the one that was accepted."""

from __future__ import annotations

import pytest

from samewise.core.schema import Column, Schema
from samewise.plan.drift import Change, ChangeKind, contract_id, describe, schema_changes

ORDERS = Schema.of([("order_id", "bigint"), ("amount", "decimal(12,2)"), ("status", "string"), ("at", "timestamp")])


def schema(*columns: tuple[str, str]) -> Schema:
    return Schema.of(columns)


def test_an_equal_schema_has_no_changes() -> None:
    assert schema_changes(ORDERS, ORDERS, ordered=True) == []


def test_names_are_compared_without_regard_to_case() -> None:
    assert schema_changes(schema(("Id", "int")), schema(("ID", "int")), ordered=True) == []


def test_spaces_in_a_type_do_not_matter() -> None:
    assert schema_changes(schema(("a", "decimal(12,2)")), schema(("a", "decimal(12, 2)")), ordered=True) == []


def test_an_added_column_is_found() -> None:
    found = schema_changes(schema(("a", "int")), schema(("a", "int"), ("b", "string")), ordered=True)
    assert found == [Change(ChangeKind.ADDED, "b", after="string")]


def test_a_removed_column_is_found() -> None:
    found = schema_changes(schema(("a", "int"), ("b", "string")), schema(("a", "int")), ordered=True)
    assert found == [Change(ChangeKind.REMOVED, "b", before="string")]


def test_a_changed_type_is_found() -> None:
    found = schema_changes(schema(("a", "int")), schema(("A", "bigint")), ordered=False)
    assert found == [Change(ChangeKind.TYPE_CHANGED, "a", "int", "bigint")]


def test_a_column_that_became_nullable_is_found() -> None:
    strict, loose = Schema((Column("a", "int", nullable=False),)), schema(("a", "int"))
    assert schema_changes(strict, loose, ordered=True) == [Change(ChangeKind.NULLABILITY, "a", "not null", "nullable")]


def test_a_column_that_is_no_longer_nullable_is_no_change() -> None:
    strict, loose = Schema((Column("a", "int", nullable=False),)), schema(("a", "int"))
    assert schema_changes(loose, strict, ordered=True) == []


def test_a_moved_column_is_found_where_order_matters() -> None:
    moved = schema(("d", "int"), ("a", "int"), ("b", "int"), ("c", "int"))
    found = schema_changes(schema(*[(name, "int") for name in "abcd"]), moved, ordered=True)
    assert found == [Change(ChangeKind.MOVED, "d", "4", "1")]


def test_a_moved_column_is_no_change_where_order_does_not_matter() -> None:
    assert schema_changes(schema(("a", "int"), ("b", "int")), schema(("b", "int"), ("a", "int")), ordered=False) == []


def test_a_new_column_in_the_middle_moves_none() -> None:
    found = schema_changes(
        schema(("a", "int"), ("b", "int")), schema(("a", "int"), ("x", "string"), ("b", "int")), ordered=True
    )
    assert [change.kind for change in found] == [ChangeKind.ADDED]


def test_a_name_that_comes_twice_is_one_column_too_many() -> None:
    found = schema_changes(schema(("a", "int")), schema(("a", "int"), ("A", "int")), ordered=True)
    assert found == [Change(ChangeKind.ADDED, "A", after="int")]


@pytest.mark.parametrize("name", ["order_status", "state"])
def test_a_column_of_the_same_type_with_a_like_name_or_place_is_a_likely_rename(name: str) -> None:
    columns = [(name if c.name == "status" else c.name, c.type) for c in ORDERS]
    found = schema_changes(ORDERS, schema(*columns), ordered=True)
    assert [(change.column, change.likely_rename_of) for change in found] == [
        ("status", None),
        (name, "status"),
    ]


def test_a_column_of_another_type_is_no_rename() -> None:
    found = schema_changes(schema(("status", "string")), schema(("statuses", "int")), ordered=True)
    assert [change.likely_rename_of for change in found] == [None, None]


def test_a_removed_column_is_the_old_name_of_one_new_column_only() -> None:
    found = schema_changes(
        schema(("name", "string")), schema(("name_1", "string"), ("name_22", "string")), ordered=True
    )
    assert [change.likely_rename_of for change in found] == [None, "name", None]


def test_the_description_is_an_aligned_table() -> None:
    observed = schema(("order_id", "string"), ("amount", "decimal(12,2)"), ("state", "string"), ("at", "timestamp"))
    assert describe(schema_changes(ORDERS, observed, ordered=True)).splitlines() == [
        "change        column    was     is",
        "type changed  order_id  bigint  string",
        "removed       status    string  -",
        "added         state     -       string",
        "  state looks like status under a new name",
    ]


def test_the_description_fits_eighty_columns() -> None:
    long = "struct<" + ",".join(f"field_{number}:string" for number in range(30))
    before, after = schema(("c" * 60, long + ">")), schema(("c" * 60, long + ",last:int>"), ("d" * 60, long))
    assert max(map(len, describe(schema_changes(before, after, ordered=True)).splitlines())) <= 80


def test_the_description_shows_where_two_long_types_differ() -> None:
    long = "struct<" + ",".join(f"field_{number}:string" for number in range(30))
    text = describe(schema_changes(schema(("a", long + ",z:int>")), schema(("a", long + ",z:date>")), ordered=True))
    assert [shown in text for shown in ("z:int>", "z:date>")] == [True, True]


def test_no_changes_are_described_as_such() -> None:
    assert describe([]) == "no changes"


def test_the_id_of_a_contract_stays_the_same() -> None:
    assert contract_id(ORDERS) == "3d0456381419b52d272b3817d7ce760113676e1ccbd57769ac51515fbd32bf71"


def test_the_id_of_a_contract_does_not_depend_on_the_case_of_names() -> None:
    assert contract_id(schema(("Id", "INT"))) == contract_id(schema(("id", "int")))


@pytest.mark.parametrize(
    "other",
    [
        schema(("a", "int")),
        schema(("b", "string"), ("a", "int")),
        schema(("a", "bigint"), ("b", "string")),
        Schema((Column("a", "int", nullable=False), Column("b", "string"))),
    ],
)
def test_another_schema_has_another_id(other: Schema) -> None:
    assert contract_id(other) != contract_id(schema(("a", "int"), ("b", "string")))
