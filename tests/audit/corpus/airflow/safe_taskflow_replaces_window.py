from datetime import datetime

from airflow.decorators import dag, task
from airflow.providers.postgres.hooks.postgres import PostgresHook


@dag(schedule="@daily", start_date=datetime(2024, 1, 1), default_args={"retries": 2})
def sales():
    @task
    def extract(data_interval_start=None):
        return PostgresHook("shop").get_records(f"SELECT id, total FROM sales WHERE day = '{data_interval_start.date()}'")

    @task
    def load(rows, data_interval_start=None):
        conn = PostgresHook("dw").get_conn()
        cur = conn.cursor()
        cur.execute("DELETE FROM sales WHERE day = %s", (data_interval_start.date(),))
        cur.executemany("INSERT INTO sales (id, total) VALUES (%s, %s)", rows)
        conn.commit()

    load(extract())


sales()
