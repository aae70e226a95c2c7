from airflow.decorators import dag, task
import pendulum
@dag(schedule="@daily", start_date=pendulum.datetime(2024, 1, 1, tz="UTC"))
def d():
    @task
    def load():
        from datetime import date, timedelta
        from airflow.providers.snowflake.hooks.snowflake import SnowflakeHook
        y = date.today() - timedelta(days=1)
        SnowflakeHook("sf").run(f"MERGE INTO t USING (SELECT id, MAX(v) v FROM s WHERE d = '{y}' GROUP BY id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)")  # expect: SW402
    load()
d()
