"""A job's input in other forms: the same rows in another order and in other files, or no rows at all."""

from __future__ import annotations

import json
import random
import shutil
from collections import defaultdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from samewise.core.errors import UsageError
from samewise.prove.foreign.folders import duplicate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SEED = 7
_WITH_HEADER = (".csv", ".tsv")
_LINES = (".json", ".jsonl", ".ndjson", ".txt", ".log")
_FILES = 3


class Form(StrEnum):
    AS_IT_IS = "as it is"
    SHUFFLED = "shuffled"
    EMPTY = "empty"


class Input:
    """Copies of a file or folder; `{date}` in its path is a run's date."""

    def __init__(self, template: str, scratch: Path) -> None:
        self._template = template
        self._scratch = scratch

    def place(self, spark: SparkSession, date: str, form: Form) -> Path | None:
        """Where this form of a date's input is; None where it cannot be made. A second call gives the same place."""
        source = Path(self._template.replace("{date}", date)).expanduser().absolute()
        if not source.exists():
            raise UsageError(
                f"--input {self._template}: there is nothing at {source}",
                kept="nothing was run",
                next_step="name the file or folder that the command reads; {date} in it is the run's date",
            )
        target = self._scratch / form.name.lower() / (date or "all") / source.name
        if target.exists():
            return target
        duplicate(source, target)
        if form is Form.AS_IT_IS or _rewritten(spark, source, target, form):
            return target
        duplicate(target / "nothing", target)
        return None


def _rewritten(spark: SparkSession, source: Path, target: Path, form: Form) -> bool:
    """Whether the copy could be made another one with the same schema."""
    if (source / "_delta_log").is_dir():
        rows = spark.read.format("delta").load(str(source))
        _formed(rows, form).write.format("delta").mode("overwrite").save(str(target))
        return True
    done = False
    for suffix, files in _groups(target):
        if suffix == ".parquet":
            _rewrite_parquet(spark, files, form, one_file=target.is_file())
            done = True
        elif suffix in (*_WITH_HEADER, *_LINES):
            done = _rewrite_lines(files, form) or done
    return done


def _groups(path: Path) -> list[tuple[str, list[Path]]]:
    """Data files of one folder and one ending; what begins with _ or . is none."""
    found: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file() and not file.name.startswith(("_", ".")):
            found[file.parent, file.suffix.lower()].append(file)
    return [(suffix, files) for (_, suffix), files in found.items()]


def _formed(rows: DataFrame, form: Form) -> DataFrame:
    from pyspark.sql import functions as f

    if form is Form.EMPTY:
        return rows.limit(0)
    return rows.orderBy(f.rand(_SEED)).repartition(_FILES)


def _rewrite_parquet(spark: SparkSession, files: list[Path], form: Form, *, one_file: bool) -> None:
    made = files[0].parent / "_samewise_made"
    rows = _formed(spark.read.parquet(*[str(file) for file in files]), form)
    # Where the job names a file, it must stay one.
    (rows.coalesce(1) if one_file else rows).write.parquet(str(made))
    for file in files:
        file.unlink()
    for number, part in enumerate(sorted(made.glob("part-*.parquet"))):
        part.rename(files[0] if one_file else made.parent / f"part-{number}.parquet")
    shutil.rmtree(made)


def _rewrite_lines(files: list[Path], form: Form) -> bool:
    texts = [file.read_bytes() for file in files]
    if not all(_is_lines(file, text) for file, text in zip(files, texts, strict=True)):
        return False
    lines = [text.splitlines(keepends=True) for text in texts]
    heads = [some[:1] if file.suffix.lower() in _WITH_HEADER else [] for file, some in zip(files, lines, strict=True)]
    bodies = [some[len(head) :] for some, head in zip(lines, heads, strict=True)]
    if form is Form.EMPTY:
        bodies = [[] for _ in bodies]
    else:
        bodies = _dealt(bodies, one_pool=len({tuple(head) for head in heads}) == 1)
    for file, head, body in zip(files, heads, bodies, strict=True):
        file.write_bytes(b"".join(_ended(line) for line in (*head, *body)))
    return True


def _dealt(bodies: list[list[bytes]], *, one_pool: bool) -> list[list[bytes]]:
    """Lines in another order; between files too, where these have the same columns."""
    order = random.Random(_SEED)
    if not one_pool:
        return [order.sample(body, len(body)) for body in bodies]
    pool = [line for body in bodies for line in body]
    # The last first, then shuffled: of two lines even a lucky shuffle would keep the order.
    pool = order.sample(pool, len(pool)) if len(pool) > 3 else pool[::-1]
    share = -(-len(pool) // len(bodies))
    return [pool[at * share : (at + 1) * share] for at in range(len(bodies))]


def _ended(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n"


def _is_lines(file: Path, text: bytes) -> bool:
    """Whether each line is a row: no quoted line breaks, no JSON over several lines."""
    lines = text.splitlines()
    if file.suffix.lower() in _WITH_HEADER:
        return all(line.count(b'"') % 2 == 0 for line in lines)
    if file.suffix.lower() == ".json":
        return all(_is_object(line) for line in lines[:100] if line.strip())
    return True


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
