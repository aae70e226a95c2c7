"""A key made at processing time is refused, however the SELECT hides it."""

from __future__ import annotations

import pytest

from samewise.plan.key_check import check_keys, condition_columns
from samewise.plan.sql_text import Finding


def found(sql: str, *, kind: str = "files", columns: list[str] | None = None, version: bool = False) -> list[Finding]:
    names = {"key": [], "version_by": ["k"]} if version else {"key": ["k"], "version_by": []}
    return check_keys(sql, **names, source_kind=kind, source_columns=columns)


MADE = {
    "uuid()": "uuid()",
    "monotonically_increasing_id()": "monotonically_increasing_id()",
    "row_number() OVER (PARTITION BY a)": "row_number() over no order",
    "row_number() OVER (ORDER BY 1)": "row_number() over no order",
    "dense_rank() OVER (ORDER BY NULL)": "dense_rank() over no order",
    "rank() OVER w": "rank() over no order",
    "current_timestamp": "current_timestamp()",
    "now()": "now()",
    "date_format(current_date(), 'yyyy')": "current_date()",
    "rand()": "rand()",
    ":run_ts": ":run_ts",
    "concat(a, :run_ts)": ":run_ts",
    "_samewise_window": "_samewise_window",
    "_metadata.file_path": "_metadata",
    "source._metadata.row_index": "_metadata",
    "input_file_name()": "input_file_name()",
    "spark_partition_id()": "spark_partition_id()",
    "CASE WHEN a > 1 THEN sha2(uuid(), 256) ELSE b END": "uuid()",
}


@pytest.mark.parametrize("version", [False, True], ids=["key", "version"])
@pytest.mark.parametrize("expression", MADE)
def test_what_is_made_at_processing_time_is_no_key_and_no_version(expression: str, version: bool) -> None:
    sql = f"SELECT a,\n {expression} AS k FROM source WINDOW w AS (PARTITION BY a)"
    (finding,) = found(sql, version=version)
    assert finding.line == 2
    assert finding.message.startswith(f"the {'version' if version else 'key'} k is made of {MADE[expression]}")
    assert ("a replay of old rows" if version else "added again under another key") in finding.message


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT x AS k FROM (SELECT uuid() AS x FROM source)",
        "SELECT t.x AS k FROM (SELECT uuid() AS x FROM source) AS t",
        "SELECT k FROM (SELECT uuid() FROM source) AS t(k)",
        "SELECT * FROM (SELECT uuid() AS k FROM source)",
        "SELECT t.* FROM (SELECT uuid() AS k FROM source) t",
        "WITH c AS (SELECT uuid() AS x FROM source) SELECT upper(x) AS k FROM c",
        "WITH c(x) AS (SELECT uuid() FROM source) SELECT x AS k FROM c",
        "WITH a AS (SELECT uuid() AS x FROM source), b AS (SELECT * FROM a) SELECT b.x AS k FROM b, source",
        "SELECT id AS k FROM source UNION ALL SELECT uuid() AS other FROM source",
        "(SELECT id AS k FROM source) UNION (SELECT uuid() FROM source)",
        "SELECT uuid() AS a, concat('x', a) AS k FROM source",
        "SELECT (SELECT max(uuid()) FROM source) AS k FROM source",
        "SELECT k FROM source LATERAL VIEW explode(array(uuid())) t AS k",
        "SELECT K FROM (SELECT Uuid() AS `k` FROM source)",
        "SELECT k FROM source JOIN (SELECT uuid() AS k FROM source) USING (id)",
    ],
)
def test_it_is_found_through_aliases_ctes_subqueries_and_unions(sql: str) -> None:
    assert any("is made of uuid()" in finding.message for finding in found(sql))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id AS k, uuid() AS other FROM source",
        "SELECT * FROM source",
        "SELECT s.*, :run_ts AS loaded_at FROM source s",
        "SELECT row_number() OVER (PARTITION BY a ORDER BY at, id) AS k FROM source",
        "SELECT row_number() OVER w AS k FROM source WINDOW w AS (ORDER BY id)",
        "SELECT max(at) OVER () AS k FROM source",
        "SELECT sha2(concat_ws('|', a, b), 256) AS k FROM source",
        "SELECT s.k FROM source s JOIN (SELECT uuid() AS k, 1 AS one) t ON true",
        "SELECT upper(k) AS k FROM source",
        "SELECT :window_start AS k FROM source",
        "SELECT unix_timestamp(at) AS k FROM source",
        "SELECT offset AS k FROM source",
        "WITH RECURSIVE c AS (SELECT id AS k FROM source UNION ALL SELECT k + 1 FROM c WHERE k < 3) SELECT k FROM c",
        "SELECT id AS k FROM source UNION ALL SELECT id FROM source",
        "not sql at all",
    ],
)
def test_what_comes_from_the_data_is_a_key(sql: str) -> None:
    assert found(sql) == []


def test_an_alias_of_the_same_select_is_not_taken_for_a_column_that_the_source_has() -> None:
    sql = "SELECT :run_ts AS loaded_at, loaded_at AS k FROM source"
    assert found(sql) != []
    assert found(sql, columns=["Loaded_At"]) == []


@pytest.mark.parametrize("sql", ["SELECT offset AS k FROM source", "SELECT s.*, offset AS k FROM source AS s"])
def test_a_kafka_offset_is_no_key_but_may_order_versions(sql: str) -> None:
    (finding,) = found(sql, kind="kafka")
    assert "the Kafka offset" in finding.message
    assert found(sql, kind="kafka", version=True) == []


def test_an_offset_behind_a_star_is_seen_too() -> None:
    (finding,) = check_keys("SELECT * FROM source", key=["offset"], version_by=[], source_kind="kafka")
    assert "the Kafka offset" in finding.message


def test_a_key_that_the_select_does_not_give_is_told() -> None:
    (finding,) = found("SELECT id,\n at FROM source")
    assert (finding.message, finding.code) == ("the SELECT gives no column k, which is the key", "key_column")


def test_the_columns_of_a_condition_are_read() -> None:
    assert condition_columns("op = 'D' AND coalesce(`is gone`, payload.deleted)") == {"op", "is gone", "payload"}
