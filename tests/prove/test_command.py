"""`samewise prove --command`, with real processes that write a real Delta table."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from samewise.prove import report
from samewise.prove.foreign.bench import Job
from samewise.prove.foreign.folders import FolderPlace
from samewise.prove.foreign.places import named
from samewise.prove.foreign.process import ProcessRunner
from samewise.prove.foreign.proof import prove_job
from samewise.prove.verdict import Outcome
from tests.support.project import samewise

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOB = """
import sys
import time

import pyarrow as pa
from deltalake import write_deltalake

how, day, target = sys.argv[1:4]
rows = pa.table({"order_id": pa.array([1, 2, 3], pa.int64()), "day": [day] * 3})
if how == "append":
    write_deltalake(target, rows, mode="append")
else:
    write_deltalake(target, rows, mode="overwrite", predicate=f"day = '{day}'")
# As a real job does, it goes on for a while after its last commit.
time.sleep(1)
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("job") / "job.py"
    path.write_text(JOB)
    return path


@pytest.fixture
def table(tmp_path: Path, spark: SparkSession) -> Path:
    """The real one, with a day in it."""
    path = tmp_path / "warehouse" / "orders"
    rows = spark.sql("SELECT id + 1 AS order_id, '2026-04-24' AS day FROM range(3)")
    rows.coalesce(1).write.format("delta").save(str(path))
    return path


def _bytes(folder: Path) -> dict[str, str]:
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.rglob("*") if file.is_file()}


def test_a_job_that_appends_is_caught_and_the_real_table_is_byte_for_byte_the_same(
    job: Path, table: Path, tmp_path: Path
) -> None:
    before = _bytes(table)
    command = f"{sys.executable} {job} append {{date}} {{target}}"
    answer = samewise(
        *("prove", "--command", command, "--target", f"delta:{table}", "--date", "2026-04-25", "--key", "order_id,day"),
        *("--only", "twice", "--json", "--junit", tmp_path / "j.xml", "--html", tmp_path / "p.html"),
        *("--scratch", tmp_path / "scratch"),
    )
    assert answer.code == 3
    (verdict,) = answer.json["verdicts"]
    assert (verdict["outcome"], verdict["cause"]["name"], verdict["counts"]) == ("different", "append", [6, 9])
    assert verdict["difference"]["doubled"] == 3
    assert verdict["difference"]["examples"][0]["values"] == {"order_id": "1", "day": "2026-04-25"}
    assert ElementTree.parse(tmp_path / "j.xml").getroot()[0].get("failures") == "1"
    assert "3 rows doubled" in (tmp_path / "p.html").read_text(encoding="utf-8")
    assert _bytes(table) == before
    assert list((tmp_path / "scratch" / "samewise-prove").iterdir()) == []


def test_a_job_that_replaces_its_day_survives_a_real_kill(
    job: Path, table: Path, tmp_path: Path, spark: SparkSession
) -> None:
    before = _bytes(table)
    (tmp_path / "logs").mkdir()
    command = f"{sys.executable} {job} replace {{date}} {{target}}"
    place = FolderPlace(named(f"delta:{table}"), tmp_path / "scratch")
    runner = ProcessRunner(command, tmp_path / "logs", ("target", "date"))
    proof = prove_job(Job(command, runner, place, ("2026-04-25",), moments=(0.5,)), lambda: spark, ["killed"])
    place.close()
    assert proof.holds, "\n".join(report.text(proof))
    same = [verdict.detail for verdict in proof.verdicts if verdict.outcome is Outcome.SAME]
    assert "after its first write" in same
    assert _bytes(table) == before


def test_a_job_that_does_not_go_where_it_is_told_is_told_about_loudly(job: Path, table: Path) -> None:
    command = f"{sys.executable} {job} append {{date}} {table}; true {{target}}"
    answer = samewise("prove", "--command", command, "--target", f"delta:{table}", "--date", "2026-04-25", "--json")
    assert answer.code == 3
    error = answer.json["error"]
    assert error["code"] == "real_target_written"
    assert "RESTORE" in error["next"]


def test_a_job_that_writes_nothing_proves_nothing(table: Path) -> None:
    answer = samewise("prove", "--command", "true {target}", "--target", f"delta:{table}", "--json")
    assert (answer.code, answer.json["error"]["code"]) == (3, "nothing_written")


def test_a_job_that_fails_the_first_time_shows_what_it_said(table: Path) -> None:
    answer = samewise("prove", "--command", "echo out of cheese; false {target}", "--target", f"delta:{table}")
    assert answer.code == 4
    assert "out of cheese" in answer.stderr
    assert "exit code 1" in answer.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "prove wants a PIPELINE, or --command and --target"),
        (("orders", "--command", "job {target}", "--target", "delta:x"), "PIPELINE is for pipelines"),
        (("--command", "job {target}", "--target", "delta:x", "--only", "sideways"), "there is no experiment"),
        (("--command", "job {target}", "--target", "delta:x", "--html", "no/such/folder.html"), "cannot be written"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_before_anything_runs(words: tuple[str, ...], told: str) -> None:
    answer = samewise("prove", *words)
    assert answer.code == 2
    assert told in answer.stderr
