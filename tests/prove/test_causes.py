"""Evidence in, cause out. No Spark: a difference is plain data."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from samewise.prove import causes
from samewise.prove.verdict import Cause, ColumnFigures, Difference, Figures, RowExample, RowKind

NOW = datetime(2026, 4, 25, 10, 0, tzinfo=UTC)


def _figures(rows: int = 4, type_: str = "string", total: int | None = None, duplicates: int = 0) -> Figures:
    columns = (
        ColumnFigures("id", "bigint", 0),
        ColumnFigures("c", type_, 0, None if total is None else Decimal(total)),
    )
    return Figures(rows, columns, "x", ("id",), rows, duplicates)


def _changed(
    clean: str, found: str, type_: str = "string", totals: tuple[int | None, int | None] = (None, None)
) -> Difference:
    example = RowExample(RowKind.CHANGED, {"id": "1", "c": found}, changes={"c": (clean, found)})
    return Difference(
        _figures(type_=type_, total=totals[0]),
        _figures(type_=type_, total=totals[1]),
        changed=4,
        changed_columns=("c",),
        examples=(example,),
    )


def _doubled(count: int, **values: str | None) -> Difference:
    row = RowExample(RowKind.DOUBLED, {"id": "1", **values}, times=2)
    return Difference(_figures(), _figures(4 + count, duplicates=count), doubled=count, examples=(row,))


UUIDS = ("0b0f2f0e-3c1a-4c55-9d2e-0a8d1f6f0001", "7c5a1f0e-3c1a-4c55-9d2e-0a8d1f6f0002")


@pytest.mark.parametrize(
    ("difference", "asked", "cause"),
    [
        (_doubled(4), {"experiment": "twice"}, Cause.APPEND),
        (_doubled(2), {"experiment": "killed", "before_rows": 0}, Cause.HALF_WRITTEN),
        (_doubled(4), {"experiment": "killed", "before_rows": 0}, Cause.APPEND),
        (_doubled(1), {"experiment": "twice", "strategy": "merge"}, Cause.DUPLICATE_KEYS),
        (_doubled(1, id=None), {"experiment": "twice"}, Cause.DUPLICATE_KEYS),
        (_doubled(1), {"experiment": "twice", "effects": True}, Cause.EFFECT_PER_RUN),
        (_changed("2026-04-25 09:59:00Z", "2026-04-25 10:00:01Z", "timestamp"), {"experiment": "twice"}, Cause.CLOCK),
        (_changed("1777111140", "1777111201", "bigint"), {"experiment": "twice"}, Cause.CLOCK),
        (_changed("1777111140000", "1777111201000"), {"experiment": "shuffled"}, Cause.CLOCK),
        (_changed(*UUIDS), {"experiment": "twice"}, Cause.GENERATED_KEY),
        (_changed("0.30000000000000004", "0.3", "double"), {"experiment": "shuffled"}, Cause.DOUBLE_SUM),
        (_changed("1.5", "2.5", "double"), {"experiment": "shuffled"}, Cause.TIE),
        (_changed("new", "paid"), {"experiment": "shuffled"}, Cause.TIE),
        (_changed("paid", "new"), {"experiment": "out of order"}, Cause.OLD_OVER_NEW),
        (_changed('["a","b"]', '["b","a"]', "array<string>"), {"experiment": "shuffled"}, Cause.ORDER_DEPENDENT),
        (_changed("a", "b"), {"experiment": "twice", "sql": "SELECT collect_list(x)"}, Cause.ORDER_DEPENDENT),
        (_changed("a", "b"), {"experiment": "twice", "sql": "SELECT first(x)"}, Cause.TIE),
        (Difference(_figures(), _figures(6), extra=2), {"experiment": "empty"}, Cause.STALE_PARTITION),
        (Difference(_figures(), _figures(0), missing=4), {"experiment": "killed"}, Cause.WATERMARK_FIRST),
        (Difference(_figures(), _figures(2), missing=2), {"experiment": "killed"}, Cause.HALF_WRITTEN),
        (Difference(_figures(), _figures(2), missing=2), {"experiment": "out of order"}, Cause.OLD_OVER_NEW),
        (Difference(_figures(), _figures()), {"experiment": "twice"}, Cause.UNKNOWN),
    ],
    ids=lambda value: value.value if isinstance(value, Cause) else "",
)
def test_the_evidence_names_its_cause(difference: Difference, asked: dict[str, Any], cause: Cause) -> None:
    assert causes.likely(difference, now=NOW, **asked) is cause


def test_a_time_long_past_is_no_clock() -> None:
    difference = _changed("2025-01-01 00:00:00Z", "2025-01-02 00:00:00Z", "timestamp")
    assert causes.likely(difference, experiment="shuffled", now=NOW) is Cause.TIE


@pytest.mark.parametrize("cause", list(Cause))
def test_every_cause_has_a_sentence_that_says_what_happened_and_what_to_do(cause: Cause) -> None:
    told = causes.sentence(cause, _changed("a", "b"))
    assert ". Instead: " in told
    assert "{" not in told


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("[DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE] Cannot perform Merge", Cause.DUPLICATE_KEYS),
        ("ON CONFLICT DO UPDATE command cannot affect row a second time", Cause.DUPLICATE_KEYS),
        ('duplicate key value violates unique constraint "orders_pkey"', Cause.APPEND),
        ("division by zero", None),
    ],
)
def test_a_failure_of_a_repeated_run_tells_its_cause_where_it_can(message: str, cause: Cause | None) -> None:
    assert causes.of_failure(message) is cause
