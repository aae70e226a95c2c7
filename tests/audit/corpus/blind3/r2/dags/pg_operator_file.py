from airflow import DAG
from airflow.providers.postgres.operators.postgres import PostgresOperator
from datetime import datetime

dag = DAG("pgop", start_date=datetime(2024, 1, 1), schedule_interval="@daily", default_args={"retries": 3})
t = PostgresOperator(task_id="reload", postgres_conn_id="dw", sql="sql/reload_daily.sql", dag=dag)
v = PostgresOperator(task_id="append", postgres_conn_id="dw", sql="sql/append_daily.sql", dag=dag)
t >> v