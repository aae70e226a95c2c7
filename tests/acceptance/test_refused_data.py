"""Data that must not be published: exit code 3, nothing has landed, and a person is told what to do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from samewise.core import failpoints
from samewise.core.failpoints import Failpoint, Killed
from tests.support.project import COLUMNS, DAY, NEXT_DAY, Answer, Shop, told_in_three_parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MANIFEST = {"source.manifest": "landing/{{ window.start | date }}/manifest.json"}
STAGED = {"expect": ["amount >= 0"]}


def assert_refused(shop: Shop, answer: Answer, code: str, *words: str) -> None:
    assert (answer.code, answer.json["status"], answer.json["error"]["code"]) == (3, "refused", code)
    assert told_in_three_parts(answer)
    assert answer.json["error"]["retryable"] is False
    for word in words:
        assert word in answer.json["error"]["message"]
    assert shop.leftovers() == []


def promise(shop: Shop, **promises: object) -> None:
    shop.write(f"landing/{DAY}/manifest.json", json.dumps(promises))


# Files


def test_no_file_at_all_is_refused(shop: Shop) -> None:
    assert_refused(shop, shop.run(), "no_files", "no file matches", f"landing/{DAY}")


def test_a_manifest_without_its_files_is_refused(shop: Shop) -> None:
    shop.pipeline(MANIFEST)
    shop.orders()
    promise(shop, files={"part-1.csv": {}, "part-2.csv": {}})
    assert_refused(shop, shop.run(), "manifest_mismatch", "part-2.csv, which is not there")


def test_a_day_without_files_does_not_stop_the_others(shop: Shop, spark: SparkSession) -> None:
    shop.orders()
    answer = shop.run("--from", "2026-04-24", "--to", NEXT_DAY, window=None)
    assert answer.code == 3
    assert [w["status"] for w in answer.json["windows"]] == ["refused", "succeeded"]
    assert shop.ids(spark) == [1, 2]


def test_files_that_vanish_while_they_are_read_are_planned_again_and_refused(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({"transform": "late.py:vanish"})
    file = shop.orders()
    shop.write("pipelines/late.py", _while_it_runs(f"os.remove({str(file)!r})"))
    assert_refused(shop, shop.run(), "no_files")
    assert shop.version() == -1
    assert [run["status"] for run in shop.history()] == ["abandoned"]


def test_a_file_that_changes_while_it_is_read_is_read_as_it_is_then(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({"transform": "late.py:change", **STAGED})
    file = shop.orders()
    line = f"3,1.00,late,{DAY}\\n"
    shop.write("pipelines/late.py", _while_it_runs(f"open({str(file)!r}, 'a').write('{line}')", "change"))
    answer = shop.run()
    assert (answer.code, answer.window["generation"]) == (0, 2)
    assert shop.ids(spark) == [1, 2, 3]


@pytest.mark.parametrize("text", ["", "order_id,amount,status,order_date\n"], ids=["no byte", "header only"])
def test_a_file_that_is_there_and_empty_clears_its_window_and_no_other(
    shop: Shop, spark: SparkSession, text: str
) -> None:
    shop.orders()
    shop.orders([(7, "1.00", "new")], day=NEXT_DAY)
    assert shop.run("--from", DAY, "--to", "2026-04-27", window=None).code == 0
    shop.write(f"landing/{DAY}/part-1.csv", text)
    answer = shop.run()
    assert (answer.code, answer.window["rows_written"]) == (0, 0)
    assert shop.ids(spark) == [7]


def test_a_parquet_file_that_was_cut_off_is_refused(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({"source.format": "parquet", "source.path": "landing/*.parquet", "source.schema": None})
    folder = shop.root / "landing"
    spark.range(100).selectExpr("id AS order_id", f"DATE'{DAY}' AS order_date").coalesce(1).write.parquet(str(folder))
    (file,) = folder.glob("*.parquet")
    file.write_bytes(file.read_bytes()[:-40])
    assert_refused(shop, shop.run(), "unreadable", "cannot be read", file.name)


# Columns


def test_a_renamed_column_is_refused(shop: Shop, spark: SparkSession) -> None:
    shop.orders(columns=("order_id", "betrag", "status", "order_date"))
    assert_refused(shop, shop.run(), "drift", "part-1.csv", "betrag looks like amount under a new name")
    assert shop.version() == -1


def test_a_csv_column_that_has_moved_is_refused(shop: Shop, spark: SparkSession) -> None:
    shop.orders([(1, "new", "10.50", DAY)], columns=("order_id", "status", "amount", "order_date"))
    assert_refused(shop, shop.run(), "drift", "moved")


def test_a_source_without_a_declared_schema_must_keep_the_one_that_was_accepted(
    shop: Shop, spark: SparkSession
) -> None:
    path = "landing/{{ window.start | date }}/*.parquet"
    shop.pipeline({"source.format": "parquet", "source.path": path, "source.schema": None})
    for day, name in ((DAY, "amount"), (NEXT_DAY, "betrag")):
        rows = spark.sql(f"SELECT 1L AS order_id, 2.50 AS {name}, DATE'{day}' AS order_date")
        rows.coalesce(1).write.parquet(str(shop.root / "landing" / day))
    assert shop.run().code == 0
    assert_refused(shop, shop.run(window=NEXT_DAY), "drift", "amount", "betrag")
    assert shop.ids(spark) == [1]


# Rows


def test_a_malformed_row_is_refused_and_shown(shop: Shop, spark: SparkSession) -> None:
    shop.orders([(1, "10.50", "new"), (2, "ten", "new")])
    assert_refused(shop, shop.run(), "malformed", "1 row is malformed", f"2,ten,new,{DAY}")
    assert shop.version() == 0


def test_malformed_rows_go_to_the_quarantine_once_however_often_they_are_read(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({"source.on_malformed": "quarantine"})
    shop.orders([(1, "10.50", "new"), (2, "ten", "new"), (3, "x", "new")])
    first, again = shop.run(), shop.run("--force")
    assert [(a.window["rows_written"], a.window["rows_quarantined"]) for a in (first, again)] == [(1, 2)] * 2
    files = list((shop.root / "quarantine").rglob("*.json"))
    lines = [json.loads(line)["line"] for file in files for line in file.read_text().splitlines()]
    assert sorted(lines) == [f"2,ten,new,{DAY}", f"3,x,new,{DAY}"]
    assert shop.ids(spark) == [1]


@pytest.mark.parametrize("changes", [{}, STAGED])
def test_after_a_kill_at_committed_the_receipt_still_says_what_was_set_aside(
    shop: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, changes: dict[str, object]
) -> None:
    shop.pipeline({"source.on_malformed": "quarantine", **changes})
    shop.orders([(1, "10.50", "new"), (2, "ten", "new"), (3, "x", "new")])

    def reach(point: Failpoint) -> None:
        if point is Failpoint.COMMITTED:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(failpoints, "reach", reach)
        with pytest.raises(Killed):
            shop.run()
        # The lease of a dead process would be taken over; this one lives on.
        with shop.state() as state:
            state.execute("UPDATE samewise_leases SET holder = NULL")
            state.commit()
    window = shop.run().window
    assert (window["rows_read"], window["rows_written"], window["rows_quarantined"]) == (3, 1, 2)


def test_rows_in_the_quarantine_count_for_the_manifest(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({"source.on_malformed": "quarantine", **MANIFEST})
    shop.orders([(1, "10.50", "new"), (2, "ten", "new")])
    promise(shop, rows=2)
    answer = shop.run()
    assert (answer.code, answer.window["rows_read"], answer.window["rows_written"]) == (0, 2, 1)


# Promises and expectations


def test_a_manifest_that_promises_more_rows_is_refused_until_the_missing_file_is_there(
    shop: Shop, spark: SparkSession
) -> None:
    shop.pipeline(MANIFEST)
    shop.orders()
    promise(shop, rows=3, sums={"amount": "11.75"})
    assert_refused(shop, shop.run(), "manifest_mismatch", "promises 3 rows, 2 were read")
    assert shop.version() == -1
    shop.orders([(3, "1.00", "new")], file="part-2.csv")
    assert shop.run().window["rows_written"] == 3
    assert [run["status"] for run in shop.history()] == ["succeeded", "refused"]


def test_status_says_in_its_place_what_became_of_a_window_that_is_still_due(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline(MANIFEST)
    shop.orders()
    promise(shop, rows=3)
    shop.run()
    shop.orders(day=NEXT_DAY)
    shop.write(f"landing/{NEXT_DAY}/manifest.json", json.dumps({"rows": 2}))
    shop.run(window=NEXT_DAY)

    windows = {w["window"]: w for w in shop.do("status", "orders", "--json").json["tasks"][0]["windows"]}
    assert list(windows) == sorted(windows)
    assert (windows[DAY]["state"], windows[DAY]["last_run"]["error"]["code"]) == ("due", "manifest_mismatch")
    assert (windows[NEXT_DAY]["state"], "last_run" in windows[NEXT_DAY]) == ("loaded", False)
    assert any(
        line.startswith(DAY) and "last run refused" in line for line in shop.do("status", "orders").stdout.splitlines()
    )
    promise(shop, rows=2)
    shop.run()
    assert "last run refused" not in shop.do("status", "orders").stdout


def test_a_sum_that_is_not_the_promised_one_is_refused(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline(MANIFEST)
    shop.orders()
    promise(shop, sums={"amount": "10.76"})
    assert_refused(shop, shop.run(), "manifest_mismatch", "amount to add up to 10.76, it is 10.75")


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("betrag", "the sum of betrag, and the source has only order_id, amount, status, order_date"),
        ("order_date", "the sum of order_date, which is date"),
        ("status", "the sum of status, which holds what is no number"),
    ],
)
def test_a_manifest_that_adds_up_what_is_no_number_is_refused_not_blamed_on_the_transform(
    shop: Shop, spark: SparkSession, column: str, words: str
) -> None:
    shop.pipeline(MANIFEST)
    shop.orders()
    promise(shop, sums={column: "10.75"})
    assert_refused(shop, shop.run(), "bad_manifest", words)
    assert shop.version() == -1


def test_numbers_in_a_column_of_text_add_up(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({**MANIFEST, "source.schema": {**COLUMNS, "amount": "string"}})
    shop.orders()
    promise(shop, sums={"amount": "10.75"})
    assert shop.run().code == 0


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("amount > 1", "expectation `amount > 1` does not hold for 1 of 2 rows"),
        ({"unique": ["status"]}, "unique: [status] is broken"),
        ({"rows": {"min": 3}}, "expected at least 3 rows, 2 were staged"),
        ({"rows": {"max": 1}}, "expected at most 1 rows, 2 were staged"),
    ],
)
def test_a_broken_expectation_is_refused(shop: Shop, spark: SparkSession, rule: object, words: str) -> None:
    shop.pipeline({"expect": [rule]})
    shop.orders([(1, "10.50", "new"), (2, "0.25", "new")])
    assert_refused(shop, shop.run(), "expectation", words)
    assert shop.version() == -1


def test_a_refused_batch_leaves_the_rows_of_the_last_good_one(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline(STAGED)
    shop.orders()
    assert shop.run().code == 0
    before = shop.rows(spark)
    shop.orders([(1, "-1.00", "new")])
    answer = shop.run()
    assert_refused(shop, answer, "expectation")
    assert answer.json["error"]["kept"].startswith("the target is untouched")
    assert shop.rows(spark) == before


@pytest.mark.parametrize("changes", [STAGED, {}], ids=["staged", "one pass"])
def test_a_row_outside_its_window_is_refused(shop: Shop, spark: SparkSession, changes: dict[str, object]) -> None:
    shop.pipeline(changes)
    shop.orders([(1, "10.50", "new"), (2, "1.00", "new", NEXT_DAY)])
    assert_refused(shop, shop.run(), "outside_window", "outside the window")
    assert shop.ids(spark) == []


@pytest.mark.parametrize(("on_empty", "left"), [("clear", []), ("keep", [1, 2])])
def test_an_empty_result_does_what_on_empty_says(
    shop: Shop, spark: SparkSession, on_empty: str, left: list[object]
) -> None:
    shop.pipeline({"write.on_empty": on_empty})
    shop.orders()
    assert shop.run().code == 0
    shop.orders([])
    assert shop.run().code == 0
    assert shop.ids(spark) == left
    assert shop.run().window["status"] == "unchanged"


def test_an_empty_result_is_refused_where_on_empty_is_fail(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({"write.on_empty": "fail"})
    shop.orders([])
    assert_refused(shop, shop.run(), "empty", "the result is empty")


# What a person sees


def test_a_person_is_told_what_happened_what_was_kept_and_what_to_do(shop: Shop) -> None:
    answer = shop.told()
    happened, kept, next_step = [line for line in answer.stderr.splitlines() if "!!" not in line]
    assert happened.startswith(f"orders {DAY}: no file matches ")
    assert kept == "  kept: the target is untouched"
    assert next_step.startswith("  next: put the files there")
    assert answer.stdout == "orders: 1 refused; 0 rows written\n"


def _while_it_runs(statement: str, name: str = "vanish") -> str:
    """A transform that does `statement` the first time that it is called."""
    return (
        "import os\n"
        "done = []\n"
        f"def {name}(rows, context):\n"
        "    if not done:\n"
        "        done.append(True)\n"
        f"        {statement}\n"
        "    return rows\n"
    )
