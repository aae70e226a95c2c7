"""A Spark of its own that runs tasks again, and publishes to PostgreSQL while that happens.

Runs as `python -m tests.support.retried_tasks SCENARIO URL SCHEMA FOLDER`; prints one JSON object.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from samewise.core.connections import PostgresConnection
from samewise.core.errors import SamewiseError
from samewise.core.ports import Write
from samewise.core.records import Owner, Stamp
from samewise.core.windows import FULL
from samewise.storage.frames import schema_of
from samewise.targets import postgres_copy
from samewise.targets.postgres import PostgresTarget
from tests.support.spark import ReadySpark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 1000


def main() -> None:
    scenario, url, schema, folder = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    spark = _session(folder)
    rows = spark.range(0, ROWS, 1, 4).selectExpr("id AS order_id", "CAST(id AS DECIMAL(12,2)) AS amount")
    if scenario == "refetch":
        # A shuffle, whose files vanish when the first task of the next stage has copied its rows.
        rows = rows.repartition(4)
    setattr(postgres_copy, "_reached", _trouble(scenario, folder))  # noqa: B010
    connection = PostgresConnection("test", url, schema=schema, bookkeeping=schema)
    target = PostgresTarget(connection, schema, "orders", ReadySpark(spark))
    owner = Owner("store", "orders", "load", "here")
    target.prepare(schema_of(rows), owner, ())
    answer: dict[str, object] = {}
    try:
        target.publish(rows, Write(None, ()), _stamp())
        commit = target.known_commits()[-1]
        assert commit.stamp is not None
        answer["measures"] = commit.stamp.measures
    except SamewiseError as error:
        answer["error"] = error.code
    answer["happened"] = sorted(path.name for path in Path(folder, "happened").iterdir())
    print(json.dumps(answer), file=answers, flush=True)
    os._exit(0)


def _trouble(scenario: str, folder: str) -> Callable[[str], None]:
    """What goes wrong in a worker; sent there by value, so that it imports what it needs."""

    def reached(point: str) -> None:
        import glob
        import os

        from pyspark import TaskContext

        task = TaskContext.get()
        assert task is not None
        flag = f"{folder}/happened/{scenario}"
        if scenario == "undisturbed" or point != "committed" or task.partitionId() != 0 or os.path.exists(flag):
            return
        with open(flag, "w"):
            pass
        if scenario == "killed":
            os._exit(1)
        if scenario == "refetch":
            for file in glob.glob(f"{folder}/local/**/shuffle_*.data", recursive=True):
                os.remove(file)

    return reached


def _session(folder: str) -> SparkSession:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = {
        "spark.local.dir": f"{folder}/local",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.adaptive.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.ui.enabled": "false",
    }
    # One core, so that tasks come one after the other; four failures a task, as on a cluster.
    builder = SparkSession.builder.master("local[1,4]")
    for key, value in conf.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def _stamp() -> Stamp:
    return Stamp(
        store_id="store",
        run_id="run",
        attempt_id="attempt",
        pipeline="orders",
        task="load",
        window=FULL,
        generation=1,
        definition="",
        fingerprint="",
        contract=None,
        run_ts=datetime(2026, 4, 25, tzinfo=UTC),
    )


if __name__ == "__main__":
    main()
