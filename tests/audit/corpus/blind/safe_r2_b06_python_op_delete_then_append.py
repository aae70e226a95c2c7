from datetime import datetime
from airflow import DAG
from airflow.operators.python import PythonOperator
from airflow.providers.postgres.hooks.postgres import PostgresHook


def reload(ds, **_):
    hook = PostgresHook("dwh")
    conn = hook.get_conn()
    try:
        with conn.cursor() as cur:
            cur.execute("DELETE FROM mart.kpi WHERE day = %s", (ds,))
            cur.execute("INSERT INTO mart.kpi (day, v) SELECT %s, avg(v) FROM raw.kpi WHERE day = %s", (ds, ds))
        conn.commit()
    finally:
        conn.close()


with DAG("kpi", start_date=datetime(2024, 1, 1), schedule="@daily", default_args={"retries": 2}) as dag:
    PythonOperator(task_id="reload", python_callable=reload)
