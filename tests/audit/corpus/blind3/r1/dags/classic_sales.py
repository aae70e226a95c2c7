from airflow import DAG
from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator
from airflow.operators.python import PythonOperator
from airflow.utils.dates import days_ago
import pendulum

DEFAULTS = dict(owner="bi", retries=2)  # expect: SW501

with DAG("sales", default_args=DEFAULTS, schedule_interval="0 3 * * *", start_date=pendulum.datetime(2023, 1, 1, tz="UTC"), template_searchpath="/opt/sql") as dag:
    clear_and_load = SQLExecuteQueryOperator(
        task_id="clear_and_load",
        conn_id="dwh",
        sql=[
            "BEGIN",
            "DELETE FROM sales_daily WHERE day = '{{ ds }}'",
            "INSERT INTO sales_daily SELECT * FROM sales_stage WHERE day = '{{ ds }}'",
            "COMMIT",
        ],
        autocommit=False,
    )
    bad = SQLExecuteQueryOperator(
        task_id="append_totals",
        conn_id="dwh",
        sql="INSERT INTO totals SELECT day, sum(amount) FROM sales_daily WHERE day = '{{ ds }}' GROUP BY day",  # expect: SW102
    )
    check = SQLExecuteQueryOperator(task_id="check", conn_id="dwh", sql="SELECT count(*) FROM sales_daily WHERE day = '{{ ds }}'")
    clear_and_load >> bad >> check