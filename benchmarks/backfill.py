"""Forty days of orders: one `replaceWhere` a day by hand, one single job without any guard, and Samewise's backfill.

Runs alone too: `python -m benchmarks.backfill [--windows 40] [--rows 20000] [--growth 365]`.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import samewise
from samewise.run.session import LazySpark, SparkSettings

FIRST_DAY = date(2025, 1, 1)
CASES = ("a loop by hand", "one job by hand", "samewise backfill")
PIPELINE = """
pipeline: {name}
schedule: {{every: day, start: 2025-01-01, timezone: UTC}}
source: {{type: files, path: "landing/{{{{ window.start | date }}}}/*.parquet", format: parquet}}
target: {{type: delta, table: {name}}}
write: {{strategy: replace_window, window_column: order_date}}
"""


class BackfillBench:
    """The same days, three ways, each time into a new table."""

    def __init__(self, folder: Path, spark: Any, *, windows: int, rows: int) -> None:
        self._folder = folder
        self._spark = spark
        self._windows = windows
        self._rows = rows
        self._project = folder / "project"
        (self._project / "pipelines").mkdir(parents=True)
        (self._project / "samewise.yaml").write_text("project: bench\n", encoding="utf-8")
        self._make_days()

    def measure(self, rounds: int) -> dict[str, Any]:
        """Seconds and ratios; the first round only warms the JVM."""
        seconds: dict[str, list[float]] = {name: [] for name in CASES}
        for number in range(rounds + 1):
            work: dict[str, Callable[[], None]] = {
                "a loop by hand": lambda number=number: self._loop(f"loop_{number}"),
                "one job by hand": lambda number=number: self._one_job(f"one_{number}"),
                "samewise backfill": lambda number=number: self._backfill(f"backfill_{number}", self._windows),
            }
            for name, act in work.items():
                took = _timed(act)
                print(f"{self._windows} windows, round {number}  {name:18} {took:6.2f} s", flush=True)
                if number:
                    seconds[name].append(took)
            self._compare(number)
        medians = {name: statistics.median(taken) for name, taken in seconds.items()}
        loop, one, ours = (medians[name] for name in CASES)
        wanted = [
            {"name": "a loop / backfill", "ratio": loop / ours, "least": 5.0, "met": loop / ours >= 5.0},
            {"name": "backfill / one job", "ratio": ours / one, "most": 1.3, "met": ours / one <= 1.3},
        ]
        return {"windows": self._windows, "rows": self._rows, "seconds": seconds, "medians": medians, "wanted": wanted}

    def grow(self, counts: list[int]) -> list[dict[str, Any]]:
        """Seconds a window as the number of windows grows, each time into a new table."""
        found = []
        for count in counts:
            took = _timed(lambda count=count: self._backfill(f"grown_{count}", count))
            found.append({"windows": count, "seconds": took, "per_window": took / count})
            print(f"{count} windows of {self._rows:,} rows  {took:6.2f} s, {took / count:.3f} s each", flush=True)
        return found

    def _make_days(self) -> None:
        for at in range(self._windows):
            day = _day(at)
            rows = self._spark.range(at * self._rows, (at + 1) * self._rows, 1, 1).selectExpr(
                "id AS order_id",
                "pmod(hash(id), 50000) AS customer_id",
                "CAST(pmod(xxhash64(id), 50000) / 100 AS DECIMAL(12,2)) AS amount",
                "element_at(array('new', 'paid', 'sent'), CAST(pmod(id, 3) + 1 AS INT)) AS status",
                f"DATE'{day}' AS order_date",
            )
            rows.write.parquet(str(self._project / "landing" / day))

    def _loop(self, name: str) -> None:
        for at in range(self._windows):
            day = _day(at)
            rows = self._spark.read.parquet(str(self._project / "landing" / day))
            writer = rows.write.format("delta").mode("overwrite").option("replaceWhere", f"order_date = DATE'{day}'")
            writer.save(str(self._folder / name))

    def _one_job(self, name: str) -> None:
        paths = [str(self._project / "landing" / _day(at)) for at in range(self._windows)]
        self._spark.read.parquet(*paths).write.format("delta").mode("overwrite").save(str(self._folder / name))

    def _backfill(self, name: str, windows: int) -> None:
        (self._project / "pipelines" / f"{name}.yaml").write_text(PIPELINE.format(name=name), encoding="utf-8")
        with samewise.open_project(self._project, spark=self._spark) as project:
            result = project.backfills.run(name, start=_day(0), end=_day(windows))
            assert result.is_done, result.to_json()

    def _compare(self, number: int) -> None:
        """All three tables must hold the same rows, or the figures compare different work."""
        measure = ["count(*) AS n", "sum(xxhash64(order_id, customer_id, amount, status, order_date) >> 20) AS h"]
        places = [
            self._folder / f"loop_{number}",
            self._folder / f"one_{number}",
            self._project / "warehouse" / f"backfill_{number}",
        ]
        found = [self._spark.read.format("delta").load(str(place)).selectExpr(*measure).first() for place in places]
        assert found[0] == found[1] == found[2], "the tables differ"


def _day(at: int) -> str:
    return (FIRST_DAY + timedelta(days=at)).isoformat()


def _timed(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.backfill")
    options.add_argument("--windows", type=int, default=40)
    options.add_argument("--rows", type=int, default=20_000)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--growth", type=int, default=365, help="so many windows of 2,000 rows; 0 for none")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="samewise-bench-") as folder:
        settings = SparkSettings(log_dir=Path(folder) / "logs", conf={"spark.driver.memory": "4g"})
        spark = LazySpark(settings)()
        bench = BackfillBench(Path(folder) / "days", spark, windows=chosen.windows, rows=chosen.rows)
        figures = bench.measure(chosen.rounds)
        for row in figures["wanted"]:
            bound = f"at least {row['least']}" if "least" in row else f"at most {row['most']}"
            print(f"{row['name']}: {row['ratio']:.2f} ({bound}: {'met' if row['met'] else 'missed'})")
        if chosen.growth:
            grown = BackfillBench(Path(folder) / "year", spark, windows=chosen.growth, rows=2_000)
            grown.grow([count for count in (10, 40, 100, chosen.growth) if count <= chosen.growth])
    return 0 if all(row["met"] for row in figures["wanted"]) else 1


if __name__ == "__main__":
    raise SystemExit(main())
