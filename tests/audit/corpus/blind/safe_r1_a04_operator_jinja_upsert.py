from airflow.models.dag import DAG
from airflow.providers.postgres.operators.postgres import PostgresOperator
import pendulum

with DAG(dag_id="stock", start_date=pendulum.datetime(2024, 3, 1, tz="UTC"), schedule="@hourly", catchup=False) as dag:
    create = PostgresOperator(
        task_id="create",
        sql="""CREATE TABLE IF NOT EXISTS stock_level (sku text, hour timestamptz, units int, PRIMARY KEY (sku, hour))""",
    )
    load = PostgresOperator(
        task_id="load",
        retries=4,
        sql="""
        INSERT INTO stock_level (sku, hour, units)
        SELECT sku, '{{ data_interval_start }}'::timestamptz, sum(delta)
        FROM stock_moves
        WHERE moved_at >= '{{ data_interval_start }}' AND moved_at < '{{ data_interval_end }}'
        GROUP BY sku
        ON CONFLICT (sku, hour) DO UPDATE SET units = EXCLUDED.units
        """,
    )
    create >> load
