"""The file behind `transform:`, and what goes into a task's definition."""

import json
import re
from pathlib import Path

import pytest

from samewise.core.errors import ConfigError
from samewise.spec.transforms import Transform, find_transform, transform_files
from tests.support.spec import ORDERS, load

GOOD = "def clean(rows, context):\n    return rows\n"


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_a_function_is_found_without_running_its_file(tmp_path: Path) -> None:
    write(tmp_path, orders="raise SystemExit('imported')\n" + GOOD)

    assert find_transform("orders.py:clean", beside=tmp_path, root=tmp_path) == Transform(
        tmp_path / "orders.py", "clean"
    )


@pytest.mark.parametrize(
    "code",
    [
        "def clean(rows, context, extra=1): ...",
        "clean = lambda rows, context: rows",
        "from lib import clean",
        "def clean(*all): ...",
    ],
)
def test_whatever_can_be_called_with_two_arguments_will_do(tmp_path: Path, code: str) -> None:
    write(tmp_path, orders=code)

    assert find_transform("orders.py:clean", beside=tmp_path, root=tmp_path).function == "clean"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("orders.txt", "must be a file such as orders.sql"),
        ("orders.py", "must name a function: orders.py:FUNCTION"),
        ("orders.py:a b", "must name a function"),
        ("orders.sql:clean", "has no functions"),
        ("order.py:clean", "there is no file 'order.py' beside this one, did you mean 'orders.py'?"),
        ("../outside.py:clean", "leads outside the project"),
        ("/etc/x.py:clean", "leads outside the project"),
        ("orders.py:clear", "defines no function 'clear', did you mean 'clean'?"),
        ("orders.py:inner", "defines no function 'inner'"),
        ("orders.py:single", "must take two arguments"),
        ("orders.py:keyword", "must take two arguments"),
        ("orders.py:later", "must be a plain function"),
        ("broken.py:clean", "broken.py, line 2:"),
    ],
)
def test_a_transform_that_cannot_run_is_refused(tmp_path: Path, text: str, words: str) -> None:
    more = (
        "def single(rows): ...\n"
        "def keyword(rows, context, *, must): ...\n"
        "async def later(rows, context): ...\n"
        "def outer():\n    def inner(rows, context): ...\n"
    )
    write(tmp_path / "shop", orders=GOOD + more, broken="x = 1\ndef (")
    write(tmp_path, outside=GOOD)

    with pytest.raises(ValueError, match=re.escape(words)):
        find_transform(text, beside=tmp_path / "shop", root=tmp_path / "shop")


def test_a_sql_file_is_all_there_is_to_it(tmp_path: Path) -> None:
    assert transform_files(Transform(tmp_path / "a.sql", None), root=tmp_path) == (tmp_path / "a.sql",)


def test_no_transform_has_no_files(tmp_path: Path) -> None:
    assert transform_files(None, root=tmp_path) == ()


def test_every_module_of_the_project_that_is_imported_counts(tmp_path: Path) -> None:
    write(
        tmp_path,
        pipelines__orders="import json, helper\nimport lib.money\ndef f():\n    from lib import late\n",
        pipelines__helper="import orders",
        pipelines__unused="",
        lib____init__="",
        lib__money="from . import rates\nfrom .deep.er import x\n",
        lib__rates="",
        lib__late="from .money import *\n",
        lib__deep__er="",
        lib__unused="",
    )
    (tmp_path / "lib" / "__init__.py").write_text("")

    files = transform_files(Transform(tmp_path / "pipelines" / "orders.py", "clean"), root=tmp_path)

    assert [file.relative_to(tmp_path).as_posix() for file in files] == [
        "pipelines/orders.py",
        "lib/__init__.py",
        "lib/deep/er.py",
        "lib/late.py",
        "lib/money.py",
        "lib/rates.py",
        "pipelines/helper.py",
    ]


def test_a_module_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    write(tmp_path, orders="import helper\n" + GOOD, helper="def (")

    with pytest.raises(ConfigError, match=r"helper.py, line 1"):
        transform_files(Transform(tmp_path / "orders.py", "clean"), root=tmp_path)


def definition(root: Path, text: str = ORDERS, **environ: str) -> str:
    pipeline = load(root, {"pipelines/orders.yaml": text}, **environ).pipelines["orders_daily"]
    return pipeline.definition_json(pipeline.tasks[0])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("bigint", "int"),
        ('order_id: bigint, amount: "decimal(12,2)"', 'amount: "decimal(12,2)", order_id: bigint'),
        ("transform: orders.sql\n", ""),
        ("table: orders", "table: others"),
        ("window_column: order_date", "window_column: order_date, on_empty: fail"),
        ("min: 1", "min: 2"),
        ("Europe/Berlin", "Europe/Vienna"),
        ("every: day", "every: week"),
        ("expect:", "params: {a: 1}\nexpect:"),
        ("expect:", "inputs: {x: {table: y}}\nexpect:"),
    ],
)
def test_what_changes_the_data_changes_the_definition(tmp_path: Path, old: str, new: str) -> None:
    assert definition(tmp_path) != definition(tmp_path, ORDERS.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("attempts: 3", "attempts: 5"),
        ("pipeline: orders_daily", "pipeline: orders_daily\ndescription: Orders, day by day"),
        ("start: 2026-04-01", "start: 2026-03-01"),
        ("bigint", "LONG"),
        ("type: files", "type: files\n  header: true\n  on_malformed: refuse"),
        ("window_column: order_date", "window_column: order_date, on_empty: clear"),
    ],
)
def test_what_leaves_the_data_alone_leaves_the_definition_alone(tmp_path: Path, old: str, new: str) -> None:
    assert definition(tmp_path) == definition(tmp_path, ORDERS.replace(old, new))


@pytest.mark.parametrize(("one", "other"), [("1", "'1'"), ("1", "true"), ("1", "1.0"), ("2026-04-01", "'2026-04-01'")])
def test_parameters_of_different_types_are_different(tmp_path: Path, one: str, other: str) -> None:
    first = definition(tmp_path, ORDERS + f"params: {{a: {one}}}\n")

    assert first != definition(tmp_path, ORDERS + f"params: {{a: {other}}}\n")


def test_no_secret_gets_into_the_definition(tmp_path: Path) -> None:
    text = ORDERS.replace("landing/orders/{{ window.start | date }}/*", "landing/{{ env.SECRET }}/*")

    body = definition(tmp_path, text, SECRET="hunter2")

    assert json.loads(body)["source"]["path"] == "landing/{{ env.SECRET }}/*.csv"
