"""`make bench`: what Samewise costs beside the same work done by hand, on this machine, in this process.

Every round does each thing once, in turn, so that whatever else the machine is doing hits them all;
the figure is the median over the rounds, divided by that of the blind append.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.audit import time_audit
from benchmarks.backfill import BackfillBench
from benchmarks.cases import Bench
from benchmarks.commands import time_commands
from benchmarks.merge import MergeBench
from benchmarks.prove import ProveBench
from benchmarks.report import write_report

ROOT = Path(__file__).parent.parent


def main() -> int:
    options = argparse.ArgumentParser(prog="make bench")
    options.add_argument("--rows", type=int, default=3_000_000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--growth", type=int, nargs="*", default=[1_000_000, 10_000_000], metavar="ROWS")
    options.add_argument("--json", type=Path, default=ROOT / "build" / "benchmarks.json")
    options.add_argument("--report", type=Path, default=ROOT / "docs" / "benchmarks.md")
    chosen = options.parse_args()
    # First, and in a process of its own: its Spark has another driver, and must not share the machine with ours.
    reading = _of_its_own("benchmarks.postgres_read", "--rounds", str(chosen.rounds))
    writing = _of_its_own("benchmarks.postgres_write", "--rounds", str(min(chosen.rounds, 3)))
    with tempfile.TemporaryDirectory(prefix="samewise-bench-") as folder:
        bench = Bench(Path(folder), chosen.rows)
        figures = bench.measure(chosen.rounds)
        merges = [MergeBench(Path(folder) / "merge", bench.spark, chosen.rows).measure(chosen.rounds)]
        for rows in chosen.growth:
            merges.append(MergeBench(Path(folder) / f"merge-{rows}", bench.spark, rows).measure(2))
        figures["merge"] = merges
        days = BackfillBench(Path(folder) / "days", bench.spark, windows=40, rows=20_000)
        figures["backfill"] = days.measure(3)
        year = BackfillBench(Path(folder) / "year", bench.spark, windows=365, rows=2_000)
        figures["backfill"]["growth"] = year.grow([10, 40, 100, 365])
        figures["prove"] = ProveBench(Path(folder) / "prove", bench.spark).measure(3)
        figures["commands"] = time_commands(Path(folder) / "commands")
        figures["audit"] = time_audit(Path(folder) / "audit")
    figures["postgres_read"] = reading
    figures["postgres_write"] = writing
    chosen.json.parent.mkdir(parents=True, exist_ok=True)
    chosen.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    write_report(chosen.report, figures)
    print(chosen.report.read_text(encoding="utf-8"))
    # What is wanted of a merge is said of one size; the others show how it grows.
    wanted = [*figures["wanted"], *figures["merge"][0]["wanted"], *reading["wanted"], *writing["wanted"]]
    wanted.append(figures["audit"])
    wanted += figures["backfill"]["wanted"]
    wanted += figures["prove"]["wanted"]
    return 0 if all(row["met"] for row in wanted) else 1


def _of_its_own(module: str, *words: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", module, *words], stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT
    )
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


raise SystemExit(main())
