from airflow import DAG
from airflow.providers.google.cloud.operators.bigquery import BigQueryInsertJobOperator

with DAG("bq", schedule="@daily") as dag:
    BigQueryInsertJobOperator(
        task_id="agg",
        # expect: SW102
        configuration={"query": {"query": "INSERT INTO mart.daily SELECT day, COUNT(*) FROM raw.events WHERE day = '{{ ds }}' GROUP BY day", "useLegacySql": False}},
    )
