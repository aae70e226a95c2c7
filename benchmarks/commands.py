"""How long a person waits for the commands that need no Spark: each is a process of its own."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 7
# As installed: with compiled modules, whatever the shell of whoever measures says.
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
COMMANDS = {
    "samewise --help": ["--help"],
    "samewise run --dry-run": ["run", "orders_daily", "--dry-run"],
    "samewise status": ["status"],
    "samewise run, all unchanged": ["run", "orders_daily", "--from", "2026-04-24", "--to", "2026-05-01"],
}


def time_commands(folder: Path) -> dict[str, float]:
    """Median seconds of each command in the example project, its seven days loaded."""
    _samewise(["init", str(folder)], folder.parent)
    _samewise(["run", "orders_daily"], folder)
    medians = {}
    for name, arguments in COMMANDS.items():
        taken = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            _samewise(arguments, folder)
            taken.append(time.perf_counter() - began)
        medians[name] = statistics.median(taken)
        print(f"{name:38} {medians[name]:6.2f} s", flush=True)
    return medians


def _samewise(arguments: list[str], folder: Path) -> None:
    command = [sys.executable, "-c", "from samewise.cli.main import main; main()", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=_ENVIRONMENT)
