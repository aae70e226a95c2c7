import pandas as pd
from airflow import DAG
from airflow.operators.python import PythonOperator
from airflow.hooks.base import BaseHook
from sqlalchemy import create_engine
from datetime import datetime


def extract(**context):
    df = pd.read_csv(f"/data/in/{context['ds']}.csv")
    context["ti"].xcom_push(key="rows", value=df.to_json())


def load(**context):
    df = pd.read_json(context["ti"].xcom_pull(key="rows"))
    conn = BaseHook.get_connection("dwh")
    engine = create_engine(conn.get_uri())
    # expect: SW101
    df.to_sql("tickets", engine, schema="support", if_exists="append", index=False)


# expect: SW501
with DAG("tickets", start_date=datetime(2024, 1, 1), schedule_interval="@daily", default_args={"retries": 1}) as dag:
    t1 = PythonOperator(task_id="extract", python_callable=extract)
    t2 = PythonOperator(task_id="load", python_callable=load)
    t1 >> t2
