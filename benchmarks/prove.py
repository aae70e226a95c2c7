"""What a proof costs: every experiment about a window of 100,000 rows, beside one forced run of it in the same session.

`python -m benchmarks.prove` measures it alone.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import samewise
from samewise.run.session import LazySpark, SparkSettings

DAY = "2026-04-25"
MOST = 12.0
STRATEGIES = {
    "replace_window": "{strategy: replace_window, window_column: order_date}",
    "replace_window, expectations": "{strategy: replace_window, window_column: order_date}\nexpect: [order_id >= 0]",
    "merge": "{strategy: merge, key: [order_id], version_by: [order_date]}",
}

PIPELINE = """
pipeline: orders
schedule: {every: day, start: 2026-04-01, end: 2026-04-30, timezone: UTC}
source: {type: files, path: "landing/{{ window.start | date }}/*.parquet", format: parquet}
transform: orders.sql
target: {type: delta, table: orders}
write: """
SQL = "SELECT order_id, customer_id, amount, upper(status) AS status, order_date FROM source\n"


class ProveBench:
    """One day of orders, proved; a session that the caller brings is used, and nothing else runs in it."""

    def __init__(self, folder: Path, spark: Any, rows: int = 100_000) -> None:
        self._folder = folder
        self._spark = spark
        self._rows = rows

    def measure(self, rounds: int) -> dict[str, Any]:
        """Seconds and ratios of each strategy. The first round warms the session up for both."""
        figures = [self._strategy(name, write, rounds) for name, write in STRATEGIES.items()]
        return {
            "rows": self._rows,
            "rounds": rounds,
            "strategies": figures,
            "wanted": [one["wanted"] for one in figures],
        }

    def _strategy(self, name: str, write: str, rounds: int) -> dict[str, Any]:
        root = self._project(name.replace(", ", "_"), write)
        runs: list[float] = []
        proofs: list[float] = []
        with samewise.open_project(root, spark=self._spark) as project:
            for number in range(rounds + 1):
                began = time.perf_counter()
                result = project.run("orders", window=DAY, force=True)
                assert result.status is samewise.Status.SUCCEEDED, result.to_json()
                run = time.perf_counter() - began
                began = time.perf_counter()
                proof = project.prove("orders", window=DAY)
                took = time.perf_counter() - began
                assert proof.holds, proof.verdicts
                print(f"{name:30} round {number}  run {run:5.2f} s  prove {took:6.2f} s", flush=True)
                if number > 0:
                    runs.append(run)
                    proofs.append(took)
        ratio = statistics.median(proofs) / statistics.median(runs)
        wanted = {"name": f"prove, {name}", "ratio": ratio, "most": MOST, "met": ratio <= MOST}
        return {
            "name": name,
            "run": statistics.median(runs),
            "prove": statistics.median(proofs),
            "experiments": {f"{one.experiment} {one.detail}": one.seconds for one in proof.verdicts},
            "wanted": wanted,
        }

    def _project(self, name: str, write: str) -> Path:
        root = self._folder / name
        (root / "pipelines").mkdir(parents=True)
        (root / "samewise.yaml").write_text("project: bench\n", encoding="utf-8")
        (root / "pipelines" / "orders.yaml").write_text(f"{PIPELINE}{write}\n", encoding="utf-8")
        (root / "pipelines" / "orders.sql").write_text(SQL, encoding="utf-8")
        rows = self._spark.range(0, self._rows, 1, 2).selectExpr(
            "id AS order_id",
            "pmod(xxhash64(id), 5000) AS customer_id",
            "CAST(pmod(xxhash64(id, 1), 50000) / 100 AS DECIMAL(12,2)) AS amount",
            "element_at(array('new', 'paid', 'sent'), CAST(pmod(id, 3) + 1 AS INT)) AS status",
            f"DATE'{DAY}' AS order_date",
        )
        rows.write.parquet(str(root / "landing" / DAY))
        return root


def prove_lines(proving: dict[str, Any]) -> list[str]:
    """The figures for the page."""
    lines = [
        "",
        "## Prove",
        "",
        f"All experiments about one window of {proving['rows']:,} rows, on forks, beside one forced run of that window",
        "in the same session.",
        "",
        "| strategy | one run | `samewise prove` | ratio | wanted |",
        "|---|---|---|---|---|",
    ]
    for one in proving["strategies"]:
        wanted = one["wanted"]
        verdict = f"at most {wanted['most']:g}: {'met' if wanted['met'] else '**missed**'}"
        lines.append(
            f"| {one['name']} | {one['run']:.2f} s | {one['prove']:.2f} s | {wanted['ratio']:.1f} | {verdict} |"
        )
    return lines


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.prove")
    options.add_argument("--rows", type=int, default=100_000)
    options.add_argument("--rounds", type=int, default=3)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="samewise-bench-") as folder:
        spark = LazySpark(SparkSettings(log_dir=Path(folder) / "logs"))()
        figures = ProveBench(Path(folder), spark, chosen.rows).measure(chosen.rounds)
        spark.stop()
    print(json.dumps(figures))
    return 0 if all(row["met"] for row in figures["wanted"]) else 1


if __name__ == "__main__":
    raise SystemExit(main())
