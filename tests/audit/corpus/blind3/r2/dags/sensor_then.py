from airflow.decorators import dag, task
from airflow.models import Variable
from airflow.providers.common.sql.hooks.sql import DbApiHook
from airflow.hooks.base import BaseHook
from datetime import datetime
import pandas as pd


@dag(schedule="*/15 * * * *", start_date=datetime(2024, 1, 1), catchup=False, max_active_runs=1)
def incremental_pull():
    @task(retries=4)  # expect: SW501
    def pull():
        last = Variable.get("orders_last_ts", default_var="1970-01-01")
        src = BaseHook.get_connection("src").get_hook()
        df = src.get_pandas_df(f"SELECT * FROM orders WHERE updated_at > '{last}'")
        Variable.set("orders_last_ts", str(df["updated_at"].max()))  # expect: SW403
        dst = BaseHook.get_connection("dst").get_hook()
        df.to_sql("orders", dst.get_sqlalchemy_engine(), if_exists="append", index=False)  # expect: SW101

    pull()


incremental_pull()