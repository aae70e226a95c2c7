import datetime as dt

from airflow.models import DAG
from airflow.operators.python import PythonOperator
from airflow.providers.amazon.aws.hooks.s3 import S3Hook
from mylib import warehouse


def pull(**ctx):
    yesterday = (dt.datetime.utcnow() - dt.timedelta(days=1)).strftime("%Y-%m-%d")  # expect: SW402
    rows = warehouse.fetch(f"select * from orders where day = '{yesterday}'")
    S3Hook("aws").load_string("\n".join(map(str, rows)), key=f"orders/{yesterday}.csv", bucket_name="x", replace=True)


def report(**ctx):
    started = dt.datetime.now()
    print("started at", started)
    warehouse.check(ctx["ds"])
    print("took", dt.datetime.now() - started)


dag = DAG("now", schedule_interval="@daily", start_date=dt.datetime(2022, 1, 1))
t1 = PythonOperator(task_id="pull", python_callable=pull, dag=dag)
t2 = PythonOperator(task_id="report", python_callable=report, dag=dag)
t1 >> t2