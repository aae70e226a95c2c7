"""Rows and files that cannot be read as what they should be: how they are known, and how they are told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from samewise.core.errors import Refused
from samewise.sources.failure_text import failure_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMN = "_samewise_malformed"
"""Holds the raw text of a row that could not be parsed, and NULL for every other row."""

_MOST_SHOWN = 3
_MOST_COLUMNS = 80

# A job that fails for a malformed row says so only deep in its causes, and over Spark Connect not even
# there: these are the outermost words that it may come with.
_SUSPECT = ("MALFORMED_RECORD_IN_PARSING", "FAILED_READ_FILE", "TASK_WRITE_FAILED", "Job aborted")

_DAMAGED = (
    "CANNOT_READ_FILE_FOOTER",
    "is not a Parquet file",
    "Could not read footer",
    "could not read page",
    "ParquetDecodingException",
    "Malformed ORC file",
    "Unexpected end of input stream",
    "incorrect header check",
    "incorrect data check",
    "invalid stored block lengths",
    "Not in GZIP format",
)
_CONFLICTING = ("CANNOT_MERGE_SCHEMAS", "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE")


def is_suspect(error: BaseException) -> bool:
    """Whether a malformed row may be what is behind a failure."""
    text = failure_text(error)
    return any(word in text for word in _SUSPECT)


def refusal(rows: DataFrame) -> Refused | None:
    """`Refused` with the number of malformed rows and the first few of them; None if there are none."""
    shown = rows.limit(_MOST_SHOWN).collect()
    if not shown:
        return None
    count = rows.count()
    lines = [f"  {_short(_name(row['file']) + ': ' + row['line'])}" for row in shown]
    if count > len(shown):
        lines.append(f"  … and {count - len(shown)} more")
    what = "1 row is malformed" if count == 1 else f"{count} rows are malformed"
    return Refused(
        "\n".join([what, *lines]),
        code="malformed",
        next_step="mend the files and run the same command again, or set `on_malformed: quarantine` to load the rest",
    )


def unreadable(error: BaseException, paths: Sequence[str]) -> Refused | None:
    """`Refused` for a failure that says that a file is damaged, or that files do not fit together."""
    text = failure_text(error)
    if any(word in text for word in _CONFLICTING):
        return Refused(
            "the files do not have the same types: " + _first_line(text),
            code="schema",
            next_step="ask the sender for files of one schema",
        )
    if not any(word in text for word in _DAMAGED):
        return None
    named = [path for path in paths if path.rpartition("/")[2] in text]
    return not_readable(named[0] if named else f"one of {len(paths)} files", "it is damaged")


def not_readable(path: str, why: str, mend: str = "ask the sender for the file again") -> Refused:
    """`Refused` for one file that cannot be read."""
    return Refused(
        f"{path} cannot be read: {why}",
        code="unreadable",
        next_step=f"{mend}, then run the same command again",
    )


def _first_line(text: str) -> str:
    found = re.search(r"\[CANNOT_MERGE[A-Z_]+\]\s*([^\n]+)", text)
    return _short(found[1] if found else text.strip().partition("\n")[0], 200)


def _name(url: str) -> str:
    return unquote(url.rpartition("/")[2])


def _short(text: str, most: int = _MOST_COLUMNS) -> str:
    line = text.replace("\n", "⏎").replace("\t", " ")
    return line if len(line) <= most else line[: most - 1] + "…"
