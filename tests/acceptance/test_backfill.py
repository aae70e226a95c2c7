"""A span of windows, loaded in groups: the same table and the same receipts as one by one."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from samewise import open_project
from tests.support.project import BASE, Shop, samewise

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIRST = date(2026, 4, 1)
DAYS = [(FIRST + timedelta(days=at)).isoformat() for at in range(8)]
SPAN = ("--from", DAYS[0], "--to", DAYS[4])
SCHEDULE = {"schedule.start": DAYS[0], "schedule.end": "2026-04-20"}
_RECEIPTS = (
    "SELECT window_key, generation, measures, rows_read, rows_staged, fingerprint, contract, definition"
    " FROM samewise_receipts WHERE pipeline = ? ORDER BY window_key, generation"
)


def _fill(shop: Shop, days: int = 4, *, rows: int = 3) -> None:
    for at, day in enumerate(DAYS[:days]):
        shop.orders([(at * 100 + n, f"{n}.50", "new" if n % 2 else "paid") for n in range(rows)], day=day)


def _receipts(shop: Shop, pipeline: str = "orders") -> list[tuple[Any, ...]]:
    with shop.state() as state:
        return state.execute(_RECEIPTS, (pipeline,)).fetchall()


def _groups(shop: Shop) -> list[int]:
    """How many windows each group has that was planned."""
    query = "SELECT count(*) FROM samewise_runs WHERE group_id IS NOT NULL GROUP BY group_id ORDER BY min(window_start)"
    with shop.state() as state:
        return [count for (count,) in state.execute(query)]


SHAPES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "row by row": {"transform": "orders.sql"},
    "of the window": {"transform": "window.sql"},
    "aggregated": {"transform": "sums.sql"},
    "marked": {"write": {"strategy": "replace_window"}},
    "checked": {"expect": ["order_id is not null", {"unique": ["order_id"]}, {"rows": {"min": 1}}]},
    "without duplicates": {"dedup": {"key": ["status"], "version_by": ["amount"]}},
    "with another table": {"transform": "rates.sql", "inputs": {"rates": {"table": "rates"}}},
    "partitioned": {"target.partition_by": ["order_date"], "transform": "orders.sql"},
}
SQL = {
    "orders.sql": "SELECT order_id, amount, upper(status) AS status, order_date FROM source WHERE amount >= 0",
    "window.sql": "SELECT order_id, amount, status, order_date, :window_start_date AS loaded_for FROM source",
    "rates.sql": "SELECT order_id, amount * rate AS amount, status, order_date FROM source JOIN rates USING (status)",
    "sums.sql": "SELECT min(order_id) AS order_id, sum(amount) AS amount, status, order_date FROM source GROUP BY 3, 4",
}


@pytest.mark.parametrize("shape", list(SHAPES))
def test_a_backfill_leaves_what_one_run_a_day_would(shop: Shop, spark: SparkSession, shape: str) -> None:
    for name, text in SQL.items():
        shop.write(f"pipelines/{name}", text)
    _fill(shop)
    if "inputs" in SHAPES[shape]:
        rates = spark.sql("SELECT * FROM VALUES ('new', 2), ('paid', 3) AS rates(status, rate)")
        rates.write.format("delta").save(str(shop.root / "warehouse" / "rates"))
    for name in ("orders", "singly"):
        shop.pipeline({**SCHEDULE, **SHAPES[shape], "target.table": name}, name=name)

    answer = samewise("backfill", "orders", *SPAN, "--project", shop.root, "--json")
    assert answer.code == 0, answer.text
    assert samewise("run", "singly", *SPAN, "--project", shop.root, "--json").code == 0

    assert answer.json["status"] == "done"
    assert _groups(shop) == [4]
    assert shop.rows(spark) == shop.rows(spark, table="singly") != []
    told, wanted = _receipts(shop), _receipts(shop, "singly")
    assert [row[:6] for row in told] == [row[:6] for row in wanted]
    again = samewise("run", "orders", *SPAN, "--project", shop.root, "--json")
    assert {window["status"] for window in again.json["windows"]} == {"unchanged"}


def _backfill(shop: Shop, *words: object) -> Any:
    return shop.do("backfill", *words, "--json")


def _lines(shop: Shop, query: str) -> list[tuple[Any, ...]]:
    with shop.state() as state:
        return state.execute(query).fetchall()


@pytest.mark.parametrize("rest", [{}, {"expect": ["order_id is not null"]}], ids=["in one pass", "staged"])
def test_a_row_of_another_window_is_refused_in_a_group_as_it_is_alone(
    shop: Shop, spark: SparkSession, rest: dict[str, Any]
) -> None:
    shop.pipeline({**SCHEDULE, **rest})
    _fill(shop)
    # It would lie within the group, and within a window that is loaded with it.
    shop.orders([(1, "1.00", "new"), (2, "2.00", "new", DAYS[1])], day=DAYS[2])

    answer = _backfill(shop, "orders", *SPAN)

    assert answer.code == 3, answer.text
    assert answer.json["error"]["code"] == "outside_window"
    assert answer.json["error"]["message"].startswith(f"orders {DAYS[2]}")
    assert answer.json["status"] == "paused"
    assert {row[0] for row in shop.rows(spark, "string(order_date)")} == set(DAYS[:2])
    assert [window["window"] for window in answer.json["windows"]] == DAYS[:3]

    shop.orders([(1, "1.00", "new")], day=DAYS[2])
    again = _backfill(shop, "orders", *SPAN)
    assert (again.code, again.json["id"], again.json["status"]) == (0, answer.json["id"], "done")
    assert {row[0] for row in shop.rows(spark, "string(order_date)")} == set(DAYS[:4])


def _run_alone(shop: Shop, day: str) -> list[bool]:
    """Of each run of a day that landed, whether it had a commit of its own."""
    query = f"""
        SELECT runs.group_id IS NULL FROM samewise_receipts JOIN samewise_runs runs USING (run_id)
        WHERE runs.window_key LIKE '{day}%' ORDER BY runs.generation
    """
    return [bool(alone) for (alone,) in _lines(shop, query)]


def test_an_empty_window_that_keeps_its_rows_goes_alone(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({**SCHEDULE, "write.on_empty": "keep"})
    _fill(shop)
    assert shop.run(window=DAYS[2]).code == 0
    shop.orders([], day=DAYS[2])

    done = _backfill(shop, "orders", *SPAN)

    assert (done.code, done.json["status"]) == (0, "done"), done.text
    assert shop.ids(spark) == sorted((at * 100 + n for at in range(4) for n in range(3)), key=lambda id_: repr((id_,)))
    assert _run_alone(shop, DAYS[1]) == [False]
    assert _run_alone(shop, DAYS[2]) == [True, True]


def test_an_empty_window_that_must_not_be_stops_the_backfill_there(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({**SCHEDULE, "write.on_empty": "fail"})
    _fill(shop)
    shop.orders([], day=DAYS[2])

    stopped = _backfill(shop, "orders", *SPAN)

    assert (stopped.code, stopped.json["error"]["code"], stopped.json["done_windows"]) == (3, "empty", 2)
    assert stopped.json["error"]["message"].startswith(f"orders {DAYS[2]}")
    assert {row[0] for row in shop.rows(spark, "string(order_date)")} == set(DAYS[:2])


def test_a_manifest_that_one_window_breaks_stops_the_backfill_there(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({**SCHEDULE, "source.manifest": "landing/{{ window.start | date }}/manifest.json"})
    _fill(shop)
    for day in DAYS[:4]:
        shop.write(f"landing/{day}/manifest.json", json.dumps({"rows": 3 if day != DAYS[2] else 4}))

    answer = _backfill(shop, "orders", *SPAN)

    assert (answer.code, answer.json["error"]["code"]) == (3, "manifest_mismatch")
    assert {row[0] for row in shop.rows(spark, "string(order_date)")} == set(DAYS[:2])
    assert shop.leftovers() == []
    shop.write(f"landing/{DAYS[2]}/manifest.json", json.dumps({"rows": 3}))
    resumed = _backfill(shop, "resume")
    assert (resumed.code, resumed.json["status"], resumed.json["done_windows"]) == (0, "done", 4)
    assert [row[1] for row in _lines(shop, "SELECT window_key, rows_read FROM samewise_receipts")] == [3] * 4


def test_a_window_with_too_many_rows_stops_the_backfill_there(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({**SCHEDULE, "expect": [{"rows": {"max": 3}}]})
    _fill(shop)
    shop.orders([(n, "1.00", "new") for n in range(4)], day=DAYS[2])

    answer = _backfill(shop, "orders", *SPAN)

    assert (answer.code, answer.json["error"]["code"]) == (3, "expectation")
    assert {row[0] for row in shop.rows(spark, "string(order_date)")} == set(DAYS[:2])


def test_what_a_group_staged_is_dropped_by_the_next_command_if_its_process_died_before_that(
    shop: Shop, spark: SparkSession
) -> None:
    shop.pipeline({**SCHEDULE, "expect": ["order_id is not null"]})
    _fill(shop)
    assert _backfill(shop, "orders", *SPAN).json["status"] == "done"
    assert shop.leftovers() == []
    # As if it had been killed once its runs were closed.
    with shop.state() as state:
        ((place,),) = state.execute("SELECT staging FROM samewise_attempts").fetchall()
        state.execute("UPDATE samewise_attempts SET staging_dropped = 0")
        state.commit()
    (Path(place) / "x").mkdir(parents=True)
    (Path(place) / "x" / "part-0.parquet").touch()

    assert _backfill(shop, "orders", *SPAN).json["outcomes"] == {"unchanged": 4}

    assert shop.leftovers() == []
    assert _lines(shop, "SELECT staging_dropped FROM samewise_attempts") == [(1,)]


def _parquet(shop: Shop, spark: SparkSession, day: str, *columns: str) -> None:
    rows = spark.range(2).selectExpr("id AS order_id", *columns, f"DATE'{day}' AS order_date")
    rows.coalesce(1).write.mode("overwrite").parquet(str(shop.root / "landing" / day))


def test_a_renamed_column_stops_the_backfill_before_the_first_row_of_that_day(shop: Shop, spark: SparkSession) -> None:
    days = DAYS[:7]
    source = {"type": "files", "format": "parquet", "path": "landing/{{ window.start | date }}/*.parquet"}
    shop.pipeline({**SCHEDULE, "source": source, "transform": "orders.py:amounts"})
    shop.write(
        "pipelines/orders.py",
        "def amounts(rows, context):\n"
        "    name = 'total' if 'total' in rows.columns else 'amount'\n"
        "    return rows.selectExpr('order_id', f'{name} AS amount', 'order_date')\n",
    )
    for at, day in enumerate(days):
        _parquet(shop, spark, day, "1.5BD AS amount" if at < 3 else "2.5BD AS total")

    stopped = _backfill(shop, "orders", "--from", days[0], "--to", DAYS[7])

    assert (stopped.code, stopped.json["error"]["code"], stopped.json["done_windows"]) == (3, "drift", 3)
    assert stopped.json["error"]["message"].startswith(f"orders {days[3]}")
    assert "total looks like amount under a new name" in stopped.json["error"]["message"]
    accept = f"contract orders --window {days[3]} --accept"
    for way in ("mend the source", accept, "source.drift: {rename: {amount: total}}"):
        assert way in stopped.json["error"]["next"], "the three ways on"
    assert {row[0] for row in shop.rows(spark, "string(order_date)")} == set(days[:3])
    later = f"SELECT * FROM samewise_runs WHERE window_key > '{days[4]}'"
    assert _lines(shop, later) == [], "windows after that one are untouched"

    assert shop.do("contract", "orders", "--accept").code == 0
    done = _backfill(shop, "resume")
    assert (done.code, done.json["status"], done.json["done_windows"]) == (0, "done", 7)
    # The producer sends two of the first days again, under the new name; the third is lost to it.
    for day in days[:2]:
        _parquet(shop, spark, day, "2.5BD AS total")
    planned = shop.run("--stale", "contract", "--dry-run", window=None).json["windows"]
    assert [w["window"] for w in planned if w["status"] == "planned"] == days[:2], "what the run loads, and no more"
    (left,) = [w for w in planned if w["status"] != "planned"]
    assert (left["window"], left["status"]) == (days[2], "unchanged")
    assert left["reason"] == "left as it is: its source has another schema than the one that is accepted now"
    stale = shop.run("--stale", "contract", window=None)
    assert stale.code == 0, stale.text
    assert [(w["window"], w["status"]) for w in stale.json["windows"]] == [(day, "succeeded") for day in days[:2]]
    amounts = {(row[0], str(row[1])) for row in shop.rows(spark, "string(order_date)", "amount")}
    assert amounts == {(day, "1.5" if day == days[2] else "2.5") for day in days}
    # Found after all: now it, and nothing else, is loaded again, and the rows of the first three are complete.
    _parquet(shop, spark, days[2], "2.5BD AS total")
    stale = shop.run("--stale", "contract", window=None)
    assert [(w["window"], w["status"]) for w in stale.json["windows"]] == [(days[2], "succeeded")]
    amounts = {(row[0], str(row[1])) for row in shop.rows(spark, "string(order_date)", "amount")}
    assert amounts == {(day, "2.5") for day in days}
    assert shop.run("--stale", "contract", window=None).json["windows"] == []


@pytest.mark.parametrize(
    ("loaded_before", "older"),
    [(False, "2 windows that it has loaded are"), (True, "1 window that it has loaded is")],
    ids=["made by the backfill", "known before"],
)
def test_a_resume_says_that_the_contract_has_changed_since_the_backfill_was_planned(
    shop: Shop, spark: SparkSession, loaded_before: bool, older: str
) -> None:
    source = {"type": "files", "format": "parquet", "path": "landing/{{ window.start | date }}/*.parquet"}
    shop.pipeline({**SCHEDULE, "source": source})
    for at, day in enumerate(DAYS[:3]):
        _parquet(shop, spark, day, "1.5BD AS amount", *([] if at < 2 else ["'x' AS note"]))
    if loaded_before:
        assert shop.run(window=DAYS[0]).code == 0
    assert _backfill(shop, "orders", "--from", DAYS[0], "--to", DAYS[3]).code == 3
    again = shop.do("backfill", "resume")
    assert (again.code, "the contract has changed" in again.text) == (3, False)
    assert shop.do("contract", "orders", "--accept").code == 0

    resumed = shop.do("backfill", "resume")

    assert resumed.code == 0, resumed.text
    assert "orders: the contract has changed since the backfill was planned" in resumed.stderr
    assert f"{older} under an older one: `samewise run orders --stale contract`" in resumed.stderr


def test_a_declared_rename_lets_the_backfill_go_on_and_no_window_is_stale(shop: Shop, spark: SparkSession) -> None:
    days = DAYS[:7]
    source = {"type": "files", "format": "parquet", "path": "landing/{{ window.start | date }}/*.parquet"}
    shop.pipeline({**SCHEDULE, "source": source})
    for at, day in enumerate(days):
        _parquet(shop, spark, day, "1.5BD AS amount" if at < 3 else "2.5BD AS total")
    stopped = _backfill(shop, "orders", "--from", days[0], "--to", DAYS[7])
    assert (stopped.code, stopped.json["error"]["code"], stopped.json["done_windows"]) == (3, "drift", 3)

    shop.pipeline({**SCHEDULE, "source": {**source, "drift": {"rename": {"amount": "total"}}}})
    assert _backfill(shop, "resume").code == 2, "the policy is part of the definition"
    done = _backfill(shop, "resume", "--repin")

    assert (done.code, done.json["status"], done.json["done_windows"]) == (0, "done", 7), done.text
    amounts = {(row[0], str(row[1])) for row in shop.rows(spark, "string(order_date)", "amount")}
    assert amounts == {(day, "1.5" if day in days[:3] else "2.5") for day in days}
    assert shop.run("--stale", "contract", window=None).json["windows"] == []


def _stopping_after(parts: int) -> Any:
    """For a backfill that a person pauses once so many groups have been begun."""
    asked = iter([None] * parts)
    return lambda: next(asked, "pause")


def test_a_backfill_goes_on_with_the_version_of_a_delta_source_that_it_was_planned_at(
    shop: Shop, spark: SparkSession
) -> None:
    place = str(shop.root / "warehouse" / "events")
    rows = spark.range(8).selectExpr("id AS order_id", f"date_add(DATE'{DAYS[0]}', CAST(id % 4 AS INT)) AS order_date")
    rows.write.format("delta").save(place)
    shop.settings(backfill={"windows": 2})
    source = {"type": "delta", "table": "events", "window_column": "order_date"}
    shop.pipeline({**SCHEDULE, "source": source})
    with open_project(shop.root, spark=spark) as project:
        paused = project.backfills.run("orders", start=DAYS[0], end=DAYS[4], stop=_stopping_after(1))
    assert (paused.asked, len(paused.backfill.done)) == ("pause", 2)
    spark.sql(f"DELETE FROM delta.`{place}` WHERE order_id >= 4")

    resumed = _backfill(shop, "resume")

    assert (resumed.code, resumed.json["status"]) == (0, "done"), resumed.text
    assert shop.ids(spark) == list(range(8)), "all four days are of one version"
    assert _groups(shop) == [2, 2]
    # An ordinary run takes the table as it is.
    assert {w["status"] for w in shop.run(*SPAN, window=None).json["windows"]} == {"succeeded"}
    assert shop.ids(spark) == list(range(4))


def test_every_task_of_a_pipeline_is_backfilled_group_by_group(shop: Shop, spark: SparkSession) -> None:
    first = {key: BASE[key] for key in ("source", "target", "write")}
    second = {
        "task": "daily",
        "depends_on": ["orders"],
        "source": {"type": "delta", "table": "orders", "window_column": "order_date"},
        "transform": "sums.sql",
        "target": {"type": "delta", "table": "daily"},
        "write": dict(BASE["write"]),
    }
    schedule = {**BASE["schedule"], "start": DAYS[0], "end": "2026-04-20"}
    spec = {"pipeline": "orders", "schedule": schedule, "tasks": [second, {"task": "orders", **first}]}
    shop.write("pipelines/orders.yaml", yaml.safe_dump(spec, sort_keys=False))
    shop.write("pipelines/sums.sql", "SELECT order_date, sum(amount) AS amount FROM source GROUP BY order_date")
    shop.settings(backfill={"windows": 2})
    _fill(shop)
    with open_project(shop.root, spark=spark) as project:
        paused = project.backfills.run("orders", start=DAYS[0], end=DAYS[4], stop=_stopping_after(3))
    # The second group's first task has landed, its second one has not: those windows are not done.
    assert (paused.asked, sorted(paused.backfill.done)) == ("pause", sorted(paused.backfill.done)[:2])
    assert len(shop.rows(spark, table="orders")) == 12
    assert len(shop.rows(spark, table="daily")) == 2

    resumed = _backfill(shop, "resume")

    assert (resumed.code, resumed.json["status"], resumed.json["done_windows"]) == (0, "done", 4), resumed.text
    sums = shop.rows(spark, "string(order_date)", "string(amount)", table="daily")
    assert sums == [(day, "4.50") for day in DAYS[:4]]
    query = "SELECT task, count(*) FROM samewise_receipts GROUP BY task ORDER BY task"
    assert _lines(shop, query) == [("daily", 4), ("orders", 4)], "nothing was loaded twice"
    assert _groups(shop) == [2, 2, 2, 2]
    assert _backfill(shop, "verify").json["right"] is True
    assert {w["status"] for w in shop.run(*SPAN, window=None).json["windows"]} == {"unchanged"}


def test_what_was_changed_in_the_target_is_found_on_resume_and_by_verify(shop: Shop, spark: SparkSession) -> None:
    shop.settings(backfill={"windows": 2})
    shop.pipeline(SCHEDULE)
    _fill(shop)
    shop.orders([("x", "1.00", "new")], day=DAYS[3])
    stopped = _backfill(shop, "orders", *SPAN)
    assert (stopped.code, stopped.json["done_windows"]) == (3, 3)
    spark.sql(f"DELETE FROM delta.`{shop.root}/warehouse/orders` WHERE order_id = 201")
    _fill(shop)

    resumed = _backfill(shop, "resume", stopped.json["id"])

    assert (resumed.code, resumed.json["error"]["code"]) == (3, "tampered")
    assert f"{DAYS[2]}  receipt: 3 rows" in resumed.json["error"]["message"]
    assert "target: 2 rows" in resumed.json["error"]["message"]
    verified = _backfill(shop, "verify", stopped.json["id"])
    assert verified.code == 3
    assert {w["window"]: w["right"] for w in verified.json["windows"]} == {
        DAYS[0]: True,
        DAYS[1]: True,
        DAYS[2]: False,
    }

    assert shop.run("--force", window=DAYS[2]).code == 0
    done = _backfill(shop, "resume")
    assert (done.code, done.json["status"]) == (0, "done")
    assert _backfill(shop, "verify").json["right"] is True


def test_by_key_every_window_is_verified_by_the_rows_that_are_still_its_own(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({**SCHEDULE, "write": {"strategy": "merge", "key": ["order_id"], "version_by": ["order_date"]}})
    shop.orders([(1, "1.00", "new"), (2, "1.00", "new")], day=DAYS[0])
    shop.orders([(2, "2.00", "paid"), (3, "1.00", "new")], day=DAYS[1])
    assert _backfill(shop, "orders", "--from", DAYS[0], "--to", DAYS[2]).json["status"] == "done"
    first = _backfill(shop, "verify")
    assert [(w["right"], w["rows_taken_over"]) for w in first.json["windows"]] == [(True, 1), (True, 0)]
    spark.sql(f"DELETE FROM delta.`{shop.root}/warehouse/orders` WHERE order_id = 1")
    second = _backfill(shop, "verify")
    assert second.code == 3
    assert [w["right"] for w in second.json["windows"]] == [False, True]


def test_a_changed_definition_is_noticed_and_asks_for_repin(shop: Shop, spark: SparkSession) -> None:
    shop.settings(backfill={"windows": 2})
    shop.pipeline({**SCHEDULE, "transform": "orders.sql"})
    shop.write("pipelines/orders.sql", SQL["orders.sql"])
    _fill(shop, 2)
    stopped = _backfill(shop, "orders", *SPAN)
    assert (stopped.code, stopped.json["error"]["code"], stopped.json["done_windows"]) == (3, "no_files", 2)
    shop.write("pipelines/orders.sql", SQL["orders.sql"].replace("upper", "lower"))
    _fill(shop)

    refused = _backfill(shop, "resume")
    assert (refused.code, refused.json["error"]["code"]) == (2, "definition_changed")
    assert "--repin" in refused.json["error"]["next"]
    # The same command, typed again, is no way around it.
    assert _backfill(shop, "orders", *SPAN).code == 2

    assert _backfill(shop, "resume", "--repin").json["status"] == "done"
    statuses = {row[0] for row in shop.rows(spark, "status")}
    assert statuses == {"NEW", "PAID", "new", "paid"}
    stale = shop.run("--stale", "definition", window=None)
    assert [w["window"] for w in stale.json["windows"]] == DAYS[:2]


def test_a_window_that_another_run_loaded_meanwhile_is_left_to_it(shop: Shop, spark: SparkSession) -> None:
    shop.settings(backfill={"windows": 2})
    shop.pipeline(SCHEDULE)
    _fill(shop, 2)
    stopped = _backfill(shop, "orders", *SPAN, "--force")
    assert stopped.json["done_windows"] == 2
    _fill(shop)
    live = shop.run(window=DAYS[3])
    assert live.window["status"] == "succeeded"

    done = _backfill(shop, "orders", *SPAN, "--force")

    assert (done.json["id"], done.json["status"]) == (stopped.json["id"], "done")
    assert done.json["outcomes"] == {"loaded": 3, "newer": 1}
    (version,) = _lines(shop, f"SELECT target_version FROM samewise_receipts WHERE window_key LIKE '{DAYS[3]}%'")
    assert version == (live.window["target_version"],)


def test_side_by_side_and_newest_first_give_the_same_table(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({**SCHEDULE, "transform": "window.sql"})
    shop.write("pipelines/window.sql", SQL["window.sql"])
    _fill(shop)
    done = _backfill(shop, "orders", *SPAN, "--parallel", "2", "--order", "newest")
    assert (done.code, done.json["status"]) == (0, "done"), done.text
    assert len(_groups(shop)) == 2
    rows = shop.rows(spark, "order_id", "string(order_date)", "string(loaded_for)")
    assert len(rows) == 12
    assert all(row[1] == row[2] for row in rows), "each thread bound its own window's values"


def test_it_can_be_paused_cancelled_and_looked_at_without_spark(shop: Shop, spark: SparkSession) -> None:
    shop.settings(backfill={"windows": 2})
    shop.pipeline(SCHEDULE)
    _fill(shop, 3)
    shop.orders([("x", "1.00", "new")], day=DAYS[3])
    stopped = _backfill(shop, "orders", *SPAN)
    assert stopped.json["error"]["code"] == "malformed"
    listed = _backfill(shop, "status").json["backfills"]
    found = [(each["id"], each["status"], each["done_windows"]) for each in listed]
    assert found == [(stopped.json["id"], "paused", 3)]
    told = shop.do("backfill", "status").stdout
    assert f"next: samewise backfill resume {stopped.json['id']}" in told
    assert all(len(line) <= 80 for line in told.splitlines())
    strip = shop.do("status", "orders").stdout
    assert "2026-04  ###!..." in strip
    assert _backfill(shop, "cancel").json["status"] == "cancelled"
    assert _backfill(shop, "resume").code == 2
    assert _backfill(shop, "orders", "--from", DAYS[0]).code == 2
    lines = shop.do("backfill", "orders", "--from", DAYS[0], "--to", DAYS[3], "--events").stderr.splitlines()
    events = [json.loads(line) for line in lines if line.startswith("{")]
    assert [(each["window"], each["status"]) for each in events] == [(day, "unchanged") for day in DAYS[:3]]


def test_the_strip_shows_what_changed_at_the_source_and_what_an_older_contract_loaded(
    shop: Shop, spark: SparkSession
) -> None:
    source = {"type": "files", "format": "parquet", "path": "landing/{{ window.start | date }}/*.parquet"}
    shop.pipeline({**SCHEDULE, "source": source})
    for at, day in enumerate(DAYS[:4]):
        _parquet(shop, spark, day, "1.5BD AS amount", *([] if at < 2 else ["'x' AS note"]))
    assert _backfill(shop, "orders", *SPAN).json["done_windows"] == 2
    assert shop.do("contract", "orders", "--accept").code == 0
    assert _backfill(shop, "resume").json["status"] == "done"
    _parquet(shop, spark, DAYS[3], "2.5BD AS amount", "'y' AS note")

    strip = shop.do("status", "orders").stdout

    assert "2026-04  oo#~..." in strip
    assert "o loaded under an older contract 2" in strip
    assert "~ changed at the source 1" in strip
    assert "not compared" not in strip
    _parquet(shop, spark, DAYS[0], "2.5BD AS amount")
    assert "2026-04  ~o#~..." in shop.do("status", "orders").stdout, "the source comes first: it can be loaded again"
