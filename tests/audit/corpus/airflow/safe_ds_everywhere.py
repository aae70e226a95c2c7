from datetime import datetime

from airflow import DAG
from airflow.providers.postgres.operators.postgres import PostgresOperator

default_args = {"owner": "data", "retries": 3}

with DAG("orders", default_args=default_args, start_date=datetime(2024, 1, 1), schedule="@daily") as dag:
    PostgresOperator(
        task_id="upsert",
        sql="""
            INSERT INTO mart.orders (order_id, amount)
            SELECT order_id, amount FROM raw.orders WHERE order_date = '{{ ds }}'
            ON CONFLICT (order_id) DO UPDATE SET amount = EXCLUDED.amount
        """,
    )
