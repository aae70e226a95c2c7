"""Every YAML, SQL and JSON block of the documentation is one that Samewise takes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from samewise.cli.example import write_example
from samewise.core.errors import Refused
from samewise.core.windows import FULL
from samewise.run.results import RunResult, Status, WindowResult
from samewise.sources.manifest import parse_manifest
from samewise.spec.load import load_project
from samewise.spec.pipeline import PipelineSpec
from samewise.spec.project import ProjectSpec
from samewise.wiring.checks import check_pipelines
from tests.docs.pages import ROOT, Block, all_blocks, blocks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROJECT = "project: shop\n"
CONNECTIONS = "connections: {warehouse: {type: postgres}}\n"
# A pipeline in which every key can be replaced by that of a fragment.
PIPELINE: dict[str, Any] = {
    "pipeline": "fragment",
    "schedule": {"every": "day", "start": "2026-04-01"},
    "source": {"type": "files", "path": "landing/*.parquet", "format": "parquet"},
    "target": {"type": "delta", "table": "result"},
    "write": {"strategy": "replace_window"},
}


def files_for(block: Block) -> dict[str, str]:
    """The smallest project in which a YAML block of a page can be checked, with the SQL and Python beside it."""
    value = yaml.safe_load(block.text)
    files = {"samewise.yaml": PROJECT + CONNECTIONS}
    if set(value) <= set(ProjectSpec.model_fields):
        files["samewise.yaml"] = block.text if "project" in value else PROJECT + block.text
        return files
    whole = {**PIPELINE, **value}
    if whole["write"].get("strategy") == "refresh":
        del whole["schedule"]
    text = block.text if "pipeline" in value else yaml.safe_dump(whole)
    files["pipelines/shown.yaml"] = text
    for transform in re.findall(r"^\s*transform: (\S+)", text, re.MULTILINE):
        name, _, function = transform.partition(":")
        default = f"def {function}(rows, context):\n    return rows\n" if function else "SELECT * FROM source\n"
        files[f"pipelines/{name}"] = default
    for other in blocks(block.page):
        if other.file is not None and other.language in ("sql", "python") and other.file in files:
            files[other.file] = other.text
    return files


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("block", all_blocks("yaml"), ids=str)
def test_a_yaml_block_has_no_problem(block: Block, tmp_path: Path) -> None:
    write(tmp_path, files_for(block))
    environ = dict.fromkeys(re.findall(r"env\.(\w+)", block.text), "secret")
    for env in (None, *yaml.safe_load(block.text).get("envs", {})):
        check_pipelines(load_project(tmp_path, env, environ))


@pytest.mark.parametrize("block", all_blocks("sql"), ids=str)
def test_a_select_belongs_to_a_pipeline_of_its_page(block: Block) -> None:
    shown = [files_for(other) for other in blocks(block.page) if other.language == "yaml"]
    assert any(block.file in files for files in shown)


def test_the_readme_shows_the_pipeline_of_the_example(tmp_path: Path) -> None:
    write_example(tmp_path / "shop")
    example = yaml.safe_load((tmp_path / "shop/pipelines/orders_daily.yaml").read_text(encoding="utf-8"))
    del example["description"]
    shown = next(block for block in blocks(ROOT / "README.md") if block.language == "yaml")
    assert yaml.safe_load(shown.text) == example


def test_the_page_about_postgresql_shows_the_pipeline_of_its_example(tmp_path: Path) -> None:
    write_example(tmp_path / "shop", "postgres")
    example = (tmp_path / "shop/pipelines/shop_daily.yaml").read_text(encoding="utf-8")
    shown = [block for block in blocks(ROOT / "docs/postgresql.md") if block.file == "pipelines/shop_daily.yaml"]
    assert [block.text.partition("\n")[2] for block in shown] == [example]


def test_the_python_transform_that_is_shown_gives_what_it_says(spark: SparkSession) -> None:
    from datetime import UTC, datetime
    from decimal import Decimal
    from zoneinfo import ZoneInfo

    from samewise import Context, Window

    page = ROOT / "docs/writing-a-pipeline.md"
    shown = next(block for block in blocks(page) if block.file == "pipelines/clean.py")
    names: dict[str, Any] = {}
    exec(compile(shown.text, str(shown), "exec"), names)
    start, end = datetime(2026, 4, 25, tzinfo=UTC), datetime(2026, 4, 26, tzinfo=UTC)
    rates = spark.sql("SELECT 'USD' AS currency, 0.5BD AS rate")
    context = Context(Window(start, end), ZoneInfo("UTC"), start, {}, {"rates": rates}, spark)
    rows = spark.sql(
        "SELECT 'USD' AS currency, 10BD AS amount, TIMESTAMP'2026-04-25 12:00:00Z' AS happened_at "
        "UNION ALL SELECT 'USD', 20BD, TIMESTAMP'2026-04-24 12:00:00Z'"
    )
    assert [row["amount_eur"] for row in names["clean"](rows, context).collect()] == [Decimal("5.00")]


def shape(value: object) -> object:
    """Which keys a JSON value has, down to the last one."""
    if isinstance(value, dict):
        return {key: shape(part) for key, part in value.items()}
    return [shape(part) for part in value] if isinstance(value, list) else None


@pytest.mark.parametrize("block", all_blocks("json"), ids=str)
def test_a_json_block_is_a_manifest_or_an_answer(block: Block) -> None:
    value = json.loads(block.text)
    if "schema_version" not in value:
        assert parse_manifest("manifest.json", block.text).rows is not None
        return
    error = Refused("message", kept="kept", next_step="next")
    window = WindowResult("load", FULL, "full", Status.REFUSED, error=error)
    answer = RunResult("orders_daily", [window]).to_json()
    answer["watermark"] = {"before": None, "after": None}
    assert shape(value) == shape(answer)


def test_a_fragment_replaces_keys_that_there_are() -> None:
    assert set(PIPELINE) - {"source", "target", "write"} <= {
        field.alias or name for name, field in PipelineSpec.model_fields.items()
    }
