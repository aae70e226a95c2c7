from datetime import datetime
from airflow import DAG
from airflow.providers.amazon.aws.transfers.s3_to_redshift import S3ToRedshiftOperator

# expect: SW501
with DAG("s3_events", start_date=datetime(2024, 1, 1), schedule="@daily", default_args={"retries": 2}) as dag:
    # expect: SW101
    S3ToRedshiftOperator(
        task_id="copy",
        schema="raw",
        table="events",
        s3_bucket="lake",
        s3_key="events/{{ ds }}/",
        copy_options=["FORMAT AS PARQUET"],
    )
