"""The header of a CSV file, read without Spark."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
from collections.abc import Iterator, Mapping
from typing import IO, cast

from samewise.core.errors import ConfigError, Refused
from samewise.storage.files import open_bytes

_PACKED_ELSEWHERE = (".zst", ".lz4", ".snappy", ".deflate", ".zz", ".xz", ".zip")
_UTF_8 = {"utf-8", "utf8"}


def read_header(path: str, delimiter: str, options: Mapping[str, str]) -> list[str] | None:
    """The names in the first record; None for a file without any record.

    Raises `Refused` for a file that is not text, ConfigError for a compression that cannot be looked into.
    """
    encoding = options.get("encoding", "utf-8")
    quote = options.get("quote", '"')
    comment = options.get("comment")
    try:
        with open_bytes(path) as raw:
            packed = _unpacked(path, raw)
            text = io.TextIOWrapper(
                cast(IO[bytes], packed),
                "utf-8-sig" if encoding.lower() in _UTF_8 else encoding,
                newline="",
            )
            lines = _records(text, comment)
            if quote:
                reader = csv.reader(lines, delimiter=delimiter, quotechar=quote)
            else:
                reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
            return next(reader, None)
    except LookupError as error:
        raise ConfigError(
            f"no encoding is called {encoding!r}",
            code="encoding",
            next_step="set options.encoding to the files' encoding, for example UTF-8 or ISO-8859-1",
        ) from error
    except (UnicodeDecodeError, csv.Error, EOFError, gzip.BadGzipFile) as error:
        raise Refused(
            f"{path} cannot be read as CSV: {error}",
            code="unreadable",
            next_step="ask the sender for the file again, or set options.encoding to its encoding",
        ) from error


def _unpacked(path: str, raw: IO[bytes]) -> IO[bytes] | gzip.GzipFile | bz2.BZ2File:
    name = path.lower()
    if name.endswith(".gz"):
        return gzip.GzipFile(fileobj=raw)
    if name.endswith(".bz2"):
        return bz2.BZ2File(raw)
    if name.endswith(_PACKED_ELSEWHERE):
        raise ConfigError(
            f"the header of {path} cannot be looked at: its compression is not known here",
            code="compression",
            next_step="use plain, .gz or .bz2 files, or `header: false` for files without a header",
        )
    return raw


def _records(text: io.TextIOWrapper, comment: str | None) -> Iterator[str]:
    # Spark passes over empty lines and comments before it takes a line for the header.
    for line in text:
        if line.strip() and not (comment and line.startswith(comment)):
            yield line
