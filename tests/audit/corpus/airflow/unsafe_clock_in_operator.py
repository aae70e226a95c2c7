from airflow import DAG
from airflow.providers.postgres.operators.postgres import PostgresOperator

with DAG("orders", schedule="@daily") as dag:
    PostgresOperator(
        task_id="load",
        sql="""
            INSERT INTO mart.orders (order_id, amount)
            SELECT order_id, amount FROM raw.orders
            WHERE order_date = CURRENT_DATE - 1 -- expect: SW402
            ON CONFLICT (order_id) DO NOTHING
        """,
    )
