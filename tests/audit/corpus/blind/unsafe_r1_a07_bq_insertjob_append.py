from datetime import datetime
from airflow import DAG
from airflow.providers.google.cloud.operators.bigquery import BigQueryInsertJobOperator

# expect: SW501
with DAG("bq_daily", start_date=datetime(2024, 5, 1), schedule="@daily", default_args={"retries": 3}):
    # expect: SW101
    BigQueryInsertJobOperator(
        task_id="orders_daily",
        configuration={
            "query": {
                "query": "SELECT * FROM `shop.raw.orders` WHERE DATE(created_at) = '{{ ds }}'",
                "useLegacySql": False,
                "destinationTable": {
                    "projectId": "shop",
                    "datasetId": "mart",
                    "tableId": "orders_daily",
                },
                "writeDisposition": "WRITE_APPEND",
            }
        },
    )
