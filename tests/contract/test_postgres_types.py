"""Every value that Spark can hold arrives in PostgreSQL as it was, and comes back so."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from samewise.core.connections import PostgresConnection
from samewise.core.errors import Refused
from samewise.core.ports import Write
from samewise.core.schema import Column, Schema
from samewise.core.windows import FULL
from samewise.storage.frames import schema_of
from samewise.storage.postgres import Attribute, text
from samewise.targets.postgres import PostgresTarget
from samewise.targets.postgres_types import made_type, takes
from tests.contract.test_targets import OWNER, stamp_of
from tests.support.postgres import PostgresServer
from tests.support.spark import ReadySpark
from tests.support.state import a_run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAN, INFINITY = float("nan"), float("inf")
# Column, type in Spark, type in PostgreSQL, values as Spark SQL, values as Python has them from PostgreSQL.
TYPES: list[tuple[str, str, list[str], list[Any]]] = [
    ("boolean", "boolean", ["true", "false"], [True, False]),
    ("tinyint", "smallint", ["-128Y", "127Y"], [-128, 127]),
    ("smallint", "smallint", ["-32768S", "32767S"], [-32768, 32767]),
    ("int", "integer", ["-2147483648", "2147483647"], [-(2**31), 2**31 - 1]),
    ("bigint", "bigint", ["CAST('-9223372036854775808' AS BIGINT)", "9223372036854775807L"], [-(2**63), 2**63 - 1]),
    (
        "float",
        "real",
        ["CAST(0.1 AS FLOAT)", "CAST('NaN' AS FLOAT)", "CAST('-Infinity' AS FLOAT)"],
        [0.1, NAN, -INFINITY],
    ),
    (
        "double",
        "double precision",
        ["0.1D", "1e308D", "5e-324D", "-0.0D", "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)"],
        [0.1, 1e308, 5e-324, -0.0, NAN, INFINITY],
    ),
    ("decimal(12,2)", "numeric(12,2)", ["-9999999999.99BD", "0.01BD"], [Decimal("-9999999999.99"), Decimal("0.01")]),
    (
        "decimal(38,18)",
        "numeric(38,18)",
        ["99999999999999999999.999999999999999999BD", "0.000000000000000001BD"],
        [Decimal("99999999999999999999.999999999999999999"), Decimal("0.000000000000000001")],
    ),
    ("decimal(38,0)", "numeric(38,0)", ["9" * 38 + "BD"], [Decimal("9" * 38)]),
    (
        "string",
        "text",
        [
            "''",
            "'NULL'",
            "'a\\nb'",
            "'\\\\.'",
            "'x\\n\\\\.\\ny'",
            "'\"q\", \\'s\\''",
            "'\\\\N'",
            "'grüße 漢字 🙂'",
            "'\\r'",
            "' '",
        ],
        ["", "NULL", "a\nb", "\\.", "x\n\\.\ny", "\"q\", 's'", "\\N", "grüße 漢字 🙂", "\r", " "],
    ),
    ("binary", "bytea", ["X'00FF41'", "X''"], [b"\x00\xffA", b""]),
    (
        "date",
        "date",
        ["DATE'0001-01-01'", "DATE'1582-10-14'", "DATE'9999-12-31'"],
        [date(1, 1, 1), date(1582, 10, 14), date(9999, 12, 31)],
    ),
    (
        "timestamp",
        "timestamp with time zone",
        [
            "TIMESTAMP'0001-01-01 00:00:00Z'",
            "TIMESTAMP'2026-10-25 00:30:00.123456Z'",
            "TIMESTAMP'9999-12-31 23:59:59.999999Z'",
        ],
        [
            datetime(1, 1, 1, tzinfo=UTC),
            datetime(2026, 10, 25, 0, 30, 0, 123456, tzinfo=UTC),
            datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        ],
    ),
    (
        "timestamp_ntz",
        "timestamp without time zone",
        ["TIMESTAMP_NTZ'2026-03-29 02:30:00.000001'", "TIMESTAMP_NTZ'0001-01-01 00:00:00'"],
        [datetime(2026, 3, 29, 2, 30, 0, 1), datetime(1, 1, 1)],
    ),
    ("array<int>", "integer[]", ["array(1, NULL, 3)", "CAST(array() AS ARRAY<INT>)"], [[1, None, 3], []]),
    (
        "array<string>",
        "text[]",
        ["array('a', NULL, 'NULL', '', 'b,\"c\"', '\\\\', '{}', 'x y')"],
        [["a", None, "NULL", "", 'b,"c"', "\\", "{}", "x y"]],
    ),
    ("array<decimal(5,2)>", "numeric(5,2)[]", ["array(1.50BD, -0.01BD)"], [[Decimal("1.50"), Decimal("-0.01")]]),
    ("array<double>", "double precision[]", ["array(1.5D, 1e300D)"], [[1.5, 1e300]]),
    ("array<date>", "date[]", ["array(DATE'2026-01-01')"], [[date(2026, 1, 1)]]),
    ("array<boolean>", "boolean[]", ["array(true, false)"], [[True, False]]),
]


def publish(spark: SparkSession, server: PostgresServer, rows: DataFrame) -> tuple[PostgresTarget, str]:
    schema = server.new_schema()
    connection = PostgresConnection("test", server.plain_url("postgres"), schema=schema, bookkeeping=schema)
    target = PostgresTarget(connection, schema, "values", ReadySpark(spark))
    target.fitted(schema_of(rows))
    target.prepare(schema_of(rows), OWNER, ())
    target.publish(rows, Write(None, ()), stamp_of(a_run(FULL)))
    return target, schema


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        nans = math.isnan(one) and math.isnan(other)
        return nans or (one == other and math.copysign(1, one) == math.copysign(1, other))
    return bool(one == other) and type(one) is type(other)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_every_type_is_carried_exactly_and_comes_back(
    spark: SparkSession, postgres_server: PostgresServer, zone: str
) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    most = max(len(values) for _, _, values, _ in TYPES) + 1
    selects = []
    for number in range(most):
        columns = [f"{number} AS n"]
        for at, (kind, _, values, _) in enumerate(TYPES):
            value = values[number] if number < len(values) else "NULL"
            columns.append(f"CAST({value} AS {kind}) AS c{at}")
        selects.append("SELECT " + ", ".join(columns))
    rows = session.sql(" UNION ALL ".join(selects))
    target, schema = publish(session, postgres_server, rows)
    with postgres_server.connect() as other:
        other.execute("SET TimeZone = 'UTC'")
        found = other.execute(text(f"SELECT * FROM {schema}.values ORDER BY n")).fetchall()
        kinds = other.execute(
            "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 1"
            " ORDER BY attnum",
            (f"{schema}.values",),
        ).fetchall()
    for at, (kind, wanted_kind, _, wanted) in enumerate(TYPES):
        assert kinds[at] == (wanted_kind,), kind
        arrived: list[Any] = [row[at + 1] for row in found]
        expected = [*wanted, *[None] * (most - len(wanted))]
        assert all(map(same, arrived, expected)), (kind, arrived, expected)
    back = target.rows(None)
    assert back is not None
    # Spark's own comparison of everything at once: NaN equals NaN, and a NULL a NULL.
    casts = [f"CAST(c{at} AS {line[0]}) AS c{at}" for at, line in enumerate(TYPES)]
    returned = back.selectExpr("n", *casts)
    packed = "to_json(struct(*))"
    one = {row[0] for row in rows.selectExpr(packed).collect()}
    assert {row[0] for row in returned.selectExpr(packed).collect()} == one


def test_a_year_beyond_9999_is_refused_by_name(spark: SparkSession, postgres_server: PostgresServer) -> None:
    rows = spark.sql("SELECT DATE'+10000-01-01' AS far")
    with pytest.raises(Refused) as caught:
        publish(spark, postgres_server, rows)
    assert "far" in caught.value.message


@pytest.mark.parametrize(
    ("there", "type_", "fits"),
    [
        ("bigint", "int", True),
        ("integer", "bigint", False),
        ("numeric", "decimal(38,18)", True),
        ("numeric(20,4)", "decimal(12,2)", True),
        ("numeric(12,2)", "decimal(12,3)", False),
        ("numeric(10,0)", "bigint", False),
        ("numeric(19,0)", "bigint", True),
        ("double precision", "float", True),
        ("real", "double", False),
        ("uuid", "string", True),
        ("jsonb", "string", True),
        ("json", "string", False),
        ("character varying(10)", "string", True),
        ("character(10)", "string", False),
        ("timestamp with time zone", "timestamp_ntz", False),
        ("timestamp without time zone", "timestamp", False),
        ("date", "timestamp", False),
        ("text", "int", False),
        ("text[]", "array<string>", True),
        ("integer[]", "array<bigint>", False),
    ],
)
def test_a_column_that_is_there_takes_what_it_keeps_exactly(there: str, type_: str, fits: bool) -> None:
    assert takes(Attribute("x", there, True), Column("x", type_)) is fits


def test_a_generated_column_takes_nothing() -> None:
    assert not takes(replace(Attribute("x", "bigint", True), generated=True), Column("x", "bigint"))


def test_a_type_without_an_equal_has_none_made_up() -> None:
    for type_ in ("struct<a:int>", "map<string,int>", "variant", "interval day to second", "array<array<int>>"):
        with pytest.raises(Refused) as caught:
            made_type(Column("odd", type_))
        assert "odd" in caught.value.message
    assert Schema.of([("a", "int")]).names == ("a",)
