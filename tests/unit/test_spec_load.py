"""A project folder -> specs, or every problem with its place."""

import subprocess
import sys
import time
from datetime import date, timedelta
from pathlib import Path

import pytest

from samewise.core.errors import SpecError, UsageError
from samewise.core.schema import Schema
from samewise.spec.load import find_project, load_project
from samewise.spec.pipeline import STRATEGIES
from samewise.spec.sources import FilesSource
from samewise.spec.words import listed
from tests.support.spec import ORDERS, PROJECT, load, make_project, orders_with, problems


def test_the_flat_form_becomes_one_task_called_load(tmp_path: Path) -> None:
    pipeline = load(tmp_path).pipelines["orders_daily"]

    assert [task.name for task in pipeline.tasks] == ["load"]


def test_the_values_of_a_pipeline_are_typed(tmp_path: Path) -> None:
    pipeline = load(tmp_path).pipelines["orders_daily"]
    source = pipeline.task("load").source

    assert pipeline.retries.backoff == timedelta(seconds=30)
    assert pipeline.schedule is not None
    assert pipeline.schedule.start == date(2026, 4, 1)
    assert isinstance(source, FilesSource)
    assert source.columns == Schema.of(
        [
            ("order_id", "bigint"),
            ("amount", "decimal(12,2)"),
            ("updated_at", "timestamp"),
            ("order_date", "date"),
        ]
    )


def test_all_problems_of_all_files_come_at_once(tmp_path: Path) -> None:
    deep = "pipelines/deep/er/tasks.yml"
    found = problems(
        tmp_path,
        {
            "samewise.yaml": "project: shop\nwarehuse: x\nlease: 60\n",
            "pipelines/orders.yaml": ORDERS.replace("strategy:", "stratgey:").replace("attempts: 3", "attempts: three"),
            deep: (
                "pipeline: two\n"
                "tasks:\n"
                "  - task: one\n"
                "    depends_on: [two]\n"
                "    source: {type: kafka}\n"
                "    target: {type: delta, table: one}\n"
                "    write: {strategy: refresh}\n"
                "  - task: two\n"
                "    depends_on: [one]\n"
                "    source: {type: delta, table: raw}\n"
                "    transform: gone.sql\n"
                "    target: {type: delta, table: two}\n"
                "    write: {strategy: append}\n"
            ),
            "pipelines/broken.yaml": "pipeline: 'x\n",
        },
    )

    assert found == [
        "pipelines/broken.yaml:2: not YAML: found unexpected end of stream",
        f"{deep}:4: tasks[0].depends_on: goes round in a circle: one -> two -> one",
        f"{deep}:5: tasks[0].source.type: unknown source 'kafka'; there are files, delta and postgres",
        f"{deep}:11: tasks[1].transform: there is no file 'gone.sql' beside this one",
        f"{deep}:13: tasks[1].write.strategy: unknown strategy 'append'; there are {listed(STRATEGIES)}",
        "pipelines/orders.yaml:3: retries.attempts: must be a whole number of at least 1, not 'three'",
        "pipelines/orders.yaml:12: write.stratgey: unknown key, did you mean 'strategy'?",
        "samewise.yaml:2: warehuse: unknown key, did you mean 'warehouse'?",
        "samewise.yaml:3: lease: must be a duration such as 500ms, 30s, 10m, 2h or 7d, not 60",
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "pipeline: orders_daily",
            "pipeline: a/b",
            "1: pipeline: must be a name of letters, digits, _ and -, not 'a/b'",
        ),
        ("pipeline: orders_daily", "description: x", "1: pipeline: is missing"),
        ("every: day", "every: fortnight", "2: schedule.every: must be 15m, hour, day"),
        ("every: day", "every: 7m", "2: schedule.every: 7m does not divide an hour into equal windows"),
        ("every: day", "every: 5h", "2: schedule.every: 5h does not divide a day into equal windows"),
        ("start: 2026-04-01", "start: soon", "2: schedule.start: must be a date such as 2026-04-01"),
        (
            "start: 2026-04-01",
            "start: 2026-04-01, end: 2026-03-01",
            "2: schedule.end: must be later than start",
        ),
        (
            "Europe/Berlin",
            "Europe/Berln",
            "2: schedule.timezone: unknown time zone 'Europe/Berln', did you mean",
        ),
        ("Europe/Berlin", "localtime", "2: schedule.timezone: unknown time zone 'localtime'"),
        ("Europe/Berlin", "Europe", "2: schedule.timezone: unknown time zone 'Europe'"),
        ("backoff: 30s", "backoff: 30", "3: retries.backoff: must be a duration such as"),
        ("backoff: 30s", "backoff: 0s", "3: retries.backoff: must be a duration such as"),
        (
            "attempts: 3",
            "attempts: true",
            "3: retries.attempts: must be a whole number of at least 1, not true",
        ),
        ("attempts: 3", "attempts: 0", "3: retries.attempts: must be a whole number of at least 1, not 0"),
        ("format: csv", "format: cvs", "7: source.format: unknown format 'cvs', did you mean 'csv'?"),
        ("order_id: bigint,", "order_id: bigit,", "8: source.schema.order_id: unknown column type 'bigit'"),
        ("order_id: bigint,", "Amount: int,", "8: source.schema.amount: two columns have this name"),
        (
            "order_id: bigint,",
            "_samewise_window: string,",
            "8: source.schema._samewise_window: column names that start",
        ),
        ("order_id: bigint,", "tags: array<string>,", "8: source.schema.tags: CSV cannot hold array<string>"),
        ("type: files", "type: file", "5: source.type: unknown source 'file', did you mean 'files'?"),
        ("type: delta", "type: dlta", "11: target.type: unknown target 'dlta', did you mean 'delta'?"),
        ("table: orders", "table: orders, path: x", "11: target: needs either 'table' or 'path', not both"),
        ("table: orders", "table: 'a; drop'", "11: target.table: must be a table's name"),
        ("table: orders", "table: a.b", "11: target.table: needs a catalog"),
        ("table: orders", "path: ../up", "11: target.path: '../up' leads outside the project"),
        ("  - order_id is not null", "  - ''", "14: expect[0]: must not be blank"),
        ("  - order_id is not null", "  - true", "14: expect[0]: must be a condition in SQL"),
        ("unique: [order_id]", "unique: []", "15: expect[1].unique: must name at least one column"),
        ("unique: [order_id]", "uniqe: [a]", "15: expect[1].uniqe: unknown key, did you mean 'unique'?"),
        ("rows: {min: 1}", "rows: {}", "16: expect[2].rows: needs 'min', 'max' or both"),
        (
            "rows: {min: 1}",
            "rows: {min: 2, max: 1}",
            "16: expect[2].rows.max: must not be below min, which is 2",
        ),
        ("expect:\n", "expect: {}\nx:\n", "13: expect: must be a list, not a mapping"),
        ("expect:\n", "inputs:\nexpect:\n", "13: inputs: is empty: give it a value, or take the key out"),
        (
            "expect:\n",
            "inputs: {source: {table: x}}\nexpect:\n",
            "13: inputs.source: 'source' is the task's own source",
        ),
        ("expect:\n", "inputs: {a-b: {table: x}}\nexpect:\n", "13: inputs.a-b: must be a plain name"),
        ("expect:\n", "params: {run_ts: 1}\nexpect:\n", "13: params.run_ts: is set by the engine"),
        ("expect:\n", "params: {a: .inf, b: 1e999}\nexpect:\n", "13: params.b: must be a finite number"),
        ("  manifest", "  delimiter: ';;'\n  manifest", "9: source.delimiter: must be one character"),
        ("  manifest", "  header: yes\n  manifest", "9: source.header: must be true or false, not 'yes'"),
        (
            "  manifest",
            "  options: {mode: DROPMALFORMED}\n  manifest",
            "9: source.options.mode: not an option for csv",
        ),
        ("  manifest", "  options: {Quote: x}\n  manifest", "9: source.options.Quote: not an option for csv"),
    ],
)
def test_a_wrong_value_is_told_with_its_line_and_in_plain_words(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    found = problems(tmp_path, orders_with(old, new))

    assert [problem for problem in found if expected in problem], found


@pytest.mark.parametrize("pydantic_word", ["Input should", "Field required", "Extra inputs", "validation error"])
def test_no_wording_of_the_library_leaks(tmp_path: Path, pydantic_word: str) -> None:
    values = {
        "pipeline": [1],
        "schedule": 5,
        "retries": [],
        "params": "x",
        "source": 1,
        "target": {},
        "write": [],
    }
    text = "\n".join(f"{key}: {value}" for key, value in {**values, "expect": 1, "inputs": 3}.items())

    assert pydantic_word not in "\n".join(problems(tmp_path, {"pipelines/bad.yaml": text}))


def test_a_missing_part_is_told_once(tmp_path: Path) -> None:
    assert problems(tmp_path, {"pipelines/bad.yaml": "pipeline: x\n"}) == [
        "pipelines/bad.yaml:1: source: is missing",
        "pipelines/bad.yaml:1: target: is missing",
        "pipelines/bad.yaml:1: write: is missing",
    ]


def test_keys_of_the_flat_form_do_not_mix_with_tasks(tmp_path: Path) -> None:
    found = problems(tmp_path, orders_with("expect:\n", "tasks: []\nexpect:\n"))

    assert "pipelines/orders.yaml:4: source: belongs inside one of the tasks, since this file has tasks:" in found


def test_a_pipeline_name_in_two_files_is_a_problem_of_the_second(tmp_path: Path) -> None:
    found = problems(tmp_path, {"pipelines/z.yaml": ORDERS.replace("table: orders", "table: other")})

    assert found == ["pipelines/z.yaml:1: pipeline: 'orders_daily' is in pipelines/orders.yaml already"]


def test_the_project_is_found_upwards(tmp_path: Path) -> None:
    make_project(tmp_path)
    (tmp_path / "pipelines" / "deep").mkdir()

    assert find_project(tmp_path / "pipelines" / "deep") == tmp_path


def test_no_project_upwards_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        find_project(tmp_path)

    assert "samewise init" in (caught.value.next_step or "")


def test_an_unknown_pipeline_gets_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'orders_daily'"):
        load(tmp_path).pipeline("order_daily")


def test_a_project_without_pipelines_loads(tmp_path: Path) -> None:
    (tmp_path / "samewise.yaml").write_text(PROJECT)

    assert load_project(tmp_path, None, {}).pipelines == {}


def test_twenty_pipelines_take_a_tenth_of_a_second_of_the_processor(tmp_path: Path) -> None:
    make_project(
        tmp_path,
        {
            f"pipelines/p{number}.yaml": ORDERS.replace("orders_daily", f"p{number}").replace(
                "table: orders", f"table: t{number}"
            )
            for number in range(19)
        },
    )
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        load_project(tmp_path, None, {})
        seconds.append(time.process_time() - begin)

    assert min(seconds) < 0.1


def test_loading_plain_templates_imports_no_template_engine_and_no_sql_parser(tmp_path: Path) -> None:
    make_project(tmp_path)
    code = (
        "import sys; from pathlib import Path; from samewise.spec.load import load_project; "
        f"load_project(Path({str(tmp_path)!r}), None, {{}}); "
        "print([name for name in ('jinja2', 'sqlglot', 'pyspark', 'sqlalchemy') if name in sys.modules])"
    )

    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert answer.stdout.strip() == "[]"


def test_the_problems_are_sorted_by_file_and_line(tmp_path: Path) -> None:
    make_project(tmp_path, {"samewise.yaml": "project: shop\nb: 1\na: 1\n", "pipelines/a.yaml": ""})

    with pytest.raises(SpecError) as caught:
        load_project(tmp_path, None, {})

    assert [(problem.file, problem.line) for problem in caught.value.problems] == [
        ("pipelines/a.yaml", 1),
        ("samewise.yaml", 2),
        ("samewise.yaml", 3),
    ]
