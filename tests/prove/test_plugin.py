"""The pytest plugin, as a team meets it: installed, and a test asks for its fixtures."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

# What an inner run imports first, pytester takes away again: everything is here before.
from samewise.prove import compare, report
from samewise.testing import NotTheSame, assert_same_table, same_table, session
from samewise.wiring import prove, prove_command
from tests.support.project import DAY, Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest_plugins = ["pytester"]
_LOADED = (compare, prove, prove_command, report, same_table, session)
_PLUGIN = "samewise.testing.plugin"


def _run(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    """An inner pytest that has the plugin, whether or not this Samewise is installed with its entry point."""
    return pytester.runpytest_inprocess(*_plugin_words(), *words)


def _plugin_words() -> list[str]:
    installed = any(point.value == _PLUGIN for point in entry_points(group="pytest11"))
    return ["-p", "no:cacheprovider", *([] if installed else ["-p", _PLUGIN])]


def test_the_plugin_is_an_entry_point_and_costs_next_to_nothing() -> None:
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert f'[project.entry-points.pytest11]\nsamewise = "{_PLUGIN}"' in project
    code = (
        f"import pytest, sys; before = set(sys.modules); import {_PLUGIN}; "
        "print(*sorted(name.partition('.')[0] for name in set(sys.modules) - before))"
    )
    environ = {"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ)
    assert set(done.stdout.split()) == {"samewise"}


def test_a_failing_comparison_shows_the_rows_and_nothing_of_our_own_code(
    pytester: pytest.Pytester, spark: SparkSession
) -> None:
    pytester.makepyfile("""
        def test_the_job_can_be_run_again(samewise_spark, assert_same_table):
            rows = samewise_spark.sql("SELECT id, 'x' || id AS name FROM range(3)")
            assert_same_table(rows, rows.orderBy("id", ascending=False))
            assert_same_table(rows, rows.union(rows), key="id")
    """)
    result = _run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*NotTheSame: the tables are not the same", "*3 rows doubled", "*rows: 3 → 6"])
    result.stdout.fnmatch_lines(["*doubled x2 id=0, name=x0"])
    text = result.stdout.str()
    assert "same_table.py" not in text
    assert "plugin.py" not in text
    assert spark.range(1).count() == 1, "a session that was there already is not stopped"


FIRST = """
    def test_a_job_writes_a_delta_table(samewise_spark):
        samewise_spark.range(3).write.format("delta").saveAsTable("orders")
        samewise_spark.sql("DELETE FROM orders WHERE id = 2")
"""
SECOND = """
    import pytest
    from samewise.testing import NotTheSame

    def test_another_file_sees_it_in_the_same_session(samewise_spark, assert_same_table, tmp_path):
        assert_same_table(samewise_spark.range(2), "orders", key="id")
        samewise_spark.range(3).write.format("delta").save(str(tmp_path / "copy"))
        with pytest.raises(NotTheSame, match="1 row missing"):
            assert_same_table(tmp_path / "copy", "orders", key="id")
"""


def test_a_team_that_has_only_installed_samewise_gets_one_session_with_delta_for_all_its_tests(tmp_path: Path) -> None:
    tests, temporary = tmp_path / "tests", tmp_path / "tmp"
    for folder in (tests, temporary):
        folder.mkdir()
    (tests / "test_first.py").write_text(textwrap.dedent(FIRST))
    (tests / "test_second.py").write_text(textwrap.dedent(SECOND))
    # A process of its own: in this one a session is active, and would be taken.
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "SPARK"))}
    environ = {**own, "PYTHONPATH": ":".join(sys.path), "TMPDIR": str(temporary), "SAMEWISE_FAST_JVM": "1"}
    words = [sys.executable, "-m", "pytest", "-q", *_plugin_words(), f"--rootdir={tests}", str(tests)]
    done = subprocess.run(words, capture_output=True, text=True, env=environ, cwd=tests, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout
    # Neither in the team's folder nor in the machine's is anything left of it.
    assert sorted(path.name for path in tests.iterdir() if path.name != "__pycache__") == [
        "test_first.py",
        "test_second.py",
    ]
    assert list(temporary.glob("samewise-*")) == []


def test_delta_tables_are_compared_by_their_paths(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.sql("SELECT id, 'x' || id AS name FROM range(3)")
    for name in ("a", "b"):
        rows.write.format("delta").save(str(tmp_path / name))
    assert_same_table(tmp_path / "a", str(tmp_path / "b"))
    with pytest.raises(NotTheSame, match="1 row missing"):
        assert_same_table(tmp_path / "a", spark.read.format("delta").load(str(tmp_path / "b")).where("id < 2"), "id")


FAKE = """
    import pytest
    from decimal import Decimal
    from samewise.prove.verdict import *

    class Fake:
        def prove(self, pipeline, window=None):
            clean, twice = Figures(3, (), "a"), Figures(6, (), "b")
            rows = (RowExample(RowKind.DOUBLED, {"order_id": "1"}, 2),)
            found = Difference(clean, twice, doubled=3, examples=rows)
            verdict = Verdict("twice", "", Outcome.DIFFERENT, 1.0, (3, 6), twice, found, Cause.APPEND)
            return Proof(pipeline, "delta:orders", (window,), clean, (verdict,), 1.0)

    @pytest.fixture
    def samewise_project():
        return Fake()
"""


def test_a_pipeline_that_is_not_safe_fails_the_test_with_verdicts_rows_and_cause(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(FAKE)
    pytester.makepyfile("""
        def test_orders_can_be_run_again(prove):
            prove("orders_daily", window="2026-04-25")
    """)
    result = _run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ['*prove("orders_daily"*', "*orders_daily 2026-04-25: not the same*", "*twice*different*3 → 6*"]
    )
    result.stdout.fnmatch_lines(["*doubled x2 order_id=1", "*likely: the rows were added to what was there*"])
    assert "plugin.py" not in result.stdout.str()


ASKED = """
    import pytest
    from samewise.prove.verdict import *
    from samewise.wiring import prove_command as wiring

    class Session: ...

    @pytest.fixture
    def samewise_spark():
        return Session()

    @pytest.fixture(autouse=True)
    def asked(monkeypatch):
        seen = []

        def answer(request, told=None, spark=None):
            seen.append((request, spark))
            same = Outcome.DIFFERENT if "append" in request.command else Outcome.SAME
            clean = Figures(3, (), "a")
            verdict = Verdict("twice", "", same, 1.0, (3, 3), clean)
            return Proof(request.command, request.target, request.dates, clean, (verdict,), 1.0)

        monkeypatch.setattr(wiring, "prove_command", answer)
        return seen
"""


def test_a_command_is_proven_as_it_was_asked_for_and_fails_the_test_where_it_is_not_safe(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeconftest(ASKED)
    pytester.makepyfile("""
        def test_as_asked(prove_command, asked, samewise_spark):
            proof = prove_command("job {target}", target="delta:orders", dates="2026-04-25", key=["a", "b"],
                                  only=["twice"], in_place=True, timeout=9)
            ((request, spark),) = asked
            assert (request.command, request.target, request.dates) == ("job {target}", "delta:orders", ("2026-04-25",))
            assert (request.key, request.only, request.in_place, request.timeout) == (("a", "b"), ("twice",), True, 9)
            assert spark is samewise_spark
            assert proof.holds

        def test_not_safe(prove_command):
            prove_command("append {target}", "delta:orders")
    """)
    result = _run(pytester)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*append {target}: not the same, 1 of 1 experiment failed*"])
    assert "plugin.py" not in result.stdout.str()


def test_the_project_is_found_by_the_ini_file_and_by_the_command_line(
    pytester: pytest.Pytester, spark: SparkSession
) -> None:
    shop = Shop(pytester.mkdir("shop"))
    shop.pipeline()
    shop.orders()
    pytester.makepyfile(f"""
        def test_orders_can_be_run_again(samewise_project, prove):
            assert samewise_project.loaded.root.name == "shop"
            proof = prove("orders", window="{DAY}", only=["twice"])
            assert proof.clean.rows == 2
    """)
    pytester.makeini("[pytest]\nsamewise_project = shop\n")
    _run(pytester).assert_outcomes(passed=1)
    pytester.makeini("[pytest]\n")
    pytester.makepyfile("def test_found(samewise_project): assert samewise_project.loaded.root.name == 'shop'")
    done = _run(pytester, "--samewise-project", "shop")
    done.assert_outcomes(passed=1)
    assert spark.range(1).count() == 1
