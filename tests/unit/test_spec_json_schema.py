"""The JSON Schemas accept what the loader accepts, and refuse the common mistakes."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from samewise.spec.json_schema import pipeline_json_schema, project_json_schema
from samewise.spec.yaml_text import read_yaml
from tests.support.spec import ORDERS

TASKS = """\
pipeline: two
tasks:
  - {task: a, source: {type: delta, path: x}, target: {type: delta, table: a}, write: {strategy: refresh}}
  - task: b
    depends_on: [a]
    source: {type: delta, table: a}
    target: {type: delta, table: b}
    write: {strategy: refresh}
"""
PROJECT = """\
project: shop
lease: 60s
spark: {master: "local[*]", conf: {a: 1}}
envs: {prod: {spark: {remote: "sc://x"}}}
"""


def as_editors_see_it(text: str) -> Any:
    value = read_yaml(text.encode()).value
    assert value is not None
    if "schedule" in value:
        value["schedule"]["start"] = str(value["schedule"]["start"])
    return value


def accepts(schema: dict[str, Any], text: str) -> bool:
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema).is_valid(as_editors_see_it(text))


@pytest.mark.parametrize("text", [ORDERS, TASKS])
def test_both_forms_of_a_pipeline_are_accepted(text: str) -> None:
    assert accepts(pipeline_json_schema(), text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("strategy:", "stratgey:"),
        ("strategy: replace_window", "strategy: append"),
        ("backoff: 30s", "backoff: 30"),
        ("attempts: 3", "attempts: 0"),
        ("type: files", "type: kafka"),
        ("table: orders", "table: orders, path: x"),
        ("unique: [order_id]", "unique: []"),
        ("pipeline: orders_daily", "description: x"),
    ],
)
def test_a_mistake_is_underlined(old: str, new: str) -> None:
    assert not accepts(pipeline_json_schema(), ORDERS.replace(old, new))


def test_a_project_file_is_accepted() -> None:
    assert accepts(project_json_schema(), PROJECT)


def test_an_unknown_setting_is_underlined() -> None:
    assert not accepts(project_json_schema(), PROJECT + "warehuse: x\n")


@pytest.mark.parametrize("text", [str(project_json_schema()), str(pipeline_json_schema())])
def test_defaults_are_shown_as_the_file_writes_them(text: str) -> None:
    assert "PT" not in text
