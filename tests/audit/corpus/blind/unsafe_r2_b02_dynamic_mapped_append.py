import pandas as pd
from airflow.decorators import dag, task
from airflow.providers.postgres.hooks.postgres import PostgresHook
from pendulum import datetime


# expect: SW501
@dag(start_date=datetime(2024, 1, 1), schedule="@daily", default_args={"retries": 3})
def shops():
    @task
    def files(ds=None):
        return [f"s3://in/{ds}/{n}.csv" for n in range(4)]

    @task
    def load(path: str):
        engine = PostgresHook("dwh").get_sqlalchemy_engine()
        # expect: SW101
        pd.read_csv(path).to_sql("shops", engine, schema="raw", if_exists="append", index=False)

    load.expand(path=files())


shops()
