from airflow import DAG
from airflow.providers.google.cloud.operators.bigquery import BigQueryInsertJobOperator
MERGE = """
MERGE `p.d.orders` T
USING (SELECT * EXCEPT(rn) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY updated_at DESC, _offset DESC) rn FROM `p.d.raw_orders` WHERE DATE(ts) = '{{ ds }}') WHERE rn = 1) S
ON T.id = S.id
WHEN MATCHED THEN UPDATE SET x = S.x
WHEN NOT MATCHED THEN INSERT ROW
"""
with DAG("m", schedule="@daily", default_args={"retries": 3}) as dag:
    BigQueryInsertJobOperator(task_id="m", configuration={"query": {"query": MERGE, "useLegacySql": False}})
