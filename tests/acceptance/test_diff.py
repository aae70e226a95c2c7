"""`samewise diff`: what a run would do, told before it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from tests.acceptance.test_merge import COLUMNS, DELETES, INSERT, MERGE
from tests.support.project import BASE, DAY, NEXT_DAY, Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_by_key_it_tells_what_the_run_then_does_and_writes_nothing(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({**MERGE, **DELETES})
    shop.orders([(i, "1.00", "new", 1) for i in range(5)], day=DAY, columns=tuple(COLUMNS))
    first = shop.do("diff", "orders", "--window", DAY, "--json")
    assert first.json["windows"][0]["rows_inserted"] == 5
    assert shop.version() == -1
    assert not (shop.root / ".samewise" / "state.db").exists(), "nothing is written, not even a state store"
    assert shop.run(window=DAY).code == 0
    version = shop.version()
    rows = [(0, "1.00", "new", 1), (1, "9.00", "paid", 2), (2, "1.00", "deleted", 2), (7, "7.00", "new", 1)]
    shop.orders(rows, day=NEXT_DAY, columns=tuple(COLUMNS))

    told = shop.do("diff", "orders", "--window", NEXT_DAY, "--json").json["windows"][0]

    assert shop.version() == version
    assert not shop.leftovers()
    kinds = ("rows_inserted", "rows_updated", "rows_deleted", "rows_unchanged")
    assert [told[kind] for kind in kinds] == [1, 1, 1, 1]
    assert told["examples"]["updated"] == [
        {
            "order_id": 1,
            "amount": 9.0,
            "status": "paid",
            "version": 2,
            "before": {"amount": 1.0, "status": "new", "version": 1},
        }
    ]
    assert [row["order_id"] for row in told["examples"]["unchanged"]] == [0]
    done = shop.run(window=NEXT_DAY).window
    assert [done[kind] for kind in kinds] == [told[kind] for kind in kinds]
    again = shop.do("diff", "orders", "--window", NEXT_DAY, "--json").json["windows"][0]
    assert [again[kind] for kind in kinds] == [0, 0, 0, 4]


def test_of_several_windows_each_is_told_and_one_that_cannot_be_compared_hides_no_other(
    shop: Shop, spark: SparkSession
) -> None:
    shop.pipeline(MERGE)
    for day in (DAY, NEXT_DAY):
        shop.orders([(1, "1.00", "new", 1)], day=day, columns=tuple(COLUMNS))

    told = shop.do("diff", "orders", "--json")

    # The first and the last day of the schedule have no files.
    assert (told.code, told.json["error"]["code"]) == (3, "no_files"), told.text
    found = {one["window"]: (one["rows_inserted"], (one["error"] or {}).get("code")) for one in told.json["windows"]}
    none = (None, "no_files")
    assert found == {"2026-04-24": none, DAY: (1, None), NEXT_DAY: (1, None), "2026-04-27": none}
    (note,) = told.json["notes"]
    assert "compared with the target as it is now" in note, "both would insert the same key"
    shown = shop.do("diff", "orders")
    assert shown.code == 3
    lines = [line.split() for line in shown.stdout.splitlines()]
    assert [DAY, "1", "0", "0", "0"] in lines
    assert ["2026-04-27", "-", "-", "-", "-"] in lines
    assert note in shown.stdout
    assert "orders 2026-04-24: no file matches" in shown.stderr
    one = shop.do("diff", "orders", "--window", DAY, "--json")
    assert (one.code, one.json["notes"], one.json["error"]) == (0, [], None)


def test_of_a_chain_before_its_first_run_the_first_task_is_told(shop: Shop, spark: SparkSession) -> None:
    first = {"task": "orders", **{name: BASE[name] for name in ("source", "target", "write")}}
    second = {
        "task": "copy",
        "depends_on": ["orders"],
        "source": {"type": "delta", "table": "orders", "window_column": "order_date"},
        "target": {"type": "delta", "table": "copy"},
        "write": dict(BASE["write"]),
    }
    spec = {"pipeline": "orders", "schedule": BASE["schedule"], "tasks": [first, second]}
    shop.write("pipelines/orders.yaml", yaml.safe_dump(spec, sort_keys=False))
    shop.orders()
    told = shop.do("diff", "orders", "--window", DAY, "--json")
    found = [(one["task"], one["rows_inserted"], one["error"] is None) for one in told.json["windows"]]
    assert found == [("orders", 2, True), ("copy", None, False)]
    assert told.code == 3, told.text


def test_of_a_window_it_counts_equal_rows_as_often_as_they_are_there(shop: Shop, spark: SparkSession) -> None:
    shop.orders([(1, "1.00", "new"), (1, "1.00", "new"), (2, "2.00", "new")])
    assert shop.run().code == 0
    shop.orders([(1, "1.00", "new"), (3, "3.00", None)])
    told = shop.do("diff", "orders", "--window", DAY)
    assert told.code == 0, told.text
    (line,) = [line for line in told.stdout.splitlines() if line.startswith(DAY + " ")]
    assert line.split() == [DAY, "1", "0", "2", "1"]
    assert "+ order_id=3" in told.stdout
    assert "- order_id=2" in told.stdout
    assert "= order_id=1" in told.stdout
    assert max(len(line) for line in told.stdout.splitlines()) <= 80


def test_with_a_unique_rule_a_changed_row_is_one_update(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({"expect": [{"unique": ["order_id"]}]})
    shop.orders([(1, "1.00", "new"), (2, "2.00", "new")])
    assert shop.run().code == 0
    shop.orders([(1, "1.50", "new"), (2, "2.00", "new")])
    told = shop.do("diff", "orders", "--window", DAY, "--json").json["windows"][0]
    assert (told["rows_updated"], told["rows_unchanged"], told["rows_inserted"]) == (1, 1, 0)
    assert told["examples"]["updated"] == [
        {"order_id": 1, "amount": 1.5, "status": "new", "order_date": DAY, "before": {"amount": 1.0}}
    ]


def test_an_older_row_of_a_batch_is_not_shown_as_the_one_that_stays(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline(MERGE)
    shop.orders([(1, "2.00", "paid", 2)], day=DAY, columns=tuple(COLUMNS))
    assert shop.run(window=DAY).code == 0
    shop.orders([(1, "1.00", "new", 1)], day=NEXT_DAY, columns=tuple(COLUMNS))
    told = shop.do("diff", "orders", "--window", NEXT_DAY, "--json").json["windows"][0]
    assert told["examples"] == {"unchanged": [{"order_id": 1, "amount": 2.0, "status": "paid", "version": 2}]}


def test_of_a_key_that_is_there_insert_new_shows_the_row_that_stays(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline(INSERT)
    shop.orders([(1, "2.00", "paid", 1)], day=DAY, columns=tuple(COLUMNS))
    assert shop.run(window=DAY).code == 0
    shop.orders([(1, "9.00", "other", 1), (2, "1.00", "new", 1)], day=NEXT_DAY, columns=tuple(COLUMNS))
    told = shop.do("diff", "orders", "--window", NEXT_DAY, "--json").json["windows"][0]
    assert (told["rows_inserted"], told["rows_unchanged"]) == (1, 1)
    assert [row["status"] for row in told["examples"]["unchanged"]] == ["paid"]


def test_a_change_of_a_microsecond_is_a_change(shop: Shop, spark: SparkSession) -> None:
    columns = {"order_id": "bigint", "paid_at": "timestamp", "order_date": "date"}
    shop.pipeline({"source.schema": columns, "expect": [{"unique": ["order_id"]}]})
    shop.orders([(1, "2026-04-25T10:00:00.123456Z")], columns=tuple(columns))
    assert shop.run().code == 0
    shop.orders([(1, "2026-04-25T10:00:00.123457Z")], columns=tuple(columns))
    by_key = shop.do("diff", "orders", "--window", DAY, "--json").json["windows"][0]
    assert (by_key["rows_updated"], by_key["rows_unchanged"]) == (1, 0)
    assert by_key["examples"]["updated"][0]["before"] == {"paid_at": "2026-04-25 10:00:00.123456Z"}

    shop.pipeline({"source.schema": columns})
    by_contents = shop.do("diff", "orders", "--window", DAY, "--json").json["windows"][0]
    assert (by_contents["rows_inserted"], by_contents["rows_deleted"], by_contents["rows_unchanged"]) == (1, 1, 0)


def test_where_an_empty_window_keeps_its_rows_none_is_told_to_be_deleted(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({"write.on_empty": "keep"})
    shop.orders()
    assert shop.run().code == 0
    shop.orders([])
    told = shop.do("diff", "orders", "--window", DAY, "--json").json["windows"][0]
    assert (told["rows_deleted"], told["rows_unchanged"]) == (0, 2)
    assert [row["order_id"] for row in told["examples"]["unchanged"]] == [1, 2]
    assert shop.run().code == 0
    assert len(shop.rows(spark)) == 2


def test_an_empty_window_that_the_run_would_refuse_is_refused(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({"write.on_empty": "fail"})
    shop.orders([])
    told = shop.do("diff", "orders", "--window", DAY, "--json")
    assert told.code == 3
    assert "on_empty is fail" in told.text


def test_a_unique_rule_that_the_result_breaks_is_refused_as_by_the_run(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({"expect": [{"unique": ["order_id"]}]})
    shop.orders([(1, "1.00", "new"), (1, "2.00", "new")])
    told = shop.do("diff", "orders", "--window", DAY)
    assert told.code == 3
    assert "expectation unique: [order_id] is broken by 1 values" in told.text


def test_a_key_that_the_target_holds_twice_pairs_no_rows(shop: Shop, spark: SparkSession) -> None:
    shop.orders([(1, "1.00", "new"), (1, "2.00", "new")])
    assert shop.run().code == 0
    shop.pipeline({"expect": [{"unique": ["order_id"]}]})
    shop.orders([(1, "1.00", "new"), (2, "2.00", "new")])
    told = shop.do("diff", "orders", "--window", DAY, "--json").json["windows"][0]
    kinds = ("rows_inserted", "rows_updated", "rows_deleted", "rows_unchanged")
    assert [told[kind] for kind in kinds] == [1, 0, 1, 1]
    assert told["key"] == []
