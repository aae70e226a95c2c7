import logging
import time
from datetime import datetime, timezone
from airflow.decorators import dag, task
from airflow.providers.postgres.hooks.postgres import PostgresHook


@dag(start_date=datetime(2024, 1, 1), schedule="@daily", default_args={"retries": 1})
def timed():
    @task
    def refresh(ds=None):
        began = datetime.now(timezone.utc)
        t0 = time.time()
        PostgresHook("dwh").run("REFRESH MATERIALIZED VIEW CONCURRENTLY mart.daily")
        logging.info("began %s, took %.1f s for %s", began, time.time() - t0, ds)

    refresh()


timed()
