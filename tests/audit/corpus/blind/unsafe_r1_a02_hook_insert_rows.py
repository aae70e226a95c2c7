from datetime import datetime

from airflow import DAG
from airflow.operators.python import PythonOperator
from airflow.providers.postgres.hooks.postgres import PostgresHook
import requests


def load_rates(ds, **_):
    answer = requests.get(f"https://rates.example.com/{ds}", timeout=30).json()
    rows = [(ds, code, rate) for code, rate in answer["rates"].items()]
    # expect: SW103
    PostgresHook("dwh").insert_rows("finance.fx_rates", rows, target_fields=["day", "currency", "rate"])


# expect: SW501
with DAG("fx_rates", start_date=datetime(2023, 1, 1), schedule="0 6 * * *", default_args={"retries": 2}):
    PythonOperator(task_id="load", python_callable=load_rates)
