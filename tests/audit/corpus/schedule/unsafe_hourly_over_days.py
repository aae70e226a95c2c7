from airflow import DAG
from airflow.providers.apache.hive.operators.hive import HiveOperator

with DAG("clicks", schedule="0 * * * *") as dag:
    load = HiveOperator(
        task_id="load",
        hql="""
        -- expect: SW205
        INSERT OVERWRITE TABLE dw.clicks PARTITION (ds = '{{ ds }}')
        SELECT url FROM raw.clicks
        WHERE ts >= '{{ data_interval_start }}' AND ts < '{{ data_interval_end }}'
        """,
    )
