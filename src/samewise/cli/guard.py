"""Every command goes through here: its exit code, and what is said when it fails."""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Callable

import typer

from samewise.core import failpoints
from samewise.core.errors import SamewiseError

INTERRUPTED = 130
UNHEARD = 141
TERMINATED = 143


def answer(command: Callable[[], int], *, as_json: bool, pipeline: str | None = None) -> None:
    """Run a command, tell its error in three parts, and leave with its exit code."""
    signal.signal(signal.SIGTERM, _terminated)
    try:
        failpoints.armed()  # A misspelt one is told now, not when it would have been reached.
        code = command()
    except SamewiseError as error:
        _tell(error, as_json=as_json, pipeline=pipeline)
        code = error.exit_code
    except KeyboardInterrupt as stop:
        _tell(_interrupted(), as_json=as_json, pipeline=pipeline)
        code = TERMINATED if stop.args else INTERRUPTED
    except BrokenPipeError:
        # Whoever read our answer has had enough of it. As for any program that SIGPIPE ends: never 0, since what was
        # not heard may have been a refusal.
        sys.stderr.close()
        code = UNHEARD
    except Exception as error:
        traceback.print_exc()
        _tell(_bug(error), as_json=as_json, pipeline=pipeline)
        code = 1
    raise typer.Exit(code)


def _terminated(number: int, frame: object) -> None:
    """An orchestrator's polite kill: let go of the lease on the way out, as Ctrl-C does."""
    raise KeyboardInterrupt(signal.Signals(number).name)


def _tell(error: SamewiseError, *, as_json: bool, pipeline: str | None) -> None:
    from samewise.cli.output import print_error, print_json
    from samewise.run.results import SCHEMA_VERSION, error_json

    if not as_json:
        print_error(error)
        return
    body = {"schema_version": SCHEMA_VERSION, "status": "failed", "error": error_json(error)}
    if pipeline is not None:
        body |= {"pipeline": pipeline, "windows": [], "watermark": None}
    print_json(body)


def _interrupted() -> SamewiseError:
    return SamewiseError(
        "interrupted",
        kept="what had landed stands; the rest left nothing behind",
        next_step="run the same command again; it goes on from there",
        code="interrupted",
    )


def _bug(error: Exception) -> SamewiseError:
    return SamewiseError(
        f"a bug in Samewise: {type(error).__name__}: {error}",
        kept="what had landed stands; the rest left nothing behind",
        next_step="report it with the lines above; running the same command again is safe",
    )
