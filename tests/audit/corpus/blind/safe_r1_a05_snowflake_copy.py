from datetime import datetime
from airflow import DAG
from airflow.providers.snowflake.operators.snowflake import SnowflakeOperator

with DAG("clickstream_copy", start_date=datetime(2024, 5, 1), schedule="@hourly", default_args={"retries": 3}):
    SnowflakeOperator(
        task_id="copy",
        snowflake_conn_id="sf",
        sql="""
        COPY INTO raw.clicks
        FROM @raw.landing/clicks/{{ ds }}/
        FILE_FORMAT = (TYPE = PARQUET)
        MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE
        """,
    )
