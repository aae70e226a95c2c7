"""What unseen code taught: where a false alarm came from, and what must still be found beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from samewise.audit.config import Settings
from samewise.audit.engine import audit
from samewise.audit.finding import Finding
from samewise.audit.python.statements import is_write
from samewise.audit.report.text import lines
from samewise.audit.summary import summarize

_APPENDS = "INSERT INTO mart.daily SELECT day, amount FROM core.orders;\n"


def _findings(path: Path) -> list[Finding]:
    return audit([path], Settings(), jobs=1).findings


@pytest.mark.parametrize(
    "word", ["merge", "insert", "copy", "truncate", "copy a.txt b.txt", "update all packages", "set"]
)
def test_a_word_is_not_a_statement(word: str) -> None:
    assert not is_write(word)


@pytest.mark.parametrize(
    "text",
    [
        "INSERT dbo.t SELECT * FROM s",
        "insert into t values (1)",
        "MERGE t USING s ON 1 = 1",
        "/* daily */ UPDATE t SET a = 1",
        "COPY t FROM STDIN",
        "TRUNCATE t",
        "BEGIN",
        "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x",
    ],
)
def test_a_statement_is_one(text: str) -> None:
    assert is_write(text)


def test_what_a_helper_is_given_is_a_note_and_what_a_parser_is_given_is_nothing(tmp_path: Path) -> None:
    file = tmp_path / "job.py"
    file.write_text(
        'from lib import parse_sql, run_query\nrun_query("INSERT INTO a SELECT * FROM b")\n'
        'parse_sql("INSERT INTO a SELECT * FROM b")\nrun_query("COPY a FROM \'/data/a.csv\' CSV")\n'
    )
    assert [(one.place.line, one.level.value) for one in _findings(file)] == [(2, "note"), (4, "note")]


@pytest.mark.parametrize("name", ["migrations", "benchmarks", "tests"])
def test_a_folder_that_is_named_outright_is_what_it_is_called(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "fill.sql").write_text(_APPENDS)
    assert _findings(folder) == []
    assert _findings(tmp_path) == []


def test_a_file_is_judged_by_the_path_that_was_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pre-commit names files, not folders."""
    deep = tmp_path / "db" / "migrations" / "2024"
    deep.mkdir(parents=True)
    (deep / "fill.sql").write_text(_APPENDS)
    (tmp_path / "fill.sql").write_text(_APPENDS)
    monkeypatch.chdir(tmp_path)
    assert _findings(Path("db/migrations/2024/fill.sql")) == []
    assert [one.rule for one in _findings(Path("fill.sql"))] == ["SW102"]


def test_the_fix_of_a_swap_is_no_transaction_where_ddl_takes_no_part_in_one(tmp_path: Path) -> None:
    file = tmp_path / "swap.sql"
    file.write_text(
        "CREATE OR REPLACE TABLE m.r_new AS SELECT 1 AS a;\nDROP TABLE m.r;\nALTER TABLE m.r_new RENAME TO m.r;\n"
    )
    [finding] = _findings(file)
    assert finding.rule == "SW202"
    assert "SWAP WITH" in finding.fix.text


def test_an_empty_folder_is_not_praised(tmp_path: Path) -> None:
    result = audit([tmp_path], Settings(), jobs=1)
    assert list(lines(result, summarize(result), lambda text, _: text, 80)) == [
        "0 files: there is no SQL, Python or notebook here"
    ]
