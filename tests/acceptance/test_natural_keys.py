"""Natural keys: repeats taken out of the source, NULLs refused or set aside, a key made where there is none."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.project import DAY, NEXT_DAY, Shop, told_in_three_parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEDUP: dict[str, Any] = {"dedup": {"key": ["order_id"], "version_by": ["status"]}}


def test_the_newest_row_of_a_natural_key_is_kept(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline(DEDUP)
    shop.orders([(1, "1.00", "a"), (1, "9.00", "b"), (2, "2.00", "a"), (2, "2.00", "a")])
    shop.orders([(1, "5.00", "a")], file="part-2.csv")
    answer = shop.run()
    assert (answer.code, answer.window["rows_read"], answer.window["rows_written"]) == (0, 5, 2)
    assert shop.rows(spark, "order_id", "CAST(amount AS STRING)", "status") == [(1, "9.00", "b"), (2, "2.00", "a")]


def test_a_manifest_still_counts_the_rows_that_were_sent(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({**DEDUP, "source.manifest": "landing/{{ window.start | date }}/manifest.json"})
    shop.orders([(1, "1.00", "a"), (1, "9.00", "b")])
    shop.write(f"landing/{DAY}/manifest.json", json.dumps({"rows": 2, "sums": {"amount": "10.00"}}))
    answer = shop.run()
    assert (answer.code, answer.window["rows_read"], answer.window["rows_staged"]) == (0, 2, 1)


def test_the_transform_sees_the_rows_without_their_repeats(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({**DEDUP, "transform": "sums.sql"})
    shop.write("pipelines/sums.sql", "SELECT order_date, sum(amount) AS amount FROM source GROUP BY order_date")
    shop.orders([(1, "1.00", "a"), (1, "9.00", "b"), (2, "2.00", "a")])
    assert shop.run().code == 0
    assert shop.rows(spark, "CAST(amount AS STRING)") == [("11.00",)]


def test_a_natural_key_that_is_not_in_the_source_is_told(shop: Shop, spark: SparkSession) -> None:
    files = {"source.format": "parquet", "source.schema": None, "source.path": "landing/*.parquet"}
    shop.pipeline({"dedup": {"key": ["order_no"]}, **files})
    spark.sql(f"SELECT 1L AS order_id, DATE'{DAY}' AS order_date").write.parquet(str(shop.root / "landing"))
    answer = shop.run()
    assert answer.code == 4
    assert "there is no column order_no; there are order_id, order_date" in answer.json["error"]["message"]
    assert "mend dedup" in answer.json["error"]["next"]


# NULL in a key

ROWS = [(1, "1.00", "a"), ("", "2.00", "b"), (3, "3.00", "c"), ("", "4.00", "d")]


def by_key(shop: Shop, null_keys: str | None = None, **changes: Any) -> None:
    write = {"strategy": "merge", "key": ["order_id"], "version_by": ["status"]}
    shop.pipeline({"write": write if null_keys is None else {**write, "null_keys": null_keys}, **changes})


def set_aside(shop: Shop) -> list[dict[str, Any]]:
    return [json.loads(line) for file in (shop.root / "quarantine").rglob("*.json") for line in file.open()]


def test_a_null_in_a_key_refuses_the_batch_and_shows_the_rows(shop: Shop, spark: SparkSession) -> None:
    by_key(shop)
    shop.orders(ROWS)
    answer = shop.run()
    assert (answer.code, answer.json["error"]["code"]) == (3, "null_key")
    message = answer.json["error"]["message"]
    assert "2 of 4 rows have a NULL in the key (order_id)" in message
    assert '{"order_id":null,"amount":2.00,"status":"b"' in message
    assert max(map(len, message.splitlines())) <= 80
    assert told_in_three_parts(answer)
    assert shop.version() == -1


def test_a_null_in_a_key_goes_to_the_quarantine_where_that_is_declared(shop: Shop, spark: SparkSession) -> None:
    by_key(shop, "quarantine")
    shop.orders(ROWS)
    answer = shop.run()
    assert (answer.code, answer.window["rows_read"], answer.window["rows_quarantined"]) == (0, 4, 2)
    assert sorted(row["status"] for row in set_aside(shop)) == ["b", "d"]
    assert {tuple(row) for row in set_aside(shop)} == {("order_id", "amount", "status", "order_date")}
    assert shop.ids(spark) == [1, 3]
    shop.orders([(1, "1.00", "a")])
    assert shop.run().window["rows_quarantined"] == 0
    assert set_aside(shop) == []


def test_null_keys_that_match_are_one_key_however_often_they_come(shop: Shop, spark: SparkSession) -> None:
    by_key(shop, "match")
    shop.orders(ROWS)
    for _ in range(2):
        assert shop.run("--force").code == 0
        assert shop.rows(spark, "order_id", "status") == [(1, "a"), (3, "c"), (None, "d")]


@pytest.mark.parametrize("rows", [5, 4])
def test_a_manifest_counts_the_rows_whose_key_is_null(shop: Shop, spark: SparkSession, rows: int) -> None:
    by_key(shop, "quarantine", **{"source.manifest": "landing/{{ window.start | date }}/manifest.json"})
    shop.orders(ROWS)
    shop.write(f"landing/{DAY}/manifest.json", json.dumps({"rows": rows}))
    assert shop.run().json["status"] == ("succeeded" if rows == 4 else "refused")


# A key where the source has none


def test_a_hash_key_finds_the_same_row_again_in_another_file(shop: Shop, spark: SparkSession) -> None:
    write = {"strategy": "insert_new", "hash_key": {"column": "row_key", "of": ["order_id", "status"]}}
    shop.pipeline({"write": write})
    shop.orders([(1, "1.00", "a"), (2, "2.00", "b"), (2, "2.00", "b")])
    assert shop.run().code == 0
    shop.orders([(2, "2.00", "b"), (3, "3.00", "c")], day=NEXT_DAY)
    assert shop.run(window=NEXT_DAY).window["rows_inserted"] == 1
    keys = [hashlib.sha256(text).hexdigest() for text in (b"1:11:a", b"1:21:b", b"1:31:c")]
    assert shop.rows(spark, "order_id", "row_key") == list(zip((1, 2, 3), keys, strict=True))


def test_a_hash_key_of_a_column_that_the_result_lacks_is_told(shop: Shop, spark: SparkSession) -> None:
    write = {"strategy": "insert_new", "hash_key": {"column": "row_key", "of": ["order_id", "customer"]}}
    shop.pipeline({"write": write, "transform": "clean.py:clean"})
    shop.write("pipelines/clean.py", "def clean(rows, context):\n    return rows\n")
    shop.orders()
    answer = shop.run()
    assert answer.code == 4
    assert "there is no column customer" in answer.json["error"]["message"]
    assert "write.hash_key.of" in answer.json["error"]["next"]


def test_a_batch_by_key_is_compared_with_earlier_ones(shop: Shop, spark: SparkSession) -> None:
    by_key(shop, expect=[{"change": {"column": "order_id", "within": "10%", "over": 1}}])
    shop.orders([(5, "1.00", "a")])
    assert shop.run().code == 0
    shop.orders([(9, "1.00", "a")], day=NEXT_DAY)
    answer = shop.run(window=NEXT_DAY)
    assert (answer.code, answer.json["error"]["code"]) == (3, "change")
    assert shop.ids(spark) == [5]
