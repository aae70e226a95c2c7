"""Seven days of orders, two runs killed with SIGKILL, and what is left: `make demo`.

The week is loaded three times: day by day with two kills and reruns, by one backfill without any, and by a
job that appends and was retried as often. The first two must be equal; exit code 1 if they are not.

A run that is to be killed is a process with a JVM of its own. The one that goes through to the end lends its JVM to
the other two weeks and to the measuring: starting Spark is most of what a demo on so few rows takes.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PIPELINE = "orders_daily"
FIRST_DAY = "2026-04-24"
END = "2026-05-01"
CLI = [sys.executable, "-c", "from samewise.cli.main import main; main()"]


def main() -> int:
    if sys.argv[1:2] == ["--finish"]:
        return finish(Path(sys.argv[2]))
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="samewise-demo-"))
    say(bold("Seven days of orders, two kills, the same table."))
    say(f"Everything is in {folder}")
    say()
    os.environ["JAVA_TOOL_OPTIONS"] = small_data_defaults()
    try:
        load_with_two_kills(folder / "shop")
        with Finish(folder) as rest:
            load_the_rest(folder / "shop", rest)
            say("The same week is loaded without a kill, and by a plain append, and all three")
            say("tables are compared ...")
            found = rest.result()
    except Broken as error:
        say(f"The demo stopped: {error}")
        return 1
    holds = show(found)
    say()
    say(f"{time.monotonic() - began:.0f} s in all. Have a look yourself:")
    say(f"  cd {folder / 'shop'}")
    command = Path(sys.executable).with_name("samewise")
    name = shlex.quote(str(command)) if command.exists() else "samewise"
    for words in (f"status {PIPELINE}", f"history {PIPELINE}", f"run {PIPELINE} --dry-run --force"):
        say(f"  {name} {words}")
    return 0 if holds else 1


def small_data_defaults() -> str:
    """Spark's defaults for this demo: three JVMs live for seconds and see 2,000 rows a day, so compiling Java
    code for each query would take longer than running it."""
    # Not in a folder of Spark's own settings: with another class path Java would not use the archive of classes.
    defaults = ("-Dspark.sql.codegen.wholeStage=false", "-Dspark.sql.codegen.factoryMode=NO_CODEGEN")
    return " ".join([os.environ.get("JAVA_TOOL_OPTIONS", ""), *defaults]).strip()


class Broken(Exception):
    """Something did not go as the demo says."""


# The week with two kills


def load_with_two_kills(shop: Path) -> None:
    """Each step is a command that a person could have typed."""
    step("samewise init shop")
    command("init", shop)
    orders = sum(len(file.read_text().splitlines()) - 1 for file in shop.glob("landing/orders/*/*.csv"))
    tell(f"{orders:,} lines in CSV files, one folder a day")

    step(f"SAMEWISE_FAILPOINT=staged samewise run {PIPELINE}")
    killed = command("run", PIPELINE, "--project", shop, failpoint="staged")
    staged = list(shop.glob("warehouse/_samewise/staging/*/*/*.parquet"))
    if not staged or (shop / "warehouse" / "orders").exists():
        raise Broken("a run that was killed after staging should leave staged rows and no table")
    tell(f"SIGKILL after {killed.seconds:.1f} s: {FIRST_DAY} was staged, nothing is visible")

    step(f"SAMEWISE_FAILPOINT=committed samewise run {PIPELINE}")
    killed = command("run", PIPELINE, "--project", shop, failpoint="committed")
    tell(f"SIGKILL after {killed.seconds:.1f} s: {FIRST_DAY} is committed,")
    tell("but the state store has not heard of it")

    step(f"samewise run {PIPELINE} --window {FIRST_DAY}")
    rerun = command("run", PIPELINE, "--window", FIRST_DAY, "--project", shop)
    if "starting Spark" in rerun.stderr:
        raise Broken("recording a commit that is there should not have started Spark")
    tell(f"the table itself says that the commit is there: recorded in {rerun.seconds:.1f} s,")
    tell("no row was read or written, and no JVM was started")


def load_the_rest(shop: Path, finish: Finish) -> None:
    """What a person would type next: the days that are missing, then the same once more."""
    step(f"samewise run {PIPELINE}")
    rest = finish.rest()
    for line in rest.stderr.splitlines():
        if line.startswith(("ok", "!!")):
            tell(line)
    tell(f"the other six days, {rest.seconds:.1f} s")

    step(f"samewise run {PIPELINE}")
    again = command("run", PIPELINE, "--project", shop)
    tell(f"{again.stdout.splitlines()[0].partition(': ')[2]} ({again.seconds:.1f} s, no JVM)")
    say()


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    stdout: str
    stderr: str
    seconds: float


def command(*words: object, failpoint: str | None = None) -> Done:
    """Run `samewise` in a process of its own; with a failpoint it must be killed there, without one succeed."""
    environ = {key: value for key, value in os.environ.items() if key != "SAMEWISE_FAILPOINT"}
    if failpoint is not None:
        environ["SAMEWISE_FAILPOINT"] = failpoint
    began = time.monotonic()
    done = subprocess.run([*CLI, *map(str, words)], capture_output=True, text=True, env=environ, check=False)
    wanted = 0 if failpoint is None else -signal.SIGKILL
    if done.returncode != wanted:
        raise Broken(f"exit code {done.returncode} instead of {wanted}\n{done.stdout}{done.stderr}")
    return Done(done.stdout, done.stderr, time.monotonic() - began)


# The process that is not killed


class Finish:
    """Runs the week's remaining days; then loads it cleanly and by appends, and measures all three tables."""

    def __init__(self, folder: Path) -> None:
        self._errors: IO[str] = (folder / "finish.log").open("w+")
        self._began = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--finish", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env={key: value for key, value in os.environ.items() if key != "SAMEWISE_FAILPOINT"},
        )

    def __enter__(self) -> Finish:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._errors.close()

    def rest(self) -> Done:
        """What `samewise run` said. Raises unless it came to its end."""
        told = self._answer()
        if told["exit_code"] != 0:
            raise Broken(f"exit code {told['exit_code']} instead of 0\n{told['stdout']}{told['stderr']}")
        return Done(told["stdout"], told["stderr"], time.monotonic() - self._began)

    def result(self) -> dict[str, Any]:
        """What was measured of the three tables."""
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            self._errors.seek(0)
            raise Broken(f"the comparison failed\n{self._errors.read()}")
        found: dict[str, Any] = json.loads(line)
        return found


def finish(folder: Path) -> int:
    """The other process: a line about the rest of the killed week, then one about what the three tables hold."""
    from samewise import open_project
    from samewise.cli.example import write_example

    clean, shop = folder / "clean", folder / "shop"
    write_example(clean)
    with open_project(clean) as project:
        spark = project.graph(PIPELINE).jobs[0].spark()
        # The command finds that this process has a session, and works in it.
        tell_parent(typed("run", PIPELINE, "--project", str(shop)))
        # All seven days in one commit, which the killed week got one by one: they must end up the same.
        result = project.backfills.run(PIPELINE, start=FIRST_DAY, end=END)
        if not result.is_done:
            raise result.error or RuntimeError("the clean load failed")
        append_with_retries(spark, clean, str(folder / "appended"))
        places = {
            "clean": clean / "warehouse" / "orders",
            "killed": shop / "warehouse" / "orders",
            "appended": folder / "appended",
        }
        tell_parent({name: measured(spark, place) for name, place in places.items()})
    return 0


def typed(*words: str) -> dict[str, Any]:
    """Run `samewise` here, as if it had been typed: what it printed, and its exit code."""
    from samewise.cli.app import app

    out, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        code = app(list(words), standalone_mode=False)
    return {"exit_code": code, "stdout": out.getvalue(), "stderr": errors.getvalue()}


def tell_parent(found: Mapping[str, Any]) -> None:
    print(json.dumps(found), flush=True)


def append_with_retries(spark: SparkSession, project: Path, table: str) -> None:
    """The same SELECT, appended, by a job that died twice on the first day and was started again."""
    select = (project / "pipelines" / "orders.sql").read_text()

    def append(rows: DataFrame) -> None:
        rows.write.format("delta").mode("append").save(table)

    def result(days: str) -> DataFrame:
        schema = (
            "order_id BIGINT, customer_id BIGINT, amount DECIMAL(12,2), status STRING,"
            " updated_at TIMESTAMP, order_date DATE"
        )
        landing = str(project / "landing" / "orders" / days / "*.csv")
        spark.read.csv(landing, schema=schema, header=True).createOrReplaceTempView("source")
        return spark.sql(select)

    first = result(FIRST_DAY)
    append(first.where("order_id % 2 = 0"))  # The first attempt died with one of its two parts written,
    append(first)  # the second one after all of them, before it could say so,
    append(first)  # and the third one, which knew nothing of either, went through.
    append(result("*").where(f"order_date > DATE'{FIRST_DAY}'"))


def measured(spark: SparkSession, table: Path) -> dict[str, Any]:
    """Rows, revenue and content hash of a whole table, as they are on disk now."""
    from samewise.core.measures import measure_expressions, read_measures
    from samewise.storage.frames import schema_of

    rows = spark.read.format("delta").load(str(table))
    found = rows.selectExpr(*[f"{sql} AS {name}" for name, sql in measure_expressions(schema_of(rows)).items()])
    first = found.first()
    assert first is not None
    return dict(read_measures(first.asDict()).to_json())


# What is shown


def show(found: Mapping[str, Mapping[str, Any]]) -> bool:
    """The table of the three weeks, and whether the promise holds."""
    names = {
        "clean": "a clean backfill",
        "killed": "killed twice, rerun",
        "appended": "plain append, retried",
    }
    clean = found["clean"]
    say(bold(line("", "rows", "revenue", "content hash", "surplus")))
    for key, name in names.items():
        one = found[key]
        more = 100 * (one["rows"] / clean["rows"] - 1)
        say(line(name, f"{one['rows']:,}", revenue(one), one["content_hash"], f"{more:+.1f} %"))
    say()
    holds = found["killed"] == clean
    if holds:
        say(good("Equal: killed twice and run again, the table holds what one clean load leaves."))
    else:
        say(bad("NOT EQUAL: the killed and repeated run left another table than a clean one."))
    surplus = Decimal(found["appended"]["sums"]["amount"]) - Decimal(clean["sums"]["amount"])
    doubled = found["appended"]["rows"] - clean["rows"]
    if found["appended"] == clean:
        say(bad("The append shows no harm, so this demo shows nothing."))
        return False
    say(f"Not equal: the append left {doubled:,} rows too many, {surplus:,.2f} of revenue that")
    say("nobody earned.")
    return holds


def revenue(one: Mapping[str, Any]) -> str:
    return f"{Decimal(one['sums']['amount']):,.2f}"


def line(name: str, rows: str, amount: str, content_hash: str, more: str) -> str:
    return f"{name:<21}  {rows:>6}  {amount:>12}  {content_hash:<24}  {more:>8}".rstrip()


def step(text: str) -> None:
    say(bold(f"$ {text}"))


def tell(text: str) -> None:
    say(f"    {text}")


def say(text: str = "") -> None:
    print(text, flush=True)


def bold(text: str) -> str:
    return styled(text, "1")


def good(text: str) -> str:
    return styled(text, "32")


def bad(text: str) -> str:
    return styled(text, "31")


def styled(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if sys.stdout.isatty() else text


if __name__ == "__main__":
    sys.exit(main())
