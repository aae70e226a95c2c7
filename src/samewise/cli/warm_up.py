"""`samewise doctor --archive-classes`: let Spark do once what pipelines do, and keep the classes that it has loaded."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from samewise.cli.example import FIRST_DAY, write_example
from samewise.run.class_archive import make_archive
from samewise.wiring.project import open_project

_BY_KEY = """
pipeline: orders_by_key
schedule: {every: day, start: 2026-04-24, end: 2026-05-01, timezone: Europe/Berlin}
source:
  type: files
  path: landing/orders/{{ window.start | date }}/*.csv
  format: csv
  schema: {order_id: bigint, customer_id: bigint, amount: "decimal(12,2)", status: string, updated_at: timestamp,
    order_date: date}
target: {type: delta, table: orders_by_key}
write: {strategy: merge, key: [order_id], version_by: [updated_at]}
"""


def archive_classes(on_progress: Callable[[str], None]) -> Path:
    """Make the archive of classes; one that is there and fits is kept."""
    return make_archive(_load_example, on_progress)


def _load_example() -> None:
    with tempfile.TemporaryDirectory(prefix="samewise-warm-up-") as folder:
        write_example(Path(folder, "shop"))
        Path(folder, "shop", "pipelines", "orders_by_key.yaml").write_text(_BY_KEY, encoding="utf-8")
        with open_project(Path(folder, "shop")) as project:
            for pipeline in ("orders_daily", "orders_by_key"):
                result = project.run(pipeline, window=FIRST_DAY.isoformat())
                if result.error is not None:
                    raise result.error
