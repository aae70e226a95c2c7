"""The audit follows the code: pairs that differ in one thing, of which one is safe and the other is not."""

from __future__ import annotations

import pytest

from samewise.audit.finding import Finding, Level
from samewise.audit.readers import read_file

PSYCOPG = "import psycopg2\nconn = psycopg2.connect('')\ncur = conn.cursor()\n"
DELETE = 'cur.execute("DELETE FROM f WHERE day = %s", (day,))\n'
INSERT = 'cur.execute("INSERT INTO f SELECT * FROM s WHERE day = %s", (day,))\n'


def findings(text: str, name: str = "case.py") -> list[Finding]:
    report = read_file(text.encode(), name)
    assert not report.problem
    return list(report.findings)


def rules(text: str, name: str = "case.py") -> list[str]:
    return [finding.rule for finding in findings(text, name)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PSYCOPG + DELETE + INSERT + "conn.commit()\n", []),
        (PSYCOPG + DELETE + "conn.commit()\n" + INSERT + "conn.commit()\n", ["SW201"]),
        (PSYCOPG + "conn.autocommit = True\n" + DELETE + INSERT, ["SW201"]),
        (PSYCOPG + "conn.autocommit = False\n" + DELETE + INSERT + "conn.commit()\n", []),
        (PSYCOPG + "conn.set_session(autocommit=True)\n" + DELETE + INSERT, ["SW201"]),
        (PSYCOPG + "with conn:\n    " + DELETE + "    " + INSERT, []),
        (PSYCOPG + "with conn:\n    " + DELETE + "with conn:\n    " + INSERT, ["SW201"]),
        (PSYCOPG + "cur.execute('BEGIN')\n" + DELETE + INSERT + "cur.execute('COMMIT')\n", []),
        (PSYCOPG + INSERT + DELETE + "conn.commit()\n", ["SW102"]),
        (PSYCOPG + DELETE.replace("FROM f", "FROM g") + INSERT, ["SW102"]),
    ],
)
def test_a_delete_and_an_insert_are_safe_in_one_transaction_only(text: str, expected: list[str]) -> None:
    assert rules(text) == expected


ENGINE = "from sqlalchemy import create_engine, text\nengine = create_engine('postgresql://x')\n"
TWO = (
    "    conn.execute(text('DELETE FROM f WHERE day = 1'))\n{between}"
    "    conn.execute(text('INSERT INTO f SELECT * FROM s WHERE day = 1'))\n"
)


@pytest.mark.parametrize(
    ("opening", "between", "expected"),
    [
        ("with engine.begin() as conn:\n", "", []),
        ("with engine.begin() as conn:\n", "with engine.begin() as conn:\n", ["SW201"]),
        ("with engine.connect() as conn, conn.begin():\n", "", []),
        ("with engine.connect().execution_options(isolation_level='AUTOCOMMIT') as conn:\n", "", ["SW201"]),
    ],
)
def test_with_engine_begin_is_a_transaction(opening: str, between: str, expected: list[str]) -> None:
    assert rules(ENGINE + opening + TWO.format(between=between)) == expected


def test_a_transaction_that_cannot_be_seen_is_a_note() -> None:
    (finding,) = findings(ENGINE + "with engine.connect() as conn:\n" + TWO.format(between=""))
    assert (finding.rule, finding.level, finding.unsure) == ("SW201", Level.NOTE, True)


@pytest.mark.parametrize(
    ("caller", "expected"),
    [
        ("def main():\n    with conn:\n        clear(cur)\n        fill(cur)\n", []),
        ("def main():\n    clear(cur)\n    conn.commit()\n    fill(cur)\n    conn.commit()\n", ["SW201"]),
        ("def main():\n    fill(cur)\n    conn.commit()\n", ["SW102"]),
    ],
)
def test_calls_are_followed_across_functions(caller: str, expected: list[str]) -> None:
    functions = f"def clear(cur):\n    {DELETE}\ndef fill(cur):\n    {INSERT}\n"
    assert rules(PSYCOPG + functions + caller + "main()\n") == expected


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ('"append"', ["SW101"]),
        ("MODE", ["SW101"]),
        ("settings['mode']", ["SW101"]),
        ("pick()", ["SW101"]),
        ('"app" + "end"', ["SW101"]),
        ('"overwrite"', []),
        ('"ignore"', []),
    ],
)
def test_a_mode_is_found_wherever_it_is_set(mode: str, expected: list[str]) -> None:
    head = 'MODE = "append"\nsettings = {"mode": "append"}\ndef pick():\n    return MODE\n'
    assert rules(f'{head}df.write.format("delta").mode({mode}).saveAsTable("t")\n') == expected


def test_a_mode_that_depends_is_a_note() -> None:
    text = 'mode = "overwrite" if full else "append"\ndf.write.format("delta").mode(mode).saveAsTable("t")\n'
    assert [(f.rule, f.level) for f in findings(text)] == [("SW101", Level.NOTE)]


@pytest.mark.parametrize(
    "sql",
    [
        '"INSERT INTO t SELECT * FROM s"',
        "f\"INSERT INTO {table} SELECT * FROM s WHERE d = '{day}'\"",
        '"INSERT INTO {} SELECT * FROM s".format(table)',
        '"INSERT INTO {t} SELECT * FROM s".format(t=table)',
        '"INSERT INTO %s SELECT * FROM s" % table',
        '"INSERT INTO " + table + " SELECT * FROM s"',
        '" ".join(["INSERT INTO", "t", "SELECT * FROM s"])',
        '"INSERT INTO t SELECT * FROM s; SELECT 1"',
        'textwrap.dedent("""\n    INSERT INTO t\n    SELECT * FROM s""")',
        "QUERY",
        "queries['load']",
    ],
)
def test_sql_is_found_however_it_is_built(sql: str) -> None:
    head = "import textwrap\n"
    if sql.startswith(("QUERY", "queries")):
        head = "QUERY = 'INSERT INTO t SELECT * FROM s'\nqueries = {'load': QUERY}\n"
    assert rules(f"{head}def run(cursor, table, day):\n    cursor.execute({sql})\n") == ["SW102"]


def test_sql_that_another_module_runs_is_a_note() -> None:
    (finding,) = findings("QUERY = 'INSERT INTO t SELECT * FROM s'\n")
    assert (finding.rule, finding.level) == ("SW102", Level.NOTE)


@pytest.mark.parametrize(
    "guard",
    [
        "cur.execute('SELECT 1 FROM t WHERE d = %s', (d,))\n    if cur.fetchone():\n        return\n    ",
        "if loaded(cur, d):\n        return\n    ",
        "last = cur.execute('SELECT max(d) FROM t').scalar()\n    if last >= d:\n        return\n    ",
    ],
)
def test_a_question_to_the_target_before_the_insert_is_a_guard(guard: str) -> None:
    asking = "cur.execute('SELECT count(*) FROM t WHERE d = %s', (d,))"
    helper = f"def loaded(cur, d):\n    {asking}\n    return cur.fetchone()[0] > 0\n"
    insert = "cur.execute('INSERT INTO t SELECT * FROM s WHERE d = %s', (d,))\n"
    assert rules(f"{helper}def load(cur, d):\n    {guard}{insert}") == []
    assert rules(f"{helper}def load(cur, d):\n    {insert}") == ["SW102"]


def test_a_question_to_the_source_is_none() -> None:
    text = (
        "def load(src, cur, d):\n    rows = src.execute('SELECT * FROM s').fetchall()\n"
        "    if not rows:\n        return\n"
        "    cur.executemany('INSERT INTO t (a, b) VALUES (%s, %s)', rows)\n"
    )
    assert rules(text) == ["SW103"]


def test_a_delete_on_one_path_only_is_a_note() -> None:
    text = f"{PSYCOPG}def load(day, full):\n    if full:\n        {DELETE}    {INSERT}    conn.commit()\n"
    assert [(f.rule, f.level) for f in findings(text)] == [("SW102", Level.NOTE)]


def test_branches_that_exclude_each_other_are_not_one_after_the_other() -> None:
    text = (
        f"{PSYCOPG}def load(day, full):\n    if full:\n        {DELETE}    else:\n        {INSERT}    conn.commit()\n"
    )
    assert [(f.rule, f.level) for f in findings(text)] == [("SW102", Level.ERROR)]


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("postgres", "BEGIN; DELETE FROM a; INSERT INTO a SELECT * FROM b; COMMIT;", []),
        ("tsql", "BEGIN TRAN\nDELETE FROM a\nINSERT INTO a SELECT * FROM b\nCOMMIT", []),
        ("tsql", "DELETE FROM a\nINSERT INTO a\nSELECT * FROM b\nGO", ["SW201"]),
        ("mysql", "START TRANSACTION; TRUNCATE a; INSERT INTO a SELECT * FROM b; COMMIT;", ["SW201"]),
        ("oracle", "DELETE FROM a; INSERT INTO a SELECT * FROM b; COMMIT;", []),
        ("oracle", "TRUNCATE TABLE a; INSERT INTO a SELECT * FROM b; COMMIT;", ["SW201"]),
        ("spark", "BEGIN; DELETE FROM a; COMMIT; INSERT INTO a SELECT * FROM b;", ["SW201"]),
    ],
)
def test_the_dialect_says_what_a_transaction_is(dialect: str, text: str, expected: list[str]) -> None:
    found = read_file(text.encode(), "a.sql", dialect).findings
    assert [finding.rule for finding in found] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("INSERT INTO t SELECT * FROM s", "SW102"),
        ("insert into t\nselect *\nfrom s -- ON CONFLICT DO NOTHING", "SW102"),
        ("INSERT INTO t SELECT '-- ON CONFLICT' FROM s", "SW102"),
        ("INSERT INTO t SELECT * FROM s WHERE x NOT IN (SELECT x FROM other)", "SW102"),
    ],
)
def test_words_in_comments_and_texts_are_no_guards(text: str, expected: str) -> None:
    assert rules(text, "a.sql") == [expected]


def test_a_notebook_names_the_cell_and_the_line_of_the_file() -> None:
    import json

    cells = [
        {"cell_type": "markdown", "source": ["# Title\n"]},
        {"cell_type": "code", "source": ["x = 1\n", "df.write.mode('append').saveAsTable('t')\n"], "outputs": []},
    ]
    text = json.dumps({"cells": cells, "nbformat": 4}, indent=1)
    (finding,) = findings(text, "book.ipynb")
    assert finding.place.cell == 2
    assert "saveAsTable" in text.split("\n")[finding.place.line - 1]
