from airflow.decorators import dag, task_group
from airflow.providers.snowflake.operators.snowflake import SQLExecuteQueryOperator
from pendulum import datetime

TABLES = {"customers": "customer_id", "orders": "order_id"}


@dag(start_date=datetime(2024, 1, 1), schedule="@daily", default_args={"retries": 2}, max_active_runs=1)
def merge_all():
    @task_group
    def merges():
        for table, key in TABLES.items():
            SQLExecuteQueryOperator(
                task_id=f"merge_{table}",
                conn_id="sf",
                sql=f"""
                MERGE INTO core.{table} t
                USING (
                    SELECT * FROM raw.{table} WHERE loaded_for = '{{{{ ds }}}}'
                    QUALIFY ROW_NUMBER() OVER (PARTITION BY {key} ORDER BY updated_at DESC, seq DESC) = 1
                ) s
                ON t.{key} = s.{key}
                WHEN MATCHED THEN UPDATE SET payload = s.payload
                WHEN NOT MATCHED THEN INSERT ({key}, payload) VALUES (s.{key}, s.payload)
                """,
            )

    merges()


merge_all()
