"""What is wrong with a file or a command is found before anything runs: exit code 2, with its place."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.support.project import DAY, Answer, Shop, samewise, told_in_three_parts

if TYPE_CHECKING:
    from pathlib import Path


def assert_wrong(answer: Answer, code: str, *words: str) -> None:
    assert (answer.code, answer.json["status"], answer.json["error"]["code"]) == (2, "failed", code)
    for word in words:
        assert word in answer.json["error"]["message"]


def problems(shop: Shop) -> list[str]:
    """What `validate` finds, as a person reads it."""
    answer = shop.do("validate", "--json")
    assert (answer.code, answer.json["valid"]) == (2, False)
    return [f"{p['file']}:{p['line']}: {p['message']}" for p in answer.json["problems"]]


# Files


def test_malformed_yaml_is_told_with_its_line(shop: Shop) -> None:
    shop.write("pipelines/orders.yaml", "pipeline: orders\nsource: {type: files\ntarget: x\n")
    (problem,) = problems(shop)
    assert problem.startswith("pipelines/orders.yaml:3: ")


def test_every_problem_of_every_file_comes_at_once(shop: Shop) -> None:
    shop.pipeline({"write.stratgey": "refresh"})
    shop.pipeline({"target.type": "delt", "target.table": "other"}, name="other")
    told = "\n".join(problems(shop))
    assert "write.stratgey: unknown key, did you mean 'strategy'?" in told
    assert "pipelines/other.yaml" in told


def test_a_run_of_a_project_with_problems_runs_nothing(shop: Shop) -> None:
    shop.pipeline({"write.stratgey": "refresh"})
    answer = shop.run()
    assert_wrong(answer, "spec", "stratgey")
    assert told_in_three_parts(answer)


def test_problems_are_told_to_a_person_on_stderr(shop: Shop) -> None:
    shop.pipeline({"write.stratgey": "refresh"})
    answer = shop.do("validate")
    assert (answer.code, answer.stdout) == (2, "")
    assert "pipelines/orders.yaml:" in answer.stderr


def test_a_clock_in_sql_is_found_by_validate_with_its_line(shop: Shop) -> None:
    shop.pipeline({"transform": "orders.sql"})
    shop.write("pipelines/orders.sql", "SELECT *,\n  current_timestamp() AS loaded_at\nFROM source\n")
    (problem,) = problems(shop)
    assert problem.startswith("pipelines/orders.sql:2: ")
    assert "current_timestamp" in problem
    assert ":run_ts" in problem


def test_a_table_that_is_not_declared_is_found_by_validate(shop: Shop) -> None:
    shop.pipeline({"transform": "orders.sql"})
    shop.write("pipelines/orders.sql", "SELECT s.* FROM source s\nJOIN rates r USING (order_id)\n")
    (problem,) = problems(shop)
    assert problem.startswith("pipelines/orders.sql:2: ")
    assert "rates" in problem
    assert "inputs" in problem


def test_a_statement_that_writes_is_found_by_validate(shop: Shop) -> None:
    shop.pipeline({"transform": "orders.sql"})
    shop.write("pipelines/orders.sql", "DROP TABLE orders\n")
    assert len(problems(shop)) == 1


def test_an_expectation_that_is_no_condition_is_found_by_validate(shop: Shop) -> None:
    shop.pipeline({"expect": ["amount >= 0; DROP TABLE orders"]})
    (problem,) = problems(shop)
    assert problem.startswith("pipelines/orders.yaml:")


def test_two_pipelines_that_own_one_target_are_found_by_validate(shop: Shop) -> None:
    shop.pipeline(name="again")
    assert any("orders" in problem and "again" in problem for problem in problems(shop))


def test_a_missing_transform_is_found_by_validate(shop: Shop) -> None:
    shop.pipeline({"transform": "gone.sql"})
    (problem,) = problems(shop)
    assert "gone.sql" in problem


def test_an_hourly_window_over_a_date_column_is_refused(shop: Shop) -> None:
    shop.pipeline({"schedule.every": "hour"})
    assert any("replace the whole day" in problem for problem in problems(shop))


# Paths


@pytest.mark.parametrize("value", ["..", "../..", "x/../../y", "/etc", "a,../b"])
def test_a_parameter_cannot_lead_a_path_outside_its_folder(shop: Shop, value: str) -> None:
    shop.pipeline({"params.region": value, "source.path": "landing/{{ params.region }}/*.csv"})
    outside = shop.root.parent / "y"
    outside.mkdir()
    (outside / "secret.csv").write_text("order_id\n1\n")
    answer = shop.run()
    if value == "/etc":
        # landing//etc: a slash within a path leads nowhere else.
        assert answer.code == 3
    else:
        assert_wrong(answer, "config", "leads outside landing/")


def test_a_variable_cannot_lead_the_warehouse_outside_the_project(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACE", "../../elsewhere")
    shop.settings(warehouse="data/{{ env.PLACE }}")
    assert any("leads outside" in problem for problem in problems(shop))


def test_a_template_cannot_reach_into_python(shop: Shop) -> None:
    shop.pipeline({"source.path": "landing/{{ ''.__class__.__mro__ }}/*.csv"})
    shop.orders()
    assert_wrong(shop.run(), "config")


# The command itself


@pytest.mark.parametrize(
    "window",
    ["2026-04-25' OR '1'='1", "2026-04-25; DROP TABLE orders", "yesterday", "2026-02-30", "2026-04-25T13:07"],
)
def test_a_window_that_is_none_is_refused(shop: Shop, window: str) -> None:
    shop.orders()
    assert_wrong(shop.run(window=window), "usage")


def test_a_window_and_a_span_exclude_each_other(shop: Shop) -> None:
    assert_wrong(shop.run("--from", DAY), "usage", "exclude each other")


def test_a_pipeline_that_is_not_there_is_told_with_the_nearest(shop: Shop) -> None:
    assert_wrong(shop.run(pipeline="order"), "usage", "orders")


def test_a_folder_that_is_no_project_is_told_so(tmp_path: Path) -> None:
    answer = samewise("status", "--project", tmp_path, "--json")
    assert (answer.code, answer.json["error"]["code"]) == (2, "usage")


def test_an_option_that_does_not_exist_is_wrong_usage(shop: Shop) -> None:
    assert shop.do("run", "orders", "--speed", "9").code == 2


def test_an_environment_that_does_not_exist_is_wrong_usage(shop: Shop) -> None:
    assert_wrong(shop.run("--env", "prod"), "usage", "prod")


def test_init_never_writes_into_a_folder_that_holds_something(shop: Shop) -> None:
    answer = samewise("init", shop.root, "--json")
    assert (answer.code, answer.json["error"]["kept"]) == (2, "nothing was written")


# Places that cannot be used


@pytest.mark.parametrize("warehouse", ["samewise.yaml/warehouse", "/proc/samewise"])
def test_a_warehouse_that_cannot_be_written_to_is_refused_before_anything_runs(shop: Shop, warehouse: str) -> None:
    shop.settings(warehouse=warehouse)
    shop.orders()
    answer = shop.run()
    assert_wrong(answer, "unwritable", "cannot write to")
    assert answer.json["error"]["next"]


def test_a_state_file_that_is_not_a_database_is_refused_and_left_alone(shop: Shop) -> None:
    text = "This is a letter, not a database. " * 100
    file = shop.write(".samewise/state.db", text)
    shop.orders()
    answer = shop.run()
    assert_wrong(answer, "config", "state.db", "not a database")
    assert told_in_three_parts(answer)
    assert file.read_text() == text


def test_a_state_store_in_a_place_that_cannot_be_made_is_refused(shop: Shop) -> None:
    shop.settings(state="sqlite:////proc/samewise/state.db")
    shop.orders()
    answer = shop.run()
    assert (answer.code, answer.json["status"]) == (2, "failed")
    assert not os.path.exists("/proc/samewise")


def test_a_window_column_that_is_no_time_is_found_by_validate(shop: Shop) -> None:
    shop.pipeline({"write.window_column": "order_id"})
    (problem,) = problems(shop)
    assert "write.window_column" in problem


def test_a_bug_of_ours_is_exit_code_1_and_says_that_running_again_is_safe(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("two left feet")

    monkeypatch.setattr("samewise.wiring.project.Project.run", broken)
    answer = shop.run()
    assert (answer.code, answer.json["error"]["code"]) == (1, "internal")
    assert "two left feet" in answer.json["error"]["message"]
    assert told_in_three_parts(answer)
