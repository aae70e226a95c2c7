"""What a command leaves with when something is in the way of its answer."""

from __future__ import annotations

import subprocess
import sys

_COMMAND = """
import sys, typer
from samewise.cli.guard import answer

def command():
    raise BrokenPipeError

try:
    answer(command, as_json=False)
except typer.Exit as left:
    sys.exit(left.exit_code)
"""


def test_an_answer_that_nobody_hears_is_not_a_success() -> None:
    done = subprocess.run([sys.executable, "-c", _COMMAND], check=False)
    assert done.returncode == 141
