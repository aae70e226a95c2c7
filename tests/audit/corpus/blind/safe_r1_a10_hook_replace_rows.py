from airflow.decorators import task, dag
from airflow.providers.postgres.hooks.postgres import PostgresHook
from pendulum import datetime


@dag(start_date=datetime(2024, 1, 1), schedule="@daily", default_args={"retries": 3})
def weather():
    @task
    def store(rows, **context):
        hook = PostgresHook(postgres_conn_id="dwh")
        hook.insert_rows(
            table="weather.daily",
            rows=rows,
            target_fields=["station", "day", "temp"],
            replace=True,
            replace_index=["station", "day"],
        )

    @task
    def fetch():
        return [("AMS", "2024-01-01", 7.2)]

    store(fetch())


weather()
