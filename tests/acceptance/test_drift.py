"""The source has another shape today: what is refused, what is let through, and what the rows are then."""

from __future__ import annotations

import shutil
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.project import DAY, NEXT_DAY, Answer, Shop, told_in_three_parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TODAY = date(2026, 4, 25)
ORDER = "1L AS order_id, CAST(2.5 AS DECIMAL(12,2)) AS amount, 'new' AS status"

PARQUET = {"type": "files", "path": "landing/{{ window.start | date }}/*.parquet", "format": "parquet"}


@pytest.fixture
def parquet(shop: Shop) -> Shop:
    """A pipeline over Parquet files whose schema nobody declared."""
    drifting(shop)
    return shop


def drifting(shop: Shop, **drift: Any) -> None:
    shop.pipeline({"source": {**PARQUET, "drift": drift}})


def put(shop: Shop, spark: SparkSession, columns: str, *, day: str = DAY, file: str = "part-1") -> Path:
    """One Parquet file for a day: `columns` of a SELECT, and the day."""
    made = shop.root / "made"
    spark.sql(f"SELECT {columns}, DATE'{day}' AS order_date").coalesce(1).write.mode("overwrite").parquet(str(made))
    place = shop.root / "landing" / day / f"{file}.parquet"
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(next(made.glob("*.parquet")), place)
    return place


def assert_drifted(shop: Shop, answer: Answer, *words: str) -> None:
    """Refused for drift, in three parts; table, watermark and contract are where they were."""
    assert (answer.code, answer.json["error"]["code"]) == (3, "drift")
    assert told_in_three_parts(answer)
    for word in words:
        assert word in answer.json["error"]["message"]
    mark = answer.json["watermark"]
    assert mark is None or mark["before"] == mark["after"]
    assert shop.leftovers() == []


def contract_of(shop: Shop) -> list[str]:
    columns = shop.do("contract", "orders", "--json").json["tasks"][0]["columns"]
    return [column["name"] for column in columns]


# Every file of the window is looked at.


def test_a_column_renamed_in_the_middle_file_of_a_window_is_refused_and_the_file_named(
    parquet: Shop, spark: SparkSession
) -> None:
    put(parquet, spark, ORDER)
    assert parquet.run().code == 0
    version = parquet.version()
    for file, columns in (("a", ORDER), ("b", ORDER.replace("amount", "betrag")), ("c", ORDER)):
        put(parquet, spark, columns, day=NEXT_DAY, file=file)
    answer = parquet.run(window=NEXT_DAY)
    assert_drifted(parquet, answer, f"landing/{NEXT_DAY}/b.parquet", "betrag looks like amount under a new name")
    assert "source.drift: {rename: {amount: betrag}}" in answer.json["error"]["next"]
    assert f"samewise contract orders --window {NEXT_DAY} --accept" in answer.json["error"]["next"]
    assert (parquet.version(), parquet.ids(spark)) == (version, [1])
    assert not any(f"{other}.parquet" in answer.json["error"]["message"] for other in "ac")


def test_files_that_differ_from_each_other_are_refused_on_the_first_load_too(
    parquet: Shop, spark: SparkSession
) -> None:
    put(parquet, spark, ORDER)
    put(parquet, spark, ORDER.replace("amount", "betrag"), file="part-2")
    assert_drifted(parquet, parquet.run(), "do not all have the same schema", "part-2.parquet")
    assert parquet.version() == -1


def test_a_type_of_one_file_among_others_is_refused(parquet: Shop, spark: SparkSession) -> None:
    put(parquet, spark, ORDER)
    assert parquet.run().code == 0
    put(parquet, spark, ORDER, day=NEXT_DAY)
    put(parquet, spark, ORDER.replace("1L", "1"), day=NEXT_DAY, file="part-2")
    assert_drifted(parquet, parquet.run(window=NEXT_DAY), "part-2.parquet", "type changed  order_id  bigint  int")


def test_a_csv_column_moved_in_the_second_file_is_refused_and_loaded_under_a_policy(
    shop: Shop, spark: SparkSession
) -> None:
    shop.orders([(1, "10.50", "new")])
    moved = ("order_id", "status", "amount", "order_date")
    shop.orders([(2, "paid", "0.25")], file="part-2.csv", columns=moved)
    assert_drifted(shop, shop.run(), "part-2.csv", "moved")
    assert shop.version() == -1
    shop.pipeline({"source.drift": {"order": "ignore"}})
    assert shop.run().code == 0
    assert shop.rows(spark, "order_id", "amount", "status") == [
        (1, Decimal("10.50"), "new"),
        (2, Decimal("0.25"), "paid"),
    ]


# added


def test_a_new_column_goes_to_the_target_and_belongs_to_the_contract_from_then_on(
    parquet: Shop, spark: SparkSession
) -> None:
    put(parquet, spark, ORDER)
    assert parquet.run().code == 0
    drifting(parquet, added="add")
    put(parquet, spark, f"{ORDER}, 7 AS points", day=NEXT_DAY)
    assert parquet.run(window=NEXT_DAY).code == 0
    assert parquet.rows(spark, "order_date", "points") == [(TODAY, None), (date(2026, 4, 26), 7)]
    assert contract_of(parquet) == ["order_id", "amount", "status", "order_date", "points"]


def test_a_replay_of_a_window_from_before_a_column_came_is_no_drift(parquet: Shop, spark: SparkSession) -> None:
    drifting(parquet, added="add")
    put(parquet, spark, ORDER)
    assert parquet.run().code == 0
    put(parquet, spark, f"{ORDER}, 7 AS points", day=NEXT_DAY)
    assert parquet.run(window=NEXT_DAY).code == 0
    before = parquet.rows(spark)
    assert parquet.run("--force").code == 0
    assert parquet.rows(spark) == before


def test_status_shows_which_windows_were_loaded_under_an_older_contract(parquet: Shop, spark: SparkSession) -> None:
    drifting(parquet, added="add")
    put(parquet, spark, ORDER)
    assert parquet.run().code == 0
    put(parquet, spark, f"{ORDER}, 7 AS points", day=NEXT_DAY)
    assert parquet.run(window=NEXT_DAY).code == 0
    task = parquet.do("status", "orders", "--json").json["tasks"][0]
    loaded = [window for window in task["windows"] if window["state"] == "loaded"]
    assert [(w["window"], w["older_contract"]) for w in loaded] == [(DAY, True), (NEXT_DAY, False)]
    assert loaded[1]["contract"] == task["contract"] != loaded[0]["contract"]
    lines = parquet.do("status", "orders").stdout.splitlines()
    listed = [line for line in lines if line.startswith((DAY, NEXT_DAY))]
    assert [line[: len(DAY)] for line in listed if "older contract" in line] == [DAY]
    assert parquet.run("--force").code == 0
    assert "older contract" not in parquet.do("status", "orders").stdout


def test_a_new_csv_column_is_text_and_visible_to_the_transform(shop: Shop, spark: SparkSession) -> None:
    shop.write("pipelines/orders.sql", "SELECT *, upper(note) AS loud FROM source")
    shop.pipeline({"source.drift": {"added": "add"}, "transform": "orders.sql"})
    shop.orders([(1, "new", "hi", "10.50", DAY)], columns=("order_id", "status", "note", "amount", "order_date"))
    shop.orders([(2, "0.25", "paid")], file="part-2.csv")
    answer = shop.run()
    assert_drifted(shop, answer, "part-1.csv", "moved")
    shop.orders([(1, "hi", "10.50", "new", DAY)], columns=("order_id", "note", "amount", "status", "order_date"))
    assert shop.run().code == 0
    assert shop.rows(spark, "order_id", "amount", "status", "note", "loud") == [
        (1, Decimal("10.50"), "new", "hi", "HI"),
        (2, Decimal("0.25"), "paid", None, None),
    ]
    shop.orders([(3, "1.00", "new")], day=NEXT_DAY)
    assert shop.run(window=NEXT_DAY).code == 0
    assert shop.do("contract", "orders", "--json").json["tasks"][0]["changes"] == []


def test_a_new_column_that_is_ignored_never_reaches_the_target(parquet: Shop, spark: SparkSession) -> None:
    drifting(parquet, added="ignore")
    put(parquet, spark, ORDER)
    assert parquet.run().code == 0
    put(parquet, spark, f"7 AS points, {ORDER}", day=NEXT_DAY)
    assert parquet.run(window=NEXT_DAY).code == 0
    frame = spark.read.format("delta").load(str(parquet.root / "warehouse" / "orders"))
    assert frame.columns == ["order_id", "amount", "status", "order_date"]
    assert "points" not in contract_of(parquet)


# removed


@pytest.mark.parametrize(("drift", "code"), [({}, 3), ({"removed": "ignore"}, 0)])
def test_a_missing_column_is_refused_or_read_as_null(
    shop: Shop, spark: SparkSession, drift: dict[str, str], code: int
) -> None:
    shop.pipeline({"source.drift": drift})
    shop.orders([(1, "new", DAY)], columns=("order_id", "status", "order_date"))
    shop.orders([(2, "0.25", "paid")], file="part-2.csv")
    answer = shop.run()
    if code == 3:
        assert_drifted(shop, answer, "part-1.csv", "removed  amount")
        assert "source.drift: {removed: ignore}" in answer.json["error"]["next"]
        assert "change source.schema" in answer.json["error"]["next"]
    rows = [(1, None, "new"), (2, Decimal("0.25"), "paid")]
    assert (answer.code, shop.rows(spark, "order_id", "amount", "status")) == (code, [] if code else rows)


# type


@pytest.mark.parametrize(("was", "now"), [("1", "1L"), ("1L", "1")], ids=["widened", "narrowed"])
def test_a_type_that_was_widened_or_narrowed_is_refused_or_cast_back(
    parquet: Shop, spark: SparkSession, was: str, now: str
) -> None:
    put(parquet, spark, f"{was} AS order_id")
    assert parquet.run().code == 0
    put(parquet, spark, f"{now} AS order_id", day=NEXT_DAY)
    answer = parquet.run(window=NEXT_DAY)
    assert_drifted(parquet, answer, "type changed")
    assert "source.drift: {type: ignore}" in answer.json["error"]["next"]
    drifting(parquet, type="ignore")
    assert parquet.run(window=NEXT_DAY).code == 0
    frame = spark.read.format("delta").load(str(parquet.root / "warehouse" / "orders"))
    assert frame.schema["order_id"].dataType.simpleString() == ("int" if was == "1" else "bigint")
    assert parquet.ids(spark) == [1, 1]


@pytest.mark.parametrize("staged", [{}, {"expect": ["order_id > 0"]}], ids=["one pass", "staged"])
def test_a_value_that_does_not_fit_the_accepted_type_is_refused(
    parquet: Shop, spark: SparkSession, staged: dict[str, Any]
) -> None:
    put(parquet, spark, "1 AS order_id")
    assert parquet.run().code == 0
    drifting(parquet, type="ignore")
    if staged:
        path = "landing/{{ window.start | date }}/*.parquet"
        source = {"type": "files", "path": path, "format": "parquet", "drift": {"type": "ignore"}}
        parquet.pipeline({"source": source, **staged})
    put(parquet, spark, "3000000000L AS order_id", day=NEXT_DAY)
    answer = parquet.run(window=NEXT_DAY)
    assert_drifted(parquet, answer, "does not fit the accepted int: 3000000000")
    assert parquet.ids(spark) == [1]


# rename


def test_a_declared_rename_loads_files_from_before_and_after(parquet: Shop, spark: SparkSession) -> None:
    put(parquet, spark, ORDER)
    assert parquet.run().code == 0
    drifting(parquet, rename={"amount": "betrag"})
    put(parquet, spark, ORDER.replace("amount", "betrag"), day=NEXT_DAY)
    put(parquet, spark, ORDER, day=NEXT_DAY, file="part-2")
    assert parquet.run(window=NEXT_DAY).code == 0
    assert parquet.run("--force").code == 0
    assert parquet.rows(spark, "amount") == [(Decimal("2.50"),)] * 3
    assert "amount" in contract_of(parquet)


def test_a_renamed_csv_column_has_its_declared_type(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({"source.drift": {"rename": {"amount": "betrag"}}})
    shop.orders([(1, "10.50", "new")], columns=("order_id", "betrag", "status", "order_date"))
    assert shop.run().code == 0
    assert shop.rows(spark, "amount") == [(Decimal("10.50"),)]
    shop.orders([(1, "ten", "new")], columns=("order_id", "betrag", "status", "order_date"))
    assert shop.run().json["error"]["code"] == "malformed"


# A table as the source


@pytest.fixture
def upstream(shop: Shop, spark: SparkSession) -> Path:
    """A table with a column that is never NULL, copied once."""
    table = shop.root / "warehouse" / "upstream"
    spark.sql(
        f"CREATE TABLE delta.`{table}` (order_id BIGINT NOT NULL, order_date DATE) USING DELTA "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableTypeWidening' = 'true')"
    )
    spark.sql(f"INSERT INTO delta.`{table}` VALUES (1, DATE'{DAY}'), (2, DATE'{NEXT_DAY}')")
    copying(shop)
    assert shop.run().code == 0
    return table


def copying(shop: Shop, **drift: Any) -> None:
    shop.pipeline({"source": {"type": "delta", "table": "upstream", "window_column": "order_date", "drift": drift}})


@pytest.mark.parametrize(
    ("statement", "words", "drift", "row"),
    [
        ("ALTER COLUMN order_id DROP NOT NULL", "nullability  order_id", {"nullability": "ignore"}, (2,)),
        ("ADD COLUMNS (note STRING)", "added   note", {"added": "ignore"}, (2,)),
        ("RENAME COLUMN order_id TO id", "id looks like order_id", {"rename": {"order_id": "id"}}, (2,)),
        ("DROP COLUMN order_id", "removed  order_id", {"removed": "ignore"}, (None,)),
    ],
)
def test_a_table_that_changed_is_refused_or_let_through(
    shop: Shop, spark: SparkSession, upstream: Path, statement: str, words: str, drift: dict[str, Any], row: Any
) -> None:
    spark.sql(f"ALTER TABLE delta.`{upstream}` {statement}")
    assert_drifted(shop, shop.run(window=NEXT_DAY), *words.split("   "))
    assert shop.ids(spark) == [1]
    copying(shop, **drift)
    assert shop.run(window=NEXT_DAY).code == 0
    assert shop.rows(spark, "order_id", "order_date") == sorted([(1, TODAY), (*row, date(2026, 4, 26))], key=repr)


def test_a_renamed_window_column_still_says_which_rows_are_the_windows(
    shop: Shop, spark: SparkSession, upstream: Path
) -> None:
    spark.sql(f"ALTER TABLE delta.`{upstream}` RENAME COLUMN order_date TO day")
    copying(shop, rename={"order_date": "day"})
    assert shop.run(window=NEXT_DAY).code == 0
    assert shop.rows(spark, "order_id", "order_date") == [(1, TODAY), (2, date(2026, 4, 26))]


# The contract command


def test_the_contract_command_shows_every_file_that_differs(parquet: Shop, spark: SparkSession) -> None:
    put(parquet, spark, ORDER)
    assert parquet.run().code == 0
    put(parquet, spark, ORDER, day=NEXT_DAY)
    put(parquet, spark, f"{ORDER}, 7 AS points", day=NEXT_DAY, file="part-2")
    shutil.rmtree(parquet.root / "landing" / DAY)
    shown = parquet.do("contract", "orders", "--json").json["tasks"][0]
    assert [(c["kind"], c["column"], c["refused"], len(c["files"])) for c in shown["changes"]] == [
        ("added", "points", True, 1)
    ]
    assert [len(shape["columns"]) for shape in shown["source"]] == [4, 5]
    told = parquet.do("contract", "orders").stdout
    assert "part-2.parquet" in told
    assert "part-1.parquet" not in told


def test_files_that_do_not_agree_cannot_be_accepted(parquet: Shop, spark: SparkSession) -> None:
    put(parquet, spark, ORDER)
    assert parquet.run().code == 0
    before = contract_of(parquet)
    shutil.rmtree(parquet.root / "landing" / DAY)
    put(parquet, spark, ORDER, day=NEXT_DAY)
    put(parquet, spark, f"{ORDER}, 7 AS points", day=NEXT_DAY, file="part-2")
    answer = parquet.do("contract", "orders", "--accept", "--json")
    assert (answer.code, "no one schema to accept" in answer.json["error"]["message"]) == (3, True)
    assert contract_of(parquet) == before
    drifting(parquet, added="add")
    assert parquet.do("contract", "orders", "--accept").code == 0
    assert contract_of(parquet) == [*before, "points"]


def test_a_run_that_is_finished_late_does_not_bring_back_the_contract_of_its_time(
    parquet: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    from samewise.core import failpoints

    put(parquet, spark, ORDER)
    assert parquet.run().code == 0
    put(parquet, spark, ORDER, day=NEXT_DAY)

    def dies(point: object) -> None:
        if str(point) == "committed":
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(failpoints, "reach", dies)
        parquet.run(window=NEXT_DAY)
    put(parquet, spark, f"{ORDER}, 7 AS points", day=NEXT_DAY)
    assert parquet.do("contract", "orders", "--accept").code == 0
    answer = parquet.run(window=NEXT_DAY)
    assert (answer.code, answer.window["generation"]) == (0, 2)
    assert parquet.rows(spark, "points", "order_date")[0] == (7, date(2026, 4, 26))
    assert "points" in contract_of(parquet)


def test_an_accepted_contract_replaces_every_row_of_the_same_version(shop: Shop, spark: SparkSession) -> None:
    write = {"strategy": "merge", "key": ["order_id"], "version_by": ["order_date"]}
    shop.pipeline({"source": PARQUET, "write": write})
    orders = "explode(sequence(1L, 8L)) AS order_id"
    put(shop, spark, orders)
    assert shop.run().code == 0
    put(shop, spark, f"{orders}, 7 AS points")
    assert_drifted(shop, shop.run(), "points")
    assert shop.do("contract", "orders", "--accept").code == 0
    assert shop.run().window["rows_updated"] == 8
    # Which of two rows of one version stays is else up to their hashes: half of the keys would keep the old one.
    assert shop.rows(spark, "order_id", "points") == [(order, 7) for order in range(1, 9)]
