from datetime import datetime

from airflow import DAG
from airflow.providers.postgres.operators.postgres import PostgresOperator

default_args = {"owner": "data", "depends_on_past": True, "retries": 2}

with DAG("events", default_args=default_args, start_date=datetime(2024, 1, 1), schedule_interval="@hourly") as dag:
    PostgresOperator(
        task_id="load",
        sql="INSERT INTO fct_events SELECT * FROM src_events WHERE ts > (SELECT MAX(ts) FROM fct_events)",
    )
