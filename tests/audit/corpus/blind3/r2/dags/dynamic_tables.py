from __future__ import annotations

import pendulum
from airflow.sdk import dag, task, Asset
from airflow.providers.snowflake.hooks.snowflake import SnowflakeHook

TABLES = {"orders": "order_id", "customers": "customer_id"}


def merge_sql(table: str, key: str) -> str:
    return f"""
    MERGE INTO core.{table} t
    USING (SELECT * FROM raw.{table} WHERE load_date = %(d)s QUALIFY ROW_NUMBER() OVER (PARTITION BY {key} ORDER BY updated_at DESC, file_row DESC) = 1) s
    ON t.{key} = s.{key}
    WHEN MATCHED THEN UPDATE SET t.payload = s.payload
    WHEN NOT MATCHED THEN INSERT ({key}, payload) VALUES (s.{key}, s.payload)
    """


@dag(schedule="0 2 * * *", start_date=pendulum.datetime(2024, 1, 1, tz="UTC"), catchup=False, default_args={"retries": 2})  # expect: SW501
def core_tables():
    for table, key in TABLES.items():
        @task(task_id=f"merge_{table}", outlets=[Asset(f"core.{table}")])
        def merge(t=table, k=key, ds=None):
            SnowflakeHook("sf").run(merge_sql(t, k), parameters={"d": ds})

        merge()

    @task
    def snapshot(ds=None):
        hook = SnowflakeHook("sf")
        hook.run("DELETE FROM core.snap WHERE d = %(d)s", parameters={"d": ds})  # expect: SW201
        hook.run("INSERT INTO core.snap SELECT %(d)s, * FROM core.orders", parameters={"d": ds})

    snapshot()


core_tables()