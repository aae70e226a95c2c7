"""A small batch into a large table: `DeltaTable.merge` by hand, and Samewise; then the same batch once more."""

from __future__ import annotations

import statistics
import time
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import samewise

FIRST_DAY = date(2026, 4, 1)
BATCH_ROWS = 30_000
WARM_UP_ROUNDS = 3
"""The JVM compiles for as long: before, both figures fall from round to round."""
CASES = ("by hand", "samewise", "by hand, replayed", "samewise, replayed")

PIPELINE = """
pipeline: orders
schedule: {every: day, start: 2026-04-01, timezone: UTC}
source: {type: files, path: "landing/{{ window.start | date }}/*.parquet", format: parquet}
target: {type: delta, table: orders}
write: {strategy: merge, key: [order_id], version_by: [updated_at]}
"""

WANTED = [
    ("merge", "samewise", "by hand", 1.2),
    ("replay", "samewise, replayed", "by hand, replayed", 0.5),
]


class MergeBench:
    """One table of orders twice over: one that is merged into by hand, one by Samewise. Each day is a batch."""

    def __init__(self, folder: Path, spark: Any, rows: int) -> None:
        self._spark = spark
        self._rows = rows
        self._project = folder / "project"
        self._by_hand = str(folder / "by_hand")
        (self._project / "pipelines").mkdir(parents=True)
        (self._project / "samewise.yaml").write_text("project: bench\n", encoding="utf-8")
        (self._project / "pipelines" / "orders.yaml").write_text(PIPELINE, encoding="utf-8")

    def measure(self, rounds: int) -> dict[str, Any]:
        """Seconds and ratios. Every round brings a batch of its own, so that both tables grow alike."""
        seconds: dict[str, list[float]] = {name: [] for name in CASES}
        rewritten = 0
        with samewise.open_project(self._project, spark=self._spark) as project:
            self._load_base(project)
            for number in range(1, WARM_UP_ROUNDS + rounds + 1):
                day = self._make_batch(number)
                taken = {
                    "by hand": self._timed(lambda day=day: self._merge_by_hand(day)),
                    "samewise": self._timed(lambda day=day: self._run(project, day, force=False)),
                    "by hand, replayed": self._timed(lambda day=day: self._merge_by_hand(day)),
                }
                before = self._bytes_written()
                taken["samewise, replayed"] = self._timed(lambda day=day: self._run(project, day, force=True))
                rewritten += self._bytes_written() - before
                for name, took in taken.items():
                    print(f"{self._rows:,} rows, round {number}  {name:20} {took:6.2f} s", flush=True)
                    if number > WARM_UP_ROUNDS:
                        seconds[name].append(took)
        self._compare()
        medians = {name: statistics.median(taken) for name, taken in seconds.items()}
        wanted = [
            {"name": name, "ratio": medians[one] / medians[other], "most": most} for name, one, other, most in WANTED
        ]
        for line in wanted:
            line["met"] = line["ratio"] <= line["most"]
        wanted.append({"name": "bytes that the replays rewrote", "ratio": rewritten, "most": 0, "met": rewritten == 0})
        return {"rows": self._rows, "rounds": rounds, "seconds": seconds, "medians": medians, "wanted": wanted}

    def _load_base(self, project: samewise.Project) -> None:
        base = self._spark.range(0, self._rows, 1, 4).selectExpr(*_columns("id", "0"))
        base.write.parquet(str(self._project / "landing" / FIRST_DAY.isoformat()))
        rows = self._spark.read.parquet(str(self._project / "landing" / FIRST_DAY.isoformat()))
        rows.write.format("delta").save(self._by_hand)
        self._run(project, FIRST_DAY.isoformat(), force=False)

    def _make_batch(self, number: int) -> str:
        """Half of it updates all over the table, half new, and one row in a hundred comes twice."""
        day = (FIRST_DAY + timedelta(days=number)).isoformat()
        half = BATCH_ROWS // 2
        first = self._rows + (number - 1) * half
        new = self._spark.range(first, first + half, 1, 2).selectExpr(*_columns("id", str(number)))
        spread = f"pmod(xxhash64(id, {number}), {self._rows})"
        updates = self._spark.range(0, half, 1, 2).selectExpr(*_columns(spread, str(number)))
        batch = new.unionAll(updates)
        twice = batch.where("pmod(order_id, 100) = 0")
        batch.unionAll(twice).write.parquet(str(self._project / "landing" / day))
        return day

    def _merge_by_hand(self, day: str) -> None:
        # As articles say; without the first step the second MERGE fails on a key that comes twice.
        batch = self._spark.read.parquet(str(self._project / "landing" / day)).dropDuplicates(["order_id"])
        batch.createOrReplaceTempView("batch")
        self._spark.sql(
            f"MERGE INTO delta.`{self._by_hand}` AS t USING batch AS s ON t.order_id = s.order_id"
            " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )

    def _run(self, project: samewise.Project, day: str, *, force: bool) -> None:
        result = project.run("orders", window=day, force=force)
        assert result.status is samewise.Status.SUCCEEDED, result.to_json()

    def _timed(self, work: Any) -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    def _bytes_written(self) -> int:
        """Every byte that was ever written to Samewise's table: nothing is vacuumed here."""
        return sum(file.stat().st_size for file in (self._project / "warehouse" / "orders").rglob("*.parquet"))

    def _compare(self) -> None:
        """Both tables must hold the same rows, or the figures compare different work."""
        columns = ["order_id", "customer_id", "amount", "status", "updated_at"]
        one = self._spark.read.format("delta").load(self._by_hand).selectExpr(*columns)
        other = self._spark.read.format("delta").load(str(self._project / "warehouse" / "orders")).selectExpr(*columns)
        measure = ["count(*) AS n", "sum(xxhash64(order_id, customer_id, amount, status, updated_at) >> 20) AS h"]
        assert one.selectExpr(*measure).first() == other.selectExpr(*measure).first(), "the two tables differ"


def _columns(key: str, version: str) -> list[str]:
    return [
        f"{key} AS order_id",
        f"pmod(hash({key}, {version}), 50000) AS customer_id",
        f"CAST(pmod(xxhash64({key}, {version}), 50000) / 100 AS DECIMAL(12,2)) AS amount",
        f"element_at(array('new', 'paid', 'sent'), CAST(pmod({key}, 3) + 1 AS INT)) AS status",
        f"TIMESTAMP'2026-04-01 00:00:00Z' + make_dt_interval({version}, 0, 0, pmod({key}, 86400)) AS updated_at",
    ]
