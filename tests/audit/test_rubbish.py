"""Whatever lies in a repository: the audit reports what it cannot read, and goes on."""

from __future__ import annotations

import ast
import json
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from samewise.audit import pool
from samewise.audit.config import Settings
from samewise.audit.engine import Result, audit
from samewise.audit.finding import FileReport, from_json, to_json
from samewise.audit.readers import read_file
from samewise.audit.sql.tree import parse
from samewise.audit.walk import Found
from tests.audit.corpus_labels import snippets

INSERT = "INSERT INTO a (id) SELECT id FROM b;\n"


def looked_at(root: Path) -> Result:
    (root / "beside.sql").write_text(INSERT)
    return audit([root], Settings(), jobs=1)


def only_problem(result: Result) -> str:
    """The one problem; and the file beside it was read all the same."""
    assert [finding.rule for finding in result.findings] == ["SW102"]
    (problem,) = result.problems
    return problem.message


def test_a_file_of_50_megabytes_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "dump.sql").open("w") as file:
        file.write("INSERT INTO t VALUES (1);\n" * 2_000_000)
    assert "too large" in only_problem(looked_at(tmp_path))


_BOMB = "a0: &a0 [INSERT INTO t SELECT 1]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)


@pytest.mark.parametrize(
    "text",
    [
        "sql: INSERT INTO t SELECT 1\nx: " + "[" * 90_000,
        "sql: INSERT INTO t SELECT 1\nx: " + "{a: " * 20_000,
        "sql: &a\n  sql: *a\n  query: DELETE FROM t WHERE a = 1\n",
        "sql: INSERT INTO {{ t }}: {{ x\n",
        _BOMB,
    ],
    ids=["lists", "mappings", "circle", "template", "bomb"],
)
def test_yaml_of_any_shape_does_no_harm(tmp_path: Path, text: str) -> None:
    (tmp_path / "dag.yml").write_text(text)
    assert [finding.rule for finding in looked_at(tmp_path).findings] == ["SW102"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("deep.py", "x.execute(" + "(" * 5_000 + "1" + ")" * 5_000 + ")"),
        ("deep.py", "x.execute(" + "[" * 150 + "]" * 150 + ")\ny = " + "-" * 100_000 + "1"),
        ("broken.py", "def load(:\n    cur.execute('INSERT')\n"),
        ("broken.ipynb", '{"cells": [execute'),
        ("other.ipynb", '["execute"]'),
        ("null.py", "execute\x00"),
    ],
)
def test_a_file_that_cannot_be_parsed_is_told_and_the_rest_goes_on(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert only_problem(looked_at(tmp_path))


def test_a_syntax_error_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("import os\nprint 'execute'\n")
    (problem,) = looked_at(tmp_path).problems
    assert (problem.file.rpartition("/")[2], problem.line) == ("old.py", 2)


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO a SELECT " + "(" * 3_000 + "1" + ")" * 3_000 + " FROM b ON CONFLICT DO NOTHING;",
        "MERGE INTO a USING " + "(SELECT * FROM " * 400 + "b" + ")" * 400 + " s ON a.i = s.i WHEN MATCHED THEN DELETE",
        "INSERT INTO a SELECT " + " AND ".join(["current_date = x"] * 3_000) + " FROM b WHERE x = current_date;",
        "SELECT 'never closed INSERT INTO a SELECT 1 FROM b",
        "/* never closed INSERT INTO a",
        "INSERT INTO $$ never closed",
        "INSERT INTO",
        "MERGE",
        ";;;;\n;",
        "CREATE TABLE",
        "WITH",
    ],
)
def test_odd_sql_does_no_harm(text: str) -> None:
    assert read_file(text.encode(), "odd.sql").problem == ""


def test_deep_code_that_parses_is_told_or_read(tmp_path: Path) -> None:
    chain = "df" + ".filter('x')" * 400 + ".write.mode('append').saveAsTable('t')"
    report = read_file(chain.encode(), "chain.py")
    assert report.problem == "nested too deeply" or [f.rule for f in report.findings] == ["SW101"]


def test_a_long_chain_of_calls_is_followed_once(tmp_path: Path) -> None:
    chain = "spark" + ".unknown(1).other('x')" * 15 + ".write.mode('append').saveAsTable('t')"
    report = read_file(chain.encode(), "chain.py")
    assert [finding.rule for finding in report.findings] == ["SW101"]
    assert len(report.writes) == 1


def test_functions_that_call_each_other_come_to_an_end() -> None:
    calls = "\n".join(f"    f{n}(cur)" for n in range(12))
    functions = "\n".join(f"def f{n}(cur):\n{calls}\n    cur.execute('DELETE FROM t')\n" for n in range(12))
    assert read_file(functions.encode(), "loop.py").problem == ""


def test_binary_rubbish_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "image.sql").write_bytes(bytes(range(256)) * 100)
    assert only_problem(looked_at(tmp_path)) == "not a text file"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_text_is_read_as_tools_write_it(encoding: str) -> None:
    text = "-- Größe\r\nINSERT INTO a (id)\r\nSELECT id FROM b;\r\n"
    (finding,) = read_file(text.encode(encoding), "a.sql").findings
    assert (finding.rule, finding.place.line) == ("SW102", 2)


def test_links_that_lead_in_circles_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "round").symlink_to(tmp_path)
    (tmp_path / "twice.sql").symlink_to(tmp_path / "beside.sql")
    (tmp_path / "nowhere.sql").symlink_to(tmp_path / "gone.sql")
    result = looked_at(tmp_path)
    assert (len(result.findings), result.problems, result.files) == (1, [], 1)


def test_a_link_to_a_folder_elsewhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "load.sql").write_text(INSERT)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "link").symlink_to(tmp_path / "elsewhere")
    assert looked_at(tmp_path / "here").files == 1


def test_a_statement_that_is_nested_too_deeply_has_no_tree() -> None:
    assert parse("SELECT " + "(" * 61 + "1" + ")" * 61, "") is None
    assert parse("SELECT ((1))", "") is not None


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.sql")
    assert looked_at(tmp_path).files == 1


def test_a_file_that_nobody_may_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret.sql").write_text(INSERT)
    reading = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "secret.sql":
            raise PermissionError(13, "Permission denied")
        return reading(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert only_problem(looked_at(tmp_path)) == "cannot be read: Permission denied"


def _dies(data: bytes, file: str, dialect: str = "") -> FileReport:
    if file == "deadly.sql":
        os.kill(os.getpid(), signal.SIGKILL)
    return read_file(data, file, dialect)


def test_a_reader_that_dies_takes_only_its_file_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(60):
        (tmp_path / f"{number}.sql").write_text(INSERT)
    (tmp_path / "deadly.sql").write_text(INSERT)
    monkeypatch.setattr(pool, "read_file", _dies)
    result = audit([tmp_path], Settings(), jobs=2)
    assert [problem.message for problem in result.problems] == ["the reader died on it"]
    assert len(result.findings) == 60


def test_a_file_that_takes_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    (tmp_path / "slow.sql").write_text("x")
    monkeypatch.setattr(pool, "SECONDS_A_FILE", 0.05)
    monkeypatch.setattr(pool, "read_file", lambda *_: time.sleep(5))
    found = pool.read_all([Found(tmp_path / "slow.sql", "slow.sql", "slow.sql")], dialect="", cache=None, jobs=1)
    assert "took longer" in found["slow.sql"].problem


# Fuzz: mutations of the corpus

TEXTS = [(path.suffix, path.read_text(encoding="utf-8")) for path in snippets()]


SIGNS = ["(", ")", "'", '"""', ";", "{{", "}}", "{% if %}", "$$", "/*", "--", "\\", "f'{", "BEGIN", "\x00"]


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, str]:
    """A snippet with pieces cut out, doubled, swapped with another's, or replaced by rubbish."""
    suffix, text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 80)))
        piece = draw(
            st.one_of(
                st.just(""),
                st.just(text[start:end] * 2),
                st.text(max_size=20),
                st.sampled_from(
                    ["(", ")", "'", '"""', ";", "{{", "}}", "{% if %}", "$$", "/*", "--", "\\", "f'{", "BEGIN", "\x00"]
                ),
                st.sampled_from(TEXTS).map(lambda pair: pair[1][:200]),
            )
        )
        text = text[:start] + piece + text[end:]
    return suffix, text


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_no_text_breaks_the_readers(case: tuple[str, str]) -> None:
    suffix, text = case
    report = read_file(text.encode("utf-8", errors="replace"), f"case{suffix}")
    assert from_json(json.loads(json.dumps(to_json(report)))) == report
    for finding in report.findings:
        assert finding.place.line >= 1
        assert finding.fix.text


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=2_000), st.sampled_from([".py", ".sql", ".ipynb"]))
def test_no_bytes_break_the_readers(data: bytes, suffix: str) -> None:
    read_file(b"execute " + data, f"case{suffix}")


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_a_fix_changes_only_lines_that_are_there(case: tuple[str, str]) -> None:
    suffix, text = case
    lines = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    for finding in read_file(text.encode("utf-8", errors="replace"), f"case{suffix}").findings:
        for edit in finding.fix.edits:
            assert 1 <= edit.first <= edit.last <= lines


def test_the_corpus_is_python_where_it_says_so() -> None:
    for suffix, text in TEXTS:
        if suffix == ".py":
            ast.parse(text)
