import pendulum
from airflow.decorators import dag, task
from airflow.providers.postgres.hooks.postgres import PostgresHook


@dag(schedule="@daily", start_date=pendulum.datetime(2024, 1, 1), catchup=True, default_args={"retries": 3})
def sessions_daily():
    @task
    def build(ds=None):
        hook = PostgresHook(postgres_conn_id="dwh")
        hook.run(
            [
                f"DELETE FROM mart.sessions WHERE session_date = '{ds}'",
                f"INSERT INTO mart.sessions SELECT user_id, count(*), '{ds}' FROM raw.hits WHERE hit_date = '{ds}' GROUP BY 1",
            ],
            autocommit=False,
        )

    build()


sessions_daily()
