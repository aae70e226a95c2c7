from datetime import datetime
from airflow import DAG
from airflow.providers.apache.hive.operators.hive import HiveOperator

with DAG("hourly_clicks", start_date=datetime(2024, 1, 1), schedule="@hourly", default_args={"retries": 2}) as dag:
    HiveOperator(
        task_id="load",
        hql="""
        -- expect: SW205
        INSERT OVERWRITE TABLE dw.clicks PARTITION (dt='{{ ds }}')
        SELECT user_id, url FROM ods.clicks WHERE ts >= '{{ data_interval_start }}' AND ts < '{{ data_interval_end }}'
        """,
    )
