"""What several files say together, and what a Samewise project adds."""

from __future__ import annotations

from pathlib import Path

import pytest

from samewise.audit.config import Settings
from samewise.audit.engine import Result, audit
from samewise.audit.finding import Verdict
from samewise.cli.example import write_example
from samewise.state import attempts, runs
from samewise.state.store import Store
from samewise.wiring.audit import audit_paths
from tests.support.state import a_run, take

INSERT = "INSERT INTO fx_rates (day, currency, rate)\nSELECT day, currency, rate FROM incoming;\n"
TABLE = "CREATE TABLE IF NOT EXISTS fx_rates (day DATE, currency CHAR(3), rate NUMERIC, PRIMARY KEY (day, currency));\n"


def look(root: Path, files: dict[str, str]) -> Result:
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return audit([root], Settings(), jobs=1)


def rules(result: Result) -> list[str]:
    return [finding.rule for finding in result.findings]


def test_a_key_that_another_file_defines_stands_in_the_way(tmp_path: Path) -> None:
    assert rules(look(tmp_path / "without", {"load.sql": INSERT})) == ["SW102"]
    with_key = look(tmp_path / "with", {"load.sql": INSERT, "schema.sql": TABLE})
    assert rules(with_key) == []
    assert [write.verdict for _, write in with_key.writes] == [Verdict.SAFE]


@pytest.mark.parametrize(
    "table",
    [
        "CREATE TABLE fx_rates (id SERIAL PRIMARY KEY, day DATE, currency CHAR(3), rate NUMERIC);\n",
        "CREATE TABLE other.fx_rates_old (day DATE PRIMARY KEY);\n",
        "CREATE TABLE fx_rates (day DATE, version INT, PRIMARY KEY (day, version));\n",
    ],
)
def test_a_key_that_the_insert_does_not_fill_does_not(tmp_path: Path, table: str) -> None:
    assert rules(look(tmp_path, {"load.sql": INSERT, "schema.sql": table})) == ["SW102"]


def test_a_table_of_the_same_name_elsewhere_says_nothing(tmp_path: Path) -> None:
    files = {"load.sql": INSERT.replace("INTO fx", "INTO mart.fx"), "schema.sql": TABLE}
    assert rules(look(tmp_path, files)) == ["SW102"]


def test_a_warehouse_that_does_not_enforce_keys_is_not_trusted(tmp_path: Path) -> None:
    job = 'spark.sql("INSERT INTO fx_rates SELECT day, currency, rate FROM incoming")\n'
    assert rules(look(tmp_path, {"job.py": job, "schema.sql": TABLE})) == ["SW102"]


DELETE_INSERT = "DELETE FROM mart.x WHERE d = '{{ ds }}';\nINSERT INTO mart.x SELECT * FROM s WHERE d = '{{ ds }}';\n"


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ("postgres.operators.postgres import PostgresOperator", []),
        ("snowflake.operators.snowflake import SnowflakeOperator", ["SW201"]),
    ],
)
def test_an_operator_says_whether_a_sql_file_is_one_transaction(
    tmp_path: Path, operator: str, expected: list[str]
) -> None:
    name = operator.rpartition(" ")[2]
    head = f"from airflow import DAG\nfrom airflow.providers.{operator}\n"
    dag = f"{head}with DAG('d'):\n    {name}(task_id='t', sql='sql/load.sql')\n"
    assert rules(look(tmp_path, {"dags/dag.py": dag, "dags/sql/load.sql": DELETE_INSERT})) == expected


def test_retries_of_a_task_whose_code_lies_elsewhere_name_both_places(tmp_path: Path) -> None:
    dag = (
        "from airflow import DAG\nfrom airflow.operators.python import PythonOperator\n"
        "from etl.load import load_orders\n"
        "with DAG('d'):\n    PythonOperator(task_id='load', python_callable=load_orders, retries=3)\n"
    )
    load = "def load_orders(df):\n    df.write.mode('append').saveAsTable('orders')\n"
    result = look(tmp_path, {"dag.py": dag, "etl/load.py": load})
    (retried,) = [finding for finding in result.findings if finding.rule == "SW501"]
    assert retried.file.endswith("dag.py")
    assert (retried.place.line, retried.related[0].place.line) == (5, 2)
    assert retried.related[0].file.endswith("etl/load.py")


# Inside a Samewise project


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    write_example(tmp_path / "shop")
    return tmp_path / "shop"


def test_our_own_pipelines_are_safe(shop: Path) -> None:
    result = audit_paths([shop], Settings(), cache=None, jobs=1)
    assert result.findings == []
    assert {(write.kind, write.verdict) for _, write in result.writes} == {("replace_window", Verdict.SAFE)}


def test_what_a_transform_leaves_to_chance_is_found(shop: Path) -> None:
    (shop / "pipelines" / "orders.sql").write_text(
        "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY order_id) AS n FROM source) WHERE n = 1\n"
    )
    (finding,) = audit_paths([shop], Settings(), cache=None, jobs=1).findings
    assert (finding.rule, finding.file) == ("SW304", f"{shop}/pipelines/orders.sql")


def test_pipelines_that_were_repeated_most_come_first(shop: Path) -> None:
    loose = "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY order_id) AS n FROM source) WHERE n = 1\n"
    text = (shop / "pipelines" / "orders_daily.yaml").read_text()
    for name in ("a_quiet", "b_busy"):
        (shop / "pipelines" / f"{name}.sql").write_text(loose)
        changed = text.replace("orders_daily", name).replace("orders.sql", f"{name}.sql")
        changed = changed.replace("table: orders", f"table: {name}")
        (shop / "pipelines" / f"{name}.yaml").write_text(changed)
    store = Store.open(f"sqlite:///{shop}/.samewise/state.db")
    run = a_run(pipeline="b_busy")
    lease = take(store, run.window)
    run = runs.insert_run(store, run, lease)
    for number in range(3):
        attempts.begin(store, run, lease, f"attempt-{number}", None)
    assert runs.repeats(store) == {"b_busy": 2}
    store.close()
    found = audit_paths([shop], Settings(), cache=None, jobs=1).findings
    assert [(Path(finding.file).stem, finding.rank) for finding in found] == [("b_busy", 2), ("a_quiet", 0)]


def test_a_project_that_is_not_valid_is_audited_all_the_same(shop: Path) -> None:
    (shop / "samewise.yaml").write_text("project: [\n")
    (shop / "load.sql").write_text(INSERT)
    assert rules(audit_paths([shop], Settings(), cache=None, jobs=1)) == ["SW102"]


MODEL = "{{ config(materialized='incremental') }}\nselect id, at from {{ source('app', 'events') }}\n"


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ("models:\n  - name: events\n    config:\n      unique_key: id\n", []),
        ("models:\n  - name: others\n    config:\n      unique_key: id\n", ["SW801"]),
        ("models:\n  - name: events\n    description: unique_key is missing\n", ["SW801"]),
        ("models:\n  - name: events\n    config: {{ unique_key }}\n", ["SW801"]),
    ],
)
def test_a_key_of_a_dbt_model_may_stand_in_its_properties(tmp_path: Path, properties: str, expected: list[str]) -> None:
    assert rules(look(tmp_path, {"models/events.sql": MODEL, "models/schema.yml": properties})) == expected
