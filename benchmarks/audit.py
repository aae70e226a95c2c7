"""`samewise audit` over a repository of 2,000 Python and 2,000 SQL files. Alone: `python -m benchmarks.audit`.

The files are made of the blocks that real ones are made of: DAGs, loaders, PySpark jobs, helpers that write nothing,
SQL of several dialects. Half of them hold a write. No two are the same, so that the cache helps only the second run.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

FILES = 2_000
WANTED_SECONDS = 30.0
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
HEADING = "## Audit"

_HELPER = '''
def parse_{n}(line, separator=","):
    """Split a line, and leave out what is empty."""
    parts = [part.strip() for part in line.split(separator)]
    result = {{}}
    for position, part in enumerate(parts):
        if not part:
            continue
        key = "field_%d" % position
        if part.isdigit():
            result[key] = int(part)
        else:
            result[key] = part.lower()
    return result


class Settings{n}:
    def __init__(self, path, retries=3, timeout=30):
        self.path = path
        self.retries = retries
        self.timeout = timeout

    def as_dict(self):
        return {{"path": self.path, "retries": self.retries, "timeout": self.timeout}}
'''

_DAG = """
from datetime import datetime, timedelta
from airflow import DAG
from airflow.operators.python import PythonOperator
from airflow.providers.postgres.hooks.postgres import PostgresHook

default_args = {{"owner": "data", "retries": {retries}, "retry_delay": timedelta(minutes=5)}}

def extract_{n}(ds, **context):
    rows = PostgresHook("shop").get_records(f"SELECT id, total FROM orders_{n} WHERE day = '{{ds}}'")
    return [list(row) for row in rows]

def load_{n}(ds, **context):
    rows = context["ti"].xcom_pull(task_ids="extract")
    connection = PostgresHook("dw").get_conn()
    cursor = connection.cursor()
    cursor.execute("DELETE FROM mart.orders_{n} WHERE day = %s", (ds,))
    {commit}
    cursor.executemany("INSERT INTO mart.orders_{n} (id, total) VALUES (%s, %s)", rows)
    connection.commit()

with DAG("orders_{n}", default_args=default_args, start_date=datetime(2026, 1, 1), schedule="@daily") as dag:
    extract = PythonOperator(task_id="extract", python_callable=extract_{n})
    load = PythonOperator(task_id="load", python_callable=load_{n})
    extract >> load
"""

_SPARK = """
from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F

def build_{n}(day):
    spark = SparkSession.builder.appName("job-{n}").getOrCreate()
    raw = spark.read.json(f"s3://lake/raw/t{n}/{{day}}")
    window = Window.partitionBy("id").orderBy(F.col("updated_at").desc(), F.col("event_id"))
    latest = raw.withColumn("rn", F.row_number().over(window)).filter(F.col("rn") == 1).drop("rn")
    priced = latest.join(spark.table("dim.price_{n}"), "sku", "left").withColumn("amount", F.col("qty") * F.col("p"))
    priced.write.format("delta").mode("{mode}").partitionBy("day").saveAsTable("silver.t{n}")

if __name__ == "__main__":
    import sys
    build_{n}(sys.argv[1])
"""

_SELECT = """
-- Revenue by customer and month, report {n}
WITH orders AS (
    SELECT o.order_id, o.customer_id, o.amount, DATE_TRUNC('month', o.created_at) AS month
    FROM shop.orders_{n} o
    WHERE o.status IN ('paid', 'sent') AND o.created_at >= '2026-01-01'
),
customers AS (
    SELECT c.customer_id, c.country, COALESCE(c.segment, 'none') AS segment FROM shop.customers c
)
"""

_REPORT = _SELECT + "SELECT month, country, SUM(amount) FROM orders JOIN customers USING (customer_id) GROUP BY 1, 2;\n"

_UPSERT = (
    _SELECT
    + """INSERT INTO mart.revenue_{n} (month, country, amount)
SELECT month, country, SUM(amount) FROM orders JOIN customers USING (customer_id) GROUP BY 1, 2
ON CONFLICT (month, country) DO UPDATE SET amount = EXCLUDED.amount;
"""
)

_REPLACE = """DELETE FROM mart.daily_{n} WHERE day = '2026-04-25';
INSERT INTO mart.daily_{n}
SELECT day, SUM(amount) FROM sales_{n} WHERE day = '2026-04-25' GROUP BY day;
"""

_MERGE = """MERGE INTO silver.t{n} t
USING (
    SELECT * FROM raw.t{n} QUALIFY ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts DESC, event_id) = 1
) s
ON t.id = s.id
WHEN MATCHED THEN UPDATE SET t.v = s.v
WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v);
"""

_TABLE = """CREATE TABLE IF NOT EXISTS dim.store_{n} (
    store_id INT PRIMARY KEY,
    name TEXT,
    opened DATE
);
"""

_SQL = [_REPORT, _UPSERT, _REPLACE, _MERGE, _TABLE]


def make_repository(root: Path, files: int = FILES) -> None:
    """Write it below `root`, the same in every run."""
    dice = random.Random(7)
    for n in range(files):
        folder = root / f"team_{n % 40}" / ("dags" if n % 2 else "jobs")
        folder.mkdir(parents=True, exist_ok=True)
        parts = [_HELPER.format(n=n)] * dice.randint(1, 3)
        if n % 4 == 1:
            commit = "connection.commit()" if n % 3 == 0 else "pass"
            parts.append(_DAG.format(n=n, retries=n % 4, commit=commit))
        elif n % 4 == 2:
            parts.append(_SPARK.format(n=n, mode="append" if n % 3 else "overwrite"))
        (folder / f"module_{n}.py").write_text("".join(parts), encoding="utf-8")
        (folder / f"query_{n}.sql").write_text(_SQL[n % len(_SQL)].format(n=n), encoding="utf-8")


def time_audit(folder: Path, files: int = FILES) -> dict[str, Any]:
    """Seconds of a first and of a second run, each in a process of its own."""
    root = folder / "repository"
    make_repository(root, files)
    environ = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    figures: dict[str, Any] = {"files": 2 * files, "cores": os.cpu_count()}
    for name in ("first", "second"):
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", "from samewise.cli.main import main; main()", "audit", ".", "--json"],
            cwd=root,
            env=environ,
            capture_output=True,
            check=False,
        )
        figures[name] = time.perf_counter() - began
        assert done.returncode == 3, done.stderr.decode()
        answer = json.loads(done.stdout)
        assert answer["summary"]["files"] == 2 * files
        assert not answer["problems"]
        figures["findings"] = len(answer["findings"])
        figures["writes"] = answer["summary"]["writes"]
        print(f"audit of {2 * files:,} files, {name} run  {figures[name]:6.2f} s", flush=True)
    figures["met"] = figures["first"] <= WANTED_SECONDS
    return figures


def audit_lines(figures: dict[str, Any]) -> list[str]:
    """The section of the page."""
    verdict = "met" if figures["met"] else "**missed**"
    half = figures["files"] // 2
    found = f"{figures['writes']:,} writes, {figures['findings']:,} findings"
    return [
        HEADING,
        "",
        f"`samewise audit` over {half:,} Python and {half:,} SQL files ({found}), {figures['cores']} cores.",
        "",
        "| run | seconds | files a second |",
        "|---|---|---|",
        f"| first | {figures['first']:.1f} | {figures['files'] / figures['first']:,.0f} |",
        f"| second, nothing changed | {figures['second']:.1f} | {figures['files'] / figures['second']:,.0f} |",
        "",
        "| wanted | at most | measured | |",
        "|---|---|---|---|",
        f"| first run | {WANTED_SECONDS:.0f} s | {figures['first']:.1f} s | {verdict} |",
    ]


def main() -> int:
    """Measure the audit alone, and put its section into the page."""
    with tempfile.TemporaryDirectory(prefix="samewise-bench-") as folder:
        figures = time_audit(Path(folder))
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(f"\n{HEADING}\n")
    _, heading, after = rest.partition("\n## ")
    section = "\n".join(audit_lines(figures)) + "\n"
    PAGE.write_text(before.rstrip("\n") + "\n\n" + section + heading + after, encoding="utf-8")
    return 0 if figures["met"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
