"""Measures: the same for the same rows whatever their order, exact to the last cent."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from samewise.core.measures import Measures, measure_expressions, read_measures
from samewise.core.schema import Schema
from samewise.core.sql import quote
from samewise.storage.frames import schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

AMOUNTS = [Decimal(text) for text in ("0.01", "-0.25", "999999999999.99", "-999999999999.98", "0.30", "123456789.10")]


def measured(rows: DataFrame, bits: int = 21) -> Measures:
    expressions = measure_expressions(schema_of(rows), bits=bits)
    found = rows.selectExpr(*[f"{sql} AS {quote(name)}" for name, sql in expressions.items()]).first()
    assert found is not None
    measures = read_measures(found.asDict())
    assert measures is not None
    return measures


def amounts(spark: SparkSession, type_: str) -> DataFrame:
    texts = [(i, str(amount)) for i, amount in enumerate([*AMOUNTS, None])]
    return spark.createDataFrame(texts, "id BIGINT, text STRING").selectExpr(
        "id", f"CAST(nullif(text, 'None') AS {type_}) AS amount"
    )


@pytest.mark.parametrize("type_", ["decimal(14,2)", "decimal(15,2)", "decimal(38,2)"])
def test_a_sum_is_exact_with_few_digits_and_with_many(spark: SparkSession, type_: str) -> None:
    assert measured(amounts(spark, type_)).sums == {"amount": str(sum(AMOUNTS))}


def test_every_amount_of_fourteen_digits_is_counted_to_the_cent(spark: SparkSession) -> None:
    # Spread over all magnitudes, both signs: one amount that is a cent off shows in the sum.
    rows = spark.range(0, 200_000, 1, 4).selectExpr(
        "CAST(pmod(xxhash64(id), CAST(pow(10, 2 + id % 12) AS BIGINT)) * IF(id % 2 = 0, 1, -1) AS DECIMAL(20,0))"
        " AS whole"
    )
    cents = rows.selectExpr("CAST(whole / 100 AS DECIMAL(14,2)) AS amount", "whole")
    exact = cents.selectExpr("sum(whole)").first()
    assert exact is not None
    assert measured(cents.select("amount")).sums["amount"] == str(Decimal(exact[0]).scaleb(-2))


def test_the_hash_does_not_depend_on_the_parts_that_it_is_added_up_in(spark: SparkSession) -> None:
    rows = amounts(spark, "decimal(14,2)")
    assert measured(rows, bits=21) == measured(rows, bits=32)


def test_the_order_of_rows_and_columns_does_not_matter(spark: SparkSession) -> None:
    rows = amounts(spark, "decimal(14,2)")
    assert measured(rows) == measured(rows.orderBy("id", ascending=False).select("amount", "id"))


def test_a_pair_of_equal_rows_is_not_lost(spark: SparkSession) -> None:
    row = spark.sql("SELECT 1 AS id")
    assert measured(row.union(row)).content_hash != measured(row.limit(0)).content_hash


def test_a_null_that_moves_to_another_column_is_another_row(spark: SparkSession) -> None:
    one = spark.sql("SELECT CAST(NULL AS STRING) AS a, 'x' AS b")
    other = spark.sql("SELECT 'x' AS a, CAST(NULL AS STRING) AS b")
    assert measured(one).content_hash != measured(other).content_hash


def test_a_map_can_be_measured(spark: SparkSession) -> None:
    assert measured(spark.sql("SELECT map('a', 1) AS tags")).rows == 1


def test_no_rows_have_no_sums_and_the_hash_nought(spark: SparkSession) -> None:
    nothing = measured(amounts(spark, "decimal(14,2)").limit(0))
    assert (nothing.rows, nothing.sums, int(nothing.content_hash, 16)) == (0, {}, 0)


@pytest.mark.parametrize("type_", ["decimal(14,2)", "decimal(15,2)"])
def test_a_column_without_a_value_has_no_sum_and_one_with_a_nought_has(spark: SparkSession, type_: str) -> None:
    rows = spark.sql(f"SELECT CAST(NULL AS {type_}) AS none, CAST(0 AS {type_}) AS nought FROM range(2)")
    assert measured(rows).sums == {"nought": "0.00"}


def test_a_part_that_overflowed_is_no_measure() -> None:
    names = measure_expressions(Schema.of([("id", "bigint")]), bits=32)
    assert read_measures({name: 5 if name == "rows" else None for name in names}) is None


def test_a_sum_that_was_taken_besides_makes_no_other_rows() -> None:
    rows = Measures(2, "ff", {"amount": "1.00"})
    assert rows.same_rows(Measures(2, "ff", {"amount": "1.00", "quantity": "7"}))
    assert not rows.same_rows(Measures(3, "ff", rows.sums))
    assert not rows.same_rows(Measures(2, "fe", rows.sums))


def test_whole_numbers_are_added_up_where_they_are_asked_for_beyond_what_a_bigint_holds(spark: SparkSession) -> None:
    rows = spark.sql("SELECT * FROM VALUES (9223372036854775807L, 1), (9223372036854775807L, 2) AS t(Big, small)")
    expressions = measure_expressions(schema_of(rows), summed=["big"])
    found = rows.selectExpr(*[f"{sql} AS {quote(name)}" for name, sql in expressions.items()]).first()
    assert found is not None
    measures = read_measures(found.asDict())
    assert measures is not None
    assert measures.sums == {"Big": str(2 * (2**63 - 1))}
