from airflow import DAG
from airflow.operators.python import PythonOperator
from airflow.providers.mysql.hooks.mysql import MySqlHook
from airflow.providers.postgres.hooks.postgres import PostgresHook
from datetime import datetime, timedelta
args = dict(owner="me", retries=2, retry_delay=timedelta(minutes=1))  # expect: SW501
def transfer(ds, **kw):
    src = MySqlHook("shop")
    dst = PostgresHook("dw")
    rows = src.get_records("SELECT id, total FROM orders WHERE DATE(created) = %s", parameters=(ds,))
    dst.run("DELETE FROM orders WHERE created = %s", parameters=(ds,))  # expect: SW201
    dst.insert_rows("orders", rows, target_fields=["id", "total"])
dag = DAG("t", default_args=args, schedule_interval="@daily", start_date=datetime(2024, 1, 1))
t = PythonOperator(task_id="transfer", python_callable=transfer, dag=dag)
