from airflow.decorators import dag, task
from airflow.models import Variable
from airflow.providers.postgres.hooks.postgres import PostgresHook
from pendulum import datetime


@dag(start_date=datetime(2024, 1, 1), schedule="@hourly", default_args={"retries": 2}, max_active_runs=1)
def incremental():
    @task
    def pull():
        since = Variable.get("orders_last_updated", default_var="1970-01-01")
        hook = PostgresHook("dwh")
        hook.run(
            "INSERT INTO core.orders SELECT * FROM raw.orders WHERE updated_at > %(since)s "
            "ON CONFLICT (id) DO UPDATE SET status = EXCLUDED.status, updated_at = EXCLUDED.updated_at",
            parameters={"since": since},
        )
        newest = hook.get_first("SELECT max(updated_at) FROM core.orders")[0]
        Variable.set("orders_last_updated", str(newest))

    pull()


incremental()
