"""`source.drift`: policies that cannot fit the source are found before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.spec import ORDERS, load, problems


def drifting(drift: str, format: str = "csv") -> dict[str, str]:
    text = ORDERS.replace("format: csv", f"format: {format}\n  drift: {drift}")
    return {"pipelines/orders.yaml": text}


@pytest.mark.parametrize(
    ("drift", "format"),
    [
        ("{added: add, removed: ignore, order: ignore, rename: {amount: betrag}}", "csv"),
        ("{added: ignore, removed: ignore, type: ignore, rename: {amount: betrag}}", "parquet"),
        ("{added: fail, type: fail}", "json"),
    ],
)
def test_policies_that_fit_are_fine(tmp_path: Path, drift: str, format: str) -> None:
    assert load(tmp_path, drifting(drift, format)).pipelines


@pytest.mark.parametrize(
    ("drift", "format", "says"),
    [
        ("{order: ignore}", "parquet", "8: source.drift.order: parquet files are read by name"),
        ("{type: ignore}", "csv", "8: source.drift.type: CSV files do not say"),
        ("{nullability: ignore}", "orc", "8: source.drift.nullability: every column of orc files may be NULL"),
        ("{added: add}", "json", "8: source.drift: JSON files do not say"),
        ("{added: add}\n  header: false", "csv", "8: source.drift: CSV without a header does not say"),
        ("{added: maybe}", "csv", "unknown way to treat a new column 'maybe'"),
        ("{addd: add}", "csv", "unknown key, did you mean 'added'?"),
        ("{rename: {amnt: betrag}}", "csv", "the schema has no column 'amnt', did you mean 'amount'?"),
        ("{rename: {amount: order_id}}", "csv", "'order_id' is a column of the schema itself"),
        ("{rename: {amount: x, order_id: X}}", "csv", "'X' is the new name of 'amount' already"),
        ("{rename: {amount: x, x: y}}", "parquet", "'x' is an old name here too"),
        ("{rename: {amount: x, Amount: y}}", "parquet", "two old names differ only in upper and lower case"),
    ],
)
def test_a_policy_that_cannot_fit_is_refused(tmp_path: Path, drift: str, format: str, says: str) -> None:
    assert says in "\n".join(problems(tmp_path, drifting(drift, format)))


def test_the_order_of_a_tables_columns_has_no_policy(tmp_path: Path) -> None:
    text = ORDERS[: ORDERS.index("source:")] + (
        "source: {type: delta, table: raw, drift: {order: ignore}}\n"
        "target: {type: delta, table: orders}\n"
        "write: {strategy: replace_window}\n"
    )
    (found,) = problems(tmp_path, {"pipelines/orders.yaml": text})
    assert "source.drift.order: a Delta table is read by name" in found


def test_a_policy_is_part_of_the_definition_and_its_absence_is_not(tmp_path: Path) -> None:
    def definition(files: dict[str, str]) -> str:
        (pipeline,) = load(tmp_path, files).pipelines.values()
        return pipeline.definition_json(pipeline.tasks[0])

    plain = definition({"pipelines/orders.yaml": ORDERS})
    assert "drift" not in plain
    assert definition(drifting("{added: fail}")) == plain
    assert definition(drifting("{added: add}")) != plain
