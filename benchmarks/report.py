"""The figures as a page."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.audit import audit_lines
from benchmarks.merge import CASES
from benchmarks.prove import prove_lines

LETTERS = {
    "append": "a",
    "dynamic overwrite": "b",
    "samewise": "c",
    "samewise, manifest and expectations": "d",
    "samewise, unchanged": "e",
}
WHAT = {
    "append": "blind `append` by hand: what most jobs do",
    "dynamic overwrite": "dynamic partition overwrite by hand: keeps the old rows of a day that became empty",
    "samewise": "Samewise without a manifest: one pass, counts, sums and content hash taken on the way",
    "samewise, manifest and expectations": "Samewise with a manifest and two expectations: staged, verified, published",
    "samewise, unchanged": "Samewise again, with nothing changed",
}


def write_report(page: Path, figures: dict[str, Any]) -> None:
    """Write the page, as far as there are figures; a second call replaces it."""
    days = sorted({part["day"] for part in figures.values()})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    lines = [
        "# Benchmarks",
        "",
        "Written by `make bench`; do not edit. Ratios of medians in one process: seconds differ between",
        "machines, ratios much less.",
        "",
        f"{os.cpu_count()} cores, Python {platform.python_version()}, {when}.",
    ]
    for name, lines_of in _PARTS.items():
        if name in figures:
            lines += lines_of(figures[name]["figures"])
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _window_lines(window: dict[str, Any]) -> list[str]:
    """One day of orders, loaded five ways."""
    lines = [
        "",
        "## One window",
        "",
        f"{window['rows']:,} orders of one day, {window['rounds']} rounds.",
        "",
        "| | way | seconds | ratio to (a) |",
        "|---|---|---|---|",
    ]
    for name, letter in LETTERS.items():
        seconds, ratio = window["medians"][name], window["ratios"][name]
        lines.append(f"| {letter} | {WHAT[name]} | {seconds:.2f} | {ratio:.2f} |")
    lines += ["", "| wanted | at most | measured | |", "|---|---|---|---|"]
    for row in window["wanted"]:
        verdict = "met" if row["met"] else "**missed**"
        lines.append(f"| {row['name']} | {row['most']:.2f} | {row['ratio']:.2f} | {verdict} |")
    return lines


def _merge_lines(merges: Sequence[dict[str, Any]]) -> list[str]:
    """A batch of 30,000 rows by key, half of them updates, one in a hundred twice; then the same batch once more."""
    lines = [
        "",
        "## By key",
        "",
        "A batch of 30,000 rows into a table: half of them update rows all over it, half are new, one in a hundred",
        "comes twice. By hand: `dropDuplicates`, then `MERGE … UPDATE SET * … INSERT *`. Then the same batch once",
        "more, which by hand rewrites every file that holds one of its keys.",
        "",
        "| rows in the table | by hand | Samewise | ratio | replayed by hand | replayed by Samewise | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for merge in sorted(merges, key=lambda merge: int(merge["rows"])):
        first, second, third, fourth = (merge["medians"][name] for name in CASES)
        lines.append(
            f"| {merge['rows']:,} | {first:.2f} s | {second:.2f} s | {second / first:.2f} "
            f"| {third:.2f} s | {fourth:.2f} s | {fourth / third:.2f} |"
        )
    lines += ["", f"| wanted, at {merges[0]['rows']:,} rows | at most | measured | |", "|---|---|---|---|"]
    for row in merges[0]["wanted"]:
        verdict = "met" if row["met"] else "**missed**"
        lines.append(f"| {row['name']} | {row['most']:g} | {row['ratio']:.3g} | {verdict} |")
    return lines


def _backfill_lines(backfill: dict[str, Any]) -> list[str]:
    """Forty days into a new table, three ways; and a year of small days."""
    medians = backfill["medians"]
    lines = [
        "",
        "## Backfill",
        "",
        f"{backfill['windows']} days of {backfill['rows']:,} rows into a new table: one `replaceWhere` a day by hand,",
        "one single job for all days without any guard, and `samewise backfill`, with a receipt for each day.",
        "",
        "| way | seconds |",
        "|---|---|",
    ]
    lines += [f"| {name} | {seconds:.2f} |" for name, seconds in medians.items()]
    lines += ["", "| wanted | | measured | |", "|---|---|---|---|"]
    for row in backfill["wanted"]:
        bound = f"at least {row['least']:g}" if "least" in row else f"at most {row['most']:g}"
        lines.append(f"| {row['name']} | {bound} | {row['ratio']:.2f} | {'met' if row['met'] else '**missed**'} |")
    lines += ["", "| days of 2,000 rows | seconds | seconds a day |", "|---|---|---|"]
    lines += [f"| {row['windows']} | {row['seconds']:.2f} | {row['per_window']:.3f} |" for row in backfill["growth"]]
    return lines


def _write_lines(writing: dict[str, Any]) -> list[str]:
    """Rows into PostgreSQL: the unguarded append, and what is safe to repeat."""
    medians = writing["medians"]
    lines = [
        "",
        "## Writing PostgreSQL",
        "",
        f"{writing['rows']:,} orders of one day into a server on the same machine. The JDBC append is",
        "unguarded: a task that is run again doubles its rows. Samewise copies into a table of its own, checks it,",
        "and publishes in one transaction.",
        "",
        "| way | seconds | ratio to the JDBC append |",
        "|---|---|---|",
    ]
    lines += [f"| {name} | {took:.2f} | {took / medians['jdbc append']:.2f} |" for name, took in medians.items()]
    lines += ["", "| wanted | at most | measured | |", "|---|---|---|---|"]
    for row in writing["wanted"]:
        verdict = "met" if row["met"] else "**missed**"
        lines.append(f"| {row['name']} | {row['most']:.2f} | {row['ratio']:.2f} | {verdict} |")
    return lines


def _read_lines(reading: dict[str, Any]) -> list[str]:
    """Rows out of PostgreSQL, on the same machine, and thrown away."""
    medians = reading["medians"]
    lines = [
        "",
        "## Reading PostgreSQL",
        "",
        f"{reading['rows']:,} rows of a server on the same machine, read by Spark on two cores and thrown away.",
        "Samewise's readers share one snapshot; Spark's JDBC reader has one connection, as most jobs use it.",
        "",
        "| way | seconds | ratio to the JDBC reader |",
        "|---|---|---|",
    ]
    for name, seconds in medians.items():
        lines.append(f"| {name} | {seconds:.2f} | {seconds / medians['jdbc, one reader']:.2f} |")
    lines += ["", "| wanted | at most | measured | |", "|---|---|---|---|"]
    for row in reading["wanted"]:
        verdict = "met" if row["met"] else "**missed**"
        lines.append(f"| {row['name']} | {row['most']:.2f} | {row['ratio']:.2f} | {verdict} |")
    return lines


def _command_lines(commands: dict[str, float]) -> list[str]:
    """What a person waits for. Wanted: below half a second for the first three."""
    lines = ["", "## Commands", "", "| command (a process of its own, no Spark) | seconds |", "|---|---|"]
    return lines + [f"| `{name}` | {seconds:.2f} |" for name, seconds in commands.items()]


_PARTS: dict[str, Callable[[Any], list[str]]] = {
    "window": _window_lines,
    "merge": _merge_lines,
    "backfill": _backfill_lines,
    "prove": prove_lines,
    "postgres_read": _read_lines,
    "postgres_write": _write_lines,
    "commands": _command_lines,
    "audit": lambda audit: ["", *audit_lines(audit)],
}
