from datetime import timedelta

from airflow import DAG
from airflow.providers.postgres.operators.postgres import PostgresOperator

with DAG("orders", schedule_interval=timedelta(hours=1)) as dag:
    PostgresOperator(
        task_id="load",
        sql="""
        DELETE FROM mart.orders WHERE order_day = '{{ ds }}';
        -- expect: SW205
        INSERT INTO mart.orders
        SELECT * FROM raw_orders WHERE created_at BETWEEN '{{ data_interval_start }}' AND '{{ data_interval_end }}';
        """,
    )
