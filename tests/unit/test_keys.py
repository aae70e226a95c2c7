"""Keys and versions: one order for every layout, one key for every system."""

from __future__ import annotations

import hashlib
import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from samewise.core.keys import has_null, hash_key_expression, newer, same_key, version_expression
from samewise.core.measures import row_hash_expression
from samewise.core.schema import Column, Schema
from samewise.run.dedup import Dedup, newest_per_key, without_duplicates
from samewise.storage.frames import schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

VERSIONS = "(0, NULL), (1, -1D), (2, double('-0.0')), (2, 0D), (3, 7D), (4, double('Infinity')), (5, double('NaN'))"


def winners(rows: DataFrame, key: list[str], version_by: list[str]) -> list[tuple[Any, ...]]:
    newest = newest_per_key(rows, key, version_by, schema_of(rows))
    assert newest.schema == rows.schema
    return sorted((tuple(row) for row in newest.collect()), key=repr)


def in_some_layout(rows: DataFrame, seed: int) -> DataFrame:
    """The same rows in another order and in other partitions."""
    taken = rows.collect()
    random.Random(seed).shuffle(taken)
    return rows.sparkSession.createDataFrame(taken, rows.schema).repartition(1 + seed % 4)


# The order of versions


@pytest.mark.parametrize("mode", ["CODEGEN_ONLY", "NO_CODEGEN"])
def test_versions_have_a_total_order_with_null_lowest_and_nan_highest(spark: SparkSession, mode: str) -> None:
    spark.conf.set("spark.sql.codegen.factoryMode", mode)
    spark.conf.set("spark.sql.codegen.wholeStage", str(mode == "CODEGEN_ONLY").lower())
    try:
        pairs = spark.sql(
            f"SELECT a.n, b.n, {newer(version_expression(['x'], of='a'), version_expression(['x'], of='b'))}"
            f" FROM VALUES {VERSIONS} AS a(n, x) CROSS JOIN VALUES {VERSIONS} AS b(n, x)"
        ).collect()
    finally:
        spark.conf.unset("spark.sql.codegen.factoryMode")
        spark.conf.unset("spark.sql.codegen.wholeStage")
    assert len(pairs) == 49
    assert all(is_newer is (one > other) for one, other, is_newer in pairs)


def test_the_first_version_column_decides_before_the_second(spark: SparkSession) -> None:
    rows = spark.sql("SELECT * FROM VALUES (1, 2, 1), (1, 1, 9), (1, 2, NULL) AS t(k, a, b)")
    assert winners(rows, ["k"], ["a", "b"]) == [(1, 2, 1)]


def test_a_row_that_is_not_there_is_older_than_any(spark: SparkSession) -> None:
    there, gone = "named_struct('v0', CAST(NULL AS INT))", "CAST(NULL AS STRUCT<v0: INT>)"
    found = spark.sql(f"SELECT {newer(there, gone)}, {newer(gone, there)}, {newer(gone, gone)}").first()
    assert found is not None
    assert tuple(found) == (True, False, False)


# The newest row of a batch


@pytest.mark.parametrize("seed", range(4))
def test_a_tie_has_the_same_winner_in_every_layout(spark: SparkSession, seed: int) -> None:
    rows = spark.range(400).selectExpr(
        "id % 40 AS k", "CAST(id % 3 AS INT) AS v", "CAST(id % 7 AS STRING) AS text", "double(id % 2) AS d"
    )
    assert winners(in_some_layout(rows, seed), ["k"], ["v"]) == winners(rows, ["k"], ["v"])


ALIKE = [
    ("double('0.0')", "double('-0.0')"),
    ("array(CAST(NULL AS STRING), 'a')", "array('a', CAST(NULL AS STRING))"),
    ("struct(CAST(NULL AS INT) AS a, 1 AS b)", "struct(1 AS a, CAST(NULL AS INT) AS b)"),
    ("map('a', TIMESTAMP'2026-01-01 00:00:00.000001')", "map('a', TIMESTAMP'2026-01-01 00:00:00.000002')"),
    ("array(double('0.0'))", "array(double('-0.0'))"),
    ("parse_json('1')", "parse_json('2')"),
    ("'a'", "'b'"),
]


@pytest.mark.parametrize("pair", ALIKE)
def test_rows_that_share_a_hash_still_have_one_winner(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, pair: tuple[str, str]
) -> None:
    monkeypatch.setattr("samewise.core.keys.row_hash_expression", lambda schema: "0L")
    one, other = [spark.sql(f"SELECT 1 AS k, {sql} AS x") for sql in pair]
    found = [repr(winners(rows.coalesce(1), ["k"], [])) for rows in (one.union(other), other.union(one))]
    assert found[0] == found[1]


@pytest.mark.parametrize("pair", ALIKE[1:])
def test_the_hash_of_a_row_tells_nested_values_apart(spark: SparkSession, pair: tuple[str, str]) -> None:
    rows = spark.sql(f"SELECT {pair[0]} AS x").union(spark.sql(f"SELECT {pair[1]} AS x"))
    hashes = rows.selectExpr(row_hash_expression(schema_of(rows))).collect()
    assert hashes[0][0] != hashes[1][0]


def test_null_keys_are_one_key(spark: SparkSession) -> None:
    rows = spark.sql("SELECT * FROM VALUES (NULL, 'a', 1), (NULL, 'a', 2), (NULL, NULL, 3), (1, 'a', 4) AS t(k, l, v)")
    assert winners(rows, ["k", "l"], ["v"]) == [(1, "a", 4), (None, "a", 2), (None, None, 3)]


def test_a_column_that_is_not_part_of_the_row_has_no_say(spark: SparkSession) -> None:
    def batch(first: str, second: str) -> DataFrame:
        return spark.sql(f"SELECT * FROM VALUES (1, 'a', '{first}'), (1, 'b', '{second}') AS t(k, text, load)")

    schema = Schema.of([("k", "int"), ("text", "string")])
    found = [newest_per_key(batch(*loads), ["k"], [], schema).collect() for loads in (("x", "y"), ("y", "x"))]
    assert found[0][0].text == found[1][0].text


def test_the_dedup_of_a_source_keeps_every_row_whose_key_is_unknown(spark: SparkSession) -> None:
    rows = spark.sql("SELECT * FROM VALUES (NULL, 1), (NULL, 1), (7, 1), (7, 2) AS t(k, v)")
    kept = without_duplicates(rows, Dedup(["k"], ["v"])).collect()
    assert sorted(map(tuple, kept), key=repr) == [(7, 2), (None, 1), (None, 1)]


def test_a_name_with_a_backtick_is_just_a_name(spark: SparkSession) -> None:
    rows = spark.sql("SELECT 1 AS `a``b`, 2 AS `v w`")
    assert winners(rows, ["a`b"], ["v w"]) == [(1, 2)]
    found = rows.alias("l").selectExpr(same_key(["a`b"], "l", "l"), has_null(["a`b"])).first()
    assert found is not None
    assert tuple(found) == (True, False)


# A key from business columns

BUSINESS = Schema.of(
    [
        ("text", "string"),
        ("whole", "bigint"),
        ("money", "decimal(12,2)"),
        ("at", "timestamp"),
        ("wall", "timestamp_ntz"),
        ("day", "date"),
        ("yes", "boolean"),
        ("raw", "binary"),
        ("huge", "decimal(38,18)"),
    ]
)
EPOCH = datetime(1970, 1, 1)


def canonical(value: object) -> bytes:
    """The documented form, in plain Python."""
    match value:
        case None:
            return b"-"
        case bool():
            text = b"true" if value else b"false"
        case bytes() | bytearray():
            text = value.hex().encode()
        case Decimal():
            plain = f"{value:f}"
            text = (plain.rstrip("0").rstrip(".") if "." in plain else plain).encode()
        case datetime():
            naive = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
            text = str((naive - EPOCH) // timedelta(microseconds=1)).encode()
        case date():
            text = value.isoformat().encode()
        case _:
            text = str(value).encode()
    return b"%d:%b" % (len(text), text)


def expected_key(values: tuple[object, ...]) -> str:
    return hashlib.sha256(b"".join(canonical(value) for value in values)).hexdigest()


ROWS: list[tuple[Any, ...]] = [
    (
        "Zoë",
        -5,
        Decimal("10.50"),
        datetime(2026, 3, 8, 7, 30, 0, 120000, tzinfo=UTC),
        datetime(2026, 3, 8, 2, 30, 0, 1),
        date(2026, 4, 25),
        True,
        bytearray(b"\x00\xff"),
        Decimal("0.0000001"),
    ),
    (
        "",
        0,
        Decimal("100.00"),
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(1, 1, 1),
        date(1, 1, 1),
        False,
        bytearray(b""),
        Decimal("0"),
    ),
    (None,) * 9,
    ("-", 2**63 - 1, Decimal("-0.07"), None, None, date(9999, 12, 31), None, None, Decimal("12345678901234567890")),
]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Australia/Lord_Howe"])
def test_a_hash_key_is_what_another_system_computes_whatever_the_zone(spark: SparkSession, zone: str) -> None:
    ddl = ", ".join(f"{column.name} {column.type}" for column in BUSINESS)
    rows = spark.createDataFrame(ROWS, ddl)
    before = spark.conf.get("spark.sql.session.timeZone") or "UTC"
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        found = [row[0] for row in rows.selectExpr(hash_key_expression(BUSINESS.columns)).collect()]
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    assert found == [expected_key(row) for row in ROWS]


@pytest.mark.parametrize("type_", ["tinyint", "smallint", "int", "bigint", "decimal(5,0)", "decimal(12,2)"])
def test_the_same_number_gives_the_same_key_in_every_type(spark: SparkSession, type_: str) -> None:
    rows = spark.sql(f"SELECT CAST(100 AS {type_}) AS n")
    found = rows.selectExpr(hash_key_expression([Column("n", type_)])).first()
    assert found is not None
    assert found[0] == hashlib.sha256(b"3:100").hexdigest()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("'ab', 'c'", "'a', 'bc'"),
        ("CAST(NULL AS STRING), 'a'", "'a', CAST(NULL AS STRING)"),
        ("CAST(NULL AS STRING), ''", "'', CAST(NULL AS STRING)"),
        ("'-', ''", "CAST(NULL AS STRING), ''"),
        ("'1:a', ''", "'1', 'a'"),
    ],
)
def test_values_that_only_look_alike_have_different_keys(spark: SparkSession, one: str, other: str) -> None:
    key = hash_key_expression([Column("a", "string"), Column("b", "string")])
    found = spark.sql(f"SELECT {key} FROM VALUES ({one}), ({other}) AS t(a, b)").collect()
    assert found[0][0] != found[1][0]


@pytest.mark.parametrize(
    "type_", ["float", "double", "map<string,int>", "array<string>", "struct<a:int>", "variant", "interval", "time(6)"]
)
def test_a_type_that_has_no_canonical_form_is_refused_by_the_columns_name(type_: str) -> None:
    with pytest.raises(ValueError, match=rf"^ratio is {type_.partition('(')[0]}"):
        hash_key_expression([Column("id", "bigint"), Column("ratio", type_)])


def test_the_example_of_the_documentation_is_right(spark: SparkSession) -> None:
    rows = spark.sql("SELECT 42 AS a, CAST(NULL AS STRING) AS b, CAST(10.50 AS DECIMAL(12,2)) AS c")
    found = rows.selectExpr(hash_key_expression(schema_of(rows).columns)).first()
    assert found is not None
    assert found[0] == hashlib.sha256(b"2:42-4:10.5").hexdigest()
