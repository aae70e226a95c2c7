from airflow import DAG
from airflow.providers.postgres.operators.postgres import PostgresOperator

with DAG("daily", schedule="@daily") as dag:
    load = PostgresOperator(
        task_id="load",
        postgres_conn_id="dw",
        sql="""
            DELETE FROM mart.orders WHERE order_date = '{{ ds }}';
            INSERT INTO mart.orders SELECT * FROM staging.orders WHERE order_date = '{{ ds }}';
        """,
    )
