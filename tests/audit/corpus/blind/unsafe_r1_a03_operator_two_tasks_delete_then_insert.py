from datetime import datetime, timedelta
from airflow import DAG
from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator

# expect: SW501
args = {"owner": "bi", "retries": 5, "retry_delay": timedelta(minutes=5)}

with DAG("churn", default_args=args, start_date=datetime(2024, 1, 1), schedule="@daily") as dag:
    wipe = SQLExecuteQueryOperator(
        task_id="wipe",
        conn_id="dwh",
        sql="DELETE FROM mart.churn WHERE ds = '{{ ds }}'",
    )
    fill = SQLExecuteQueryOperator(
        task_id="fill",
        conn_id="dwh",
        # expect: SW102
        sql="INSERT INTO mart.churn SELECT '{{ ds }}', customer_id, score FROM ml.scores WHERE scored_on = '{{ ds }}'",
    )
    wipe >> fill
