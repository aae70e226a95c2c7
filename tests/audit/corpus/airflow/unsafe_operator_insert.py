from airflow import DAG
from airflow.providers.snowflake.operators.snowflake import SnowflakeOperator

with DAG("agg", schedule="@daily") as dag:
    SnowflakeOperator(
        task_id="agg",
        retries=2,  # expect: SW501
        # expect: SW102
        sql="INSERT INTO MART.DAILY SELECT DAY, SUM(X) FROM RAW.FACTS WHERE DAY = '{{ ds }}' GROUP BY DAY",
    )
