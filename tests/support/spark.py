"""One small Spark session for every test that needs one: a start costs more than most tests."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from samewise.run.jars import ensure_jars

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_session() -> SparkSession:
    """A local session with Delta, quick to start and quiet. A second call gives the same session."""
    from pyspark.sql import SparkSession

    # As the product does: Spark would take the first python3 on the path for its workers.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    jars = ensure_jars(lambda line: print(line, file=sys.stderr))
    conf = {
        "spark.jars": ",".join(str(jar) for jar in jars),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        # Most of a tiny query's time goes into writing and compiling code for it. Commands that a test starts as a
        # process of its own (the docs', the demo's) keep to Spark's defaults.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.warehouse.dir": tempfile.mkdtemp(prefix="samewise-warehouse-"),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        # A worker lives for half an hour: the optimising compiler earns its keep, and with the first tier alone the
        # JVM has 48 MB for compiled code, which are full after a few minutes.
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[2]").appName("samewise tests")
    for key, value in conf.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


class ReadySpark:
    """A session that is there already, in the shape of `core.ports.Spark`."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    def __call__(self) -> SparkSession:
        return self._session

    @property
    def started(self) -> bool:
        return True

    @contextmanager
    def alone(self) -> Iterator[SparkSession]:
        yield self._session.newSession()


class NoSpark:
    """For what must do without Spark: asking for a session fails the test."""

    started = False

    def __call__(self) -> SparkSession:
        raise AssertionError("Spark was asked for")

    def alone(self) -> AbstractContextManager[SparkSession]:
        raise AssertionError("Spark was asked for")
