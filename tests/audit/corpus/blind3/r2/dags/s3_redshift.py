from airflow import DAG
from airflow.providers.amazon.aws.transfers.s3_to_redshift import S3ToRedshiftOperator
from airflow.providers.amazon.aws.operators.redshift_data import RedshiftDataOperator
from airflow.operators.bash import BashOperator
from airflow.operators.empty import EmptyOperator
from datetime import datetime, timedelta

with DAG(
    "s3_rs",
    start_date=datetime(2024, 1, 1),
    schedule="@daily",
    default_args={"retries": 1, "retry_delay": timedelta(minutes=5)},  # expect: SW501
) as dag:
    start = EmptyOperator(task_id="start")
    upsert = S3ToRedshiftOperator(
        task_id="users", schema="public", table="users", s3_bucket="b", s3_key="users/{{ ds }}/",
        method="UPSERT", upsert_keys=["id"], copy_options=["FORMAT AS PARQUET"],
    )
    replace = S3ToRedshiftOperator(
        task_id="plans", schema="public", table="plans", s3_bucket="b", s3_key="plans/", method="REPLACE",
    )
    append = S3ToRedshiftOperator(  # expect: SW101
        task_id="hits", schema="public", table="hits", s3_bucket="b", s3_key="hits/{{ ds }}/", method="APPEND",
    )
    dbt = BashOperator(task_id="dbt", bash_command="dbt run --select marts --vars '{ds: {{ ds }}}'")
    start >> [upsert, replace, append] >> dbt