from airflow import DAG
from airflow.providers.google.cloud.transfers.gcs_to_bigquery import GCSToBigQueryOperator
from airflow.providers.google.cloud.operators.bigquery import BigQueryInsertJobOperator
import pendulum

with DAG("gcs_bq", schedule="@daily", start_date=pendulum.datetime(2024, 1, 1)):
    a = GCSToBigQueryOperator(
        task_id="load_part",
        bucket="b",
        source_objects=["orders/{{ ds }}/*.json"],
        destination_project_dataset_table="p.d.orders${{ ds_nodash }}",
        write_disposition="WRITE_TRUNCATE",
        source_format="NEWLINE_DELIMITED_JSON",
    )
    b = GCSToBigQueryOperator(  # expect: SW101
        task_id="load_append",
        bucket="b",
        source_objects=["refunds/{{ ds }}/*.json"],
        destination_project_dataset_table="p.d.refunds",
        write_disposition="WRITE_APPEND",
        source_format="NEWLINE_DELIMITED_JSON",
    )
    c = BigQueryInsertJobOperator(
        task_id="agg",
        configuration={"query": {
            "query": "SELECT day, sum(x) x FROM p.d.orders WHERE day = '{{ ds }}' GROUP BY day",
            "destinationTable": {"projectId": "p", "datasetId": "d", "tableId": "agg${{ ds_nodash }}"},
            "writeDisposition": "WRITE_TRUNCATE",
            "useLegacySql": False,
        }},
    )
    [a, b] >> c