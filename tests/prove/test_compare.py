"""Two tables in figures, and the rows in which they differ."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from samewise.prove.compare import compare, measure
from samewise.prove.verdict import Difference, RowKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EVERYTHING = """
SELECT id, CAST(id AS DECIMAL(38,4)) AS exact, CAST(id AS DOUBLE) AS rough, array(id, NULL) AS list,
       map('k', id, 'b', 1L) AS pairs, array(map('z', 1.0D, 'y', 0.0D)) AS deep,
       named_struct('a.b', id, 'm', map(1, 2.0D)) AS both, TIMESTAMP'2026-01-01 00:00:00Z' AS at,
       TIMESTAMP_NTZ'2026-01-01 00:00:00' AS wall, CAST('abc' AS BINARY) AS raw, true AS flag, NULL AS nothing,
       parse_json('{"a": 1}') AS any, INTERVAL '1' DAY AS span, make_interval(1, 2) AS odd,
       'Ab' COLLATE UTF8_LCASE AS loose
FROM range(4)
"""


def _orders(spark: SparkSession) -> DataFrame:
    return spark.sql(
        "SELECT id, id % 3 AS kind, CAST(id * 1.5 AS DECIMAL(10,2)) AS amount, 'x' || id AS name FROM range(20)"
    )


def _difference(clean: DataFrame, found: DataFrame, *key: str) -> Difference:
    _, difference = compare(clean, found, key)
    assert difference is not None
    return difference


def test_figures_of_every_type_do_not_depend_on_order_files_entries_of_maps_or_the_sign_of_zero(
    spark: SparkSession,
) -> None:
    clean = spark.sql(EVERYTHING)
    other = clean.selectExpr(
        "* EXCEPT (rough, pairs, deep)",
        "IF(id = 0, -0.0D, rough) AS rough",
        "map('b', 1L, 'k', id) AS pairs",
        "array(map('y', -0.0D, 'z', 1.0D)) AS deep",
    )
    other = other.select(*clean.columns).orderBy("id", ascending=False).repartition(3)
    figures, difference = compare(clean, other, ["id"])
    assert difference is None
    by_name = {column.name: column for column in figures.columns}
    assert (figures.rows, figures.distinct_keys, figures.duplicate_keys) == (4, 4, 0)
    assert (by_name["exact"].total, by_name["id"].total) == (Decimal(6), Decimal(6))
    assert (by_name["at"].minimum, by_name["raw"].maximum) == ("2026-01-01 00:00:00Z", "616263")
    assert by_name["nothing"].nulls == 4


def test_a_value_that_differs_in_one_column_only_is_found_whatever_its_type(spark: SparkSession) -> None:
    others = {
        "loose": "'aB' COLLATE UTF8_LCASE",
        "list": "array(NULL, id)",
        "deep": "array(map('z', 1.0D, 'y', 0.5D))",
        "nothing": "'NULL'",
        "any": "parse_json('{\"a\": 2}')",
    }
    clean = spark.sql(EVERYTHING.replace("NULL AS nothing", "CAST(NULL AS STRING) AS nothing").replace("(4)", "(5)"))
    clean = clean.select("id", *others)
    # Row n has another value in column n, and in no other.
    found = clean.selectExpr(
        "id", *[f"IF(id = {at}, {sql}, {name}) AS {name}" for at, (name, sql) in enumerate(others.items())]
    )
    difference = _difference(clean, found, "id")
    assert difference.changed == 5
    assert [list(example.changes) for example in difference.examples] == [[name] for name in others]


def test_the_sum_of_bigints_is_exact_beyond_a_bigint(spark: SparkSession) -> None:
    figures = measure(spark.sql("SELECT 9223372036854775807L AS n UNION ALL SELECT 9223372036854775807L"))
    assert figures.columns[0].total == Decimal(2 * 9223372036854775807)


def test_rows_that_are_there_twice_are_doubled_and_a_pair_does_not_cancel_out(spark: SparkSession) -> None:
    rows = _orders(spark)
    difference = _difference(rows, rows.union(rows))
    assert (difference.doubled, difference.missing, difference.extra, difference.changed) == (20, 0, 0, 0)
    assert {example.times for example in difference.examples} == {2}


def test_a_row_with_a_key_that_is_there_already_is_doubled_also_where_it_differs(spark: SparkSession) -> None:
    rows = _orders(spark)
    again = rows.where("id = 3").selectExpr("id", "kind", "amount", "'other' AS name")
    difference = _difference(rows, rows.union(again), "id")
    assert (difference.doubled, difference.extra, difference.found.duplicate_keys) == (1, 0, 1)


def test_changed_rows_are_paired_by_a_guessed_key_and_show_the_columns_that_differ(spark: SparkSession) -> None:
    rows = _orders(spark)
    found = rows.selectExpr("id", "kind", "amount", "IF(id < 3, 'z', name) AS name").where("id <> 7")
    difference = _difference(rows, found)
    assert (difference.changed, difference.changed_columns, difference.missing) == (3, ("name",), 1)
    changes = [example.changes for example in difference.examples if example.kind is RowKind.CHANGED]
    assert changes[0] == {"name": ("x0", "z")}


def test_rows_whose_key_is_made_anew_are_paired_by_everything_else(spark: SparkSession) -> None:
    rows = _orders(spark)
    clean = rows.selectExpr("md5('a' || id) AS key", "kind", "amount", "name")
    found = rows.selectExpr("md5('b' || id) AS key", "kind", "amount", "name")
    difference = _difference(clean, found, "key")
    assert (difference.changed, difference.changed_columns) == (20, ("key",))
    difference = _difference(clean, clean.union(found), "key")
    assert (difference.doubled, difference.changed_columns) == (20, ("key",))


def test_another_schema_is_a_difference_and_names_the_column(spark: SparkSession) -> None:
    rows = _orders(spark)
    assert _difference(rows, rows.selectExpr("*", "1 AS more")).changed_columns == ("more",)
    assert _difference(rows, rows.withColumn("kind", rows["kind"].cast("int"))).changed_columns == ("kind",)


def test_an_empty_table_lacks_every_row_and_gains_nothing(spark: SparkSession) -> None:
    rows = _orders(spark)
    assert _difference(rows, rows.limit(0)).missing == 20
    assert _difference(rows.limit(0), rows).extra == 20


def test_a_name_with_dots_and_backticks_is_only_a_name(spark: SparkSession) -> None:
    rows = spark.sql("SELECT id AS `a.b``c`, 'x' AS `sum(x)` FROM range(3)")
    difference = _difference(rows, rows.limit(2), "a.b`c")
    assert difference.missing == 1
