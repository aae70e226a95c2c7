from airflow import DAG
from airflow.providers.google.cloud.transfers.gcs_to_bigquery import GCSToBigQueryOperator

with DAG("gcs", schedule="@daily") as dag:
    GCSToBigQueryOperator(
        task_id="load",
        bucket="landing",
        source_objects=["events/{{ ds }}/*.json"],
        destination_project_dataset_table="shop.events${{ ds_nodash }}",
        write_disposition="WRITE_TRUNCATE",
        retries=3,
    )
