from datetime import datetime

from airflow import DAG
from airflow.providers.postgres.operators.postgres import PostgresOperator

with DAG("events", start_date=datetime(2024, 1, 1), schedule_interval="@hourly") as dag:
    PostgresOperator(
        task_id="load",
        # expect: SW404 note
        sql="INSERT INTO fct_events SELECT * FROM src_events WHERE ts > (SELECT MAX(ts) FROM fct_events)",
    )
