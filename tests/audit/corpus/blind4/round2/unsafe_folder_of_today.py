from datetime import datetime, timedelta

import pandas as pd
from airflow import DAG
from airflow.operators.python import PythonOperator
from sqlalchemy import create_engine


def load():
    day = (datetime.utcnow() - timedelta(days=1)).strftime("%Y-%m-%d")
    rows = pd.read_csv(f"s3://landing/visits/{day}.csv")  # expect: SW402
    with create_engine("postgresql:///dw").begin() as connection:
        connection.exec_driver_sql("DELETE FROM visits WHERE day = %s", (day,))
        rows.to_sql("visits", connection, if_exists="append")


with DAG("visits", start_date=datetime(2025, 1, 1), schedule="@daily"):
    PythonOperator(task_id="load", python_callable=load)
