from datetime import datetime, timedelta

from airflow import DAG
from airflow.operators.python import PythonOperator
from airflow.providers.postgres.hooks.postgres import PostgresHook

default_args = {
    "owner": "airflow",
    "retries": 3,  # expect: SW501
    "retry_delay": timedelta(minutes=5),
}


def load(ds, **context):
    hook = PostgresHook(postgres_conn_id="warehouse")
    hook.run(f"INSERT INTO mart.users SELECT * FROM staging.users WHERE ds = '{ds}'")  # expect: SW102


with DAG("users", default_args=default_args, start_date=datetime(2024, 1, 1), schedule_interval="@daily") as dag:
    PythonOperator(task_id="load", python_callable=load)
