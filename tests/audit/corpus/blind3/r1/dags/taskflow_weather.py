from datetime import datetime, timedelta

import requests
from airflow.decorators import dag, task
from airflow.providers.postgres.hooks.postgres import PostgresHook


@dag(schedule="@hourly", start_date=datetime(2024, 1, 1), catchup=False, default_args={"retries": 3, "retry_delay": timedelta(minutes=2)})
def weather():
    @task
    def extract(data_interval_start=None) -> list[dict]:
        r = requests.get("https://api.weather.test/v1", params={"t": data_interval_start.isoformat()}, timeout=30)
        r.raise_for_status()
        return r.json()["rows"]

    @task
    def load(rows: list[dict]):
        hook = PostgresHook("wx")
        hook.insert_rows("weather", [(r["station"], r["t"], r["temp"]) for r in rows], target_fields=["station", "t", "temp"], replace=True, replace_index=["station", "t"])

    @task
    def load_log(rows: list[dict]):
        hook = PostgresHook("wx")
        hook.insert_rows("weather_log", [(r["station"], r["temp"]) for r in rows], target_fields=["station", "temp"])

    rows = extract()
    load(rows)
    load_log(rows)


weather()