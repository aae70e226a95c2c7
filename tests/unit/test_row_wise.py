"""Transforms that may be applied to many windows at once, and those that may not."""

from __future__ import annotations

import pytest

from samewise.plan.row_wise import tagged_query

ROW_BY_ROW = [
    "SELECT order_id, upper(status) AS status FROM source",
    "-- first a comment\nselect a, b * 2 as c from source where a > :least",
    "select trim(a), coalesce(b, 0), date_trunc('day', c) from source",
    "select case when a = 1 then 2 end as d, my_function(a) from source where b is not null",
]
OF_THE_WHOLE = [
    "select * from source",
    "select s.* from source as s",
    "select a, count(*) from source group by a",
    "select max(a) from source",
    "select distinct a from source",
    "select a from source limit 3",
    "select a from source order by a",
    "select a from source offset 1",
    "select a, row_number() over (order by a) as r from source",
    "select a from source where a in (select a from source)",
    "select a, (select max(b) from source) as m from source",
    "select explode(x) from source",
    "select a from source lateral view explode(x) t as y",
    "select a from source tablesample (10 percent)",
    "with x as (select a from source) select a from x",
    "select a from source union all select b from source",
    "select a from source join rates using (a)",
    "select a from rates",
    "select a, :window_start as since from source",
    "select a from source where b >= :window_end_date",
    "select a from source having a > 1",
    "from source select a",
    "not sql at all",
]


@pytest.mark.parametrize("sql", ROW_BY_ROW)
def test_a_column_is_carried_through_what_is_row_by_row(sql: str) -> None:
    tagged = tagged_query(sql, "`tag`")
    assert tagged is not None
    assert tagged.replace(" `tag`,", "", 1) == sql


@pytest.mark.parametrize("sql", OF_THE_WHOLE)
def test_what_looks_at_other_rows_or_at_the_window_is_applied_to_each_window_by_itself(sql: str) -> None:
    assert tagged_query(sql, "`tag`") is None
