"""A million rows into PostgreSQL: Spark's own JDBC append, unguarded, and Samewise.

Runs in a process of its own, `python -m benchmarks.postgres_write`: its Spark has the JDBC driver, which nothing else
here needs. The append is what most jobs do: four tasks, four transactions, and a doubled day when it is run again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import samewise
from benchmarks.postgres_read import JDBC
from samewise.run.jars import ensure_jars
from samewise.run.session import LazySpark, SparkSettings
from tests.support.postgres import PostgresServer, running_server

DAY = "2026-04-25"
WARM_UP_ROUNDS = 1
COLUMNS = "order_id bigint, customer_id int, amount numeric(12,2), status text, updated_at timestamptz, order_date date"
PIPELINE = """
pipeline: {name}
schedule: {{every: day, start: 2026-04-01, timezone: UTC}}
source: {{type: files, path: "landing/*.parquet", format: parquet}}
target: {{type: postgres, table: {name}}}
write: {write}
"""
WRITES = {
    "replace_window": "{strategy: replace_window, window_column: order_date}",
    "merge": "{strategy: merge, key: [order_id], version_by: [updated_at]}",
    "insert_new": "{strategy: insert_new, key: [order_id]}",
}
WANTED = [("replace_window", "jdbc append", 0.8)]


class WriteBench:
    """The same rows, the same Spark, into tables of one database."""

    def __init__(self, server: PostgresServer, folder: Path, rows: int) -> None:
        self._server = server
        self._rows = rows
        self._project = folder / "project"
        jars = ensure_jars(lambda line: print(line, file=sys.stderr), jar_set=JDBC)
        conf = {"spark.driver.memory": "4g", "spark.jars": ",".join(map(str, jars))}
        self._spark = LazySpark(SparkSettings(log_dir=folder / "logs", conf=conf))()
        self._make_orders()
        self._make_project()

    def measure(self, rounds: int) -> dict[str, Any]:
        """Seconds and ratios. `first` is into an empty table, `again` the same rows into a full one."""
        seconds: dict[str, list[float]] = {}
        for number in range(WARM_UP_ROUNDS + rounds):
            self._drop_tables()
            with samewise.open_project(self._project, spark=self._spark) as project:
                for name, work in self._cases(project).items():
                    began = time.perf_counter()
                    work()
                    took = time.perf_counter() - began
                    print(f"round {number + 1}  {name:28} {took:6.2f} s", flush=True, file=sys.stderr)
                    if number >= WARM_UP_ROUNDS:
                        seconds.setdefault(name, []).append(took)
            self._compare()
        medians = {name: statistics.median(taken) for name, taken in seconds.items()}
        wanted = [
            {"name": f"{name} / {below}", "ratio": medians[name] / medians[below], "most": most}
            for name, below, most in WANTED
        ]
        return {
            "rows": self._rows,
            "rounds": rounds,
            "seconds": seconds,
            "medians": medians,
            "ratios": {name: median / medians["jdbc append"] for name, median in medians.items()},
            "wanted": [{**line, "met": line["ratio"] <= line["most"]} for line in wanted],
        }

    def _cases(self, project: samewise.Project) -> dict[str, Callable[[], None]]:
        return {
            "jdbc append": self._append,
            "replace_window": lambda: _run(project, "replace_window"),
            "replace_window, again": lambda: _run(project, "replace_window"),
            "merge": lambda: _run(project, "merge"),
            "merge, nothing new": lambda: _run(project, "merge"),
            "insert_new": lambda: _run(project, "insert_new"),
        }

    def _append(self) -> None:
        options = {
            "url": f"jdbc:postgresql://127.0.0.1:{self._server.port}/postgres",
            "driver": "org.postgresql.Driver",
            "user": "postgres",
            "dbtable": "appended",
            "batchsize": "10000",
        }
        self._spark.read.parquet(str(self._project / "landing")).write.format("jdbc").options(**options).mode(
            "append"
        ).save()

    def _drop_tables(self) -> None:
        with self._server.connect() as session:
            session.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
            session.execute(f"CREATE TABLE public.appended ({COLUMNS})".encode())
        state = self._project / ".samewise"
        for file in state.glob("state.db*") if state.is_dir() else []:
            file.unlink()

    def _compare(self) -> None:
        """All ways must have written the same rows, or the figures compare different work."""
        found = set()
        with self._server.connect() as session:
            for table in ("appended", *WRITES):
                query = f"SELECT count(*), sum(amount), sum(hashtext(status)) FROM public.{table}"
                found.add(session.execute(query.encode()).fetchone())
        assert len(found) == 1, found

    def _make_orders(self) -> None:
        # Made from hashes, so that every machine measures the same rows.
        self._spark.range(0, self._rows, 1, 4).selectExpr(
            "id AS order_id",
            "pmod(hash(id), 50000) AS customer_id",
            "CAST(pmod(xxhash64(id, 1), 50000) / 100 AS DECIMAL(12,2)) AS amount",
            "element_at(array('new', 'paid', 'sent'), CAST(pmod(id, 3) + 1 AS INT)) AS status",
            f"TIMESTAMP'{DAY} 00:00:00Z' + make_dt_interval(0, 0, 0, pmod(id, 86400)) AS updated_at",
            f"DATE'{DAY}' AS order_date",
        ).write.parquet(str(self._project / "landing"))

    def _make_project(self) -> None:
        (self._project / "pipelines").mkdir()
        url = self._server.plain_url("postgres")
        settings = f"project: bench\nconnections: {{db: {{type: postgres, url: '{url}'}}}}\n"
        (self._project / "samewise.yaml").write_text(settings, encoding="utf-8")
        for name, write in WRITES.items():
            text = PIPELINE.format(name=name, write=write)
            (self._project / "pipelines" / f"{name}.yaml").write_text(text, encoding="utf-8")


def _run(project: samewise.Project, pipeline: str) -> None:
    result = project.run(pipeline, window=DAY, force=True)
    assert result.status is samewise.Status.SUCCEEDED, result.to_json()


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.postgres_write")
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=3)
    chosen = options.parse_args()
    with TemporaryDirectory(prefix="samewise-bench-") as folder, running_server() as server:
        print(json.dumps(WriteBench(server, Path(folder), chosen.rows).measure(chosen.rounds)))


if __name__ == "__main__":
    main()
