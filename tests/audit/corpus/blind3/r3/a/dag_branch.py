from airflow import DAG
from airflow.operators.python import BranchPythonOperator, PythonOperator
from airflow.providers.postgres.hooks.postgres import PostgresHook
import pendulum


def _exists(ds, **_):
    return PostgresHook("dw").get_first("SELECT 1 FROM daily WHERE day = %s LIMIT 1", parameters=(ds,)) is not None


def choose(ds, **kw):
    return "skip" if _exists(ds) else "load"


def load(ds, **kw):
    hook = PostgresHook("dw")
    conn = hook.get_conn()
    cur = conn.cursor()
    cur.execute("DELETE FROM daily WHERE day = %s", (ds,))
    cur.execute("INSERT INTO daily SELECT day, count(*) FROM ev WHERE day = %s GROUP BY day", (ds,))
    conn.commit()


def load_auto(ds, **kw):
    hook = PostgresHook("dw")
    conn = hook.get_conn()
    hook.set_autocommit(conn, True)
    cur = conn.cursor()
    cur.execute("DELETE FROM daily2 WHERE day = %s", (ds,))  # expect: SW201
    cur.execute("INSERT INTO daily2 SELECT day, count(*) FROM ev WHERE day = %s GROUP BY day", (ds,))


with DAG("b", start_date=pendulum.datetime(2024, 1, 1), schedule="@daily", default_args={"retries": 1}) as dag:  # expect: SW501
    c = BranchPythonOperator(task_id="choose", python_callable=choose)
    l = PythonOperator(task_id="load", python_callable=load)
    m = PythonOperator(task_id="load_auto", python_callable=load_auto)
    c >> [l, m]