"""The options of `samewise prove --command`."""

from pathlib import Path
from typing import Annotated

import typer

Command = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Prove a job of any kind: '… --date {date} --out {target}'.")
]
Target = Annotated[
    str | None, typer.Option(metavar="KIND:NAME", help="Where it writes: delta:PATH, parquet:PATH, postgres:TABLE.")
]
Date = Annotated[list[str] | None, typer.Option(help="What {date} is; several times, oldest first.")]
Key = Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="What a row is known by; several times.")]
InputPath = Annotated[
    str | None, typer.Option("--input", metavar="PATH", help="What it reads, as {input}: shuffled and emptied, too.")
]
Log = Annotated[
    str | None, typer.Option(metavar="KIND:NAME", help="Where it notes side effects, as {log}: file:PATH, delta:PATH.")
]
State = Annotated[str | None, typer.Option(metavar="file:PATH", help="What it remembers between runs, as {state}.")]
Url = Annotated[str | None, typer.Option(help="PostgreSQL; without it libpq's environment says where.")]
InPlace = Annotated[bool, typer.Option("--in-place", help="The target is a copy itself; it is put back at the end.")]
Unqualified = Annotated[
    bool, typer.Option("--unqualified", help="A libpq program that names the table without its schema.")
]
Scratch = Annotated[Path | None, typer.Option(metavar="DIR", help="Where copies go, if not to the temporary folder.")]
Timeout = Annotated[float | None, typer.Option(metavar="SECONDS", min=1, help="The most that a run may take.")]
