from datetime import datetime

from airflow import DAG
from airflow.operators.empty import EmptyOperator

with DAG("hello", start_date=datetime.now(), schedule="@daily") as dag:  # expect: SW402
    EmptyOperator(task_id="x")
