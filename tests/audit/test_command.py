"""`samewise audit` as people and machines use it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from samewise.audit.rules import RULES
from samewise.cli.app import app

APPEND = 'orders.write.format("delta").mode("append").saveAsTable("sales.orders")\n'
INSERT = "INSERT INTO mart.orders (order_id)\nSELECT order_id FROM staging.orders;\n"
SAFE = "INSERT INTO mart.orders (order_id)\nSELECT order_id FROM staging.orders\nON CONFLICT (order_id) DO NOTHING;\n"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to audit, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "repo"
    root.mkdir()
    monkeypatch.chdir(root)
    return root


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["audit", *words])


def told(*words: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(run(*words, "--json").stdout)
    return value


def rules(*words: str) -> list[str]:
    return [finding["rule"] for finding in told(*words)["findings"]]


# Exit codes and what is told


def test_unsafe_code_ends_with_3(repo: Path) -> None:
    (repo / "job.py").write_text(APPEND)
    assert run(".").exit_code == 3


def test_safe_code_ends_with_0(repo: Path) -> None:
    (repo / "load.sql").write_text(SAFE)
    answer = run(".")
    assert answer.exit_code == 0
    assert "writes: 1; safe to repeat 1 (100%), unsafe 0, unsure 0" in answer.stdout


def test_notes_alone_end_with_0(repo: Path) -> None:
    (repo / "save.py").write_text("def save(df, path, mode):\n    df.write.format('delta').mode(mode).save(path)\n")
    assert rules(".") == ["SW101"]
    assert run(".").exit_code == 0
    assert run(".", "--fail-on", "note").exit_code == 3


def test_a_path_that_is_not_there_ends_with_2(repo: Path) -> None:
    answer = run("nowhere")
    assert answer.exit_code == 2
    assert "no such file or folder" in answer.stderr


@pytest.mark.parametrize("words", ["--select SW9", "--format xml", "--fail-on x", "--dialect klingon"])
def test_a_word_that_is_not_there_ends_with_2(repo: Path, words: str) -> None:
    assert run(".", *words.split()).exit_code == 2


def test_a_finding_shows_its_line_with_a_caret_and_a_fix(repo: Path) -> None:
    (repo / "load.sql").write_text("-- a comment\n" + INSERT)
    shown = run("load.sql").stdout
    assert "load.sql:2:1: error SW102" in shown
    assert "      2 | INSERT INTO mart.orders (order_id)\n        | ^^^^" in shown
    assert "ON CONFLICT (order_id) DO NOTHING" in shown


def test_lines_fit_a_narrow_terminal(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / "job.py").write_text(APPEND)
    (repo / "load.sql").write_text(INSERT)
    monkeypatch.setenv("COLUMNS", "80")
    assert max(len(line) for line in run(".").stdout.splitlines()) <= 80


def test_the_summary_ends_with_the_checklist(repo: Path) -> None:
    (repo / "job.py").write_text(APPEND)
    answer = told(".")
    assert answer["summary"]["writes"] == answer["summary"]["unsafe"] == 1
    line = answer["summary"]["checklist"][0]
    assert (line["rule"], line["count"]) == ("SW101", 1)
    assert line["scenario"]
    assert line["pattern"]
    assert f"{line['scenario']}: {line['pattern']}" in " ".join(run(".").stdout.split())


def test_a_fix_names_what_can_be_seen(repo: Path) -> None:
    (repo / "job.py").write_text('df.write.format("delta").mode("append").partitionBy("day").saveAsTable("a.b")\n')
    assert "day = '<the day that is loaded>'" in told(".")["findings"][0]["fix"]["text"]


# Choosing


def test_select_takes_rules_and_families(repo: Path) -> None:
    (repo / "job.py").write_text(APPEND)
    (repo / "load.sql").write_text(INSERT)
    assert rules(".", "--select", "SW102") == ["SW102"]
    assert sorted(rules(".", "--select", "SW1")) == ["SW101", "SW102"]
    assert rules(".", "--ignore", "SW101,SW102") == []


def test_exclude_leaves_out_folders_and_patterns(repo: Path) -> None:
    for folder in ("a", "b"):
        (repo / folder).mkdir()
        (repo / folder / "load.sql").write_text(INSERT)
    assert [f["file"] for f in told(".", "--exclude", "a")["findings"]] == ["b/load.sql"]
    assert rules(".", "--exclude", "*/load.sql") == []


def test_pyproject_sets_what_the_command_line_does_not(repo: Path) -> None:
    (repo / "load.sql").write_text(INSERT)
    (repo / "pyproject.toml").write_text('[tool.samewise.audit]\nignore = ["SW102"]\n')
    assert rules(".") == []
    (repo / "pyproject.toml").write_text('[tool.samewise.audit]\nfail-on = "never"\n')
    assert run(".").exit_code == 0
    assert run(".", "--fail-on", "error").exit_code == 3


def test_every_problem_of_pyproject_is_told_at_once(repo: Path) -> None:
    (repo / "pyproject.toml").write_text('[tool.samewise.audit]\nselct = ["SW1"]\nignore = "SW2"\nfail-on = "x"\n')
    answer = run(".")
    assert answer.exit_code == 2
    for part in ("did you mean 'select'?", "must be a list", "fail-on: 'x'"):
        assert part in answer.stderr


@pytest.mark.parametrize(
    "text",
    [
        APPEND.rstrip() + "  # samewise: ignore[SW101] a log of its own\n",
        "# samewise: ignore[SW101] a log of its own\n" + APPEND,
        "# samewise: ignore\n" + APPEND,
        "# samewise: ignore-file[SW101] all of it\n\n\n" + APPEND,
    ],
)
def test_an_inline_ignore_holds_for_its_line(repo: Path, text: str) -> None:
    (repo / "job.py").write_text(text)
    answer = told(".")
    assert answer["findings"] == []
    assert answer["summary"]["ignored"] == 1


def test_an_inline_ignore_of_another_rule_changes_nothing(repo: Path) -> None:
    (repo / "load.sql").write_text("-- samewise: ignore[SW101] no\n" + INSERT)
    assert rules(".") == ["SW102"]


# The baseline


def test_a_baseline_leaves_out_what_was_there_and_tells_what_is_new(repo: Path) -> None:
    (repo / "load.sql").write_text(INSERT)
    assert run(".", "--write-baseline", "audit.json").exit_code == 0
    assert run(".", "--baseline", "audit.json").exit_code == 0
    (repo / "job.py").write_text(APPEND)
    assert rules(".", "--baseline", "audit.json") == ["SW101"]


def test_a_baseline_survives_moved_lines_and_moved_files(repo: Path) -> None:
    (repo / "load.sql").write_text(INSERT)
    run(".", "--write-baseline", "audit.json")
    (repo / "load.sql").unlink()
    (repo / "moved.sql").write_text("-- new\n\n\nSELECT 1;\n" + INSERT)
    assert rules(".", "--baseline", "audit.json") == []


def test_the_same_code_once_more_is_new(repo: Path) -> None:
    (repo / "load.sql").write_text(INSERT)
    run(".", "--write-baseline", "audit.json")
    (repo / "load.sql").write_text(INSERT + "\n" + INSERT)
    assert rules(".", "--baseline", "audit.json") == ["SW102"]


def test_a_baseline_that_is_none_ends_with_2(repo: Path) -> None:
    (repo / "audit.json").write_text("[]")
    assert run(".", "--baseline", "audit.json").exit_code == 2
    assert run(".", "--baseline", "nowhere.json").exit_code == 2


# For machines


def test_github_annotations_escape_what_they_must(repo: Path) -> None:
    (repo / "a,b.sql").write_text(INSERT)
    line = run(".", "--format", "github").stdout.splitlines()[0]
    assert line.startswith("::error file=a%2Cb.sql,line=1,endLine=2,title=SW102::INSERT INTO mart.orders")
    assert "\n" not in line


def test_sarif_has_the_shape_that_code_scanners_want(repo: Path) -> None:
    (repo / "load.sql").write_text(INSERT)
    (repo / "dag.py").write_text(
        "from airflow.decorators import task\n\n\n@task(retries=3)\ndef load(df):\n    "
        + APPEND.replace("orders.w", "df.w")
    )
    value = json.loads(run(".", "--format", "sarif").stdout)
    assert value["version"] == "2.1.0"
    (only,) = value["runs"]
    driver = only["tool"]["driver"]
    assert [rule["id"] for rule in driver["rules"]] == [rule.id for rule in RULES]
    assert {one["ruleId"] for one in only["results"]} == {"SW101", "SW102", "SW501"}
    for one in only["results"]:
        assert driver["rules"][one["ruleIndex"]]["id"] == one["ruleId"]
        assert one["level"] in ("error", "warning", "note")
        assert one["message"]["text"]
        region = one["locations"][0]["physicalLocation"]["region"]
        assert 1 <= region["startLine"] <= region["endLine"]
        assert one["partialFingerprints"]["samewise/v1"]
        assert not one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].startswith(("/", "./"))
    retried = next(one for one in only["results"] if one["ruleId"] == "SW501")
    assert retried["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 6


def test_json_is_one_object_also_when_the_command_fails(repo: Path) -> None:
    assert json.loads(run("nowhere", "--json").stdout)["error"]["code"] == "usage"


def test_the_hook_of_pre_commit_calls_the_command() -> None:
    hooks = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (hook,) = hooks
    assert hook["id"] == "samewise-audit"
    assert hook["entry"] == "samewise audit"
    assert set(hook["types_or"]) == {"python", "sql", "jupyter", "yaml"}


def test_explain_prints_the_page(repo: Path) -> None:
    assert run("--explain", "sw101").stdout.startswith("# SW101: Append without replace or key")
    assert run("--explain", "SW999").exit_code == 2


def test_the_rules_are_listed(repo: Path) -> None:
    shown = run("--rules").stdout
    assert [rule.id in shown for rule in RULES] == [True] * len(RULES)


# Lightness


def test_nothing_that_is_read_is_run_or_imported(repo: Path) -> None:
    (repo / "evil.py").write_text(f"open({str(repo / 'ran')!r}, 'w').write('x')\nimport evil_too\n" + APPEND)
    (repo / "evil_too.py").write_text(f"open({str(repo / 'ran')!r}, 'w').write('x')\n")
    assert rules(".") == ["SW101"]
    assert not (repo / "ran").exists()


def test_the_audit_needs_neither_spark_nor_a_database_nor_java(repo: Path) -> None:
    (repo / "load.sql").write_text(INSERT)
    script = (
        "import atexit, sys\n"
        "heavy = {'pyspark', 'py4j', 'pandas', 'pyarrow', 'sqlalchemy', 'deltalake'}\n"
        "atexit.register(lambda: print('LOADED', *sorted(heavy & {n.partition('.')[0] for n in sys.modules}),"
        " file=sys.stderr))\n"
        "from samewise.cli.main import main\nmain()\n"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PATH": "", "JAVA_HOME": "/nowhere"}
    done = subprocess.run(
        [sys.executable, "-c", script, "audit", "."], env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, done.stderr
    assert done.stderr.splitlines()[-1] == "LOADED"


# The cache


def test_a_second_run_reads_from_the_cache_and_a_change_is_seen(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from samewise.audit import pool

    (repo / "load.sql").write_text(INSERT)
    first = told(".")
    with monkeypatch.context() as patch:
        patch.setattr(pool, "read_file", lambda *_: pytest.fail("it was read again"))
        assert told(".") == first
    (repo / "load.sql").write_text(SAFE)
    assert rules(".") == []


def test_a_broken_cache_is_an_empty_one(repo: Path, tmp_path: Path) -> None:
    (repo / "load.sql").write_text(INSERT)
    run(".")
    for file in (tmp_path / "cache").rglob("*"):
        if file.is_file():
            file.write_text("{")
    assert rules(".") == ["SW102"]


def test_many_files_are_read_by_several_processes_with_the_same_result(repo: Path) -> None:
    for number in range(60):
        (repo / f"load_{number}.sql").write_text(INSERT.replace("orders", f"orders_{number}"))
    one = told(".", "--jobs", "1", "--no-cache")
    assert told(".", "--jobs", "2", "--no-cache") == one
    assert len(one["findings"]) == 60
