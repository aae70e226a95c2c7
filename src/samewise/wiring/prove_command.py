"""Builds what it takes to prove a foreign command: copies of its target, a way to run it, a Spark to compare with."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from samewise.core.connections import PostgresConnection
from samewise.core.errors import UsageError
from samewise.prove.foreign.bench import Job
from samewise.prove.foreign.folders import FolderPlace
from samewise.prove.foreign.inputs import Input
from samewise.prove.foreign.places import Named, Place, named
from samewise.prove.foreign.process import ProcessRunner, mentions
from samewise.prove.foreign.proof import chosen, other_partitions, prove_job
from samewise.prove.foreign.set_aside import recover
from samewise.prove.scratch import make_scratch, sweep
from samewise.prove.verdict import Proof

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FOLDER = "samewise-prove"
_TABLE_WORDS = ("target", "schema", "url", "jdbc_url")


@dataclass(frozen=True, slots=True)
class ForeignRequest:
    """A command to prove, as it was asked for."""

    command: str
    target: str
    dates: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    input: str | None = None
    log: str | None = None
    state: str | None = None
    url: str | None = None
    in_place: bool = False
    unqualified: bool = False
    scratch: Path | None = None
    only: tuple[str, ...] = ()
    timeout: float | None = None


def prove_command(
    request: ForeignRequest,
    told: Callable[[str], None] = lambda _: None,
    spark: SparkSession | None = None,
) -> Proof:
    """Prove a command on copies of its target. Raises UsageError before anything has run where it is not safe."""
    target = named(request.target)
    log = None if request.log is None else named(request.log)
    state = None if request.state is None else named(request.state)
    chosen(request.only)
    _require_safe(request, target, log, state)
    with _scratch(request.scratch) as folder, ExitStack() as ends:

        def place(of: Named, name: str) -> Place:
            made = _place(of, request, folder / name)
            ends.callback(made.close)
            return made

        secret = _connection(request).password
        secrets = () if secret is None else (secret,)
        runner = ProcessRunner(request.command, folder, _words(request, target), request.timeout, secrets)
        job = Job(
            subject=request.command,
            runner=runner,
            target=place(target, "target"),
            dates=request.dates or ("",),
            key=request.key,
            log=None if log is None else place(log, "log"),
            state=None if state is None else place(state, "state"),
            input=None if request.input is None else Input(request.input, folder / "input"),
            shuffled=other_partitions(folder / "conf"),
        )
        session = _session(folder, told, spark)
        ends.callback(session.stop)
        # The last to be called back is the first to be done: nothing runs any more when copies go.
        ends.callback(runner.close)
        return prove_job(job, session, request.only, told)


def _words(request: ForeignRequest, target: Named) -> tuple[str, ...]:
    """The placeholders that the command may have."""
    optional = [name for name in ("input", "log", "state") if getattr(request, name) is not None]
    own = _TABLE_WORDS if target.kind == "postgres" else ("target",)
    return (*own, *(["date"] if request.dates else []), *optional)


def _require_safe(request: ForeignRequest, target: Named, log: Named | None, state: Named | None) -> None:
    """Refuse a command that was not told where its copies are: it would write to the real ones."""
    if request.in_place and target.kind == "postgres":
        raise UsageError(
            "--in-place is for folders; a copy of a table is named by {target}, {schema}, {url} or {jdbc_url}",
            kept="nothing was run",
        )
    if request.in_place:
        return
    words = _TABLE_WORDS if target.kind == "postgres" else ("target",)
    if not any(mentions(request.command, word) for word in words) and not request.unqualified:
        raise UsageError(
            f"the command does not say where {target} is, so it would write to the real one",
            kept="nothing was run, and nothing was written",
            next_step=_how_to_point(target),
        )
    for name, other in (("log", log), ("state", state), ("input", request.input)):
        if other is not None and not mentions(request.command, name):
            raise UsageError(
                f"--{name} is given, and the command does not use {{{name}}}",
                kept="nothing was run, and nothing was written",
                next_step=f"put {{{name}}} into the command, or let the job read SAMEWISE_PROVE_{name.upper()}",
            )


def _how_to_point(target: Named) -> str:
    if target.kind == "postgres":
        return (
            "put {target}, {schema}, {url} or {jdbc_url} into the command, or let the job read SAMEWISE_PROVE_TARGET; "
            "with --unqualified a program that uses libpq and names the table without a schema is led to the copy"
        )
    return (
        "put {target} into the command, or let the job read SAMEWISE_PROVE_TARGET; if its path cannot be changed, "
        "copy the table to that path on a machine of your own and say --in-place"
    )


def _place(of: Named, request: ForeignRequest, folder: Path) -> Place:
    if of.kind == "postgres":
        from samewise.prove.foreign.tables import TablePlace

        return TablePlace(of, _connection(request), folder)
    return FolderPlace(of, folder, in_place=request.in_place)


def _connection(request: ForeignRequest) -> PostgresConnection:
    url = None if request.url is None else request.url.replace("postgresql+psycopg:", "postgresql:", 1)
    return PostgresConnection("--url", url, environ=os.environ)


class _Session:
    """Spark when it is first needed: the caller's, this process's, or one that is stopped again."""

    def __init__(self, folder: Path, told: Callable[[str], None], caller: SparkSession | None) -> None:
        from samewise.run.session import LazySpark, SparkSettings

        self._lazy = LazySpark(SparkSettings(log_dir=folder / "logs"), caller, told)

    def __call__(self) -> SparkSession:
        return self._lazy()

    def stop(self) -> None:
        self._lazy.stop()


def _session(folder: Path, told: Callable[[str], None], caller: SparkSession | None) -> _Session:
    return _Session(folder, told, caller)


@contextmanager
def _scratch(root: Path | None) -> Iterator[Path]:
    """A folder of this process's own; what processes that are gone left is put back, and removed."""
    root = Path(tempfile.gettempdir()) / f"{_FOLDER}-{os.getuid()}" if root is None else Path(root).absolute() / _FOLDER
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    sweep(root, first=recover)
    made = make_scratch(root)
    try:
        yield made.folder
    finally:
        made.remove()
