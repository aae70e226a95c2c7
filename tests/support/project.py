"""A small shop to run for real: a few rows a day, the command line in this process, a look at the table."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError
from typer.testing import CliRunner

from samewise.cli.app import app

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PIPELINE = "orders"
DAY = "2026-04-25"
NEXT_DAY = "2026-04-26"
COLUMNS = {"order_id": "bigint", "amount": "decimal(12,2)", "status": "string", "order_date": "date"}

# One pass, no staging: the quickest pipeline there is. A test adds what it is about.
BASE: dict[str, Any] = {
    "pipeline": PIPELINE,
    "schedule": {"every": "day", "start": "2026-04-24", "end": "2026-04-28", "timezone": "UTC"},
    "source": {
        "type": "files",
        "path": "landing/{{ window.start | date }}/*.csv",
        "format": "csv",
        "schema": COLUMNS,
    },
    "target": {"type": "delta", "table": "orders"},
    "write": {"strategy": "replace_window", "window_column": "order_date"},
}

Row = tuple[object, ...]


@dataclass(frozen=True)
class Answer:
    """What a command said, and how it left."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object on stdout; fails where there is anything else."""
        value: dict[str, Any] = json.loads(self.stdout)
        return value

    @property
    def text(self) -> str:
        return self.stdout + self.stderr

    @property
    def window(self) -> dict[str, Any]:
        """The only window of a `--json` answer."""
        (window,) = self.json["windows"]
        found: dict[str, Any] = window
        return found


def samewise(*words: object) -> Answer:
    """Run a command in this process; Spark, where it needs one, is the tests' own session."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Answer(result.exit_code, result.stdout, result.stderr)


def changed(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with values set by dotted path: `{"write.on_empty": "keep"}`; None takes a key away."""
    result = deepcopy(dict(base))
    for path, value in changes.items():
        *folders, last = path.split(".")
        place = result
        for folder in folders:
            place = place.setdefault(folder, {})
        if value is None:
            place.pop(last, None)
        else:
            place[last] = deepcopy(value)
    return result


class Shop:
    """A project on disk."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.settings()

    def settings(self, **values: Any) -> None:
        self.write("samewise.yaml", yaml.safe_dump({"project": "shop", **values}))

    def pipeline(self, changes: Mapping[str, Any] | None = None, *, name: str = PIPELINE) -> None:
        """Write the pipeline: the base with `changes`."""
        body = changed(BASE, {"pipeline": name, **(changes or {})})
        self.write(f"pipelines/{name}.yaml", yaml.safe_dump(body, sort_keys=False))

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def orders(
        self,
        rows: Sequence[Row] = ((1, "10.50", "new"), (2, "0.25", "paid")),
        *,
        day: str = DAY,
        file: str = "part-1.csv",
        columns: Sequence[str] = tuple(COLUMNS),
    ) -> Path:
        """A CSV file for one day; a row without its date gets that day."""
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(columns)
        lines.writerows([*row, day] if len(row) < len(columns) else row for row in rows)
        return self.write(f"landing/{day}/{file}", text.getvalue())

    def do(self, command: str, *words: object) -> Answer:
        return samewise(command, *words, "--project", self.root)

    def run(self, *words: object, window: str | None = DAY, pipeline: str = PIPELINE) -> Answer:
        """`samewise run … --json`, of one day unless told otherwise."""
        chosen = [] if window is None else ["--window", window]
        return self.do("run", pipeline, *chosen, *words, "--json")

    def told(self, *words: object, window: str = DAY) -> Answer:
        """The same run as a person asks for it."""
        return self.do("run", PIPELINE, "--window", window, *words)

    def history(self, pipeline: str = PIPELINE) -> list[dict[str, Any]]:
        runs: list[dict[str, Any]] = self.do("history", pipeline, "--json").json["runs"]
        return runs

    def version(self, table: str = "orders") -> int:
        """The table's version; -1 while there is none."""
        try:
            return DeltaTable(self.root / "warehouse" / table).version()
        except TableNotFoundError:
            return -1

    def rows(self, spark: SparkSession, *columns: str, table: str = "orders") -> list[Row]:
        """The table's rows, in order; a table that is not there has none."""
        if self.version(table) < 0:
            return []
        frame = spark.read.format("delta").load(str(self.root / "warehouse" / table))
        return sorted((tuple(row) for row in frame.selectExpr(*(columns or ["*"])).collect()), key=repr)

    def ids(self, spark: SparkSession, table: str = "orders") -> list[object]:
        return [row[0] for row in self.rows(spark, "order_id", table=table)]

    def leftovers(self) -> list[Path]:
        """Files that staging left behind."""
        return [path for path in (self.root / "warehouse" / "_samewise").rglob("*") if path.is_file()]

    @contextmanager
    def state(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self.root / ".samewise" / "state.db")
        try:
            yield connection
        finally:
            connection.close()


def told_in_three_parts(answer: Answer) -> bool:
    """What happened, what was kept, what to do: for a machine, under these names."""
    error = answer.json["error"]
    return bool(error["message"]) and bool(error["kept"]) and bool(error["next"])
