"""What a third pair of eyes showed: guesses that had to be lowered, and what must still be found beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from samewise.audit.config import Settings
from samewise.audit.engine import audit


def _said(folder: Path, name: str, text: str) -> list[tuple[str, str]]:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return [(one.rule, one.level.value) for one in audit([file], Settings(), jobs=1).findings]


_CLAIM = """
import psycopg


def load(conn, sha, path):
    with conn.transaction():
        cur = conn.execute("INSERT INTO seen (sha) VALUES (%s){claim}", (sha,))
        if cur.fetchone() is None:
            return
        conn.execute("INSERT INTO trades SELECT * FROM incoming_trades WHERE sha = %s", (sha,))
"""


def test_a_claim_that_is_asked_for_guards_what_follows(tmp_path: Path) -> None:
    assert _said(tmp_path, "a.py", _CLAIM.format(claim=" ON CONFLICT DO NOTHING RETURNING sha")) == []
    assert ("SW102", "error") in _said(tmp_path, "b.py", _CLAIM.format(claim=" RETURNING sha"))


_TSQL_TRIGGER = """CREATE TRIGGER t ON dbo.orders AFTER UPDATE AS
BEGIN
  INSERT INTO dbo.old_orders (id) SELECT id FROM dbo.x;
END
GO
"""
_PLPGSQL_TRIGGER = """CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO old_orders SELECT OLD.*;
  RETURN NEW;
END $$;
"""


@pytest.mark.parametrize("text", [_TSQL_TRIGGER, _PLPGSQL_TRIGGER])
def test_a_trigger_adds_once_for_each_change(tmp_path: Path, text: str) -> None:
    assert _said(tmp_path, "trigger.sql", text) == []
    after = text + "INSERT INTO mart.daily SELECT day, amount FROM core.orders;\n"
    assert [rule for rule, _ in _said(tmp_path, "after.sql", after)] == ["SW102"]


_MOVE = "{begin}INSERT INTO old SELECT * FROM orders WHERE closed;\nDELETE FROM {gone} WHERE closed;\n{end}"


def test_rows_that_are_moved_in_one_transaction_are_not_there_a_second_time(tmp_path: Path) -> None:
    assert _said(tmp_path, "a.sql", _MOVE.format(begin="BEGIN;\n", gone="orders", end="COMMIT;\n")) == []
    assert ("SW102", "error") in _said(tmp_path, "b.sql", _MOVE.format(begin="", gone="orders", end=""))
    assert ("SW102", "error") in _said(
        tmp_path, "c.sql", _MOVE.format(begin="BEGIN;\n", gone="invoices", end="COMMIT;\n")
    )


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ('format("org.apache.spark.sql.cassandra").options(table="t")', []),
        ('format("org.elasticsearch.spark.sql").option("es.mapping.id", "id")', []),
        ('format("org.elasticsearch.spark.sql")', [("SW101", "note")]),
        ('format("com.acme.spark.warehouse")', [("SW101", "note")]),
        ('format("bigquery").option("table", "p.d.t")', [("SW101", "error")]),
        ('format("delta")', [("SW101", "error")]),
    ],
)
def test_what_a_connector_does_with_append_must_be_known_for_an_alarm(
    tmp_path: Path, how: str, expected: list[tuple[str, str]]
) -> None:
    code = (
        "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n"
        f'spark.table("a.b").write.{how}.mode("append").save("users")\n'
    )
    assert _said(tmp_path, "job.py", code) == expected


_BOUND = """
import psycopg2
from psycopg2.extras import execute_values

src, dst = psycopg2.connect("dbname=a"), psycopg2.connect("dbname=b")
s, d = src.cursor(), dst.cursor()
d.execute("SELECT max(id) FROM {asked}")
s.execute("SELECT id, name FROM users WHERE id > %s", (d.fetchone()[0],))
execute_values(d, "INSERT INTO copied (id, name) VALUES %s", s.fetchall())
dst.commit()
"""


def test_rows_that_were_chosen_by_what_the_target_holds_go_on_from_there(tmp_path: Path) -> None:
    assert _said(tmp_path, "a.py", _BOUND.format(asked="copied")) == []
    assert _said(tmp_path, "b.py", _BOUND.format(asked="another")) == [("SW103", "warning")]


def test_a_repository_of_an_application_is_a_note_and_a_loader_is_not(tmp_path: Path) -> None:
    code = (
        "class Accounts:\n    def __init__(self, conn):\n        self.conn = conn\n\n    def {name}(self, rows):\n"
        '        self.conn.cursor().executemany("INSERT INTO accounts (owner) VALUES (%s)", rows)\n'
    )
    assert _said(tmp_path, "accounts.py", code.format(name="add_many")) == [("SW103", "note")]
    assert _said(tmp_path, "accounts.py", code.format(name="load_rows")) == [("SW103", "warning")]


def test_a_pool_of_asyncpg_commits_each_statement(tmp_path: Path) -> None:
    code = (
        "import asyncpg\n\n\nasync def refresh(pool, day):\n    async with pool.acquire() as conn:\n{inside}"
        '        {pad}await conn.execute("DELETE FROM totals WHERE day = $1", day)\n'
        '        {pad}await conn.execute("INSERT INTO totals SELECT $1, count(*) FROM hits", day)\n'
    )
    assert [rule for rule, _ in _said(tmp_path, "a.py", code.format(inside="", pad=""))] == ["SW201"]
    within = code.format(inside="        async with conn.transaction():\n", pad="    ")
    assert _said(tmp_path, "b.py", within) == []


def test_a_bigquery_job_with_a_name_runs_once(tmp_path: Path) -> None:
    code = (
        "import uuid\nfrom google.cloud import bigquery\n\nclient = bigquery.Client()\n"
        'config = bigquery.LoadJobConfig(write_disposition="WRITE_APPEND")\n\n\ndef load(uri, day):\n'
        '    client.load_table_from_uri(uri, "p.d.t", job_config=config, job_id=f"load_{{{what}}}").result()\n'
    )
    assert _said(tmp_path, "a.py", code.format(what="day")) == []
    assert [rule for rule, _ in _said(tmp_path, "b.py", code.format(what="uuid.uuid4()"))] == ["SW101"]


def test_a_view_of_dbt_writes_nothing(tmp_path: Path) -> None:
    model = "{{{{ config(materialized='{kind}') }}}}\nselect * from {{{{ ref('orders') }}}} limit 10\n"
    assert _said(tmp_path, "models/a.sql", model.format(kind="view")) == []
    assert [rule for rule, _ in _said(tmp_path, "models/b.sql", model.format(kind="table"))] == ["SW305"]


def test_a_request_of_bteq_is_one_transaction(tmp_path: Path) -> None:
    text = "DELETE FROM dw.d WHERE day = 1{}INSERT INTO dw.d SELECT * FROM stg.tx WHERE day = 1;\n"
    assert _said(tmp_path, "a.bteq", text.format("\n;")) == []
    assert [rule for rule, _ in _said(tmp_path, "b.bteq", text.format(";\n"))] == ["SW201"]


def test_state_that_holds_progress_is_a_watermark(tmp_path: Path) -> None:
    code = (
        "import psycopg2\nfrom state import save_state\n\n\ndef sync(conn, rows):\n"
        "    save_state({{{key}: rows[-1][0]}})\n"
        "    with conn.cursor() as cur:\n"
        '        cur.executemany("INSERT INTO m (id) VALUES (%s) ON CONFLICT (id) DO NOTHING", rows)\n'
    )
    assert [rule for rule, _ in _said(tmp_path, "a.py", code.format(key='"last_id"'))] == ["SW403"]
    assert _said(tmp_path, "b.py", code.format(key='"owner"')) == []


_CORE = """
import sqlalchemy as sa

engine = sa.create_engine("mysql+pymysql://x/y")
prices = sa.Table("prices", sa.MetaData(), sa.Column("sku", sa.String(20)))
others = sa.Table("others", sa.MetaData(), sa.Column("sku", sa.String(20)))


def load(rows):
    with engine.begin() as conn:
        have = {{r.sku for r in conn.execute(sa.select({asked}.c.sku))}}
        conn.execute(prices.insert(), [r for r in rows if r["sku"] not in have])
"""


def test_rows_that_the_target_holds_are_left_out(tmp_path: Path) -> None:
    assert _said(tmp_path, "a.py", _CORE.format(asked="prices")) == []
    assert _said(tmp_path, "b.py", _CORE.format(asked="others")) == [("SW103", "warning")]


_UPDATE = """
import pymysql

conn = pymysql.connect(host="h", db="d")
cur = conn.cursor()
for sku, qty in rows:
    n = cur.execute("UPDATE {table} SET qty = %s WHERE sku = %s", (qty, sku))
    if n == 0:
        cur.execute("INSERT INTO stock (sku, qty) VALUES (%s, %s)", (sku, qty))
conn.commit()
"""


def test_an_update_that_met_no_row_is_a_guard(tmp_path: Path) -> None:
    assert _said(tmp_path, "a.py", _UPDATE.format(table="stock")) == []
    assert _said(tmp_path, "b.py", _UPDATE.format(table="shelves")) == [("SW103", "warning")]
