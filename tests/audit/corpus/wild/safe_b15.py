from airflow.decorators import dag, task
import pendulum
@dag(schedule="@daily", start_date=pendulum.datetime(2024, 1, 1, tz="UTC"), default_args={"retries": 3})
def d():
    @task
    def load(ds=None):
        from airflow.providers.snowflake.hooks.snowflake import SnowflakeHook
        SnowflakeHook("sf").run(f"MERGE INTO t USING (SELECT id, MAX(v) v FROM s WHERE d = '{ds}' GROUP BY id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)")
    load()
d()
