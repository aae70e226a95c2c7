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
        (_changed("a", "b"), {"experiment": "twice", "code": "SELECT collect_list(x)"}, Cause.ORDER_DEPENDENT),
        (_changed("a", "b"), {"experiment": "twice", "code": "SELECT first(x)"}, Cause.TIE),
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


def _dealt(column: str, code: str | None = None) -> Cause:
    """The cause where a column of numbers holds the same ones, on other rows."""
    figures = Figures(4, (ColumnFigures(column, "bigint", 0, Decimal(10), "1", "4"),), "x")
    row = RowExample(RowKind.CHANGED, {column: "2"}, changes={column: ("1", "2")})
    difference = Difference(figures, figures, changed=4, changed_columns=(column,), examples=(row,))
    return causes.likely(difference, experiment="shuffled", code=code, now=NOW)


RANK = "SELECT *, row_number() OVER (ORDER BY day) AS {} FROM source"


@pytest.mark.parametrize("column", ["line_no", "position", "rank", "rn"])
def test_numbers_that_are_dealt_out_anew_are_no_tie_though_the_sql_ranks_rows(column: str) -> None:
    assert _dealt(column, RANK.format(column)) is Cause.ORDER_DEPENDENT
    assert _dealt("amount", RANK.format("n")) is Cause.TIE


def test_of_two_rows_own_times_that_compete_for_a_place_neither_is_a_clock() -> None:
    earlier, later = "2026-04-25 07:30:00Z", "2026-04-25 08:00:00Z"
    both = [RowExample(RowKind.CHANGED, {}, changes={"c": pair}) for pair in ((earlier, later), (later, earlier))]
    seen = _figures(type_="timestamp")
    difference = Difference(seen, seen, changed=2, changed_columns=("c",), examples=tuple(both))
    assert causes.likely(difference, experiment="shuffled", now=NOW) is Cause.TIE


def test_a_clock_beside_a_status_that_changed_is_not_the_whole_story() -> None:
    row = RowExample(
        RowKind.CHANGED,
        {},
        changes={"c": ("2026-04-25 09:59:00Z", "2026-04-25 10:00:01Z"), "id": ("1", "2")},
    )
    difference = Difference(_figures(), _figures(), changed=1, changed_columns=("c", "id"), examples=(row,))
    assert causes.likely(difference, experiment="shuffled", now=NOW) is Cause.TIE


@pytest.mark.parametrize(
    ("clean", "found", "bounds", "cause"),
    [
        ("1000000000.1000001", "1000000000.1", ("0", "1000000000.1"), Cause.DOUBLE_SUM),
        # Added up from large numbers to almost nothing.
        ("0.0", "1.1920928955078125E-7", ("-1000000000", "1000000000"), Cause.DOUBLE_SUM),
        # Two small numbers are not one because both are near zero.
        ("1.0E-7", "9.0E-7", ("0", "0.000001"), Cause.TIE),
        ("0.7364209185091234", "0.1253364209185091", ("0.1", "0.9"), Cause.GENERATED_KEY),
    ],
)
def test_a_double_that_differs_is_a_sum_a_tie_or_a_random_number(
    clean: str, found: str, bounds: tuple[str, str], cause: Cause
) -> None:
    figures = Figures(2, (ColumnFigures("c", "double", 0, None, *bounds),), "x")
    row = RowExample(RowKind.CHANGED, {}, changes={"c": (clean, found)})
    difference = Difference(figures, figures, changed=2, changed_columns=("c",), examples=(row,))
    assert causes.likely(difference, experiment="shuffled", now=NOW) is cause


def _again(column: str, value: str) -> Difference:
    """Every row is there twice, the second time with another value in a column."""
    row = RowExample(RowKind.DOUBLED, {"id": "1", column: value}, times=2)
    return Difference(_figures(), _figures(8, duplicates=4), doubled=4, changed_columns=(column,), examples=(row,))


def test_an_append_is_one_whatever_the_rows_hold_unless_their_key_is_made_anew() -> None:
    assert causes.likely(_again("c", "2026-04-25 10:00:01Z"), experiment="twice", now=NOW) is Cause.APPEND
    assert causes.likely(_again("c", UUIDS[0]), experiment="twice", now=NOW) is Cause.GENERATED_KEY
    # A uuid that comes from the source is the same each time, and no column has changed.
    assert causes.likely(_doubled(4, c=UUIDS[0]), experiment="twice", now=NOW) is Cause.APPEND


def test_an_append_of_a_batch_that_has_a_key_twice_itself_is_an_append() -> None:
    row = RowExample(RowKind.DOUBLED, {"id": "1"}, times=2)
    difference = Difference(_figures(duplicates=1), _figures(8, duplicates=4), doubled=4, examples=(row,))
    assert causes.likely(difference, experiment="twice", now=NOW) is Cause.APPEND


def test_rows_that_came_twice_when_the_input_came_back_were_appended_and_did_not_stay() -> None:
    assert causes.likely(_doubled(4), experiment="empty", now=NOW) is Cause.APPEND


def test_two_runs_of_one_input_at_once_are_no_older_batch() -> None:
    gone = Difference(_figures(), _figures(2), missing=2)
    assert causes.likely(gone, experiment="concurrent", now=NOW) is Cause.HALF_WRITTEN
    assert causes.likely(_changed("paid", "new"), experiment="concurrent", now=NOW) is Cause.TIE


def test_where_the_first_one_stays_no_older_batch_replaces_a_newer() -> None:
    asked: dict[str, Any] = {"experiment": "out of order", "now": NOW}
    assert causes.likely(_changed("paid", "new"), strategy="insert_new", **asked) is Cause.TIE
    assert causes.likely(_changed("paid", "new"), strategy="merge", **asked) is Cause.OLD_OVER_NEW


@pytest.mark.parametrize(
    "code",
    [
        "SELECT * FROM source ORDER BY day NULLS LAST",
        "-- the first() of them\nSELECT credit_limit AS last FROM source",
        "def load(rows, context):\n    # not dropDuplicates(): it would be a tie\n    return rows",
    ],
)
def test_words_that_only_look_like_a_choice_between_rows_name_none(code: str) -> None:
    moved = Difference(_figures(), _figures(), missing=1, extra=1)
    assert causes.likely(moved, experiment="twice", code=code, now=NOW) is Cause.UNKNOWN
    assert causes.likely(moved, experiment="twice", code="rows.dropDuplicates(['id'])", now=NOW) is Cause.TIE


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
        ("Duplicate entry '1' for key 'orders.PRIMARY'", Cause.APPEND),
        # It makes a table, a folder or a column again: nothing says that rows were added.
        ('relation "orders" already exists', None),
        ("[PATH_ALREADY_EXISTS] Path file:/warehouse/orders already exists.", None),
        ("division by zero", None),
    ],
)
def test_a_failure_of_a_repeated_run_tells_its_cause_where_it_can(message: str, cause: Cause | None) -> None:
    assert causes.of_failure(message) is cause
