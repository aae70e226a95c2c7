"""What is found in SQL before Spark sees it, and in the plan that Spark makes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from samewise.plan.sql_check import (
    check_condition,
    check_incremental,
    check_transform,
    nondeterministic_in_plan,
    parameters,
    source_reads,
)

# EXPLAIN EXTENDED of Spark 4.1.3, up to the physical plan, session zone Europe/Berlin.
PLANS = json.loads((Path(__file__).parent / "spark_plans.json").read_text())


def codes(sql: str, *tables: str) -> list[str]:
    return [finding.code for finding in check_transform(sql, tables=set(tables))]


@pytest.mark.parametrize(
    "sql",
    [
        "select * from source",
        "SELECT id FROM SOURCE;",
        "-- a comment\nselect id from source\n;\n-- the end",
        "(select id from source)",
        "from source select id",
        "select id from source union all select id from source",
        "with a as (select * from source) select * from a",
        "with a as (with b as (select * from source) select * from b) select * from a",
        "with recursive n as (select 1 as i union all select i + 1 from n where i < 3) select * from n",
        "select * from source where id in (select id from source)",
        "select /*+ broadcast(s) */ * from source s",
        "select * from source lateral view explode(arr) t as x",
        "select * from source cross join range(3) r",
        "select transform(arr, x -> x + 1), aggregate(arr, 0, (acc, x) -> acc + x) from source",
        "select row_number() over (partition by a order by b) as rn from source qualify rn = 1",
        "select payload:city.name::string from source",
        "select * from source |> where id > 1 |> select id",
        "select * except (a), try_cast(b as int), c <=> d, `from`, 1L, x'1A', date '2026-01-01' from source",
    ],
)
def test_one_select_over_source_is_fine(sql: str) -> None:
    assert codes(sql) == []


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("", "empty"),
        ("-- only a comment\n", "empty"),
        (";;", "empty"),
        ("select 1; select 2", "several_statements"),
        ("insert into x select * from source", "not_a_select"),
        ("with a as (select * from source) insert into x select * from a", "not_a_select"),
        ("from source insert into x select 1", "not_a_select"),
        ("create table x as select * from source", "not_a_select"),
        ("merge into x using source on x.id = source.id when matched then delete", "not_a_select"),
        ("delete from x", "not_a_select"),
        ("drop table x", "not_a_select"),
        ("show tables", "not_a_select"),
        ("explain select 1", "not_a_select"),
        ("set spark.sql.ansi.enabled = false", "not_a_select"),
        ("values (1, 2)", "not_a_select"),
        ("selec 1", "not_a_select"),
        ("select * from source where", "syntax"),
        ("select 'abc from source", "syntax"),
        ("select a from (", "syntax"),
    ],
)
def test_what_is_not_one_select_is_refused(sql: str, code: str) -> None:
    assert codes(sql) == [code]


def test_a_statement_that_is_refused_leaves_nothing_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    codes("show tables")
    assert caplog.records == []


def test_a_syntax_error_says_where() -> None:
    (finding,) = check_transform("select a\nfrm source", tables=set())
    assert (finding.line, finding.message) == (
        2,
        "column 5, near 'source': Invalid expression / Unexpected token",
    )


def test_a_syntax_error_names_no_class_of_the_parser() -> None:
    (finding,) = check_transform("select * from source where", tables=set())
    assert "<class" not in finding.message


def test_an_undeclared_table_is_found_with_its_line() -> None:
    (finding,) = check_transform("select *\nfrom source\njoin Customers c using (id)", tables=set())
    assert (finding.line, finding.message) == (
        3,
        "reads table 'Customers', which is not declared: add it under inputs:",
    )


@pytest.mark.parametrize(
    "sql",
    [
        "select (select max(id) from other) from source",
        "select * from source where exists (select 1 from other)",
        "with a as (select * from other) select * from source",
        "select * from delta.`/data/other`",
        "select * from shop.source",
        "with a as (with b as (select * from source) select * from b) select * from b",
        "with a as (select * from b), b as (select * from source) select * from a",
        "select * from identifier('other')",
        "select * from read_files('/data')",
    ],
)
def test_a_table_that_is_not_declared_is_found_wherever_it_hides(sql: str) -> None:
    assert codes(sql) == ["undeclared_table"]


def test_a_declared_input_may_be_read_in_any_case() -> None:
    assert codes("select * from source join CUSTOMERS using (id)", "customers") == []


@pytest.mark.parametrize(
    "call",
    [
        "current_timestamp()",
        "current_timestamp",
        "CURRENT_TIMESTAMP",
        "now()",
        "localtimestamp()",
        "current_date",
        "current_date()",
        "curdate()",
        "current_time",
        "current_time()",
        "unix_timestamp()",
        "date_trunc('day', now())",
        "system.builtin.now()",
        "timestamp 'now'",
        "date'today'",
        "cast('yesterday' as date)",
        "`now`()",
    ],
)
def test_a_clock_is_refused_with_what_to_use_instead(call: str) -> None:
    (finding,) = check_transform(f"select {call} as c from source", tables=set())
    assert (finding.code, ":run_ts" in finding.message) == ("clock", True)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("rand()", "random"),
        ("rand(5)", "random"),
        ("randn()", "random"),
        ("random()", "random"),
        ("uuid()", "random"),
        ("shuffle(arr)", "random"),
        ("randstr(5)", "random"),
        ("uniform(1, 5)", "random"),
        ("reflect('java.util.UUID', 'randomUUID')", "random"),
        ("monotonically_increasing_id()", "layout"),
        ("spark_partition_id()", "layout"),
        ("input_file_name()", "layout"),
        ("input_file_block_start()", "layout"),
        ("current_user()", "session"),
        ("current_user", "session"),
        ("session_user()", "session"),
        ("user()", "session"),
        ("version()", "session"),
        ("current_database()", "session"),
    ],
)
def test_a_value_that_a_retry_would_not_get_again_is_refused(call: str, code: str) -> None:
    assert codes(f"select {call} as c from source") == [code]


def test_a_sample_is_refused() -> None:
    assert codes("select * from source tablesample (10 percent)") == ["layout"]


@pytest.mark.parametrize(
    "sql",
    [
        "select now, t.current_date, `current_time`, t.rand, user from source t",
        "select 'rand()', \"now()\", 'current_timestamp' from source",
        "select a as now, b as rand, c as current_user from source",
        "select * from source as now",
        "with rand as (select 1 as a) select * from rand, source",
        "select unix_timestamp(ts), to_unix_timestamp(ts), cast('now' as string) from source",
        "select shop.rand() from source",
        "select :now, :rand from source -- now() and rand()",
    ],
)
def test_a_name_or_a_text_that_only_looks_like_a_clock_is_fine(sql: str) -> None:
    assert codes(sql) == []


def test_every_finding_comes_at_once_with_its_line() -> None:
    sql = "-- für\nselect now(),\nrand(), current_date,\ncurrent_timestamp\nfrom source\njoin x using (id)"
    found = [(finding.line, finding.code) for finding in check_transform(sql, tables=set())]
    assert found == [(2, "clock"), (3, "clock"), (3, "random"), (4, "clock"), (6, "undeclared_table")]


def test_a_clock_is_called_as_it_was_typed() -> None:
    (finding,) = check_transform("select curdate() from source", tables=set())
    assert finding.message.startswith("curdate() reads the clock")


@pytest.mark.parametrize(
    ("sql", "reads"),
    [
        ("select 1", 0),
        ("select * from source", 1),
        ("select * from source a join SOURCE b using (id)", 2),
        ("with a as (select * from source) select * from a", 1),
        ("with a as (select * from source) select * from a x join a y using (id)", 2),
        (
            "with a as (from source), b as (from a union from a) select * from b, b c",
            4,
        ),
        ("with a as (select * from source) select 1", 0),
        ("with source as (select 1 as id) select * from source", 0),
        ("with source as (select * from source) select * from source", 1),
        ("select * from source where id in (select max(id) from source)", 2),
        ("with recursive a as (select id from source union all select id + 1 from a) select * from a", 1),
    ],
)
def test_reads_of_the_source_are_counted_with_ctes_written_out(sql: str, reads: int) -> None:
    assert source_reads(sql) == reads


def test_reads_of_what_is_no_select_cannot_be_counted() -> None:
    with pytest.raises(ValueError, match="DROP"):
        source_reads("drop table x")


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("select :run_ts, :window_start from source where a = :Limit", {"run_ts", "window_start", "Limit"}),
        ("select * from source limit :n", {"n"}),
        ("select a[:i], f(:j), case when a then :end else 1 end from source", {"i", "j", "end"}),
        ("select ':x', `a:b`, a::int from source -- :y\n/* :z */", set()),
        ("select payload:city, f(a):b, arr[0]:c from source", set()),
        ("amount >= :minimum", {"minimum"}),
        ("select from where :still_found (", {"still_found"}),
        ("select 'not closed :x", set()),
    ],
)
def test_parameters_are_found_by_name(sql: str, names: set[str]) -> None:
    assert parameters(sql) == names


@pytest.mark.parametrize(
    "sql",
    [
        "order_id is not null",
        "amount >= 0",
        "status in ('new', 'paid') -- the rest is not ours",
        "comment is not null and `set` <> 'x'",
        "amount between :low and :high",
        "exists(items, x -> x > 0)",
        "case when a then b else c end",
        "not (a <=> b)",
        "is_active",
    ],
)
def test_a_condition_on_a_row_is_fine(sql: str) -> None:
    assert check_condition(sql) == []


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("", "empty"),
        ("-- nothing", "empty"),
        ("amount >=", "syntax"),
        ("a, b", "not_a_condition"),
        ("a as b", "not_a_condition"),
        ("a; b", "not_a_condition"),
        ("a); drop table x; select (b", "not_a_condition"),
        ("a) + (b", "not_a_condition"),
        ("1) union select (2", "not_a_condition"),
        ("a) from other where (b", "not_a_condition"),
        ("a), (b", "not_a_condition"),
        ("*", "not_a_condition"),
        ("select 1", "subquery"),
        ("id in (select id from other)", "subquery"),
        ("exists (select 1 from other)", "subquery"),
        ("count(*) > 1", "aggregate"),
        ("try_sum(amount) > 1", "aggregate"),
        ("every(a)", "aggregate"),
        ("rank() over (order by a) = 1", "window_function"),
        ("at < now()", "clock"),
        ("at < current_timestamp", "clock"),
        ("rand() > 0.5", "random"),
    ],
)
def test_a_condition_that_is_not_about_one_row_is_refused(sql: str, code: str) -> None:
    assert code in [finding.code for finding in check_condition(sql)]


def test_a_finding_in_a_condition_has_the_line_of_the_condition() -> None:
    assert [finding.line for finding in check_condition("a > 1\nand at < now()")] == [2]


@pytest.mark.parametrize("case", PLANS["impure"].items(), ids=lambda case: case[0])
def test_a_function_that_a_retry_would_not_repeat_is_found_in_sparks_plan(case: tuple[str, Any]) -> None:
    assert nondeterministic_in_plan(case[1]["plan"]) == case[1]["found"]


@pytest.mark.parametrize("case", PLANS["pure"].items(), ids=lambda case: case[0])
def test_nothing_is_found_in_the_plan_of_a_query_that_can_be_repeated(case: tuple[str, Any]) -> None:
    assert nondeterministic_in_plan(case[1]["plan"]) == []


def test_a_plan_without_an_analysed_section_has_nothing_to_find() -> None:
    assert nondeterministic_in_plan("== Physical Plan ==\n*(1) Project [rand(5) AS a#1]\n") == []


# Over what is new only


@pytest.mark.parametrize(
    "sql",
    [
        "select count(*) from source",
        "select k, max(v) from source group by k",
        "select k from source group by all",
        "select k from source having max(v) > 1",
        "select k, sum(v) over (partition by k) from source",
        "select lag(v) over (partition by k order by v) from source",
        "select try_sum(v) from source",
        "select * from source pivot (sum(a) for b in (1, 2))",
        "with a as (select * from source), b as (select * from a) select max(v) from b",
        "with b as (select * from source) select max(v) from (select * from b)",
        "select * from source where v = (select max(v) from source)",
        "select collect_list(s.v) from source s join rates r on s.k = r.k",
    ],
)
def test_an_aggregate_over_what_is_new_is_found(sql: str) -> None:
    assert {finding.code for finding in check_incremental(sql)} == {"aggregate"}


@pytest.mark.parametrize(
    "sql",
    [
        "select * from source",
        "select distinct k from source",
        "select *, row_number() over (partition by k order by v desc) as r from source qualify r = 1",
        "select rank() over (order by v), ntile(4) over (order by v) from source",
        "select array_max(a), greatest(a, b), aggregate(arr, 0, (x, y) -> x + y) from source",
        "with r as (select k, max(rate) as rate from rates group by k) select * from source join r using (k)",
        "select *, (select max(rate) from rates) from source",
    ],
)
def test_what_looks_at_one_new_row_or_at_a_whole_input_is_fine(sql: str) -> None:
    assert check_incremental(sql) == []


def test_the_aggregate_is_named_with_its_line_and_a_way_out() -> None:
    (group, total) = check_incremental("select k,\n  sum(v)\nfrom source\ngroup by k")
    assert (total.line, group.line) == (2, 4) or (group.line, total.line) == (2, 4)
    assert "replace_window" in group.message
