"""`samewise prove`: is a pipeline safe to run again? Tried on forks; the real target is only read."""

from __future__ import annotations

import gc
import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from samewise.cli.log_file import keep_log
from samewise.cli.output import print_json, say, styled, tell
from samewise.cli.progress import Progress
from samewise.core.errors import ConfigError
from samewise.wiring.project import Project, open_project

if TYPE_CHECKING:
    from samewise.prove.verdict import Proof

DIFFERENT = 3


@dataclass(frozen=True, slots=True)
class Output:
    """Where the report goes, besides the terminal."""

    as_json: bool = False
    junit: Path | None = None
    html: Path | None = None

    def check(self) -> None:
        """Raise before minutes of work if a report could not be written."""
        for file in (self.junit, self.html):
            if file is not None and (file.is_dir() or not file.absolute().parent.is_dir()):
                raise ConfigError(
                    f"{file} cannot be written: there is no such folder, or it is one itself",
                    kept="nothing was run",
                    next_step="name a file in a folder that exists",
                )


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for on the command line."""

    project: Path
    env: str | None
    pipeline: str
    window: str | None
    last: int | None
    only: str | None
    sigkill: bool
    keep: bool


def prove_pipeline(request: Request, output: Output) -> int:
    """Prove, with progress on stderr and the verdicts on stdout."""
    gc.enable()
    output.check()
    with open_project(request.project, env=request.env) as project:
        keep_log(project.loaded.root / ".samewise" / "logs", project.loaded.secrets.redact)
        project.loaded.pipeline(request.pipeline)
        with Progress([], quiet=output.as_json) as progress:
            project.listen(progress)
            proof = project.prove(
                request.pipeline,
                window=request.window,
                last=request.last,
                only=[name.strip() for name in (request.only or "").split(",") if name.strip()],
                sigkill=request.sigkill,
                keep=request.keep,
            )
        return show_proof(proof, output, project)


def show_proof(proof: Proof, output: Output, project: Project | None = None) -> int:
    """Tell the verdicts in every form that was asked for; 0 where all are the same, else 3."""
    from samewise.prove import report

    redact = str if project is None else project.loaded.secrets.redact
    for file, make in ((output.junit, report.junit), (output.html, report.html)):
        if file is not None:
            file.write_text(redact(make(proof)), encoding="utf-8")
    if output.as_json:
        print_json(json.loads(redact(json.dumps(report.to_json(proof), default=str))))
    else:
        width = shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80
        for line in report.text(proof, style=styled, width=min(width, 120)):
            say(redact(line))
        for file in (output.junit, output.html):
            if file is not None:
                tell(f"written: {file}")
    return 0 if proof.holds else DIFFERENT
