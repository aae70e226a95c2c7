"""`make bench`: what Samewise costs beside the same work done by hand, on this machine, in this process.

Every round does each thing once, in turn, so that whatever else the machine is doing hits them all;
the figure is the median over the rounds, divided by that of the same work by hand.

`make bench ARGS="--only merge prove"` measures these again and keeps the other figures.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
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


@dataclass
class Figures:
    """One method for each part of the page. Those with Spark share its session, and find it warm."""

    folder: Path
    rows: int
    rounds: int
    growth: list[int]

    @cached_property
    def _bench(self) -> Bench:
        return Bench(self.folder, self.rows)

    def postgres_read(self) -> dict[str, Any]:
        return _of_its_own("benchmarks.postgres_read", "--rounds", str(self.rounds))

    def postgres_write(self) -> dict[str, Any]:
        return _of_its_own("benchmarks.postgres_write", "--rounds", str(min(self.rounds, 3)))

    def window(self) -> dict[str, Any]:
        return self._bench.measure(self.rounds)

    def merge(self) -> list[dict[str, Any]]:
        # What is wanted is said of one size; the others show how it grows.
        sizes = {self.rows: self.rounds, **dict.fromkeys(self.growth, 2)}
        spark = self._bench.spark
        return [MergeBench(self.folder / f"merge-{rows}", spark, rows).measure(n) for rows, n in sizes.items()]

    def backfill(self) -> dict[str, Any]:
        days = BackfillBench(self.folder / "days", self._bench.spark, windows=40, rows=20_000)
        year = BackfillBench(self.folder / "year", self._bench.spark, windows=365, rows=2_000)
        return {**days.measure(min(self.rounds, 2)), "growth": year.grow([10, 40, 100, 365])}

    def prove(self) -> dict[str, Any]:
        return ProveBench(self.folder / "prove", self._bench.spark).measure(min(self.rounds, 2))

    def commands(self) -> dict[str, float]:
        return time_commands(self.folder / "commands")

    def audit(self) -> dict[str, Any]:
        return time_audit(self.folder / "audit")


# First those in processes of their own: their Spark has another driver, and must not share the machine with ours.
PARTS = ("postgres_read", "postgres_write", "window", "merge", "backfill", "prove", "commands", "audit")


def main() -> int:
    options = argparse.ArgumentParser(prog="make bench")
    options.add_argument("--rows", type=int, default=3_000_000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--growth", type=int, nargs="*", default=[1_000_000, 10_000_000], metavar="ROWS")
    options.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help=", ".join(PARTS))
    options.add_argument("--json", type=Path, default=ROOT / "build" / "benchmarks.json")
    options.add_argument("--report", type=Path, default=ROOT / "docs" / "benchmarks.md")
    chosen = options.parse_args()
    figures = _known(chosen.json)
    with tempfile.TemporaryDirectory(prefix="samewise-bench-") as folder:
        measured = Figures(Path(folder), chosen.rows, chosen.rounds, chosen.growth)
        for name in (name for name in PARTS if name in chosen.only):
            measure: Callable[[], Any] = getattr(measured, name)
            figures[name] = {"day": f"{datetime.now(UTC):%Y-%m-%d}", "figures": measure()}
            # After each: whoever stops it keeps what has been measured.
            chosen.json.parent.mkdir(parents=True, exist_ok=True)
            chosen.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
            write_report(chosen.report, figures)
    print(chosen.report.read_text(encoding="utf-8"))
    return 0 if all(row["met"] for row in _wanted(figures)) else 1


def _known(file: Path) -> dict[str, Any]:
    """What was measured before; nothing of a file that an older version wrote."""
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return {name: part for name, part in found.items() if isinstance(part, dict) and "day" in part}


def _wanted(figures: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for name, part in figures.items():
        found = part["figures"]
        if name == "audit":
            yield found
        elif name != "commands":
            yield from (found[0] if name == "merge" else found)["wanted"]


def _of_its_own(module: str, *words: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", module, *words], stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT
    )
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


raise SystemExit(main())
