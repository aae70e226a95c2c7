"""A small project on disk, to be broken by a test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from samewise.core.errors import SpecError
from samewise.spec.load import Loaded, load_project

PROJECT = "project: shop\n"
ORDERS = """\
pipeline: orders_daily
schedule: {every: day, start: 2026-04-01, timezone: Europe/Berlin}
retries: {attempts: 3, backoff: 30s}
source:
  type: files
  path: landing/orders/{{ window.start | date }}/*.csv
  format: csv
  schema: {order_id: bigint, amount: "decimal(12,2)", updated_at: timestamp, order_date: date}
  manifest: landing/orders/{{ window.start | date }}/manifest.json
transform: orders.sql
target: {type: delta, table: orders}
write: {strategy: replace_window, window_column: order_date}
expect:
  - order_id is not null
  - unique: [order_id]
  - rows: {min: 1}
"""


def make_project(root: Path, files: Mapping[str, str] | None = None) -> Path:
    """A project with one good pipeline; `files` come on top, by path."""
    everything = {
        "samewise.yaml": PROJECT,
        "pipelines/orders.yaml": ORDERS,
        "pipelines/orders.sql": "SELECT * FROM source\n",
        **(files or {}),
    }
    for name, text in everything.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def load(root: Path, files: Mapping[str, str] | None = None, env: str | None = None, **environ: str) -> Loaded:
    """Load the project with `files` on top."""
    return load_project(make_project(root, files), env, environ)


def problems(root: Path, files: Mapping[str, str], env: str | None = None, **environ: str) -> list[str]:
    """Every problem that the project has with `files` on top, as `file:line: sentence`."""
    with pytest.raises(SpecError) as caught:
        load(root, files, env, **environ)
    return [str(problem) for problem in caught.value.problems]


def orders_with(old: str, new: str) -> dict[str, str]:
    """The good pipeline with one thing changed."""
    assert old in ORDERS
    return {"pipelines/orders.yaml": ORDERS.replace(old, new)}
