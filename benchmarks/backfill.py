"""Forty days of orders: one `replaceWhere` a day by hand, one single job without any guard, and Samewise's backfill.

Runs alone too: `python -m benchmarks.backfill [--windows 40] [--rows 20000] [--growth 365]`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import samewise
from samewise.run.session import LazySpark, SparkSettings
from samewise.run.spark_conf import working_conf

FIRST_DAY = date(2025, 1, 1)
_WARM_UPS = 6
_TIMES_A_ROUND = 4
"""How often a round does what takes a second or two: a single one would be at the mercy of whatever else goes on."""
CASES = ("a loop by hand", "one job by hand", "samewise backfill")
PIPELINE = """
pipeline: {name}
schedule: {{every: day, start: 2025-01-01, timezone: UTC}}
source: {{type: files, path: "landing/day={{{{ window.start | date }}}}/*.parquet", format: parquet}}
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
        """Seconds and ratios; what comes first only warms the JVM."""
        seconds: dict[str, list[float]] = {name: [] for name in CASES}
        cpu: dict[str, list[float]] = {name: [] for name in CASES}
        names = [f"backfill_{number}" for number in range(_WARM_UPS + rounds * _TIMES_A_ROUND)]
        with self._open(names) as project:
            for number in range(_WARM_UPS):
                # The loop's forty commits warm it; these two would be measured in a JVM that has hardly seen them.
                self._one_job(f"one_{number}")
                self._backfill(project, f"backfill_{number}", self._windows)
            self._loop("warm_loop")
            for number in range(_WARM_UPS, len(names)):
                work: dict[str, Callable[[], None]] = {
                    "one job by hand": lambda number=number: self._one_job(f"one_{number}"),
                    "samewise backfill": lambda number=number: self._backfill(
                        project, f"backfill_{number}", self._windows
                    ),
                }
                if (number - _WARM_UPS) % _TIMES_A_ROUND == 0:
                    work["a loop by hand"] = lambda number=number: self._loop(f"loop_{number}")
                for name, act in work.items():
                    before = _cpu_seconds()
                    took = _timed(act)
                    used = _cpu_seconds() - before
                    told = f"{took:6.2f} s, {used:6.2f} s of CPU"
                    print(f"{self._windows} windows, time {number}  {name:18} {told}", flush=True)
                    seconds[name].append(took)
                    cpu[name].append(used)
            self._compare(_WARM_UPS)
        medians = {name: statistics.median(taken) for name, taken in seconds.items()}
        loop, one, ours = (medians[name] for name in CASES)
        wanted = [
            {"name": "a loop / backfill", "ratio": loop / ours, "least": 5.0, "met": loop / ours >= 5.0},
            {"name": "backfill / one job", "ratio": ours / one, "most": 1.3, "met": ours / one <= 1.3},
        ]
        figures = {"seconds": seconds, "cpu_seconds": cpu, "medians": medians, "wanted": wanted}
        return {"windows": self._windows, "rows": self._rows, **figures}

    def grow(self, counts: list[int]) -> list[dict[str, Any]]:
        """Seconds a window as the number of windows grows, each time into a new table."""
        found = []
        with self._open([f"grown_{count}" for count in counts]) as project:
            for count in counts:
                took = _timed(lambda count=count: self._backfill(project, f"grown_{count}", count))
                found.append({"windows": count, "seconds": took, "per_window": took / count})
                print(f"{count} windows of {self._rows:,} rows  {took:6.2f} s, {took / count:.3f} s each", flush=True)
        return found

    def _make_days(self) -> None:
        rows = self._spark.range(self._windows * self._rows).selectExpr(
            "id AS order_id",
            "pmod(hash(id), 50000) AS customer_id",
            "CAST(pmod(xxhash64(id), 50000) / 100 AS DECIMAL(12,2)) AS amount",
            "element_at(array('new', 'paid', 'sent'), CAST(pmod(id, 3) + 1 AS INT)) AS status",
            f"date_add(DATE'{FIRST_DAY}', CAST(id DIV {self._rows} AS INT)) AS order_date",
            f"string(date_add(DATE'{FIRST_DAY}', CAST(id DIV {self._rows} AS INT))) AS day",
        )
        # One file a day, as a producer would leave it there.
        rows.repartition("day").write.partitionBy("day").parquet(str(self._project / "landing"))

    def _loop(self, name: str) -> None:
        for at in range(self._windows):
            day = _day(at)
            rows = self._spark.read.parquet(self._landing(at))
            writer = rows.write.format("delta").mode("overwrite").option("replaceWhere", f"order_date = DATE'{day}'")
            writer.save(str(self._folder / name))

    def _one_job(self, name: str) -> None:
        paths = [self._landing(at) for at in range(self._windows)]
        self._spark.read.parquet(*paths).write.format("delta").mode("overwrite").save(str(self._folder / name))

    def _open(self, names: Iterable[str]) -> samewise.Project:
        """A project with a pipeline for each table. Open all the time, as the session is for whoever works by hand."""
        for name in names:
            (self._project / "pipelines" / f"{name}.yaml").write_text(PIPELINE.format(name=name), encoding="utf-8")
        return samewise.open_project(self._project, spark=self._spark)

    def _backfill(self, project: samewise.Project, name: str, windows: int) -> None:
        result = project.backfills.run(name, start=_day(0), end=_day(windows))
        assert result.is_done, result.to_json()

    def _landing(self, at: int) -> str:
        return str(self._project / "landing" / f"day={_day(at)}")

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


def _cpu_seconds() -> float:
    """What this process and its JVM have used: on a machine that others share, a better measure than the clock."""
    ticks = 0
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parts = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # It has ended meanwhile.
        if int(entry.parent.name) == os.getpid() or int(parts[1]) == os.getpid():
            ticks += int(parts[11]) + int(parts[12])
    return ticks / os.sysconf("SC_CLK_TCK")


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
        # By hand, as Spark comes.
        for key in working_conf("local[*]"):
            spark.conf.unset(key)
        bench = BackfillBench(Path(folder) / "days", spark, windows=chosen.windows, rows=chosen.rows)
        figures = bench.measure(chosen.rounds)
        for row in figures["wanted"]:
            bound = f"at least {row['least']}" if "least" in row else f"at most {row['most']}"
            print(f"{row['name']}: {row['ratio']:.2f} ({bound}: {'met' if row['met'] else 'missed'})")
        if chosen.growth:
            grown = BackfillBench(Path(folder) / "year", spark, windows=chosen.growth, rows=2_000)
            grown.grow([count for count in (10, 40, 100, chosen.growth) if count <= chosen.growth])
    medians = {name: statistics.median(used) for name, used in figures["cpu_seconds"].items()}
    loop, one, ours = (medians[name] for name in CASES)
    print(f"by CPU: a loop / backfill {loop / ours:.2f}, backfill / one job {ours / one:.2f}")
    return 0 if all(row["met"] for row in figures["wanted"]) else 1


if __name__ == "__main__":
    raise SystemExit(main())
