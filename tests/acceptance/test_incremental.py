"""Tasks that go on from where the last run ended: by a watermark, and by a ledger of files."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from samewise.core import failpoints
from samewise.core.failpoints import Failpoint, Killed
from samewise.core.records import Stamp
from samewise.run import incremental
from samewise.state import leases
from samewise.state.heartbeat import Heartbeat
from samewise.state.store import Store
from tests.support.project import PIPELINE, Answer, Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOON = datetime(2026, 4, 25, 12, tzinfo=UTC)
LOCAL = {"column": "a", "lag": "0s", "timezone": "Europe/Berlin"}
SINCE: dict[str, Any] = {
    "schedule": None,
    "source": {"type": "delta", "table": "events", "incremental": {"column": "updated_at", "lag": "0s"}},
    "write": {"strategy": "merge", "key": ["order_id"], "version_by": ["updated_at"]},
}
NEW_FILES: dict[str, Any] = {
    "schedule": None,
    "source.path": "landing/*.csv",
    "source.incremental": "new_files",
    "write": {"strategy": "merge", "key": ["order_id"], "version_by": ["order_date"]},
}


class Clock:
    """The state store's clock, as far as plans are concerned."""

    at = NOON

    def pass_by(self, **span: float) -> None:
        self.at += timedelta(**span)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(Store, "now", lambda self: clock.at)
    return clock


@pytest.fixture
def kill_at(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None], None]:
    """Says where the next run dies; None once it is dead."""
    wanted: list[str | None] = [None]

    def reach(point: Failpoint) -> None:
        if point == wanted[0]:
            raise Killed

    def order(point: str | None) -> None:
        wanted[0] = point
        if point is None:
            # The dead give nothing back: what comes next takes the lease over.
            with Store.open(f"sqlite:///{shop.root}/.samewise/state.db") as store:
                assert leases.orphan(store) == 1

    monkeypatch.setattr(failpoints, "reach", reach)
    return order


def hour(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-04-25T{text}Z")


def events(shop: Shop, *rows: tuple[int, str], kind: str = "timestamp") -> None:
    """Append rows (number, time of the day of their last change) to the source."""
    times: list[Any] = [hour(text) for _, text in rows]
    types: dict[str, pa.DataType] = {"timestamp": pa.timestamp("us", tz="UTC"), "timestamp_ntz": pa.timestamp("us")}
    if kind == "timestamp_ntz":
        times = [at.replace(tzinfo=None) for at in times]
    table = pa.table(
        {"order_id": pa.array([n for n, _ in rows], pa.int64()), "updated_at": pa.array(times, types[kind])}
    )
    write_deltalake(shop.root / "warehouse" / "events", table, mode="append")


def ids(shop: Shop) -> list[int]:
    path = shop.root / "warehouse" / "orders"
    return sorted(DeltaTable(path).to_pyarrow_table()["order_id"].to_pylist()) if path.is_dir() else []


def run(shop: Shop, *words: object) -> Answer:
    return shop.run(*words, window=None)


def status(answer: Answer) -> str:
    assert answer.code in (0, 3), answer.text
    return str(answer.window["status"])


def span(shop: Shop) -> tuple[str | None, str]:
    """What the newest run has pinned."""
    with shop.state() as state:
        query = "SELECT source FROM samewise_runs ORDER BY generation DESC LIMIT 1"
        details = json.loads(state.execute(query).fetchone()[0])["details"]
    return details["from"], details["to"]


def watermark(shop: Shop) -> str | None:
    (task,) = shop.do("watermark", PIPELINE, "--json").json["tasks"]
    found: str | None = task["watermark"]
    return found


# By a watermark


def test_a_run_goes_on_from_the_watermark_and_finds_late_rows_in_the_overlap_and_no_others(
    shop: Shop, spark: SparkSession, clock: Clock
) -> None:
    shop.pipeline({**SINCE, "source.incremental": {"column": "updated_at", "overlap": "1h", "lag": "10m"}})
    events(shop, (1, "10:00"), (2, "11:00"))
    first = run(shop)
    assert (status(first), ids(shop)) == ("succeeded", [1, 2])
    assert first.json["watermark"] == {"before": None, "after": "2026-04-25T11:50:00Z"}
    clock.pass_by(hours=1)
    assert status(run(shop)) == "unchanged"
    # 3 lies in the overlap before 11:50; 4 lies before it, and is missed.
    events(shop, (3, "11:20"), (4, "10:30"))
    late = run(shop)
    assert (late.window["rows_read"], late.window["rows_inserted"]) == (2, 1)
    assert ids(shop) == [1, 2, 3]
    assert late.json["watermark"] == {"before": "2026-04-25T11:50:00Z", "after": "2026-04-25T12:50:00Z"}
    assert span(shop) == ("2026-04-25T10:50:00Z", "2026-04-25T12:50:00Z")
    clock.pass_by(hours=1)
    assert status(run(shop)) == "unchanged"
    assert watermark(shop) == "2026-04-25T12:50:00Z"


def test_a_row_that_commits_late_is_held_back_by_the_lag(shop: Shop, spark: SparkSession, clock: Clock) -> None:
    shop.pipeline({**SINCE, "source.incremental": {"column": "updated_at", "lag": "10m"}})
    events(shop, (1, "11:00"), (2, "11:55"))
    run(shop)
    assert ids(shop) == [1]
    # Stamped before the run, and committed after it: had 2 been read, the watermark would have passed 3.
    events(shop, (3, "11:52"))
    clock.pass_by(hours=1)
    run(shop)
    assert ids(shop) == [1, 2, 3]


def test_a_row_that_commits_late_is_found_by_the_overlap(shop: Shop, spark: SparkSession, clock: Clock) -> None:
    shop.pipeline({**SINCE, "source.incremental": {"column": "updated_at", "overlap": "10m"}})
    events(shop, (1, "11:55"))
    run(shop)
    events(shop, (2, "11:52"), (3, "11:45"))
    clock.pass_by(minutes=1)
    run(shop)
    assert ids(shop) == [1, 2]


def test_a_commit_that_adds_nothing_to_read_leaves_the_task_unchanged(
    shop: Shop, spark: SparkSession, clock: Clock
) -> None:
    shop.pipeline(SINCE)
    events(shop, (1, "11:00"))
    run(shop)
    source = DeltaTable(shop.root / "warehouse" / "events")
    source.alter.set_table_properties({"delta.logRetentionDuration": "interval 90 days"})
    clock.pass_by(hours=1)
    assert status(run(shop)) == "unchanged"
    # Of a row that is stamped ahead of the clock it is not known whether it is due: the run looks.
    events(shop, (2, "23:00"))
    assert status(run(shop)) == "succeeded"
    assert ids(shop) == [1]


@pytest.mark.parametrize("point", list(Failpoint))
def test_a_run_that_was_killed_is_finished_with_its_own_span_and_nothing_is_lost_or_passed_over(
    shop: Shop, spark: SparkSession, clock: Clock, kill_at: Callable[[str | None], None], point: Failpoint
) -> None:
    shop.pipeline({**SINCE, "expect": ["order_id > 0"]})
    events(shop, (1, "11:00"))
    kill_at(point)
    with pytest.raises(Killed):
        run(shop)
    planned = span(shop)
    landed = point in (Failpoint.COMMITTED, Failpoint.CHECKPOINTED, Failpoint.DELIVERED)
    recorded = point in (Failpoint.CHECKPOINTED, Failpoint.DELIVERED)
    assert ids(shop) == ([1] if landed else [])
    assert watermark(shop) == ("2026-04-25T12:00:00Z" if recorded else None)
    kill_at(None)
    clock.pass_by(hours=1)
    # 2 is new to the killed run's span too, and not in the version that it had pinned.
    events(shop, (2, "11:30"), (3, "12:30"))
    answer = run(shop)
    assert answer.code == 0, answer.text
    assert [(run["generation"], run["status"]) for run in shop.history()] == [(2, "succeeded"), (1, "succeeded")]
    assert planned == (None, "2026-04-25T12:00:00Z")
    assert span(shop) == ("2026-04-25T12:00:00Z", "2026-04-25T13:00:00Z")
    # Without an overlap a row that came late is passed over: the span was read as it was pinned.
    assert ids(shop) == [1, 3]
    assert watermark(shop) == "2026-04-25T13:00:00Z"


def test_a_span_that_was_refused_is_read_again(shop: Shop, spark: SparkSession, clock: Clock) -> None:
    shop.pipeline({**SINCE, "expect": ["order_id < 9"]})
    events(shop, (1, "11:00"))
    run(shop)
    events(shop, (9, "12:30"))
    clock.pass_by(hours=1)
    assert run(shop).code == 3
    assert watermark(shop) == "2026-04-25T12:00:00Z"
    shop.pipeline(SINCE)
    assert (status(run(shop)), ids(shop)) == ("succeeded", [1, 9])


def test_a_target_that_was_dropped_is_loaded_from_the_start(
    shop: Shop, spark: SparkSession, clock: Clock, kill_at: Callable[[str | None], None]
) -> None:
    shop.pipeline({**SINCE, "expect": ["order_id > 0"]})
    events(shop, (1, "11:00"))
    run(shop)
    clock.pass_by(hours=1)
    events(shop, (2, "12:30"))
    shutil.rmtree(shop.root / "warehouse" / "orders")
    # Killed when the table is there again, and empty: the watermark must not be taken for its own.
    kill_at(Failpoint.COMMITTING)
    with pytest.raises(Killed):
        run(shop)
    kill_at(None)
    assert status(run(shop)) == "succeeded"
    assert ids(shop) == [1, 2]


def test_a_dry_run_shows_the_watermark_and_the_span(shop: Shop, spark: SparkSession, clock: Clock) -> None:
    shop.pipeline({**SINCE, "source.incremental": {"column": "updated_at", "overlap": "1h"}})
    events(shop, (1, "11:00"))
    # Without a state store there is only this machine's clock.
    assert run(shop, "--dry-run").window["pins"]["from"] is None
    run(shop)
    clock.pass_by(hours=1)
    events(shop, (2, "12:30"))
    plan = run(shop, "--dry-run")
    assert (plan.window["pins"]["from"], plan.window["pins"]["to"]) == ("2026-04-25T11:00:00Z", "2026-04-25T13:00:00Z")
    assert plan.json["watermark"] == {"before": "2026-04-25T12:00:00Z", "after": "2026-04-25T13:00:00Z"}
    told = shop.do("run", PIPELINE, "--dry-run")
    assert "watermark: 2026-04-25T12:00:00Z, then 2026-04-25T13:00:00Z" in told.stdout


def test_wall_time_is_that_of_the_declared_zone(shop: Shop, spark: SparkSession, clock: Clock) -> None:
    since = {"column": "updated_at", "lag": "0s", "timezone": "Europe/Berlin", "start": "2026-04-25T12:00"}
    shop.pipeline({**SINCE, "source.incremental": since})
    # It is 14:00 in Berlin.
    events(shop, (1, "11:59"), (2, "12:00"), (3, "13:59"), (4, "14:00"), kind="timestamp_ntz")
    run(shop)
    assert ids(shop) == [2, 3]


def test_a_column_that_is_no_time_is_refused_at_plan(shop: Shop, clock: Clock) -> None:
    shop.pipeline({**SINCE, "source.incremental": {"column": "order_id", "lag": "0s"}})
    events(shop, (1, "11:00"))
    answer = run(shop, "--dry-run")
    assert (answer.code, answer.json["error"]["code"]) == (2, "config")
    assert "BIGINT" in answer.json["error"]["message"]


# A person moves it


def set_to(shop: Shop, value: str, *words: object) -> Answer:
    return shop.do("watermark", PIPELINE, "--set", value, "--reason", "rows came late", *words, "--json")


def test_a_watermark_that_was_moved_back_is_kept_in_the_history_and_in_the_target(
    shop: Shop, spark: SparkSession, clock: Clock
) -> None:
    shop.pipeline(SINCE)
    events(shop, (1, "11:00"))
    run(shop)
    events(shop, (2, "10:00"))
    assert status(run(shop)) in ("succeeded", "unchanged")
    assert ids(shop) == [1]
    moved = set_to(shop, "2026-04-25T09:00:00Z").json
    assert moved["moved"]
    (task,) = moved["tasks"]
    assert (task["watermark"], task["next"]["from"]) == ("2026-04-25T09:00:00Z", "2026-04-25T09:00:00Z")
    assert task["moves"][0]["reason"] == "rows came late"
    assert not set_to(shop, "2026-04-25T09:00:00Z").json["moved"]
    commits = DeltaTable(shop.root / "warehouse" / "orders").history()
    stamp = Stamp.parse(commits[0]["userMetadata"])
    assert stamp is not None
    assert (stamp.kind, stamp.watermark) == ("watermark", "2026-04-25T09:00:00Z")
    # The state store is lost: the target knows.
    shutil.rmtree(shop.root / ".samewise")
    assert shop.do("recover", PIPELINE, "--json").json["tasks"][0]["watermark"] == "2026-04-25T09:00:00Z"
    assert (status(run(shop)), ids(shop)) == ("succeeded", [1, 2])
    assert watermark(shop) == "2026-04-25T12:00:00Z"


def test_an_older_run_cannot_land_after_the_watermark_was_moved(
    shop: Shop, spark: SparkSession, clock: Clock, kill_at: Callable[[str | None], None]
) -> None:
    shop.pipeline({**SINCE, "expect": ["order_id > 0"]})
    events(shop, (1, "11:00"))
    run(shop)
    clock.pass_by(hours=1)
    events(shop, (2, "12:30"))
    kill_at(Failpoint.COMMITTING)
    with pytest.raises(Killed):
        run(shop)
    kill_at(None)
    assert set_to(shop, "2026-04-25T12:45:00Z").code == 0
    token = f"samewise/{PIPELINE}/load/full"
    assert DeltaTable(shop.root / "warehouse" / "orders").transaction_version(token) == 3
    assert [run["status"] for run in shop.history()] == ["abandoned", "succeeded"]
    assert status(run(shop)) in ("succeeded", "unchanged")
    assert ids(shop) == [1]


def test_a_watermark_may_be_set_before_the_first_run(shop: Shop, spark: SparkSession, clock: Clock) -> None:
    shop.pipeline(SINCE)
    events(shop, (1, "10:00"), (2, "11:00"))
    assert set_to(shop, "2026-04-25T10:30:00Z").code == 0
    run(shop)
    assert ids(shop) == [2]


def test_the_history_keeps_who_moved_a_watermark_and_why_also_when_the_store_is_lost(
    shop: Shop, spark: SparkSession, clock: Clock
) -> None:
    shop.pipeline(SINCE)
    events(shop, (1, "11:00"))
    run(shop)
    set_to(shop, "2026-04-25T09:00:00Z")
    set_to(shop, "2026-04-25T10:00:00Z")

    def told() -> list[tuple[str, str, str]]:
        moves = shop.do("history", PIPELINE, "--json").json["watermark_moves"]
        assert all("@" in move["by"] and move["moved_at"] for move in moves)
        return [(move["from"], move["to"], move["reason"]) for move in moves]

    noon, nine, ten = (f"2026-04-25T{hour}:00:00Z" for hour in ("12", "09", "10"))
    assert told() == [(nine, ten, "rows came late"), (noon, nine, "rows came late")]
    shown = shop.do("history", PIPELINE).stdout
    assert f"watermark moved from {noon} to {nine} by" in shown
    assert ": rows came late" in shown
    shutil.rmtree(shop.root / ".samewise")
    for _ in range(2):
        assert shop.do("recover", PIPELINE).code == 0
        # From where the first one came is known to nobody any more.
        assert [move[1:] for move in told()] == [(ten, "rows came late"), (nine, "rows came late")]
    assert watermark(shop) == ten


def test_a_person_who_was_overtaken_moves_no_watermark(
    shop: Shop, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.pipeline(SINCE)
    events(shop, (1, "11:00"))
    assert set_to(shop, "2026-04-25T10:00:00Z").code == 0
    checked = Heartbeat.check

    def freeze(heartbeat: Heartbeat) -> None:
        """As it is when the process is stopped right after the check, and another one takes the lease over."""
        checked(heartbeat)
        with shop.state() as state:
            state.execute("UPDATE samewise_leases SET epoch = epoch + 1")
            state.commit()

    monkeypatch.setattr(Heartbeat, "check", freeze)
    assert set_to(shop, "2026-04-25T09:00:00Z").json["error"]["code"] == "lease_lost"
    assert watermark(shop) == "2026-04-25T10:00:00Z"


def test_a_watermark_that_follows_from_windows_is_nobodys_to_move(shop: Shop) -> None:
    answer = set_to(shop, "2026-04-25")
    assert (answer.code, answer.json["error"]["code"]) == (2, "usage")
    assert "windows" in answer.json["error"]["message"]


@pytest.mark.parametrize("words", [["--set", "2026-04-25"], ["--reason", "why"], ["--set", "soon", "--reason", "why"]])
def test_a_move_needs_a_time_and_a_reason(shop: Shop, words: Sequence[str]) -> None:
    shop.pipeline(SINCE)
    assert shop.do("watermark", PIPELINE, *words, "--json").code == 2


def test_a_watermark_is_shown_before_anything_has_run(shop: Shop, clock: Clock) -> None:
    shop.pipeline(SINCE)
    assert "there is no Delta table" in shop.do("watermark", PIPELINE).stdout
    events(shop, (1, "11:00"))
    assert "from the beginning to" in shop.do("watermark", PIPELINE).stdout
    assert not (shop.root / ".samewise" / "state.db").exists()


# Aggregates over what is new


def test_an_aggregate_over_what_is_new_is_refused_before_anything_runs(shop: Shop) -> None:
    shop.pipeline({**SINCE, "transform": "orders.sql"})
    shop.write(
        "pipelines/orders.sql", "SELECT order_id,\n max(updated_at) AS updated_at FROM source\nGROUP BY order_id"
    )
    answer = shop.do("validate")
    assert answer.code == 2
    assert "pipelines/orders.sql:2: max()" in answer.stderr
    assert "replace_window" in answer.stderr


PYTHON = """\
from pyspark.sql import Window
from pyspark.sql import functions as f


def grouped(rows, context):
    return rows.groupBy("order_id").agg(f.max("updated_at").alias("updated_at"))


def summed(rows, context):
    return rows.withColumn("n", f.count("*").over(Window.partitionBy("order_id")))


def newest(rows, context):
    order = Window.partitionBy("order_id").orderBy(f.desc("updated_at"))
    rates = context.inputs["rates"].groupBy("order_id").agg(f.max("rate").alias("rate"))
    ranked = rows.withColumn("r", f.row_number().over(order)).where("r = 1").drop("r")
    return ranked.join(rates, "order_id", "left").distinct()
"""


@pytest.mark.parametrize(("function", "code"), [("grouped", 4), ("summed", 4), ("newest", 0)])
def test_an_aggregate_in_python_is_found_in_sparks_plan(
    shop: Shop, spark: SparkSession, clock: Clock, function: str, code: int
) -> None:
    rates = pa.table({"order_id": pa.array([1, 1], pa.int64()), "rate": pa.array([1, 2], pa.int64())})
    write_deltalake(shop.root / "warehouse" / "rates", rates)
    shop.pipeline({**SINCE, "transform": f"orders.py:{function}", "inputs": {"rates": {"table": "rates"}}})
    shop.write("pipelines/orders.py", PYTHON)
    events(shop, (1, "11:00"), (1, "11:01"))
    answer = run(shop)
    assert answer.code == code, answer.text
    if code:
        assert "replace_window" in answer.json["error"]["message"] + answer.json["error"]["next"]
        assert watermark(shop) is None


# By a ledger of files


def drop(shop: Shop, name: str, *numbers: int, at: float | None = None) -> Path:
    lines = [f"{number},1.00,new,2026-04-25" for number in numbers]
    path = shop.write(f"landing/{name}", "\n".join(["order_id,amount,status,order_date", *lines]) + "\n")
    if at is not None:
        os.utime(path, (at, at))
    return path


def test_each_file_is_loaded_once_and_a_late_one_with_an_old_name_and_time_is_not_missed(
    shop: Shop, spark: SparkSession
) -> None:
    shop.pipeline(NEW_FILES)
    drop(shop, "2026-04-25.csv", 1, 2)
    assert (status(run(shop)), ids(shop)) == ("succeeded", [1, 2])
    assert status(run(shop)) == "unchanged"
    drop(shop, "2026-04-01.csv", 3, at=1_000_000_000)
    late = run(shop)
    assert (late.window["rows_read"], late.window["rows_inserted"]) == (1, 1)
    assert ids(shop) == [1, 2, 3]
    # What is archived after it was loaded is not missed.
    for file in (shop.root / "landing").iterdir():
        file.unlink()
    assert status(run(shop)) == "unchanged"
    with shop.state() as state:
        assert sorted(row[0] for row in state.execute("SELECT path FROM samewise_files")) == [
            "landing/2026-04-01.csv",
            "landing/2026-04-25.csv",
        ]


def test_a_new_file_with_another_column_is_refused_until_that_is_accepted_beside_the_files_of_before(
    shop: Shop, spark: SparkSession
) -> None:
    shop.pipeline({**NEW_FILES, "source.schema": None, "source.format": "parquet", "source.path": "landing/*.parquet"})

    def land(number: int, *more: str) -> None:
        rows = spark.range(number, number + 1).selectExpr("id AS order_id", "DATE'2026-04-25' AS order_date", *more)
        rows.coalesce(1).write.mode("append").parquet(str(shop.root / "landing"))

    def ledger() -> list[Any]:
        with shop.state() as state:
            return state.execute("SELECT path FROM samewise_files ORDER BY path").fetchall()

    land(1)
    assert status(run(shop)) == "succeeded"
    loaded = ledger()
    land(2, "'x' AS note")
    refused = run(shop)
    assert (refused.code, refused.json["error"]["code"]) == (3, "drift")
    assert "`samewise contract orders --accept`" in refused.json["error"]["next"]
    assert (ids(shop), ledger()) == ([1], loaded)

    shown = shop.do("contract", "orders", "--json").json["tasks"][0]
    assert [(change["kind"], change["column"]) for change in shown["changes"]] == [("added", "note")]
    accepted = shop.do("contract", "orders", "--accept")
    assert accepted.code == 0, accepted.text
    done = run(shop)
    assert (done.code, ids(shop)) == (0, [1, 2]), done.text
    assert (done.window["rows_read"], len(ledger())) == (1, 2), "not the file of before, which does not have the column"
    told = shop.do("contract", "orders", "--accept").stdout
    assert "there is nothing new at the source to compare this with" in told
    assert "nothing was stored" in told


def test_a_file_that_was_overwritten_is_refused_by_its_name(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline(NEW_FILES)
    drop(shop, "a.csv", 1)
    run(shop)
    drop(shop, "a.csv", 1, 2)
    drop(shop, "b.csv", 3)
    answer = run(shop)
    assert (answer.code, answer.json["error"]["code"]) == (3, "changed_files")
    assert "landing/a.csv was loaded" in answer.json["error"]["message"]
    assert "reload" in answer.json["error"]["next"]
    assert ids(shop) == [1]


def test_a_file_that_was_overwritten_is_loaded_again_where_that_is_declared(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline({**NEW_FILES, "source.incremental": {"new_files": True, "on_changed": "reload"}})
    drop(shop, "a.csv", 1)
    run(shop)
    drop(shop, "a.csv", 1, 2)
    assert (status(run(shop)), ids(shop)) == ("succeeded", [1, 2])
    assert status(run(shop)) == "unchanged"


def test_a_file_that_was_overwritten_is_left_out_and_reported_where_that_is_declared(
    shop: Shop, spark: SparkSession
) -> None:
    shop.pipeline({**NEW_FILES, "source.incremental": {"new_files": True, "on_changed": "ignore"}})
    drop(shop, "a.csv", 1)
    run(shop)
    drop(shop, "a.csv", 1, 2)
    drop(shop, "b.csv", 3)
    told = shop.do("run", PIPELINE)
    assert "left out, overwritten after they were loaded: landing/a.csv" in told.stderr
    assert ids(shop) == [1, 3]
    assert run(shop, "--dry-run").window["notes"] != []


def test_a_folder_in_which_there_never_was_a_file_is_refused(shop: Shop) -> None:
    shop.pipeline(NEW_FILES)
    assert run(shop).json["error"]["code"] == "no_files"


def test_force_loads_every_file_again(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline(NEW_FILES)
    drop(shop, "a.csv", 1)
    run(shop)
    drop(shop, "b.csv", 2)
    assert run(shop, "--force").window["rows_read"] == 2
    assert ids(shop) == [1, 2]


@pytest.mark.parametrize("point", [Failpoint.COMMITTING, Failpoint.COMMITTED, Failpoint.CHECKPOINTED])
def test_after_a_kill_no_file_is_missed_and_none_is_loaded_twice(
    shop: Shop, spark: SparkSession, kill_at: Callable[[str | None], None], point: Failpoint
) -> None:
    write = {"strategy": "insert_new", "key": ["order_id"]}
    shop.pipeline({**NEW_FILES, "expect": ["order_id > 0"], "write": write})
    drop(shop, "a.csv", 1)
    kill_at(point)
    with pytest.raises(Killed):
        run(shop)
    kill_at(None)
    drop(shop, "b.csv", 2, 3)
    assert run(shop).code == 0
    assert ids(shop) == [1, 2, 3]
    assert status(run(shop)) == "unchanged"
    with shop.state() as state:
        counted = state.execute("SELECT rows_read FROM samewise_receipts ORDER BY generation").fetchall()
    assert [rows for (rows,) in counted] == [1, 2]


def test_after_recover_no_file_is_loaded_again_and_a_new_one_is_loaded_alone(shop: Shop, spark: SparkSession) -> None:
    # Two files at once would be refused.
    shop.pipeline({**NEW_FILES, "expect": [{"rows": {"max": 1}}]})
    for name, number in (("a.csv", 1), ("b.csv", 2)):
        drop(shop, name, number)
        run(shop)
    shutil.rmtree(shop.root / ".samewise")
    for _ in range(2):
        assert shop.do("recover", PIPELINE).code == 0
        assert status(run(shop)) == "unchanged"
    drop(shop, "c.csv", 3)
    alone = run(shop)
    assert (status(alone), alone.window["rows_read"], ids(shop)) == ("succeeded", 1, [1, 2, 3])


def test_a_commit_of_very_many_files_does_not_name_them_and_after_recover_they_are_loaded_once_more(
    shop: Shop, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incremental, "_TOLD", 1)
    shop.pipeline(NEW_FILES)
    drop(shop, "a.csv", 1)
    drop(shop, "b.csv", 2)
    run(shop)
    shutil.rmtree(shop.root / ".samewise")
    assert shop.do("recover", PIPELINE).code == 0
    assert status(run(shop)) == "unchanged", "the same files, and the table as the commit left it"
    drop(shop, "c.csv", 3)
    again = run(shop).window
    assert (again["rows_read"], again["rows_inserted"], again["rows_unchanged"]) == (3, 1, 2)


def receipt(shop: Shop) -> dict[str, Any]:
    """What the newest receipt says of the load."""
    columns = ["epoch", "rows_read", "rows_staged", "rows_inserted", "rows_updated", "rows_deleted", "rows_unchanged"]
    columns.append("seen_version")
    with shop.state() as state:
        query = f"SELECT {', '.join(columns)} FROM samewise_receipts ORDER BY generation DESC LIMIT 1"
        return dict(zip(columns, state.execute(query).fetchone(), strict=True))


def test_a_recovered_receipt_says_who_did_what_to_the_target(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline(NEW_FILES)
    drop(shop, "a.csv", 1, 2)
    run(shop)
    before = receipt(shop)
    assert (before["epoch"], before["rows_inserted"], before["rows_unchanged"]) == (1, 2, 0)
    assert before["seen_version"] == 0, "the table was made, and then compared with the rows"
    shutil.rmtree(shop.root / ".samewise")
    assert shop.do("recover", PIPELINE).code == 0
    assert receipt(shop) == before


# Someone else changes the target


def _delete(shop: Shop) -> None:
    DeltaTable(shop.root / "warehouse" / "orders").delete("order_id = 1")


def _restore(shop: Shop) -> None:
    """Back to what the first run left."""
    table = DeltaTable(shop.root / "warehouse" / "orders")
    landed = [commit["version"] for commit in table.history() if commit["operation"] in ("MERGE", "WRITE")]
    table.restore(min(landed))


@pytest.mark.parametrize(("tamper", "left"), [(_delete, [2]), (_restore, [1])])
@pytest.mark.parametrize("words", [[], ["--stale"], ["--stale", "target"]])
def test_files_are_loaded_again_when_someone_else_changed_the_target(
    shop: Shop, spark: SparkSession, tamper: Callable[[Shop], None], left: list[int], words: list[str]
) -> None:
    shop.pipeline(NEW_FILES)
    drop(shop, "a.csv", 1)
    run(shop)
    drop(shop, "b.csv", 2)
    run(shop)
    tamper(shop)
    assert ids(shop) == left
    answer = run(shop, *words)
    assert (status(answer), answer.window["reason"]) == ("succeeded", "the target was changed by someone else")
    assert ids(shop) == [1, 2]
    assert status(run(shop)) == "unchanged"


@pytest.mark.parametrize(("tamper", "left"), [(_delete, [2]), (_restore, [1])])
def test_a_table_is_read_from_the_start_when_someone_else_changed_the_target(
    shop: Shop, spark: SparkSession, clock: Clock, tamper: Callable[[Shop], None], left: list[int]
) -> None:
    shop.pipeline({**SINCE, "source.incremental": {"column": "updated_at", "overlap": "10m"}})
    events(shop, (1, "11:00"))
    run(shop)
    events(shop, (2, "12:30"))
    clock.pass_by(hours=1)
    run(shop)
    tamper(shop)
    assert ids(shop) == left
    clock.pass_by(hours=5)
    events(shop, (3, "17:30"))
    # Neither row lies in the overlap, and what is new must not bury the loss.
    assert (status(run(shop)), ids(shop)) == ("succeeded", [1, 2, 3])
    assert span(shop) == (None, "2026-04-25T18:00:00Z")
    clock.pass_by(hours=1)
    assert status(run(shop)) == "unchanged"


def test_a_run_that_was_cut_off_is_not_taken_up_when_someone_else_changed_the_target_since(
    shop: Shop, spark: SparkSession, kill_at: Callable[[str | None], None]
) -> None:
    shop.pipeline(NEW_FILES)
    drop(shop, "a.csv", 1)
    run(shop)
    drop(shop, "b.csv", 2)
    kill_at(Failpoint.STAGED)
    with pytest.raises(Killed):
        run(shop)
    kill_at(None)
    _delete(shop)
    assert (status(run(shop)), ids(shop)) == ("succeeded", [1, 2])


def test_files_that_are_gone_when_everything_is_loaded_again_are_told(shop: Shop, spark: SparkSession) -> None:
    shop.pipeline(NEW_FILES)
    drop(shop, "a.csv", 1)
    drop(shop, "b.csv", 2)
    run(shop)
    (shop.root / "landing" / "a.csv").unlink()
    _delete(shop)
    assert "1 file that was loaded is gone" in shop.do("run", PIPELINE).stderr
    (shop.root / "landing" / "b.csv").unlink()
    DeltaTable(shop.root / "warehouse" / "orders").delete("order_id = 2")
    assert run(shop).json["error"]["code"] == "no_files"
    assert "left as it is: no file matches" in shop.do("run", PIPELINE, "--stale").stderr


# The definition changes


def _mend(shop: Shop) -> None:
    shop.write("pipelines/orders.sql", "SELECT order_id, amount, upper(status) AS status, order_date FROM source")


def _states(shop: Shop, spark: SparkSession) -> list[object]:
    return [row[0] for row in shop.rows(spark, "status")]


def test_a_changed_definition_applies_to_what_is_new_until_stale_loads_everything_again(
    shop: Shop, spark: SparkSession
) -> None:
    shop.pipeline({**NEW_FILES, "transform": "orders.sql"})
    shop.write("pipelines/orders.sql", "SELECT * FROM source")
    drop(shop, "a.csv", 1)
    run(shop)
    _mend(shop)
    assert status(run(shop)) == "unchanged"
    drop(shop, "b.csv", 2)
    run(shop)
    assert _states(shop, spark) == ["NEW", "new"]
    # The newest receipt is of the new definition, and the older row is not.
    again = run(shop, "--stale", "definition")
    assert (status(again), again.window["reason"]) == ("succeeded", "the definition changed")
    assert _states(shop, spark) == ["NEW", "NEW"]
    assert run(shop, "--stale").json["windows"] == []


def test_stale_reads_a_table_from_the_start_under_a_changed_definition(
    shop: Shop, spark: SparkSession, clock: Clock
) -> None:
    shop.pipeline({**SINCE, "transform": "orders.sql"})
    shop.write("pipelines/orders.sql", "SELECT * FROM source")
    events(shop, (1, "11:00"))
    run(shop)
    clock.pass_by(hours=1)
    events(shop, (2, "12:30"))
    shop.write("pipelines/orders.sql", "SELECT order_id * 10 AS order_id, updated_at FROM source")
    run(shop)
    assert ids(shop) == [1, 20]
    run(shop, "--stale", "definition")
    # By key nothing is forgotten: the rows of the old definition stay where their keys are others now.
    assert ids(shop) == [1, 10, 20]
    assert run(shop, "--stale").json["windows"] == []


# What does not go together


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({**SINCE, "write": {"strategy": "refresh"}}, "write by key, with merge or insert_new"),
        ({**SINCE, "source.window_column": "updated_at"}, "not by window: drop it"),
        ({**SINCE, "schedule": {"every": "day", "start": "2026-04-01"}}, "drop the schedule"),
        ({**SINCE, "source.incremental": {"column": "updated_at"}}, "needs a 'lag' or an 'overlap'"),
        ({**NEW_FILES, "source.manifest": "landing/manifest.json"}, "drop it"),
        ({**NEW_FILES, "source.path": "landing/{{ window.start | date }}/*.csv"}, "has no window of its own"),
        ({**NEW_FILES, "source.incremental": {"new_files": False}}, "must be true"),
        (
            {**SINCE, "source.incremental": {**LOCAL, "start": "2026-03-29T02:30"}},
            "does not exist",
        ),
    ],
)
def test_what_does_not_go_with_incremental_is_told(shop: Shop, changes: dict[str, Any], sentence: str) -> None:
    shop.pipeline(changes)
    answer = shop.do("validate")
    assert answer.code == 2
    assert sentence in answer.stderr
