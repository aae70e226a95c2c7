"""What a person does in the first ten minutes, with the project that `samewise init` makes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from samewise.cli.example import DAYS, FIRST_DAY, orders_of
from samewise.core.windows import instant_text
from tests.support.project import Answer, samewise

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RESULT_KEYS = {"schema_version", "pipeline", "status", "windows", "watermark", "error"}
# DESIGN.md, "The command line".
PROMISED_WINDOW_KEYS = {
    *(
        "task",
        "window",
        "start",
        "end",
        "status",
        "run_id",
        "generation",
        "attempt",
        "batch_id",
        "started_at",
    ),
    *("seconds", "rows_read", "rows_staged", "rows_written", "rows_inserted", "rows_updated", "rows_deleted"),
    *("rows_unchanged", "target_version", "error"),
}
FURTHER_WINDOW_KEYS = {"reason", "rows_quarantined", "content_hash", "sums"}
DRY_RUN_KEYS = {"reads", "pins", "inputs", "target", "replaces", "steps", "notes"}


@dataclass(frozen=True)
class Week:
    """The example, loaded once; nothing that looks at it changes it."""

    folder: Path
    dry: Answer
    first: Answer
    again: Answer

    def ask(self, *words: str) -> Answer:
        return samewise(*words, "--project", self.folder)


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Week:
    folder = tmp_path_factory.mktemp("week") / "shop"
    made = samewise("init", folder)
    assert made.code == 0, made.text
    run = ("run", "orders_daily", "--project", folder, "--json")
    return Week(folder, samewise(*run, "--dry-run"), samewise(*run), samewise(*run))


def test_the_example_is_valid(week: Week) -> None:
    assert week.ask("validate", "--json").json == {
        "schema_version": 1,
        "valid": True,
        "problems": [],
        "project": "shop",
        "pipelines": ["orders_daily"],
    }


def test_a_dry_run_shows_every_window_that_the_run_then_loads(week: Week) -> None:
    planned = [(w["window"], w["start"], w["end"], w["generation"]) for w in week.dry.json["windows"]]
    loaded = [(w["window"], w["start"], w["end"], w["generation"]) for w in week.first.json["windows"]]
    assert len(planned) == DAYS
    assert planned == loaded


def test_a_dry_run_has_the_keys_of_a_run(week: Week) -> None:
    assert set(week.dry.json) == RESULT_KEYS
    for window in week.dry.json["windows"]:
        assert set(window) == PROMISED_WINDOW_KEYS | FURTHER_WINDOW_KEYS | DRY_RUN_KEYS


def test_a_dry_run_of_a_window_without_files_has_the_keys_of_a_run(week: Week) -> None:
    answer = week.ask("run", "orders_daily", "--window", "2026-04-30", "--dry-run", "--json")
    assert answer.window["status"] == "unchanged"
    landing = week.folder / "landing" / "orders" / "2026-04-30"
    away = landing.rename(landing.with_name("away"))
    try:
        answer = week.ask("run", "orders_daily", "--window", "2026-04-30", "--dry-run", "--json")
    finally:
        away.rename(landing)
    assert answer.window["status"] == "refused"
    assert set(answer.window) == PROMISED_WINDOW_KEYS | FURTHER_WINDOW_KEYS | DRY_RUN_KEYS


def test_a_dry_run_shows_the_pinned_files_the_predicate_and_the_steps(week: Week) -> None:
    window = week.dry.json["windows"][0]
    assert window["status"] == "planned"
    assert window["reason"] == "never loaded"
    assert [Path(file[0]).name for file in window["pins"]["files"]] == ["part-0.csv", "part-1.csv"]
    assert window["replaces"] == "`order_date` >= DATE'2026-04-24' AND `order_date` < DATE'2026-04-25'"
    assert window["steps"] == ["check", "stage", "verify", "commit", "checkpoint", "deliver", "clean_up"]


def test_a_run_loads_every_day(week: Week) -> None:
    assert week.first.code == 0
    assert week.first.json["status"] == "succeeded"
    assert [w["status"] for w in week.first.json["windows"]] == ["succeeded"] * DAYS


def test_a_run_answers_with_the_keys_that_were_promised_and_these_more(week: Week) -> None:
    assert set(week.first.json) == RESULT_KEYS
    assert week.first.json["schema_version"] == 1
    for window in week.first.json["windows"]:
        assert set(window) == PROMISED_WINDOW_KEYS | FURTHER_WINDOW_KEYS


def test_a_figure_that_does_not_apply_is_null(week: Week) -> None:
    window = week.first.json["windows"][0]
    absent = {"rows_inserted", "rows_updated", "rows_deleted", "rows_unchanged", "rows_quarantined", "error"}
    assert {key for key, value in window.items() if value is None} == absent


def test_the_figures_are_those_of_the_files(week: Week) -> None:
    orders = orders_of(FIRST_DAY)
    newest = {order.order_id: order for order in orders}
    window = week.first.json["windows"][0]
    assert window["rows_read"] == len(orders)
    assert window["rows_staged"] == window["rows_written"] == len(newest)
    assert window["sums"] == {"amount": f"{sum(o.amount_cents for o in newest.values()) / 100:.2f}"}


def test_the_watermark_moves_to_the_end_of_the_last_window(week: Week) -> None:
    assert week.first.json["watermark"] == {"before": None, "after": "2026-04-30T22:00:00Z"}


def test_the_table_holds_what_the_receipts_say(week: Week, spark: SparkSession) -> None:
    table = spark.read.format("delta").load(str(week.folder / "warehouse" / "orders"))
    found = {str(row[0]): row[1] for row in table.groupBy("order_date").count().collect()}
    assert found == {w["window"]: w["rows_written"] for w in week.first.json["windows"]}


def test_nothing_is_due_after_the_run(week: Week) -> None:
    assert week.again.code == 0
    assert week.again.json["status"] == "unchanged"
    assert week.again.json["windows"] == []


def test_a_window_that_was_loaded_is_unchanged_when_it_is_asked_for(week: Week) -> None:
    answer = week.ask("run", "orders_daily", "--window", "2026-04-25", "--json")
    assert (answer.code, answer.json["status"], answer.window["status"]) == (0, "unchanged", "unchanged")
    assert set(answer.window) == PROMISED_WINDOW_KEYS | FURTHER_WINDOW_KEYS


def test_a_span_asks_for_its_windows_without_the_last_day(week: Week) -> None:
    answer = week.ask("run", "orders_daily", "--from", "2026-04-25", "--to", "2026-04-27", "--json")
    assert [w["window"] for w in answer.json["windows"]] == ["2026-04-25", "2026-04-26"]


def test_a_person_is_told_in_plain_lines(week: Week) -> None:
    answer = week.ask("run", "orders_daily", "--window", "2026-04-25")
    assert answer.stdout == ("orders_daily: 1 unchanged; 0 rows written\n  watermark: 2026-04-30T22:00:00Z\n")
    assert "\x1b" not in answer.text


def test_status_tells_how_far_the_pipeline_has_come(week: Week) -> None:
    (task,) = week.ask("status", "--json").json["tasks"]
    told = {key: task[key] for key in ("pipeline", "task", "loaded", "due", "unfinished", "watermark")}
    assert told == {
        "pipeline": "orders_daily",
        "task": "load",
        "loaded": DAYS,
        "due": 0,
        "unfinished": 0,
        "watermark": "2026-04-30T22:00:00Z",
    }


def test_status_of_a_pipeline_shows_each_window_as_its_receipt_has_it(week: Week) -> None:
    (task,) = week.ask("status", "orders_daily", "--json").json["tasks"]
    shown = [(w["window"], w["state"], w["rows"], w["content_hash"]) for w in task["windows"]]
    loaded = [(w["window"], "loaded", w["rows_written"], w["content_hash"]) for w in week.first.json["windows"]]
    assert shown == loaded


def test_history_has_every_run_newest_first_with_its_attempts(week: Week) -> None:
    runs = week.ask("history", "orders_daily", "--json").json["runs"]
    assert [run["window"] for run in runs] == [w["window"] for w in reversed(week.first.json["windows"])]
    assert {run["status"] for run in runs} == {"succeeded"}
    assert [[a["number"] for a in run["attempts"]] for run in runs] == [[1]] * DAYS


def test_status_and_history_are_readable_in_a_pipe(week: Week) -> None:
    status, history = week.ask("status"), week.ask("history", "orders_daily", "--limit", "2")
    assert status.stdout.splitlines()[0].split() == [
        *("pipeline", "loaded", "due", "unfinished", "watermark", "last", "run"),
    ]
    assert len(history.stdout.splitlines()) == 3
    assert "\x1b" not in status.text + history.text


def test_no_staging_is_left_behind(week: Week) -> None:
    assert [p for p in (week.folder / "warehouse" / "_samewise").rglob("*") if p.is_file()] == []


def test_the_schema_command_prints_a_json_schema_that_accepts_the_example(week: Week) -> None:
    schema = json.loads(samewise("schema", "pipeline").stdout)
    Draft202012Validator.check_schema(schema)
    example = _as_an_editor_sees_it(week.folder / "pipelines" / "orders_daily.yaml")
    Draft202012Validator(schema).validate(example)


def test_the_json_schema_refuses_a_key_that_does_not_exist(week: Week) -> None:
    schema = json.loads(samewise("schema", "pipeline").stdout)
    example = _as_an_editor_sees_it(week.folder / "pipelines" / "orders_daily.yaml")
    example["write"]["stratgey"] = "refresh"
    assert not Draft202012Validator(schema).is_valid(example)


def test_the_schema_of_the_project_file_accepts_the_example(week: Week) -> None:
    schema = json.loads(samewise("schema", "project").stdout)
    Draft202012Validator(schema).validate(_as_an_editor_sees_it(week.folder / "samewise.yaml"))


def test_every_instant_is_utc_with_a_z(week: Week) -> None:
    window = week.first.json["windows"][0]
    for key in ("start", "end", "started_at"):
        assert instant_text(_instant(window[key])) == window[key]


def _as_an_editor_sees_it(file: Path) -> Any:
    """An editor's YAML knows no dates: they are texts there."""
    return json.loads(json.dumps(yaml.safe_load(file.read_text()), default=str))


def _instant(text: str) -> Any:
    from samewise.core.windows import parse_instant

    return parse_instant(text)
