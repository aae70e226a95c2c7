from airflow.decorators import dag, task
from datetime import datetime
@dag(schedule="@hourly", start_date=datetime(2024,1,1), catchup=False, default_args={"retries": 1})
def pipeline():
    @task
    def extract() -> list:
        import requests
        return requests.get("https://api").json()
    @task
    def load(rec: dict):
        from airflow.providers.postgres.hooks.postgres import PostgresHook
        hook = PostgresHook("pg")
        conn = hook.get_conn()
        with conn.cursor() as cur:
            cur.execute("INSERT INTO events (id, v) VALUES (%(id)s, %(v)s) ON CONFLICT (id) DO UPDATE SET v = EXCLUDED.v", rec)
        conn.commit()
    load.expand(rec=extract())
pipeline()
