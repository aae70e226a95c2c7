"""What a person may want to read after a failure that nobody foresaw."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path


def keep_log(folder: Path, redact: Callable[[str], str]) -> None:
    """Append warnings and errors to `samewise.log` in `folder`, without secrets. A second call changes nothing."""
    logger = logging.getLogger("samewise")
    if logger.handlers:
        return
    folder.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(folder / "samewise.log", encoding="utf-8", delay=True)
    handler.setFormatter(_Redacted(redact))
    logger.addHandler(handler)
    # The terminal gets the error in three parts; a traceback there would bury it.
    logger.propagate = False


class _Redacted(logging.Formatter):
    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(super().format(record))
