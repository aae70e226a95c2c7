import pandas as pd
from airflow.decorators import dag, task
from pendulum import datetime


@dag(start_date=datetime(2024, 1, 1), schedule="@daily", default_args={"retries": 3})
def export():
    @task
    def dump(data_interval_start=None):
        day = data_interval_start.to_date_string()
        frame = pd.read_sql(f"SELECT * FROM orders WHERE day = '{day}'", "postgresql://db/shop")
        frame.to_parquet(f"s3://lake/orders/day={day}/orders.parquet")

    dump()


export()
