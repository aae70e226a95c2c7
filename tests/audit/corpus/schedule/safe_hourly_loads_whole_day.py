from airflow import DAG
from airflow.providers.apache.hive.operators.hive import HiveOperator

with DAG("clicks", schedule="@hourly") as dag:
    HiveOperator(
        task_id="load",
        hql="""
        INSERT OVERWRITE TABLE dw.clicks PARTITION (ds = '{{ ds }}')
        SELECT url FROM raw.clicks WHERE ds = '{{ ds }}'
        """,
    )
