from datetime import datetime
from airflow import DAG
from airflow.operators.email import EmailOperator
from airflow.operators.empty import EmptyOperator
from airflow.providers.common.sql.sensors.sql import SqlSensor
from airflow.providers.common.sql.operators.sql import SQLCheckOperator

with DAG("checks", start_date=datetime(2024, 1, 1), schedule="@daily", default_args={"retries": 2}) as dag:
    wait = SqlSensor(task_id="wait", conn_id="dwh", sql="SELECT 1 FROM etl.done WHERE day = '{{ ds }}' LIMIT 1")
    check = SQLCheckOperator(task_id="check", conn_id="dwh", sql="SELECT count(*) > 0 FROM mart.sales WHERE day = '{{ ds }}'")
    mail = EmailOperator(task_id="mail", to="bi@example.com", subject="sales ready", html_content="insert into your calendar")
    wait >> check >> mail >> EmptyOperator(task_id="end")
