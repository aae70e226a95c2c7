from airflow.models import DAG
from airflow.operators.postgres_operator import PostgresOperator
from datetime import datetime, timedelta
dag = DAG("etl", default_args={"owner": "x", "retries": 5, "start_date": datetime(2020, 1, 1)}, schedule_interval="0 3 * * *")  # expect: SW501
load_fact = PostgresOperator(task_id="load_fact", postgres_conn_id="redshift", sql="""
  INSERT INTO fact_sales (sale_id, amount)  # expect: SW102
  SELECT s.id, s.amount FROM staging_sales s WHERE s.sale_date = '{{ ds }}'
""", dag=dag)
