from airflow import DAG
from airflow.providers.apache.hive.operators.hive import HiveOperator

with DAG("clicks", schedule_interval="@daily") as dag:
    HiveOperator(
        task_id="load",
        hql="""
        INSERT OVERWRITE TABLE dw.clicks PARTITION (ds = '{{ ds }}')
        SELECT url FROM raw.clicks WHERE ts >= '{{ data_interval_start }}' AND ts < '{{ data_interval_end }}'
        """,
    )
