"""Keys that are made at processing time, in the text of recorded plans; more kinds are in acceptance/test_made_keys."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from samewise.plan.key_plan import keys_made_in_plan, printed_instant

PLANS = json.loads(Path(__file__).with_name("spark_plans.json").read_text(encoding="utf-8"))["impure"]
CALLS = [name for name in PLANS if name.startswith("SELECT ")]


def found(plan: str, column: str) -> list[tuple[str, str]]:
    return keys_made_in_plan(plan, "CollectMetrics", key=[column], version_by=[], run_ts=[])


@pytest.mark.parametrize("sql", CALLS)
def test_every_function_that_is_refused_in_a_select_is_found_as_a_key(sql: str) -> None:
    ((role, sentence),) = found(PLANS[sql]["plan"], "C")
    (name,) = PLANS[sql]["found"]
    assert role == "key"
    assert sentence.startswith(f"the key C is made of {name}(): ")


def test_a_function_that_decides_which_rows_there_are_is_in_no_key() -> None:
    plan = PLANS["a function in WHERE"]["plan"]
    columns = plan.partition("== Analyzed Logical Plan ==\n")[2].partition("\n")[0].split(", ")
    assert [made for column in columns for made in found(plan, column.partition(":")[0])] == []


def test_a_text_that_is_no_plan_has_no_keys() -> None:
    assert found("", "k") == []
    assert found("== Analyzed Logical Plan ==\nk: int\n)](#1 AS [", "k") == []


def test_an_instant_is_printed_as_spark_and_as_python_do() -> None:
    at = datetime(2026, 4, 26, 3, 0, 0, 120000, tzinfo=UTC)
    assert printed_instant(at, ZoneInfo("Europe/Berlin")) == [
        "2026-04-26 05:00:00.12",
        "2026-04-26T03:00:00.120000+00:00",
    ]
    assert printed_instant(at.replace(microsecond=0), ZoneInfo("UTC"))[0] == "2026-04-26 03:00:00"
