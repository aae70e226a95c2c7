"""A Spark Connect server as a process of its own, so that it outlives the clients that are killed.

Runs as `python -m tests.support.crash_server PORT WAREHOUSE`. One JSON request a line on stdin, one answer
a line on stdout; it ends when stdin does, so that it never outlives the tests themselves.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from samewise.run.jars import ensure_jars
from samewise.run.spark_conf import DELTA_CONF, local_conf

_MASTER = "local[2]"


def main() -> None:
    port, warehouse = sys.argv[1:]
    # The JVM inherits stdout: the answers get a channel that it does not know.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    spark = _session(port, warehouse)
    print(json.dumps({"ready": True}), file=answers)
    for line in sys.stdin:
        try:
            answer = _do(spark, json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer, default=str), file=answers)
    os._exit(0)


def _session(port: str, warehouse: str) -> Any:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = {
        **DELTA_CONF,
        **local_conf(_MASTER),
        "spark.jars": ",".join(str(jar) for jar in ensure_jars(lambda line: print(line, file=sys.stderr))),
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
        "spark.sql.warehouse.dir": warehouse,
        "spark.driver.memory": "2g",
        # It lives as long as the tests do: see tests/support/spark.py.
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC",
        "spark.ui.showConsoleProgress": "false",
        # Most of a tiny query's time goes into writing and compiling code for it.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.shuffle.partitions": "1",
        "spark.databricks.delta.snapshotPartitions": "1",
    }
    builder = SparkSession.builder.master(_MASTER).appName("samewise crash tests")
    for key, value in conf.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def _do(spark: Any, request: dict[str, Any]) -> dict[str, Any]:
    if request["do"] == "forget":
        # Delta keeps each table's snapshot by its path, and the tests put other tables in the same place.
        spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
        return {}
    return {"rows": [list(row) for row in spark.sql(request["text"]).collect()]}


if __name__ == "__main__":
    main()
