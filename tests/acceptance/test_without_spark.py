"""Commands that need no Spark load none; and what is secret stays so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.project import DAY, Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SCRIPT = """
import atexit, sys

def tell():
    print("LOADED", *sorted(sys.modules), file=sys.stderr)

atexit.register(tell)
from samewise.cli.main import main
main()
"""

# Each costs a command that only looks some hundredths of a second, and SQLAlchemy two tenths.
_OF_A_RUN = {
    "asyncio",
    "rich",
    "samewise.cli.progress",
    "samewise.plan.verdict",
    "samewise.run.attempt",
    "samewise.run.events",
    "samewise.run.verify",
    "samewise.state.leases",
    "samewise.state.tables",
    "sqlalchemy",
    "ssl",
    "tenacity",
}
_OF_A_PLAN = {
    "deltalake",
    "jinja2",
    "samewise.core.ports",
    "samewise.run.incremental",
    "samewise.run.planning",
    "sqlglot",
}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Shop:
    """A project with a window that is loaded and one that is due."""
    shop = Shop(tmp_path_factory.mktemp("loaded"))
    shop.pipeline({"transform": "orders.sql", "expect": ["amount >= 0"]})
    shop.write("pipelines/orders.sql", "SELECT * FROM source")
    shop.orders()
    shop.orders(day="2026-04-26")
    assert shop.run().code == 0
    return shop


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--help"], "Idempotent data pipelines"),
        (["validate"], "no problem"),
        (["run", "orders", "--dry-run", "--from", DAY, "--to", "2026-04-27"], "never loaded"),
        (["run", "orders", "--window", DAY], "1 unchanged"),
        (["status"], "orders"),
        (["status", "orders"], "loaded"),
        (["history", "orders"], "succeeded"),
        (["schema", "pipeline"], "$defs"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_that_needs_no_spark_loads_none_and_needs_no_java(
    loaded: Shop, tmp_path: Path, words: list[str], said: str
) -> None:
    out, modules = _modules(loaded, tmp_path, words)
    assert said in out
    assert {name.partition(".")[0] for name in modules} & {"pyspark", "py4j", "pandas", "pyarrow"} == set()


@pytest.mark.parametrize("words", [["status"], ["run", "orders", "--dry-run"]], ids=" ".join)
def test_who_only_looks_does_not_wait_for_what_a_run_needs(loaded: Shop, tmp_path: Path, words: list[str]) -> None:
    _, modules = _modules(loaded, tmp_path, words)
    assert modules & _OF_A_RUN == set()


def test_status_does_not_wait_for_what_a_plan_needs(loaded: Shop, tmp_path: Path) -> None:
    _, modules = _modules(loaded, tmp_path, ["status"])
    assert modules & _OF_A_PLAN == set()


def _modules(loaded: Shop, tmp_path: Path, words: list[str]) -> tuple[str, set[str]]:
    """What a command says where there is no Java, and every module that it has loaded."""
    environ = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "JAVA_HOME": str(tmp_path / "no java here"),
        "PATH": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, *words],
        cwd=loaded.root,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    title, *modules = done.stderr.splitlines()[-1].split()
    assert title == "LOADED"
    return done.stdout, set(modules)


# Secrets

SECRET = "correct-horse/battery+staple"


@pytest.fixture
def secretive(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A project that knows a secret, and a transform that cannot keep one."""
    monkeypatch.setenv("SHOP_SECRET", SECRET)
    shop.settings(spark={"conf": {"spark.hadoop.fs.s3a.secret.key": "{{ env.SHOP_SECRET }}"}})
    shop.pipeline({"transform": "mine.py:leak"})
    shop.write(
        "pipelines/mine.py",
        "import os\n\ndef leak(rows, context):\n    raise ValueError('no access: ' + os.environ['SHOP_SECRET'])\n",
    )
    shop.orders()
    return shop


def test_a_secret_in_an_error_is_not_shown(secretive: Shop, spark: SparkSession) -> None:
    answers = [secretive.told(), secretive.run(), secretive.do("history", "orders"), secretive.do("status")]
    assert [answer.code for answer in answers] == [4, 4, 0, 0]
    assert "no access: ***" in answers[0].stderr
    assert [SECRET in answer.text for answer in answers] == [False] * 4


def test_a_secret_in_an_error_is_not_stored(secretive: Shop, spark: SparkSession) -> None:
    assert secretive.run().code == 4
    kept = [path for path in secretive.root.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert [path.name for path in kept if SECRET.encode() in path.read_bytes()] == []
    assert any(path.name == "state.db" for path in kept)


def test_a_secret_in_a_path_is_not_shown(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_SECRET", "s3cr3t-folder")
    shop.pipeline({"source.path": "landing/{{ env.SHOP_SECRET }}/*.csv"})
    answers = [shop.told(), shop.run(), shop.told("--dry-run"), shop.run("--dry-run")]
    assert ["s3cr3t" in answer.text for answer in answers] == [False] * 4
    assert "no file matches" in answers[0].stderr
