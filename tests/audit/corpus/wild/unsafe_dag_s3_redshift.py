from airflow import DAG
from airflow.providers.amazon.aws.transfers.s3_to_redshift import S3ToRedshiftOperator
with DAG("x", schedule="@daily"):
    S3ToRedshiftOperator(task_id="a", schema="public", table="events", s3_bucket="b", s3_key="k/{{ ds }}", copy_options=["csv"])  # expect: SW101
    S3ToRedshiftOperator(task_id="b", schema="public", table="users", s3_bucket="b", s3_key="u", copy_options=["csv"], method="UPSERT", upsert_keys=["id"])
