"""How the parts of a pipeline, and pipelines among each other, fit together."""

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from samewise.spec.checks import zone_shifts
from samewise.spec.graph import check_graph
from tests.support.spec import ORDERS, load, orders_with, problems

REFRESH = """\
pipeline: lookup
source: {type: files, path: landing/lookup.csv, format: csv, schema: {id: int, name: string}}
target: {type: delta, table: lookup}
write: {strategy: refresh}
"""


def hourly(column_type: str, zone: str = "Europe/Berlin", sql: str = "SELECT * FROM source") -> dict[str, str]:
    text = ORDERS.replace("every: day", "every: hour").replace("order_date: date", f"order_date: {column_type}")
    return {"pipelines/orders.yaml": text.replace("Europe/Berlin", zone), "pipelines/orders.sql": sql}


def test_an_hourly_window_over_a_date_column_is_refused(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, hourly("date"))

    assert found.startswith("pipelines/orders.yaml:12: write.window_column: an hourly window over a DATE column")


def test_an_hourly_window_over_wall_clock_time_is_refused_where_clocks_are_set_back(tmp_path: Path) -> None:
    found = problems(tmp_path, hourly("timestamp_ntz"))

    assert "two windows share one wall-clock hour" in found[0]


@pytest.mark.parametrize(("column_type", "zone"), [("timestamp", "Europe/Berlin"), ("timestamp_ntz", "UTC")])
def test_an_hourly_window_that_can_be_told_from_its_neighbours_is_fine(
    tmp_path: Path, column_type: str, zone: str
) -> None:
    assert load(tmp_path, hourly(column_type, zone)).pipelines


def test_a_window_column_that_holds_no_time_is_refused(tmp_path: Path) -> None:
    found = problems(tmp_path, orders_with("window_column: order_date", "window_column: amount"))

    assert "must be a date, timestamp or timestamp_ntz, and 'amount' is decimal(12,2)" in found[0]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT order_id, to_timestamp(x) AS order_date FROM source",
        "SELECT order_id, to_timestamp(x) order_date FROM source",
        "SELECT order_id, to_timestamp(x) AS `order_date` FROM source",
    ],
)
def test_a_column_that_the_transform_makes_anew_is_not_judged_by_the_old_one(tmp_path: Path, sql: str) -> None:
    assert load(tmp_path, hourly("date", sql=sql)).pipelines


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT order_id, order_date FROM source -- to_timestamp(x) as order_date",
        "SELECT s.order_date FROM source s WHERE order_date > :window_start_date",
    ],
)
def test_a_column_that_the_transform_passes_on_is_judged(tmp_path: Path, sql: str) -> None:
    assert "replace the whole day" in problems(tmp_path, hourly("date", sql=sql))[0]


def test_without_a_transform_columns_must_be_in_the_schema(tmp_path: Path) -> None:
    text = ORDERS.replace("transform: orders.sql\n", "").replace("unique: [order_id]", "unique: [id]")
    text = text.replace("window_column: order_date", "window_column: order_dat")
    broken = {"pipelines/orders.yaml": text.replace("table: orders", "table: orders, partition_by: [nowhere]")}

    assert [problem.split(": the schema has no column ")[0] for problem in problems(tmp_path, broken)] == [
        "pipelines/orders.yaml:10: target.partition_by",
        "pipelines/orders.yaml:11: write.window_column",
        "pipelines/orders.yaml:14: expect[1]",
    ]


def test_the_engines_own_column_is_no_window_column(tmp_path: Path) -> None:
    found = problems(tmp_path, orders_with("window_column: order_date", "window_column: _samewise_window"))

    assert "belongs to Samewise" in found[0]


def test_replace_window_needs_a_schedule(tmp_path: Path) -> None:
    found = problems(tmp_path, orders_with(ORDERS.splitlines()[1] + "\n", ""))

    assert found[0].startswith("pipelines/orders.yaml:11: write.strategy: replace_window needs a schedule")


def test_a_refresh_loads_without_a_schedule(tmp_path: Path) -> None:
    assert load(tmp_path, {"pipelines/lookup.yaml": REFRESH}).pipelines["lookup"].zone == ZoneInfo("UTC")


def test_a_pipeline_of_refreshes_takes_no_schedule(tmp_path: Path) -> None:
    text = REFRESH + "schedule: {every: day, start: 2026-04-01}\n"

    (found,) = problems(tmp_path, {"pipelines/lookup.yaml": text})

    assert found.startswith("pipelines/lookup.yaml:5: schedule: a refresh has one window: drop the schedule")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "strategy: refresh",
            "strategy: refresh, window_column: id",
            "write.window_column: a refresh replaces",
        ),
        (
            "landing/lookup.csv",
            "'{{ window.start | date }}.csv'",
            "source.path: 'window' cannot be used here: a refresh",
        ),
        (
            "table: lookup",
            "table: lookup, partition_by: [_samewise_window]",
            "a refresh writes no _samewise_window",
        ),
    ],
)
def test_a_refresh_has_no_window(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert words in problems(tmp_path, {"pipelines/lookup.yaml": REFRESH.replace(old, new)})[0]


def test_a_target_does_not_move_with_the_window(tmp_path: Path) -> None:
    found = problems(tmp_path, orders_with("table: orders", 'path: "t/{{ window.start | date }}"'))

    assert len(found) == 1
    assert found[0].startswith("pipelines/orders.yaml:11: target.path: 'window' cannot be used here: this table")


@pytest.mark.parametrize("target", ["table: orders", "path: warehouse/orders", "path: ./warehouse//orders/"])
def test_a_target_has_one_owner_however_it_is_written(tmp_path: Path, target: str) -> None:
    found = problems(tmp_path, {"pipelines/x.yaml": REFRESH.replace("table: lookup", target)})

    assert len(found) == 1
    assert found[0].startswith("pipelines/orders.yaml:11: target: 'lookup.load' owns this table already")


def test_a_catalogs_names_are_the_same_in_any_case(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        {
            "samewise.yaml": "project: shop\ncatalog: spark_catalog.shop\n",
            "pipelines/x.yaml": REFRESH.replace("table: lookup", "table: ORDERS"),
        },
    )

    assert "owns this table already" in found[0]


def test_the_same_variable_makes_the_same_target(tmp_path: Path) -> None:
    shared = 'path: "s3a://{{ env.BUCKET }}/orders"'
    files = {
        "pipelines/orders.yaml": ORDERS.replace("table: orders", shared),
        "pipelines/x.yaml": REFRESH.replace("table: lookup", "path: s3a://b/orders"),
    }

    assert "owns this table already" in problems(tmp_path, files, BUCKET="b")[0]


def test_a_target_inside_another_one_is_refused(tmp_path: Path) -> None:
    found = problems(tmp_path, {"pipelines/x.yaml": REFRESH.replace("table: lookup", "path: warehouse/orders/sub")})

    assert "lie inside one another" in found[0]


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("expect:\n", "inputs: {me: {path: warehouse/orders}}\nexpect:\n", "13: inputs.me"),
        (
            ORDERS[ORDERS.index("source:") : ORDERS.index("transform:")],
            "source: {type: delta, table: orders}\n",
            "4: source",
        ),
    ],
)
def test_a_task_does_not_read_what_it_writes(tmp_path: Path, old: str, new: str, where: str) -> None:
    found = problems(tmp_path, orders_with(old, new))

    assert len(found) == 1
    assert found[0].startswith(f"pipelines/orders.yaml:{where}: this is the task's own target")


def test_unknown_names_in_depends_on_get_a_suggestion() -> None:
    found = list(check_graph([("clean", []), ("report", ["clear"])]))

    assert [complaint.sentence for complaint in found] == [
        "there is no task 'clear' in this pipeline, did you mean 'clean'?"
    ]


@pytest.mark.parametrize(
    ("tasks", "circle"),
    [
        ([("a", ["a"])], "a -> a"),
        ([("a", ["b"]), ("b", ["c"]), ("c", ["a"])], "a -> b -> c -> a"),
        ([("x", ["b"]), ("b", ["c"]), ("c", ["b"])], "b -> c -> b"),
    ],
)
def test_a_circle_is_shown_from_its_first_task(tasks: list[tuple[str, list[str]]], circle: str) -> None:
    assert [complaint.sentence for complaint in check_graph(tasks)] == [f"goes round in a circle: {circle}"]


def test_a_diamond_is_no_circle() -> None:
    assert list(check_graph([("a", []), ("b", ["a"]), ("c", ["a"]), ("d", ["b", "c"])])) == []


def test_two_tasks_of_one_name_are_refused() -> None:
    assert [complaint.path for complaint in check_graph([("a", []), ("a", [])])] == [("tasks", 1, "task")]


@pytest.mark.parametrize(
    ("zone", "shifts"),
    [("UTC", False), ("Asia/Kolkata", False), ("Europe/Berlin", True), ("Australia/Lord_Howe", True)],
)
def test_zones_whose_clocks_have_moved_are_known(zone: str, shifts: bool) -> None:
    assert zone_shifts(ZoneInfo(zone)) is shifts
