import pendulum
from airflow.providers.amazon.aws.hooks.athena import AthenaHook
from airflow.sdk import dag, task


@dag(schedule="@daily", start_date=pendulum.datetime(2025, 1, 1), default_args={"retries": 1})  # expect: SW501
def visits():
    @task
    def load(ds=None):
        # expect: SW102
        AthenaHook().run_query(f"INSERT INTO mart.visits SELECT * FROM core.visits WHERE day = '{ds}'", {}, {})

    load()


visits()
