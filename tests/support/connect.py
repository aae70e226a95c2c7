"""A Spark Connect server of its own process: it outlives the client that is killed."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from samewise.run.jars import ensure_jars

_START_SECONDS = 120


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """Start a server with Delta, give its address, stop it at the end. Its log is `folder/connect.log`."""
    address = ("127.0.0.1", _free_port())
    log = folder / "connect.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            _command(address[1], folder),
            cwd=folder,
            env={**os.environ, "PYSPARK_PYTHON": sys.executable},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait(server, address, log)
        yield f"sc://{address[0]}:{address[1]}"
    finally:
        server.kill()
        server.wait()


def _command(port: int, folder: Path) -> list[str]:
    conf = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.warehouse.dir": str(folder / "spark-warehouse"),
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.ui.enabled": "false",
    }
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    jars = ensure_jars(lambda line: print(line, file=sys.stderr))
    return [
        str(Path(spec.origin).parent / "bin" / "spark-submit"),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
        *("--master", "local[2]"),
        *("--jars", ",".join(map(str, jars))),
        *(word for key, value in conf.items() for word in ("--conf", f"{key}={value}")),
        "spark-internal",
    ]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(server: subprocess.Popen[bytes], address: tuple[str, int], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            socket.create_connection(address, timeout=1).close()
        except OSError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the server did not start:\n{log.read_text()[-3000:]}") from None
            time.sleep(0.2)
        else:
            return
