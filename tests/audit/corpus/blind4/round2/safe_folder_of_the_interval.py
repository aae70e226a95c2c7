from datetime import datetime

import pandas as pd
from airflow import DAG
from airflow.operators.python import PythonOperator
from sqlalchemy import create_engine


def load(ds):
    rows = pd.read_csv(f"s3://landing/visits/{ds}.csv")
    with create_engine("postgresql:///dw").begin() as connection:
        connection.exec_driver_sql("DELETE FROM visits WHERE day = %s", (ds,))
        rows.to_sql("visits", connection, if_exists="append")


with DAG("visits", start_date=datetime(2025, 1, 1), schedule="@daily"):
    PythonOperator(task_id="load", python_callable=load)
