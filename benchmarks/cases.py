"""One day of orders, loaded five ways."""

from __future__ import annotations

import json
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import samewise
from samewise.run.session import LazySpark, SparkSettings
from samewise.run.spark_conf import working_conf

DAY = "2026-04-25"
WARM_UP_ROUNDS = 4
"""After so many the JVM has compiled most of what it will; before, the figures fall from round to round."""

PIPELINE = """
pipeline: {name}
schedule: {{every: day, start: 2026-04-01, timezone: UTC}}
source: {{type: files, path: "landing/*.parquet", format: parquet{manifest}}}
target: {{type: delta, table: {name}, partition_by: [order_date]}}
write: {{strategy: replace_window, window_column: order_date}}
"""
EXPECT = """expect:
  - order_id is not null
  - amount >= 0
"""

WANTED = [
    ("c/a", "samewise", "append", 1.3),
    ("c/b", "samewise", "dynamic overwrite", 1.05),
    ("d/a", "samewise, manifest and expectations", "append", 2.0),
    ("e/a", "samewise, unchanged", "append", 0.05),
]


class Bench:
    """The same rows, the same Spark session, five ways to load them."""

    def __init__(self, folder: Path, rows: int) -> None:
        self._folder = folder
        self._rows = rows
        self.spark = LazySpark(SparkSettings(log_dir=folder / "logs", conf={"spark.driver.memory": "4g"}))()
        # By hand, as Spark comes: what Samewise sets for its own sessions is a part of what is measured.
        for key in working_conf("local[*]"):
            self.spark.conf.unset(key)
        self._project = folder / "project"
        self._make_orders()
        self._make_project()

    def measure(self, rounds: int) -> dict[str, Any]:
        """Seconds and ratios; the first rounds only warm the JVM."""
        with samewise.open_project(self._project, spark=self.spark) as project:
            cases: dict[str, Callable[[], None]] = {
                "append": self._append,
                "dynamic overwrite": self._overwrite,
                "samewise": lambda: _run(project, "plain", force=True),
                "samewise, manifest and expectations": lambda: _run(project, "checked", force=True),
                "samewise, unchanged": lambda: _run(project, "plain", force=False),
            }
            seconds: dict[str, list[float]] = {name: [] for name in cases}
            for number in range(WARM_UP_ROUNDS + rounds):
                for name, case in cases.items():
                    shutil.rmtree(self._folder / "append", ignore_errors=True)
                    began = time.perf_counter()
                    case()
                    took = time.perf_counter() - began
                    print(f"round {number + 1}  {name:38} {took:6.2f} s", flush=True)
                    if number >= WARM_UP_ROUNDS:
                        seconds[name].append(took)
        medians = {name: statistics.median(taken) for name, taken in seconds.items()}
        return {
            "rows": self._rows,
            "rounds": rounds,
            "seconds": seconds,
            "medians": medians,
            "ratios": {name: median / medians["append"] for name, median in medians.items()},
            "wanted": [_wanted(medians, *line) for line in WANTED],
        }

    def _make_orders(self) -> None:
        # Made from hashes, so that every machine measures the same rows.
        self.spark.range(0, self._rows, 1, 4).selectExpr(
            "id AS order_id",
            "pmod(hash(id), 50000) AS customer_id",
            "CAST(pmod(xxhash64(id, 1), 50000) / 100 AS DECIMAL(12,2)) AS amount",
            "element_at(array('new', 'paid', 'sent'), CAST(pmod(id, 3) + 1 AS INT)) AS status",
            f"TIMESTAMP'{DAY} 00:00:00Z' + make_dt_interval(0, 0, 0, pmod(id, 86400)) AS updated_at",
            f"DATE'{DAY}' AS order_date",
        ).write.parquet(str(self._project / "landing"))

    def _make_project(self) -> None:
        pipelines = self._project / "pipelines"
        pipelines.mkdir()
        (self._project / "samewise.yaml").write_text("project: bench\n", encoding="utf-8")
        (self._project / "manifest.json").write_text(json.dumps({"rows": self._rows}), encoding="utf-8")
        plain = PIPELINE.format(name="plain", manifest="")
        checked = PIPELINE.format(name="checked", manifest=", manifest: manifest.json") + EXPECT
        (pipelines / "plain.yaml").write_text(plain, encoding="utf-8")
        (pipelines / "checked.yaml").write_text(checked, encoding="utf-8")

    def _orders(self) -> Any:
        return self.spark.read.parquet(str(self._project / "landing"))

    def _append(self) -> None:
        writer = self._orders().write.format("delta").partitionBy("order_date")
        writer.mode("append").save(str(self._folder / "append"))

    def _overwrite(self) -> None:
        writer = self._orders().write.format("delta").partitionBy("order_date").mode("overwrite")
        writer.option("partitionOverwriteMode", "dynamic").save(str(self._folder / "overwrite"))


def _run(project: samewise.Project, pipeline: str, *, force: bool) -> None:
    result = project.run(pipeline, window=DAY, force=force)
    expected = samewise.Status.SUCCEEDED if force else samewise.Status.UNCHANGED
    assert result.status is expected, result.to_json()


def _wanted(medians: dict[str, float], name: str, above: str, below: str, most: float) -> dict[str, Any]:
    ratio = medians[above] / medians[below]
    return {"name": name, "of": above, "to": below, "ratio": ratio, "most": most, "met": ratio <= most}
