"""`samewise diff`: what a run would do, told before it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.acceptance.test_merge import COLUMNS, DELETES, MERGE
from tests.support.project import DAY, NEXT_DAY, Shop

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
    assert told["examples"]["updated"][0]["order_id"] == 1
    done = shop.run(window=NEXT_DAY).window
    assert [done[kind] for kind in kinds] == [told[kind] for kind in kinds]
    again = shop.do("diff", "orders", "--window", NEXT_DAY, "--json").json["windows"][0]
    assert [again[kind] for kind in kinds] == [0, 0, 0, 4]


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
