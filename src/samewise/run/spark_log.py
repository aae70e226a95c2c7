"""Where Spark's words go: into one file, never onto the user's terminal."""

from __future__ import annotations

import os
from pathlib import Path

from samewise.core.errors import ConfigError

LOG4J_NAME = "log4j2.properties"
_LIMIT_BYTES = 10_000_000
_LOG4J = """\
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{yyyy-MM-dd HH:mm:ss.SSS} %p %c{1}: %m%n%ex
"""


def prepare_log(log_dir: Path) -> Path:
    """Make the log and log4j's settings in `log_dir`; a log that has grown large is set aside first.

    A second call changes nothing. Raises ConfigError for a folder that cannot be written.
    """
    log = log_dir / "spark.log"
    try:
        log_dir.mkdir(parents=True, exist_ok=True)
        if log.exists() and log.stat().st_size > _LIMIT_BYTES:
            log.replace(log_dir / "spark.log.1")
        settled = log_dir / f".log4j2.{os.getpid()}"
        settled.write_text(_LOG4J, encoding="utf-8")
        settled.replace(log_dir / LOG4J_NAME)
        log.touch()
    except OSError as error:
        raise ConfigError(
            f"Spark's log cannot be written in {log_dir}: {error}", next_step="make that folder writable"
        ) from error
    return log
