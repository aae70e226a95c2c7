"""A million rows out of PostgreSQL: Spark's JDBC reader, as most jobs use it, and Samewise's readers in one snapshot.

Runs in a process of its own, `python -m benchmarks.postgres_read`: its Spark has the JDBC driver, which nothing else
here needs. What is read is thrown away (`noop`), so that the figures are of reading alone.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from samewise.core.connections import PostgresConnection
from samewise.core.windows import FULL
from samewise.run.jars import Jar, JarSet, ensure_jars
from samewise.run.spark_conf import local_cores
from samewise.sources.postgres import Asked, PostgresSource, Split, Ways
from tests.support.postgres import PostgresServer, running_server
from tests.support.spark import ReadySpark

WARM_UP_ROUNDS = 2
MOST = 1 / 1.5
"""Of the single JDBC reader's time: at least one and a half times as fast."""
JDBC = JarSet(
    "PostgreSQL JDBC 42.7.14",
    (
        Jar(
            "org.postgresql",
            "postgresql",
            "42.7.14",
            "73914527305a40cce504b0d3d90b23caf565136912d607ae8ae7c5895512332c",
        ),
    ),
)
ORDERS = """
CREATE TABLE orders AS
SELECT n::bigint AS order_id, 1 + n * 7919::bigint % 50000 AS customer_id,
       ((100 + n * 104729::bigint % 50000) / 100.0)::numeric(12,2) AS amount,
       (ARRAY['new', 'paid', 'sent'])[1 + n % 3] AS status,
       timestamptz '2026-04-25' + n * interval '86 milliseconds' AS updated_at,
       date '2026-04-25' AS order_date
FROM generate_series(1, {rows}) AS n
"""


def measure(server: PostgresServer, folder: Path, rows: int, rounds: int) -> dict[str, Any]:
    """Seconds of every way, in turn, so that whatever else the machine is doing hits them all."""
    with server.connect() as connection:
        connection.execute(ORDERS.format(rows=rows))
        connection.execute("VACUUM ANALYZE orders")
    spark = _session(folder)
    try:
        return _measured(server, spark, rows, rounds)
    finally:
        spark.stop()


def _measured(server: PostgresServer, spark: Any, rows: int, rounds: int) -> dict[str, Any]:
    ways: dict[str, Callable[[Callable[[Any], None]], None]] = {
        "jdbc, one reader": lambda use: use(_jdbc(server, spark)),
        "samewise": lambda use: _samewise(server, spark, Split(most=local_cores("local[*]") or 1), use),
        "samewise, one reader": lambda use: _samewise(server, spark, Split(readers=1), use),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(WARM_UP_ROUNDS + rounds):
        for name, way in ways.items():
            began = time.perf_counter()
            way(lambda frame: frame.write.format("noop").mode("overwrite").save())
            took = time.perf_counter() - began
            print(f"round {number + 1}  {name:24} {took:6.2f} s", flush=True, file=sys.stderr)
            if number >= WARM_UP_ROUNDS:
                seconds[name].append(took)
    _compare(ways)
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    ratio = medians["samewise"] / medians["jdbc, one reader"]
    wanted = [{"name": "read from PostgreSQL", "ratio": ratio, "most": MOST, "met": ratio <= MOST}]
    return {"rows": rows, "rounds": rounds, "seconds": seconds, "medians": medians, "wanted": wanted}


def _jdbc(server: PostgresServer, spark: Any) -> Any:
    options = {
        "url": f"jdbc:postgresql://127.0.0.1:{server.port}/postgres",
        "driver": "org.postgresql.Driver",
        "user": "postgres",
        "dbtable": "orders",
        # Without it the driver would hold all rows in memory, and be slower for it.
        "fetchsize": "10000",
    }
    return spark.read.format("jdbc").options(**options).load()


def _samewise(server: PostgresServer, spark: Any, split: Split, use: Callable[[Any], None]) -> None:
    """From the pin to the release: the snapshot, the catalog and the planner are asked each time."""
    place = PostgresConnection("bench", f"postgresql://postgres@127.0.0.1:{server.port}/postgres")
    source = PostgresSource(place, Asked("public", ("public", "orders")), ReadySpark(spark), Ways(split=split))
    pins = source.pin(FULL)
    try:
        use(source.read(pins, FULL))
    finally:
        source.release(pins)


def _compare(ways: dict[str, Callable[[Callable[[Any], None]], None]]) -> None:
    """All ways must give the same rows, or the figures compare different work."""
    found: list[Any] = []
    hashed = "sum(xxhash64(order_id, customer_id, amount, status, updated_at, order_date) >> 20)"
    for way in ways.values():
        way(lambda frame: found.append(frame.selectExpr("count(*)", hashed).first()))
    assert len(set(found)) == 1, found


def _session(folder: Path) -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    jars = ensure_jars(lambda line: print(line, file=sys.stderr), jar_set=JDBC)
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", ",".join(map(str, jars)))
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.warehouse.dir", str(folder))
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.postgres_read")
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=5)
    chosen = options.parse_args()
    with TemporaryDirectory(prefix="samewise-bench-") as folder, running_server() as server:
        print(json.dumps(measure(server, Path(folder), chosen.rows, chosen.rounds)))


if __name__ == "__main__":
    main()
