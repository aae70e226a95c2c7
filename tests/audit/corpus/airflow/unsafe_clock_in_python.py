from datetime import datetime, timedelta

from airflow.decorators import dag, task
from airflow.providers.postgres.hooks.postgres import PostgresHook


@dag(schedule="@daily")
def orders():
    @task
    def load():
        day = (datetime.now() - timedelta(days=1)).strftime("%Y-%m-%d")
        # expect: SW402
        PostgresHook("dw").run(f"INSERT INTO orders (id) SELECT id FROM raw_orders WHERE day = '{day}' ON CONFLICT (id) DO NOTHING")

    load()


orders()
