"""The Spark session that tests share: the one that is there, or one with Delta that is started once."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from samewise.run.session import LazySpark

_started: LazySpark | None = None
_folder: Path | None = None
"""Where the session that was started here has its log and the tables of its catalog."""


def shared_session() -> SparkSession:
    """The active session as it is; else a small local one with Delta. A second call gives the same."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    global _started, _folder
    if _started is None:
        from samewise.run.session import LazySpark, SparkSettings

        _folder = Path(tempfile.mkdtemp(prefix="samewise-tests-"))
        conf = {"spark.sql.shuffle.partitions": "2", "spark.databricks.delta.snapshotPartitions": "2"}
        _started = LazySpark(SparkSettings(log_dir=_folder, master="local[2]", conf=conf))
        atexit.register(stop_session)
    return _started()


def stop_session() -> None:
    """Stop what was started here, and remove what it left; nothing else. A second call does nothing."""
    global _started, _folder
    if _started is not None:
        _started.stop()
        _started = None
    if _folder is not None:
        shutil.rmtree(_folder, ignore_errors=True)
        _folder = None
